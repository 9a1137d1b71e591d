"""List everything that a brief may say about a session: one item for each statement of its work state.

`select` chooses among them, `layout` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from holdfast.core.brief.brief_input import (
    GOAL_KIND,
    LEDGER,
    OTHERS,
    SINCE,
    BriefInput,
    Item,
    Reason,
    title_of_section,
)
from holdfast.core.brief.layout import readable
from holdfast.core.documents import ledger_brief
from holdfast.core.events.event import Action
from holdfast.core.evidence.command_notes import PUSHED, STASH
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.prose.cues import REMEMBERED
from holdfast.core.evidence.trail import Trail
from holdfast.core.text.strings import in_sentences, one_line, shortened
from holdfast.core.work.compute import LEFT_RUNNING, work_state
from holdfast.core.work.state import Statement, StatementSource, WorkState
from holdfast.lazy_dataclass import replace

GOAL_SCORE: Final = 5.0
"""The current request is told whatever else there is,"""
RULE_SCORE: Final = 0.4
"""a rule of the user is worth this at least, because forgetting one costs more than a line,"""
LATEST_SCORE: Final = 3.0
"""and so is what was said last, what failed last, what the user answered last,"""
DIGEST_SCORE: Final = 3.5
"""and what the agent or a model wrote down to be handed over."""
NOTICE_SCORE: Final = 8.0
"""Differences from how the session left things come before anything else that it says."""
LEDGER_SCORE: Final = 10.0
STATEMENT_CHARS: Final = 300
EDITED: Final = "Edited, not committed"
STASHED: Final = "Edited, then stashed"
CHANGED: Final = "Changed"
READ: Final = "Read last"
_SAME_PROCESS: Final = frozenset({Reason.COMPACT, Reason.LATE, Reason.CLEAR, Reason.SUMMARY, Reason.ASKED})
"""The reasons for which a brief goes to the same process that left something running."""
_BESIDE_SUMMARY: Final = {
    StatementSource.CHECK: 1.5,
    StatementSource.COMMAND: 1.2,
    StatementSource.COMMIT: 1.2,
    StatementSource.REPLY: 1.2,
    StatementSource.PLAN: 0.6,
    StatementSource.TODO: 0.8,
    StatementSource.EDIT: 0.8,
}
"""What counts more and less after a compaction: a harness's summary loses exact outcomes, and keeps plans."""
_RULE_SCORE: Final = 2.0
"""Repeating one of the user's rules costs a line; forgetting it costs the user's trust."""
_TODO_SCORE: Final = 1.0
"""What is left of the agent's own list is told whole, as far as its section has room."""
_NOW: Final = title_of_section(Section.NOW)
_FILES: Final = frozenset({StatementSource.EDIT, StatementSource.READ})
_NAMES_FILES: Final = _FILES | {StatementSource.GIT}
"""Statements that are about files as they are, whether or not one is gone."""
_FILE_SCORE: Final = 0.7
"""A file in a list says less than a sentence that is as likely to be needed."""
_HANDLE: Final = re.compile(rf"^{LEFT_RUNNING}: (.*) \([^()]*\)$")
_KEPT_PROMPTS: Final = 0.3
"""What an earlier prompt is worth where the harness itself restores it."""


def candidates(brief_input: BriefInput) -> Iterator[Item]:
    """Everything that could be said about the session, with scores."""
    yield from _ledger_lines(brief_input)
    yield from _world(brief_input)
    if brief_input.context:
        text = shortened(in_sentences(one_line(brief_input.context.text), STATEMENT_CHARS), STATEMENT_CHARS)
        at, record = brief_input.context.at, brief_input.context.record
        yield Item(_NOW, text, at, record, "context", score=LATEST_SCORE)
    state = state_of(brief_input)
    yield from _changed_files(brief_input, state)
    deleted = deleted_names(brief_input.session.trail)
    git = _GitSteps(_last_commit(state), _last_stash(state))
    latest = _latest(state, brief_input)
    for statement in _speakable(state, brief_input):
        score = _score(statement, brief_input)
        if statement.origin in _LATEST_SOURCES and statement in latest:
            score = max(score, LATEST_SCORE)
        item = _item(statement, score, brief_input, git)
        named = [] if statement.origin in _NAMES_FILES else names_in(item.text, deleted)
        if named and statement.section in (Section.NEXT, Section.NOW):
            continue
        yield replace(item, text=f"{item.text} (by now gone: {', '.join(named)})") if named else item


