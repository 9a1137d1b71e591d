"""Evidence: what a session's events amount to, derived by rule.

A trail is followed record by record: what was asked and ruled, which files and commands were in play and how
they ended, what was decided, measured and left open. The cost of one more record does not grow with the
session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from holdfast.core import endings, mentions, outcomes, prose, running, shell
from holdfast.core.events import (
    MAIN,
    Action,
    AssistantText,
    Event,
    LeftRunning,
    Origin,
    Prompt,
    Replied,
    Source,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
    map_text,
)
from holdfast.core.fence import is_own_command
from holdfast.core.flush import says_nothing
from holdfast.core.memory import asked_to_remember
from holdfast.core.notes import after_statement, after_user, in_prompt, reply, rules
from holdfast.core.patches import FileChange, patched
from holdfast.core.text import one_line, shortened
from holdfast.core.todos import with_entry
from holdfast.core.trail import (
    CALLS_KEPT,
    COMMAND_KEPT,
    COMMANDS_KEPT,
    FILES_KEPT,
    PROMPTS_KEPT,
    STATEMENTS_KEPT,
    TASK_KEPT,
    TEXT_KEPT,
    CommandRun,
    FileTouch,
    OpenCall,
    Said,
    Trail,
)

LETTER: Final = "letter:"
"""How the record ids of letters begin."""
BEGINNING_READ: Final = 12_000
END_READ: Final = 4_000
OUTPUT_READ: Final = 8_000


def follow(trail: Trail, event: Event, root: str = "") -> Trail:
    """The trail after one more event, of a session that works below `root`.

    Seeing the same event again gives the same trail.
    """
    if event.origin is Origin.OURS:
        return trail
    event = map_text(event, _bounded)
    match event:
        case ToolCalled():
            return _called(trail, event, root)
        case ToolReturned():
            return _returned(trail, running.by_call(trail.running, event))
        case LeftRunning(agent="main"):
            return replace(trail, running=running.left(trail.running, trail.open_calls, event))
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(trail, event)
        case AssistantText(agent="main", text=text) if text.strip() and not says_nothing(text):
            return _stated(trail, event)
        case TodosChanged(agent="main", todos=todos):
            return _named(replace(trail, todos=todos), "\n".join(todo.text for todo in todos))
        case TodoChanged(agent="main", todo=todo):
            # Each stays in the trail, which is carried along with every event.
            entry = replace(todo, text=shortened(todo.text, TEXT_KEPT))
            return _named(replace(trail, todos=with_entry(trail.todos, entry)), entry.text)
        case Replied(agent="main", text=text) if text.strip():
            return _replied(trail, event)
        case _:
            return trail


def restarted(trail: Trail, source: Source) -> Trail:
    """The trail at a start: what was left running has ended with the process, unless that goes on."""
    goes_on = source in (Source.CLEAR, Source.COMPACT)
    return trail if goes_on or not trail.running else replace(trail, running=())


def _bounded(text: str) -> str:
    """The beginning and the end of a long text: someone may be waiting, and a pasted log is no evidence."""
    if len(text) <= BEGINNING_READ + END_READ:
        return text
    return f"{text[:BEGINNING_READ]}\n{text[-END_READ:]}"


# ---------------------------------------------------------------- prompts, by letter and by transcript


def twin(trail: Trail, event: Prompt) -> Said | None:
    """What a letter told of this same prompt before the transcript showed it, or the other way round."""
    text = _asked(event.text)
    for said in trail.prompts:
        alike = said.text == text and (said.turn == event.turn or not said.turn or not event.turn)
        if alike and (
            said.record == event.record or told_by_letter(said.record) != told_by_letter(event.record)
        ):
            return said
    return None


def told_by_letter(record: str) -> bool:
    """Whether a record id is a letter's, not a transcript's."""
    return record.startswith(LETTER)


def swapped(trail: Trail, before: Said, event: Prompt) -> Trail:
    """The trail in which the transcript's record of a prompt stands in place of the letter's."""
    after = replace(before, record=event.record, turn=event.turn or before.turn)
    first = after if trail.first_prompt == before else trail.first_prompt
    goal = after if trail.goal == before else trail.goal
    prompts = tuple(after if said is before else said for said in trail.prompts)
    return replace(trail, first_prompt=first, goal=goal, prompts=prompts)


def _prompted(trail: Trail, event: Prompt) -> Trail:
    asked = _asked(event.text)
    said = Said(asked, event.at, event.record, event.turn)
    others = tuple(prompt for prompt in trail.prompts if prompt.record != event.record)
    ruled = rules(event.text)
    first, goal = trail.first_prompt, trail.goal
    # What is to be remembered is kept as a memory; it is nothing to work on.
    if not asked_to_remember(event.text):
        first = said if first is None or first.record == event.record else first
        goal = goal if goal and _goes_on(asked, ruled) else said
    notes = after_user(trail.notes, in_prompt(event, ruled, trail.steps))
    prompts = (*others, said)[-PROMPTS_KEPT:]
    return _named(replace(trail, first_prompt=first, goal=goal, prompts=prompts, notes=notes), event.text)


def _asked(prompt: str) -> str:
    return shortened(prose.asked(_bounded(prompt)), TEXT_KEPT)


def _goes_on(prompt: str, ruled: tuple[str, ...]) -> bool:
    """Whether a prompt leaves the goal as it is: it only says to go on, or how."""
    rest = one_line(prompt)
    for rule in ruled:
        rest = rest.replace(one_line(rule), "")
    return prose.is_generic(prompt) or len(rest.split()) < _FEWEST_WORDS


_FEWEST_WORDS: Final = 3


def _replied(trail: Trail, event: Replied) -> Trail:
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    notes = after_user(trail.notes, (reply(event, call, trail.steps),))
    return _named(replace(trail, notes=notes), event.text)


def _stated(trail: Trail, event: AssistantText) -> Trail:
    said = Said(shortened(event.text, TEXT_KEPT), event.at, event.record)
    others = tuple(other for other in trail.statements if other.record != said.record)
    steps = trail.steps + (len(others) == len(trail.statements))
    trail = replace(
        trail,
        statements=(*others, said)[-STATEMENTS_KEPT:],
        notes=after_statement(trail.notes, event, steps),
        steps=steps,
    )
    return _named(trail, event.text)


# ---------------------------------------------------------------- tools


def _called(trail: Trail, event: ToolCalled, root: str) -> Trail:
    if any(call.call == event.call for call in trail.open_calls):
        return trail
    runs = event.action is Action.RUN
    opened = OpenCall(
        call=event.call,
        agent=event.agent,
        action=event.action,
        command=shell.shown(event.subject, COMMAND_KEPT) if runs else "",
        changes=tuple(_below(root, change) for change in _changes(event, root) if _is_in_one_line(change)),
        task=shortened(one_line(event.subject), TASK_KEPT) if event.action is Action.DELEGATE else "",
    )
    calls = (*trail.open_calls, opened)[-CALLS_KEPT:]
    if event.agent != MAIN:
        return replace(trail, open_calls=calls)
    steps, found = trail.steps + 1, mentions.in_call(event, opened.changes)
    counted = mentions.counted(trail.mentions, found, steps)
    trail = replace(trail, open_calls=calls, steps=steps, mentions=counted)
    return _ran(trail, CommandRun(opened.command, event.at)) if runs else trail


def _returned(trail: Trail, event: ToolReturned) -> Trail:
    if any(one.call == event.call for one in trail.running):
        trail = replace(trail, running=running.ended(trail.running, event.call))
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    if call is None:
        return trail
    trail = replace(trail, open_calls=tuple(other for other in trail.open_calls if other is not call))
    if call.action is Action.RUN and call.agent == MAIN:
        trail = _ended(trail, call, event)
    if not event.ok:
        return trail
    row = trail.files if call.agent == MAIN else trail.subagent_files
    for change in call.changes:
        row = _with_change(row, change, event.at, trail.steps)
    return replace(trail, files=row) if call.agent == MAIN else replace(trail, subagent_files=row)


def _ended(trail: Trail, call: OpenCall, event: ToolReturned) -> Trail:
    # What we were asked for tells how other commands ended, not how this one did.
    output = "" if is_own_command(call.command) else event.text[-OUTPUT_READ:]
    failed = outcomes.failed(output, event.exit_status, ok=event.ok)
    searched = failed and endings.found_nothing(call.command, output, event.exit_status)
    reason = endings.FOUND_NOTHING if searched else outcomes.reason(output) if failed else ""
    run = CommandRun(
        command=call.command,
        at=event.at,
        ok=not failed,
        exit_status=event.exit_status,
        reason=reason,
        tests=outcomes.tests(output),
    )
    return _ran(trail, run)


def _ran(trail: Trail, run: CommandRun) -> Trail:
    """The same command again replaces what is known of it: a failure that later passed is no longer one."""
    form = shell.same(run.command)
    before = next((other for other in trail.commands if shell.same(other.command) == form), None)
    times = before.times + (run.ok is None) if before else 1
    others = tuple(
        other
        for other in trail.commands
        if other is not before
        and not (run.ok and other.ok is False and endings.made_good(other.command, run.command))
    )
    return replace(trail, commands=(*others, replace(run, times=times, step=trail.steps))[-COMMANDS_KEPT:])


# ---------------------------------------------------------------- files

_STRENGTH: Final = {Action.READ: 0, Action.EDIT: 1, Action.WRITE: 2, Action.DELETE: 3}


def _is_in_one_line(change: FileChange) -> bool:
    """Whether its paths cannot pass for more than one line of a brief, as a name with a line break would."""
    return all(len(f"{path}.".splitlines()) == 1 for path in (change.path, change.renamed_to))


def _below(root: str, change: FileChange) -> FileChange:
    """The change with whole paths: a tool names a file by one, a command as it is seen from the root."""
    if root in ("", "/"):
        return change
    path, renamed_to = (
        f"{root}/{path}" if path and path[0] not in "/~" else path
        for path in (change.path, change.renamed_to)
    )
    return FileChange(path, change.action, renamed_to)


def _changes(call: ToolCalled, root: str) -> Iterator[FileChange]:
    """Every file that a call would change or read."""
    if call.action is Action.RUN:
        yield from shell.edits(call.subject, root)
        yield from shell.reads(call.subject, root)
        return
    changes = patched(call.detail) if call.action in (Action.EDIT, Action.OTHER) else ()
    if changes:
        yield from changes
    elif call.action in _STRENGTH and call.subject:
        yield FileChange(call.subject, call.action)


def _with_change(row: tuple[FileTouch, ...], change: FileChange, at: int, step: int) -> tuple[FileTouch, ...]:
    row = _with_touch(row, FileTouch(change.path, change.action, 1, at, step, change.renamed_to))
    if change.renamed_to:
        row = _with_touch(row, FileTouch(change.renamed_to, Action.EDIT, 1, at, step))
    return row


def _with_touch(row: tuple[FileTouch, ...], touch: FileTouch) -> tuple[FileTouch, ...]:
    before = next((other for other in row if other.path == touch.path), None)
    action, times = touch.action, 1
    if touch.renamed_to:
        action = Action.DELETE
    # A file that was deleted and is written again is there again.
    elif before and before.action is not Action.DELETE and _STRENGTH[before.action] >= _STRENGTH[action]:
        times = before.times + (before.action is action)
        action = before.action
    after = replace(touch, action=action, times=times)
    return _capped((*(other for other in row if other is not before), after))


def _capped(row: tuple[FileTouch, ...]) -> tuple[FileTouch, ...]:
    """Over the cap, the file that was only read longest ago goes first."""
    if len(row) <= FILES_KEPT:
        return row
    victim = next((touch for touch in row if touch.action is Action.READ), row[0])
    return tuple(touch for touch in row if touch is not victim)


# ---------------------------------------------------------------- mentions


def _named(trail: Trail, text: str) -> Trail:
    found = mentions.in_text(text)
    return replace(trail, mentions=mentions.counted(trail.mentions, found, trail.steps))
