"""Evidence: how each event changes a session's trail, by rule.

The trail holds what the user asked and ruled, the files and commands with their outcomes, and what was
decided, measured and left open. The cost of one more event does not grow with the session.
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
from holdfast.core.evidence.commands.retests import passes_failed_tests
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

HOOK_PREFIX: Final = "letter:"
"""How the record ids of hook events begin."""
BEGINNING_READ: Final = 12_000
END_READ: Final = 4_000
OUTPUT_READ: Final = 8_000


def follow(trail: Trail, event: Event, root: str = "") -> Trail:
    """The trail after one more event of a session whose worktree is `root`.

    The same event again gives the same trail.
    """
    if event.origin is Origin.OURS:
        return trail
    event = map_text(event, _bounded)
    match event:
        case ToolCalled():
            return _called(trail, event, root)
        case ToolReturned():
            return _returned(trail, background.with_call(trail.running, event))
        case LeftRunning(agent="main"):
            return renewed(trail, running=background.with_running(trail.running, trail.open_calls, event))
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(trail, event)
        case AssistantText(agent="main", text=text) if text.strip() and not says_nothing(text):
            return _stated(trail, event)
        case TodosChanged(agent="main", todos=todos):
            return _planned(trail, todos, event.at, "\n".join(todo.text for todo in todos))
        case TodoChanged(agent="main", todo=todo):
            # All entries stay in the trail, which is stored after every event.
            entry = replace(todo, text=shortened(todo.text, TEXT_KEPT))
            return _planned(trail, with_entry(trail.todos, entry), event.at, entry.text)
        case Replied(agent="main", text=text) if text.strip():
            return _replied(trail, event)
        case _:
            return trail


def restarted(trail: Trail, source: Source) -> Trail:
    """The trail at a start: background commands ended with the process, unless it goes on."""
    goes_on = source in (Source.CLEAR, Source.COMPACT)
    return trail if goes_on or not trail.running else renewed(trail, running=())


def _bounded(text: str) -> str:
    """The beginning and end of a long text: an agent may be waiting, and a pasted log is no evidence."""
    if len(text) <= BEGINNING_READ + END_READ:
        return text
    return f"{text[:BEGINNING_READ]}\n{text[-END_READ:]}"


# ---------------------------------------------------------------- prompts, from hook events and transcripts


def twin(trail: Trail, event: Prompt) -> Utterance | None:
    """The same prompt as reported by the other source: a hook event or the transcript."""
    text = _asked(event.text)
    from_hook = is_hook_record(event.record)
    for prompt in trail.prompts:
        alike = prompt.text == text and (prompt.turn == event.turn or not prompt.turn or not event.turn)
        if alike and (prompt.record == event.record or is_hook_record(prompt.record) != from_hook):
            return prompt
    return None


def is_hook_record(record: str) -> bool:
    """Whether a record id is a hook event's, not a transcript's."""
    return record.startswith(HOOK_PREFIX)


def with_transcript_record(trail: Trail, before: Utterance, event: Prompt) -> Trail:
    """The trail with the transcript's record of a prompt in place of the hook event's."""
    after = replace(before, record=event.record, turn=event.turn or before.turn)
    first = after if trail.first_prompt == before else trail.first_prompt
    goal = after if trail.goal == before else trail.goal
    prompts = tuple(after if prompt is before else prompt for prompt in trail.prompts)
    return renewed(trail, first_prompt=first, goal=goal, prompts=prompts)


def _prompted(trail: Trail, event: Prompt) -> Trail:
    asked = _asked(event.text)
    utterance = Utterance(asked, event.at, event.record, event.turn)
    others = tuple(prompt for prompt in trail.prompts if prompt.record != event.record)
    constraints = rules(event.text)
    first, goal = trail.first_prompt, trail.goal
    # What the user asks to remember becomes a memory, not a goal.
    if not asked_to_remember(event.text):
        first = utterance if first is None or first.record == event.record else first
        goal = goal if goal and _goes_on(asked) else utterance
    answers = answer(trail.notes, event, trail.statements[-1] if trail.statements else None, trail.steps)
    notes = after_user(trail.notes, (*answers, *in_prompt(event, constraints, trail.steps)))
    prompts = (*others, utterance)[-PROMPTS_KEPT:]
    return _with_mentions(
        renewed(trail, first_prompt=first, goal=goal, prompts=prompts, notes=notes), event.text
    )


def _asked(prompt: str) -> str:
    return shortened(reader.asked(_bounded(prompt)), TEXT_KEPT)


def _goes_on(prompt: str) -> bool:
    """Whether a prompt leaves the goal unchanged: it only says to go on, or how.

    A sentence with a rule may also ask for work: "can you list them, and make sure none is missing?"
    """
    rest = one_line(prompt)
    for rule in reader.constraints(prompt):
        if not reader.asks(rule):
            rest = rest.replace(one_line(rule), "")
    return reader.is_generic(prompt) or _words(rest) < _FEWEST_WORDS


def _words(text: str) -> int:
    """The number of words in a text; in scripts without spaces, two characters count as a word."""
    return len(_SPACED.findall(text)) + len(_UNSPACED.findall(text)) // 2


_FEWEST_WORDS: Final = 3
_UNSPACED: Final = compiled(r"[\u3040-\u30ff\u3400-\u9fff]")
_SPACED: Final = compiled(r"[^\s\u3000-\u30ff\u3400-\u9fff\uff00-\uff65]+")


def _replied(trail: Trail, event: Replied) -> Trail:
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    notes = after_user(trail.notes, (reply(event, call, trail.steps),))
    return _with_mentions(renewed(trail, notes=notes), event.text)


def _stated(trail: Trail, event: AssistantText) -> Trail:
    statement = Utterance(shortened(event.text, TEXT_KEPT), event.at, event.record)
    others = tuple(other for other in trail.statements if other.record != statement.record)
    steps = trail.steps + (len(others) == len(trail.statements))
    return renewed(
        trail,
        statements=(*others, statement)[-STATEMENTS_KEPT:],
        notes=after_statement(trail.notes, event, steps),
        mentions=mentions.counted(trail.mentions, mentions.in_text(event.text), steps),
        steps=steps,
    )


def _planned(trail: Trail, todos: tuple[Todo, ...], at: int, text: str) -> Trail:
    """The trail with these to-dos; an unchanged list keeps its time and step."""
    if todos != trail.todos:
        trail = renewed(trail, todos=todos, planned_at=at, planned_step=trail.steps)
    return _with_mentions(trail, text)


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
        changes=tuple(_absolute(root, change) for change in _changes(event, root) if _is_in_one_line(change)),
        task=shortened(one_line(event.subject), TASK_KEPT) if event.action is Action.DELEGATE else "",
        aim=aim(event.subject) if runs else Purpose.DO,
    )
    calls = (*trail.open_calls, opened)[-CALLS_KEPT:]
    if event.agent != MAIN:
        return renewed(trail, open_calls=calls)
    steps, commands = trail.steps + 1, trail.commands
    named = mentions.counted(trail.mentions, mentions.in_call(event, opened.changes), steps)
    if runs:
        commands = _with_run(commands, CommandRun(opened.command, event.at, step=steps, aim=opened.aim))
    return renewed(trail, open_calls=calls, steps=steps, mentions=named, commands=commands)


def _returned(trail: Trail, event: ToolReturned) -> Trail:
    if any(running.call == event.call for running in trail.running):
        trail = renewed(trail, running=background.ended(trail.running, event.call))
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    if call is None:
        return trail
    calls = tuple(other for other in trail.open_calls if other is not call)
    files = trail.files if call.agent == MAIN else trail.subagent_files
    for change in call.changes if event.ok else ():
        files = with_change(files, change, event.at, trail.steps)
    if call.agent != MAIN:
        return renewed(trail, open_calls=calls, subagent_files=files)
    commands = trail.commands
    if call.action is Action.RUN:
        commands = _with_run(commands, _ended(call, event, trail.steps))
    return renewed(trail, open_calls=calls, files=files, commands=commands)


def _ended(call: OpenCall, event: ToolReturned, step: int) -> CommandRun:
    # The output of a Holdfast command tells how other commands ended, not how this one did.
    output = "" if is_own_command(call.command) else event.text[-OUTPUT_READ:]
    meaning = exit_meaning.ending(call.command, call.aim, output, event.exit_status, ok=event.ok)
    return CommandRun(
        command=call.command,
        at=event.at,
        ok=meaning.ok,
        exit_status=event.exit_status,
        reason=meaning.reason,
        tests=outcomes.tests(output),
        step=step,
        aim=call.aim,
    )


def _with_run(runs: tuple[CommandRun, ...], run: CommandRun) -> tuple[CommandRun, ...]:
    """The runs with a new one, which replaces an earlier run of the command and failures it resolves."""
    form = shell.same(run.command)
    # There is at most one, usually the last: the command that was just called.
    before = next((other for other in reversed(runs) if shell.same(other.command) == form), None)
    times = before.times + (run.ok is None) if before else 1
    others = tuple(
        other for other in runs if other is not before and not (other.ok is False and _is_over(other, run))
    )
    return (*others, run if times == run.times else replace(run, times=times))[-COMMANDS_KEPT:]


def _is_over(failed: CommandRun, run: CommandRun) -> bool:
    """Whether a later run resolves a failure: it succeeded, or the same tests failed again."""
    tested_again = run.ok is False and run.tests is not None and failed.tests is not None
    done = exit_meaning.is_done(run)
    if (done or tested_again) and exit_meaning.is_resolved_by(failed.command, run.command):
        return True
    return done and passes_failed_tests(failed, run)


# ---------------------------------------------------------------- files


def _is_in_one_line(change: FileChange) -> bool:
    """Whether its paths have no line break, and so cannot look like several lines of a brief."""
    return all(len(f"{path}.".splitlines()) == 1 for path in (change.path, change.renamed_to))


def _absolute(root: str, change: FileChange) -> FileChange:
    """The change with absolute paths: tools use these, commands name files relative to the root."""
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


def _with_mentions(trail: Trail, text: str) -> Trail:
    named = mentions.in_text(text)
    return renewed(trail, mentions=mentions.counted(trail.mentions, named, trail.steps))