def _speakable(state: WorkState, brief_input: BriefInput) -> Iterator[Statement]:
    """The statements that may be told: the place alone says nothing, and a handle only serves its process."""
    if all(statement.origin is StatementSource.GIT for statement in state.statements):
        return
    for statement in state.statements:
        is_over = statement.origin is StatementSource.RUNNING and statement.section is not Section.NOW
        if not is_over or brief_input.reason in _SAME_PROCESS:
            yield statement


def state_of(brief_input: BriefInput) -> WorkState:
    """The work state of the session that a brief is about; of an empty one there is not even a place."""
    session = brief_input.session
    if session.trail.is_empty() and not brief_input.words:
        return WorkState()
    return work_state(
        session.trail, session.git, session.project, brief_input.words, weights=brief_input.weights
    )


def news(brief_input: BriefInput) -> Iterator[Item]:
    """What a model with its whole history cannot know."""
    yield from _world(brief_input)
    for path, mark in brief_input.marks.items():
        text = f"{brief_input.session.project.relative(path)}: {mark}"
        yield Item(SINCE, text, brief_input.now, "world", "since", score=NOTICE_SCORE)


def _ledger_lines(brief_input: BriefInput) -> Iterator[Item]:
    """The lines of the leading ledger, if there is one."""
    ledger = brief_input.leading_ledger
    if ledger is None:
        return
    for line in ledger_brief.ledger_lines(ledger, brief_input.now):
        score = LEDGER_SCORE if line.kind in ledger_brief.LEADING_KINDS else line.score / LEDGER_SCORE
        yield Item(LEDGER, line.text, ledger.saved_at, ledger.path, line.kind, line.key, score=score)


def _world(brief_input: BriefInput) -> Iterator[Item]:
    for notice in brief_input.notices:
        text = f"UNCONFIRMED: {notice}"
        yield Item(SINCE, text, brief_input.now, "world", "since", score=NOTICE_SCORE)
    for neighbour in brief_input.neighbours:
        yield Item(OTHERS, neighbour, brief_input.now, "store", "neighbour", score=NOTICE_SCORE)
    for line in brief_input.handoffs:
        yield Item(OTHERS, line, brief_input.now, "store", "handoff", score=NOTICE_SCORE)


def _changed_files(brief_input: BriefInput, state: WorkState) -> Iterator[Item]:
    """Files that were only read or named, and are not as they were."""
    edited = {statement.source for statement in state.statements if statement.origin is StatementSource.EDIT}
    for path, mark in brief_input.marks.items():
        if path not in edited:
            text = f"{brief_input.session.project.relative(path)}: UNCONFIRMED: {mark}"
            yield Item(SINCE, text, brief_input.now, "world", "since", score=1.0)


class _GitSteps(NamedTuple):
    """When the session last committed, and when it last stashed what it had not committed."""

    committed: int
    stashed: int


def _item(statement: Statement, score: float, brief_input: BriefInput, git: _GitSteps) -> Item:
    """The statement as an item, labelled where its section alone would mislead."""
    section = title_of_section(statement.section)
    kind = str(statement.kind or statement.origin)
    text = bare = _shown(statement.text)
    lead = path = ""
    match statement.origin:
        case StatementSource.EDIT if statement.section is Section.WHERE:
            # A changed file, in a list of files; one that differs from how it was left has its own line.
            if mark := brief_input.marks.get(statement.source):
                text = f"Edited {bare} — UNCONFIRMED: {mark}"
            elif statement.step > git.committed:
                section, path = _NOW, bare
                lead = EDITED if statement.step > git.stashed else STASHED
            else:
                lead, path = CHANGED, bare
        case StatementSource.READ:
            lead, path = READ, bare
        case StatementSource.RUNNING if brief_input.reason not in _SAME_PROCESS:
            text = _HANDLE.sub(r"Was left running: \1", bare)
        case StatementSource.PROMPT | StatementSource.PLAN if statement.section is Section.GOAL:
            if _is_current(statement, brief_input):
                kind = GOAL_KIND
            else:
                text = f"Earlier: {bare}"
        case _:
            pass
    return Item(section, text, statement.at, statement.source, kind, bare, lead, path, score)


