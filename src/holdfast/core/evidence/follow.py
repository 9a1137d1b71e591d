"""Evidence: what a session's events amount to, derived by rule.

A trail is followed record by record: what was asked and ruled, which files and commands were in play and how
they ended, what was decided, measured and left open. The cost of one more record does not grow with the
session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Event,
    LeftRunning,
    Origin,
    Prompt,
    Replied,
    Source,
    Todo,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
    map_text,
)
from holdfast.core.events.fence import is_own_command
from holdfast.core.evidence import background, mentions
from holdfast.core.evidence.commands import exit_meaning, outcomes, shell
from holdfast.core.evidence.commands.purpose import Purpose, aim
from holdfast.core.evidence.commands.retests import retested
from holdfast.core.evidence.files import TOUCHES, with_change
from holdfast.core.evidence.patches import FileChange, patched
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.prose.signs import says_nothing
from holdfast.core.evidence.replaced import renewed
from holdfast.core.evidence.statements import after_statement, after_user, answer, in_prompt, reply, rules
from holdfast.core.evidence.todos import with_entry
from holdfast.core.evidence.trail import (
    CALLS_KEPT,
    COMMAND_KEPT,
    COMMANDS_KEPT,
    PROMPTS_KEPT,
    STATEMENTS_KEPT,
    TASK_KEPT,
    TEXT_KEPT,
    CommandRun,
    OpenCall,
    Trail,
    Utterance,
)
from holdfast.core.memory.memory import asked_to_remember
from holdfast.core.text.patterns import compiled
from holdfast.core.text.strings import one_line, shortened

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
            return _returned(trail, background.by_call(trail.running, event))
        case LeftRunning(agent="main"):
            return renewed(trail, running=background.left(trail.running, trail.open_calls, event))
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(trail, event)
        case AssistantText(agent="main", text=text) if text.strip() and not says_nothing(text):
            return _stated(trail, event)
        case TodosChanged(agent="main", todos=todos):
            return _planned(trail, todos, event.at, "\n".join(todo.text for todo in todos))
        case TodoChanged(agent="main", todo=todo):
            # Each stays in the trail, which is carried along with every event.
            entry = replace(todo, text=shortened(todo.text, TEXT_KEPT))
            return _planned(trail, with_entry(trail.todos, entry), event.at, entry.text)
        case Replied(agent="main", text=text) if text.strip():
            return _replied(trail, event)
        case _:
            return trail


def restarted(trail: Trail, source: Source) -> Trail:
    """The trail at a start: what was left running has ended with the process, unless that goes on."""
    goes_on = source in (Source.CLEAR, Source.COMPACT)
    return trail if goes_on or not trail.running else renewed(trail, running=())


def _bounded(text: str) -> str:
    """The beginning and the end of a long text: someone may be waiting, and a pasted log is no evidence."""
    if len(text) <= BEGINNING_READ + END_READ:
        return text
    return f"{text[:BEGINNING_READ]}\n{text[-END_READ:]}"


# ---------------------------------------------------------------- prompts, by letter and by transcript


def twin(trail: Trail, event: Prompt) -> Utterance | None:
    """What a letter told of this same prompt before the transcript showed it, or the other way round."""
    text = _asked(event.text)
    for said in trail.prompts:
        alike = said.text == text and (said.turn == event.turn or not said.turn or not event.turn)
        if alike and (said.record == event.record or told_by_hook(said.record) != told_by_hook(event.record)):
            return said
    return None


def told_by_hook(record: str) -> bool:
    """Whether a record id is a letter's, not a transcript's."""
    return record.startswith(LETTER)


def swapped(trail: Trail, before: Utterance, event: Prompt) -> Trail:
    """The trail in which the transcript's record of a prompt stands in place of the letter's."""
    after = replace(before, record=event.record, turn=event.turn or before.turn)
    first = after if trail.first_prompt == before else trail.first_prompt
    goal = after if trail.goal == before else trail.goal
    prompts = tuple(after if said is before else said for said in trail.prompts)
    return renewed(trail, first_prompt=first, goal=goal, prompts=prompts)


def _prompted(trail: Trail, event: Prompt) -> Trail:
    asked = _asked(event.text)
    said = Utterance(asked, event.at, event.record, event.turn)
    others = tuple(prompt for prompt in trail.prompts if prompt.record != event.record)
    ruled = rules(event.text)
    first, goal = trail.first_prompt, trail.goal
    # What is to be remembered is kept as a memory; it is nothing to work on.
    if not asked_to_remember(event.text):
        first = said if first is None or first.record == event.record else first
        goal = goal if goal and _goes_on(asked) else said
    answered = answer(trail.notes, event, trail.statements[-1] if trail.statements else None, trail.steps)
    notes = after_user(trail.notes, (*answered, *in_prompt(event, ruled, trail.steps)))
    prompts = (*others, said)[-PROMPTS_KEPT:]
    return _named(renewed(trail, first_prompt=first, goal=goal, prompts=prompts, notes=notes), event.text)


def _asked(prompt: str) -> str:
    return shortened(reader.asked(_bounded(prompt)), TEXT_KEPT)


def _goes_on(prompt: str) -> bool:
    """Whether a prompt leaves the goal as it is: it only says to go on, or how.

    A rule may be the way to ask for something: "can you list them, and make sure none is missing?"
    """
    rest = one_line(prompt)
    for rule in reader.constraints(prompt):
        if not reader.asks(rule):
            rest = rest.replace(one_line(rule), "")
    return reader.is_generic(prompt) or _words(rest) < _FEWEST_WORDS


def _words(text: str) -> int:
    """How many words there are in a text; of what is written without spaces, two signs are one."""
    return len(_SPACED.findall(text)) + len(_UNSPACED.findall(text)) // 2


_FEWEST_WORDS: Final = 3
_UNSPACED: Final = compiled(r"[\u3040-\u30ff\u3400-\u9fff]")
_SPACED: Final = compiled(r"[^\s\u3000-\u30ff\u3400-\u9fff\uff00-\uff65]+")


def _replied(trail: Trail, event: Replied) -> Trail:
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    notes = after_user(trail.notes, (reply(event, call, trail.steps),))
    return _named(renewed(trail, notes=notes), event.text)


def _stated(trail: Trail, event: AssistantText) -> Trail:
    said = Utterance(shortened(event.text, TEXT_KEPT), event.at, event.record)
    others = tuple(other for other in trail.statements if other.record != said.record)
    steps = trail.steps + (len(others) == len(trail.statements))
    return renewed(
        trail,
        statements=(*others, said)[-STATEMENTS_KEPT:],
        notes=after_statement(trail.notes, event, steps),
        mentions=mentions.counted(trail.mentions, mentions.in_text(event.text), steps),
        steps=steps,
    )


def _planned(trail: Trail, todos: tuple[Todo, ...], at: int, text: str) -> Trail:
    """The trail with its to-dos; a list that is told again as it was is no older and no newer for that."""
    if todos != trail.todos:
        trail = renewed(trail, todos=todos, planned_at=at, planned_step=trail.steps)
    return _named(trail, text)


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
        aim=aim(event.subject) if runs else Purpose.DO,
    )
    calls = (*trail.open_calls, opened)[-CALLS_KEPT:]
    if event.agent != MAIN:
        return renewed(trail, open_calls=calls)
    steps, found = trail.steps + 1, mentions.in_call(event, opened.changes)
    counted, commands = mentions.counted(trail.mentions, found, steps), trail.commands
    if runs:
        commands = _with_run(commands, CommandRun(opened.command, event.at, step=steps, aim=opened.aim))
    return renewed(trail, open_calls=calls, steps=steps, mentions=counted, commands=commands)


def _returned(trail: Trail, event: ToolReturned) -> Trail:
    if any(one.call == event.call for one in trail.running):
        trail = renewed(trail, running=background.ended(trail.running, event.call))
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    if call is None:
        return trail
    calls = tuple(other for other in trail.open_calls if other is not call)
    row = trail.files if call.agent == MAIN else trail.subagent_files
    for change in call.changes if event.ok else ():
        row = with_change(row, change, event.at, trail.steps)
    if call.agent != MAIN:
        return renewed(trail, open_calls=calls, subagent_files=row)
    commands = trail.commands
    if call.action is Action.RUN:
        commands = _with_run(commands, _ended(call, event, trail.steps))
    return renewed(trail, open_calls=calls, files=row, commands=commands)


def _ended(call: OpenCall, event: ToolReturned, step: int) -> CommandRun:
    # What we were asked for tells how other commands ended, not how this one did.
    output = "" if is_own_command(call.command) else event.text[-OUTPUT_READ:]
    ending = exit_meaning.ending(call.command, call.aim, output, event.exit_status, ok=event.ok)
    return CommandRun(
        command=call.command,
        at=event.at,
        ok=ending.ok,
        exit_status=event.exit_status,
        reason=ending.reason,
        tests=outcomes.tests(output),
        step=step,
        aim=call.aim,
    )


def _with_run(row: tuple[CommandRun, ...], run: CommandRun) -> tuple[CommandRun, ...]:
    """The same command again replaces what is known of it: a failure that later passed is no longer one."""
    form = shell.same(run.command)
    # There is at most one, and mostly the last: the command that has just been called.
    before = next((other for other in reversed(row) if shell.same(other.command) == form), None)
    times = before.times + (run.ok is None) if before else 1
    others = tuple(
        other for other in row if other is not before and not (other.ok is False and _is_over(other, run))
    )
    return (*others, run if times == run.times else replace(run, times=times))[-COMMANDS_KEPT:]


def _is_over(failed: CommandRun, run: CommandRun) -> bool:
    """Whether a failure counts no more after another run: it is done, or the same tests have failed anew."""
    tested_again = run.ok is False and run.tests is not None and failed.tests is not None
    done = exit_meaning.is_done(run)
    if (done or tested_again) and exit_meaning.made_good(failed.command, run.command):
        return True
    return done and retested(failed, run)


# ---------------------------------------------------------------- files


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
    return replace(change, path=path.removesuffix("/."), renamed_to=renamed_to)


def _changes(call: ToolCalled, root: str) -> Iterator[FileChange]:
    """Every file that a call would change or read."""
    if call.action is Action.RUN:
        yield from shell.edits(call.subject, root)
        yield from shell.reads(call.subject, root)
        return
    changes = patched(call.detail) if call.action in (Action.EDIT, Action.OTHER) else ()
    if changes:
        yield from changes
    elif call.action in TOUCHES and call.subject:
        yield FileChange(call.subject, call.action)


# ---------------------------------------------------------------- mentions


def _named(trail: Trail, text: str) -> Trail:
    found = mentions.in_text(text)
    return renewed(trail, mentions=mentions.counted(trail.mentions, found, trail.steps))
