"""Evidence: how each event changes a session's trail, by rule.

The trail holds what the user asked and ruled, the files and commands with their outcomes, what runs in the
background, and what was decided, measured and left open. The cost of one more event does not grow with the
session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Compacted,
    Event,
    LeftRunning,
    Origin,
    Prompt,
    Replied,
    Source,
    SubagentStopped,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
    map_text,
)
from holdfast.core.evidence import mentions
from holdfast.core.evidence.command_notes import after_command, resolved_note, without_undone
from holdfast.core.evidence.commands import exit_meaning, outcomes, shell
from holdfast.core.evidence.commands.exit_meaning import passes_failed_tests
from holdfast.core.evidence.commands.purpose import Purpose, purpose_of
from holdfast.core.evidence.commands.work_change import WorkChange
from holdfast.core.evidence.commands.work_record import work_changes
from holdfast.core.evidence.items import after_message, planned_items, requested_items
from holdfast.core.evidence.lineage import started_anew, without_done
from holdfast.core.evidence.notes import (
    after_prompt,
    after_reply,
    after_report,
    after_statement,
    after_summary,
    confirmed_in,
    reply_note,
    with_notes,
    with_plan,
)
from holdfast.core.evidence.patches import FileChange, changes_in_patch
from holdfast.core.evidence.prose import cues, reader
from holdfast.core.evidence.prose.lists import ItemState
from holdfast.core.evidence.prose.statement_rules import says_nothing
from holdfast.core.evidence.trail import (
    CALLS_KEPT,
    COMMAND_KEPT,
    COMMANDS_KEPT,
    FILES_KEPT,
    PROMPTS_KEPT,
    RUNNING_KEPT,
    STATEMENTS_KEPT,
    TASK_KEPT,
    TEXT_KEPT,
    WHOLE_KEPT,
    CommandRun,
    FileTouch,
    OpenCall,
    Running,
    Trail,
    Utterance,
    fast_replace,
    with_todo,
)
from holdfast.core.memory.memory import asked_to_remember
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import is_own_command

HOOK_PREFIXES: Final = ("hook:", "letter:")
"""How the record ids of hook events begin; the second is what a daemon of version 0.1.0 stores."""
BEGINNING_READ: Final = 12_000
END_READ: Final = 4_000
OUTPUT_READ: Final = 8_000


def follow(trail: Trail, event: Event, root: str = "") -> Trail:
    """The trail after one more event of a session whose worktree is `root`.

    The same event again gives the same trail.
    """
    if event.origin is Origin.HOLDFAST:
        return trail
    event = map_text(event, _bounded)
    match event:
        case ToolCalled():
            return _called(trail, event, root)
        case ToolReturned():
            return _returned(trail, with_call(trail.running, event), root)
        case LeftRunning(agent="main"):
            return fast_replace(trail, running=with_running(trail.running, trail.open_calls, event))
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(trail, event)
        case AssistantText(agent="main", text=text) if text.strip() and not says_nothing(text):
            return _stated(trail, event)
        case TodosChanged(agent="main") | TodoChanged(agent="main"):
            return _planned(trail, event)
        case Compacted(agent="main", summary=text) | SubagentStopped(agent="main", text=text) if text.strip():
            read = after_summary(trail, event) if isinstance(event, Compacted) else after_report(trail, event)
            return fast_replace(trail, notes=read)
        case Replied(agent="main", text=text) if text.strip():
            return _replied(trail, event)
        case _:
            return trail


def after_start(trail: Trail, source: Source) -> Trail:
    """The trail at a start: background commands ended with the process, unless it goes on."""
    goes_on = source in (Source.CLEAR, Source.COMPACT)
    return trail if goes_on or not trail.running else fast_replace(trail, running=())


def _bounded(text: str) -> str:
    """The beginning and end of a long text: an agent may be waiting, and a pasted log is no evidence."""
    if len(text) <= BEGINNING_READ + END_READ:
        return text
    return f"{text[:BEGINNING_READ]}\n{text[-END_READ:]}"


# ---------------------------------------------------------------- prompts, from hook events and transcripts


def same_prompt(trail: Trail, event: Prompt) -> Utterance | None:
    """The same prompt as reported by the other source: a hook event or the transcript."""
    text = _shortened_request(event.text)
    from_hook = is_hook_record(event.record)
    for prompt in trail.prompts:
        if prompt.inherited:
            continue
        alike = prompt.text == text and (prompt.turn == event.turn or not prompt.turn or not event.turn)
        if alike and (prompt.record == event.record or is_hook_record(prompt.record) != from_hook):
            return prompt
    return None


def is_hook_record(record: str) -> bool:
    """Whether a record id is a hook event's, not a transcript's."""
    return record.startswith(HOOK_PREFIXES)


def with_transcript_record(trail: Trail, before: Utterance, event: Prompt) -> Trail:
    """The trail with the transcript's record of a prompt in place of the hook event's."""
    after = replace(before, record=event.record, turn=event.turn or before.turn)
    first = after if trail.first_prompt == before else trail.first_prompt
    goal = after if trail.goal == before else trail.goal
    prompts = tuple(after if prompt is before else prompt for prompt in trail.prompts)
    record, former = event.record, before.record
    notes = tuple(replace(note, record=record) if note.record == former else note for note in trail.notes)
    items = tuple(replace(item, record=record) if item.record == former else item for item in trail.items)
    return fast_replace(trail, first_prompt=first, goal=goal, prompts=prompts, notes=notes, items=items)


def _prompted(trail: Trail, event: Prompt) -> Trail:
    request = _shortened_request(event.text)
    utterance = Utterance(request, event.at, event.record, event.turn)
    goes_on = reader.goes_on(request) or bool(asked_to_remember(event.text)) or _corrects(trail, request)
    if trail.inherits and not goes_on and all(prompt.inherited for prompt in trail.prompts):
        trail = started_anew(trail)
    others = tuple(prompt for prompt in trail.prompts if prompt.record != event.record)
    first, goal = trail.first_prompt, trail.goal
    # What the user asks to remember becomes a memory, not a goal; a bare `/init` says nothing.
    if not asked_to_remember(event.text) and not reader.is_bare_command(request):
        first = utterance if first is None or first.record == event.record else first
        goal = goal if goal and goes_on else utterance
    notes = after_prompt(trail, event, goes_on=goal is not utterance)
    turns = trail.turns + (len(others) == len(trail.prompts))
    items = requested_items(event.text, event.at, event.record)
    items = items if items or goal is utterance else trail.items
    prompts = (*others, utterance)[-PROMPTS_KEPT:]
    return _with_mentions(
        fast_replace(
            trail, first_prompt=first, goal=goal, prompts=prompts, notes=notes, turns=turns, items=items
        ),
        event.text,
    )


def _corrects(trail: Trail, request: str) -> bool:
    """Whether a prompt only corrects how an item of the user's list is done: the list stays in force."""
    is_unfinished = any(item.state is not ItemState.DONE for item in trail.items)
    return is_unfinished and cues.corrects(request)