@lru_cache(REMEMBERED)  # the two briefs of a compaction show the same statements
def _shown(text: str) -> str:
    """A statement's text as a brief shows it."""
    return readable(shortened(in_sentences(text, STATEMENT_CHARS), STATEMENT_CHARS))


def _is_current(request: Statement, brief_input: BriefInput) -> bool:
    """Whether a request of the user is the current one, not an earlier one."""
    goal = brief_input.session.trail.goal
    return goal is None or request.source == goal.record or request.at >= goal.at


def _latest(state: WorkState, brief_input: BriefInput) -> list[Statement]:
    """The end of the last message, the last failure, and the user's last answer about the current goal."""
    messages, goal = brief_input.session.trail.statements, brief_input.session.trail.goal
    last = messages[-1].record if messages else ""
    ends: list[Statement] = []
    failures: list[Statement] = []
    answers: list[Statement] = []
    for statement in state.statements:
        match statement.origin:
            case StatementSource.MESSAGE if statement.source == last:
                ends.append(statement)
            case StatementSource.CHECK if statement.section is Section.FAILURES:
                failures.append(statement)
            case StatementSource.REPLY if goal and statement.at >= goal.at:
                answers.append(statement)
            case _:
                pass
    # The statements of a section are in the order of time; answers are decisions or rules.
    return [*ends[-1:], *failures[-1:], *sorted(answers, key=lambda one: one.at)[-1:]]


_LATEST_SOURCES: Final = frozenset({StatementSource.MESSAGE, StatementSource.CHECK, StatementSource.REPLY})


def _last_commit(state: WorkState) -> int:
    """The step of the last commit that the session made."""
    commits = (row for row in state.statements if row.origin is StatementSource.COMMIT)
    return max((row.step for row in commits if not row.text.startswith(PUSHED)), default=-1)


def _last_stash(state: WorkState) -> int:
    """The step at which all edits were stashed that are there still."""
    stashes = (row for row in state.statements if row.origin is StatementSource.COMMAND)
    return max((row.step for row in stashes if row.heading == STASH), default=-1)


def _score(statement: Statement, brief_input: BriefInput) -> float:
    score = statement.worth * _FILE_SCORE if statement.origin in _FILES else statement.worth
    if statement.section is Section.RULES and statement.by_user:
        score *= _RULE_SCORE
    if brief_input.reason in (Reason.COMPACT, Reason.LATE, Reason.SUMMARY):
        score *= _BESIDE_SUMMARY.get(statement.origin, 1.0)
    if statement.origin is StatementSource.TODO and statement.section is not Section.DONE:
        score = max(score, _TODO_SCORE)
    goal = brief_input.session.trail.goal
    is_goal = goal is not None and statement.source == goal.record
    if statement.origin is StatementSource.DIGEST:
        return DIGEST_SCORE
    if is_goal and statement.place == 0 and statement.section is Section.GOAL:
        return GOAL_SCORE
    if statement.section is Section.RULES and statement.by_user:
        return max(score, RULE_SCORE)
    if brief_input.kept_by_harness.prompts and statement.origin is StatementSource.PROMPT and not is_goal:
        score *= _KEPT_PROMPTS
    return score


# ---------------------------------------------------------------- files that are gone


def deleted_names(trail: Trail) -> dict[str, re.Pattern[str]]:
    """The names of deleted and renamed files, each with a pattern that finds it in a text.

    A name that another, existing file also has is left out. So is a name without an extension: it is a word
    like any other, and a sentence with that word need not mean the file.
    """
    deleted = {touch.path for touch in trail.files if touch.action is Action.DELETE or touch.renamed_to}
    present_names = {_name_of(touch.path) for touch in trail.files if touch.path not in deleted}
    names = sorted({_name_of(path) for path in deleted} - present_names)
    return {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in names if "." in name[1:]}


def names_in(text: str, deleted: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The deleted files that a text names."""
    return [name for name, pattern in deleted.items() if pattern.search(text)]


def _name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]