def _shortened_request(prompt: str) -> str:
    return shortened(reader.request_in(_bounded(prompt)), TEXT_KEPT)


def _replied(trail: Trail, event: Replied) -> Trail:
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    notes = after_reply(trail.notes, (reply_note(event, call, trail.steps),))
    if call and call.action is Action.ASK and event.text.lower().startswith("approved"):
        trail = _with_plan(fast_replace(trail, notes=notes), call.whole, event)
        return _with_mentions(trail, event.text)
    return _with_mentions(fast_replace(trail, notes=notes), event.text)


def _with_plan(trail: Trail, plan: str, event: Replied) -> Trail:
    """The trail after the user approved a plan: it is the request now, with its steps as items."""
    items = planned_items(plan, event.at, event.record)
    # Where the plan is in a file, only the question says what it is about.
    outline = reader.plan_outline(plan) or event.question.removeprefix("Plan: ")
    if not outline:
        return fast_replace(trail, items=items or trail.items)
    goal = Utterance(shortened(outline, TEXT_KEPT), event.at, event.record)
    notes = with_plan(trail, outline, event)
    return fast_replace(trail, goal=goal, notes=notes, items=items or trail.items)


def _stated(trail: Trail, event: AssistantText) -> Trail:
    statement = Utterance(shortened(event.text, TEXT_KEPT), event.at, event.record)
    others = tuple(other for other in trail.statements if other.record != statement.record)
    steps = trail.steps + (len(others) == len(trail.statements))
    notes = after_statement(trail, event, steps)
    return fast_replace(
        trail,
        statements=(*others, statement)[-STATEMENTS_KEPT:],
        notes=notes,
        items=after_message(trail.items, event.text),
        todos=without_done(trail.todos, confirmed_in(notes, event.record)),
        mentions=mentions.with_mentions(trail.mentions, mentions.in_text(event.text), steps),
        steps=steps,
    )


def _planned(trail: Trail, event: TodosChanged | TodoChanged) -> Trail:
    """The trail with the changed to-dos; an unchanged list keeps its time and step."""
    if isinstance(event, TodosChanged):
        todos, text = event.todos, "\n".join(todo.text for todo in event.todos)
    else:
        # All entries stay in the trail, which is stored after every event.
        text = shortened(event.todo.text, TEXT_KEPT)
        todos = with_todo(trail.todos, replace(event.todo, text=text))
    if todos != trail.todos:
        trail = fast_replace(trail, todos=todos, planned_at=event.at, planned_step=trail.steps)
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
        command=shell.display_form(event.subject, COMMAND_KEPT) if runs else "",
        changes=tuple(_absolute(root, change) for change in _changes(event, root) if _is_in_one_line(change)),
        task=shortened(one_line(event.subject), TASK_KEPT) if event.action is Action.DELEGATE else "",
        aim=purpose_of(event.subject) if runs else Purpose.DO,
        whole=_whole(event),
    )
    calls = (*trail.open_calls, opened)[-CALLS_KEPT:]
    if event.agent != MAIN:
        return fast_replace(trail, open_calls=calls)
    steps, commands = trail.steps + 1, trail.commands
    all_mentions = mentions.with_mentions(trail.mentions, mentions.in_call(event, opened.changes), steps)
    if runs:
        commands = _with_run(commands, CommandRun(opened.command, event.at, step=steps, aim=opened.aim))
    return fast_replace(trail, open_calls=calls, steps=steps, mentions=all_mentions, commands=commands)


def _whole(event: ToolCalled) -> str:
    """A call's text as far as its result can only be understood with it: a commit's message, a plan."""
    if event.action is Action.RUN:
        return event.subject[:WHOLE_KEPT] if _RECORDS_WORK.search(event.subject) else ""
    return event.detail[:WHOLE_KEPT] if event.action is Action.ASK else ""


_SETTLES_MERGE: Final = compiled(r"\bgit (?:commit|add|merge --abort|rebase --(?:abort|continue))\b")
_MERGES: Final = compiled(r"\bgit (?:merge|rebase|cherry-pick|pull|stash pop)\b")
_RECORDS_WORK: Final = compiled(r"\b(?:git|gh|bd)\b")


def _returned(trail: Trail, event: ToolReturned, root: str) -> Trail:
    if any(running.call == event.call for running in trail.running):
        trail = fast_replace(trail, running=without_ended(trail.running, event.call))
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    if call is None:
        return trail
    calls = tuple(other for other in trail.open_calls if other is not call)
    files = trail.files if call.agent == MAIN else trail.subagent_files
    work: tuple[WorkChange, ...] = ()
    if call.action is Action.RUN:
        work = work_changes(call.whole or call.command, event.text, ok=event.ok, project=root)
        files = without_undone(files, work, trail.notes)
    for change in call.changes if event.ok else ():
        files = with_file_change(files, change, event.at, trail.steps)
    if call.agent != MAIN:
        return fast_replace(trail, open_calls=calls, subagent_files=files)
    commands, notes = trail.commands, trail.notes
    if call.action is Action.RUN:
        ended = _ended(call, event, trail.steps)
        over = [run for run in commands if run.ok is False and _is_over(run, ended)]
        commands = _with_run(commands, ended)
        if ended.ok and _SETTLES_MERGE.search(call.command):
            commands = tuple(
                run for run in commands if run.ok is not False or not _MERGES.search(run.command)
            )
        notes = after_command(trail, call, event, ended, work)
        lessons = (resolved_note(run, ended, event.record, trail.turns) for run in over)
        notes = with_notes(notes, [lesson for lesson in lessons if lesson])
    return fast_replace(trail, open_calls=calls, files=files, commands=commands, notes=notes)


def _ended(call: OpenCall, event: ToolReturned, step: int) -> CommandRun:
    # The output of a Holdfast command tells how other commands ended, not how this one did.
    output = "" if is_own_command(call.command) else event.text[-OUTPUT_READ:]
    meaning = exit_meaning.interpret_exit(call.command, call.aim, output, event.exit_status, ok=event.ok)
    return CommandRun(
        command=call.command,
        at=event.at,
        ok=meaning.ok,
        exit_status=event.exit_status,
        reason=meaning.reason,
        tests=outcomes.count_tests(output),
        step=step,
        aim=call.aim,
    )


def _with_run(runs: tuple[CommandRun, ...], run: CommandRun) -> tuple[CommandRun, ...]:
    """The runs with a new one, which replaces an earlier run of the command and failures it resolves."""
    form = shell.normal_form(run.command)
    # There is at most one, usually the last: the command that was just called.
    before = next((other for other in reversed(runs) if shell.normal_form(other.command) == form), None)
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
    changes = changes_in_patch(call.detail) if call.action in (Action.EDIT, Action.OTHER) else ()
    if changes:
        yield from changes
    elif call.action in FILE_ACTIONS and call.subject:
        yield FileChange(call.subject, call.action)


# ---------------------------------------------------------------- mentions


def _with_mentions(trail: Trail, text: str) -> Trail:
    new = mentions.in_text(text)
    return fast_replace(trail, mentions=mentions.with_mentions(trail.mentions, new, trail.steps))


# ---------------------------------------------------------------- the files of a trail

FILE_ACTIONS: Final = {Action.READ: 0, Action.EDIT: 1, Action.WRITE: 2, Action.DELETE: 3}
"""The actions on a file, with their strength."""


def with_file_change(
    touches: tuple[FileTouch, ...], change: FileChange, at: int, step: int
) -> tuple[FileTouch, ...]:
    """The files after one more change."""
    if change.action not in FILE_ACTIONS:
        return tuple(touch for touch in touches if not _exists_again(touch, change.path, whole=change.whole))
    if change.renamed_to:
        touches = tuple(_moved_with(touch, change.path, change.renamed_to) for touch in touches)
    elif change.action is Action.DELETE:
        touches = tuple(_deleted_with(touch, change.path) for touch in touches)
    touches = _with_touch(touches, FileTouch(change.path, change.action, 1, at, step, change.renamed_to))
    if change.renamed_to:
        touches = _with_touch(touches, FileTouch(change.renamed_to, Action.EDIT, 1, at, step))
    return touches


def _with_touch(touches: tuple[FileTouch, ...], touch: FileTouch) -> tuple[FileTouch, ...]:
    before = next((other for other in touches if other.path == touch.path), None)
    action, times = touch.action, 1
    if touch.renamed_to:
        action = Action.DELETE
    # A deleted file that is written again exists again,
    elif (
        before and before.action is not Action.DELETE and FILE_ACTIONS[before.action] >= FILE_ACTIONS[action]
    ):
        times = before.times + (before.action is action)
        action = before.action
    if action is not Action.DELETE:
        # and so does its folder.
        touches = tuple(
            other for other in touches if other is before or not _exists_again(other, touch.path, whole=False)
        )
    after = replace(touch, action=action, times=times)
    return _capped_files((*(other for other in touches if other is not before), after))


def _exists_again(touch: FileTouch, path: str, *, whole: bool) -> bool:
    """Whether a deleted path exists again with `path`: as itself or its parent; with `whole` also inside."""
    if touch.action is not Action.DELETE or touch.renamed_to:
        return False
    around = touch.path == path or path.startswith(f"{touch.path}/")
    # Where the project's root is unknown, paths are relative to it.
    inside = touch.path[:1] not in "/~" if path == "." else touch.path.startswith(f"{path}/")
    return around or (whole and inside)


def _deleted_with(touch: FileTouch, folder: str) -> FileTouch:
    """The file, deleted if it was in the deleted folder."""
    inside = touch.path.startswith(f"{folder}/") and not touch.renamed_to
    return replace(touch, action=Action.DELETE, times=1) if inside else touch


def _moved_with(touch: FileTouch, folder: str, to: str) -> FileTouch:
    """The file, at its new path if it was in the moved folder."""
    inside = touch.path.startswith(f"{folder}/") and touch.action is not Action.DELETE
    return replace(touch, path=to + touch.path[len(folder) :]) if inside else touch


def _capped_files(touches: tuple[FileTouch, ...]) -> tuple[FileTouch, ...]:
    """At most `FILES_KEPT` files; the oldest that was only read is dropped first."""
    if len(touches) <= FILES_KEPT:
        return touches
    victim = next((touch for touch in touches if touch.action is Action.READ), touches[0])
    return tuple(touch for touch in touches if touch is not victim)


# ---------------------------------------------------------------- background work

_HANDLE: Final = re.compile(r"[\w.:-]{1,80}(?: [\w.:-]{1,80})?")
"""An id, with at most one word before it: a transcript may contain anything, and a brief shows the handle."""


def with_running(
    entries: tuple[Running, ...], calls: Iterable[OpenCall], event: LeftRunning
) -> tuple[Running, ...]:
    """The background work with one more entry, whose command or task is taken from the open calls."""
    call = next((call for call in calls if call.call == event.call), None)
    is_known = any(running.call == event.call for running in entries)
    if call is None or is_known or not (call.command or call.task) or not _HANDLE.fullmatch(event.handle):
        return entries
    # A handle that is used again no longer belongs to the earlier entry.
    others = tuple(running for running in entries if running.handle != event.handle)
    return _capped_running((*others, Running(event.call, event.handle, event.at, call.command, call.task)))


def _capped_running(entries: tuple[Running, ...]) -> tuple[Running, ...]:
    """At most `RUNNING_KEPT` entries; finished ones go first, since a server outlives many subagents."""
    if len(entries) <= RUNNING_KEPT:
        return entries
    victim = next((running for running in entries if running.over), entries[0])
    return tuple(running for running in entries if running is not victim)


def with_call(entries: Iterable[Running], event: ToolReturned) -> ToolReturned:
    """The event with its call looked up, if it names only a handle."""
    if not event.handle:
        return event
    call = next((running.call for running in entries if running.handle == event.handle), "")
    return replace(event, call=call)


def without_ended(entries: tuple[Running, ...], call: str) -> tuple[Running, ...]:
    """The background work after a call ended: a command is removed, a subagent is marked as over."""
    after = (replace(running, over=True) if running.call == call else running for running in entries)
    return tuple(running for running in after if running.task or not running.over)
