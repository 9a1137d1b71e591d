"""Kinds of notes: one table with everything that depends on what kind of statement a sentence is.

A row says how many notes of a kind are stored, how a newer one merges with them, what ends it, and its
section of the work state. `prose` recognises the sentences; `notes` merges them.

A new kind takes a `NoteKind` and a row here, a rule in `prose.statement_rules`, and a line in
`prose.reader._RULES` that connects them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Final, TypeAlias

from holdfast.lazy_dataclass import dataclass


class NoteKind(StrEnum):
    """What kind of statement a sentence is, by rule. The values are stored: never rename one."""

    REQUEST = "request"
    """What the user asks for or says about the work, other than rules."""
    CONSTRAINT = "constraint"
    """A rule of the user for the work; no question, no report."""
    DECISION = "decision"
    """The sentences that state a choice, with its reason if there is one."""
    NEXT = "next"
    """What remains to be done: in words, under a heading, or as an open checkbox; never narration."""
    UNTRIED = "untried"
    """Ideas that were named and not tried."""
    QUESTION = "question"
    """Questions to the user, or left open at the end; no rhetorical ones."""
    CONFIRMED = "confirmed"
    """What is reported to work, pass or be fixed; not what should, would or must."""
    FAILED = "failed"
    """What was tried and is reported as failed."""
    MEASURED = "measured"
    """Sentences with a measured number and its unit; not line numbers, versions, dates, ports or limits."""
    FINDING = "found"
    """What the agent explains, finds out or answers, where no other kind is sure."""
    DOING = "doing"
    """What the agent is doing or about to do; the next message ends it."""
    NEED = "need"
    """What is required to run the work: a service, a version, a variable, a first step."""


class Section(StrEnum):
    """What a statement tells the person who takes over the work."""

    GOAL = "goal"
    RULES = "rules"
    DONE = "done"
    NOW = "now"
    NEXT = "next"
    DECISIONS = "decisions"
    FAILURES = "failures"
    QUESTIONS = "questions"
    WHERE = "where"


class Merge(Enum):
    """What a new note does to older notes of its kind. If there are too many, the oldest is dropped."""

    REPEATED_MOVES = auto()
    """A note with the same text moves to the end."""
    FIRST_STAYS = auto()
    """A repeated note is ignored. If there are too many, one from the middle is dropped."""
    NEWEST_REPLACES = auto()
    """The notes of a statement replace all older ones."""
    SAME_BUT_NUMBERS = auto()
    """It replaces a note that differs only in its numbers: a later result of the same check."""
    SAME_SUBJECT = auto()
    """It replaces a note about the same things; a user's answer, one to the same question."""


class Ending(Enum):
    """What ends a note, apart from its age and newer notes of its kind."""

    NOTHING = auto()
    DONE = auto()
    """A statement says that it is done."""
    FIXED = auto()
    """If it is a current failure: a statement says that it is fixed, or how the same check ends now."""
    USER_WRITES = auto()
    """The user writes anything, which answers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceKind:
    """One row of the table."""

    kind: NoteKind
    section: Section
    stored: int
    """How many notes are stored with a session."""
    merge: Merge = Merge.REPEATED_MOVES
    ends: Ending = Ending.NOTHING


KindTable: TypeAlias = Mapping[NoteKind, EvidenceKind]

_ROWS: Final = (
    EvidenceKind(
        kind=NoteKind.REQUEST,
        section=Section.GOAL,
        stored=60,
        merge=Merge.FIRST_STAYS,
    ),
    EvidenceKind(
        kind=NoteKind.FINDING,
        section=Section.DECISIONS,
        stored=120,
    ),
    EvidenceKind(
        kind=NoteKind.DOING,
        section=Section.NOW,
        stored=20,
    ),
    EvidenceKind(
        kind=NoteKind.CONSTRAINT,
        section=Section.RULES,
        stored=50,
        merge=Merge.FIRST_STAYS,
    ),
    EvidenceKind(
        kind=NoteKind.DECISION,
        section=Section.DECISIONS,
        stored=48,
        merge=Merge.SAME_SUBJECT,
    ),
    EvidenceKind(
        kind=NoteKind.NEXT,
        section=Section.NEXT,
        stored=12,
        merge=Merge.NEWEST_REPLACES,
        ends=Ending.DONE,
    ),
    EvidenceKind(
        kind=NoteKind.QUESTION,
        section=Section.QUESTIONS,
        stored=6,
        merge=Merge.NEWEST_REPLACES,
        ends=Ending.USER_WRITES,
    ),
    EvidenceKind(
        kind=NoteKind.CONFIRMED,
        section=Section.DONE,
        stored=90,
        merge=Merge.SAME_BUT_NUMBERS,
    ),
    EvidenceKind(
        kind=NoteKind.MEASURED,
        section=Section.DONE,
        stored=8,
        merge=Merge.SAME_BUT_NUMBERS,
    ),
    EvidenceKind(
        kind=NoteKind.FAILED,
        section=Section.FAILURES,
        stored=40,
        ends=Ending.FIXED,
    ),
    EvidenceKind(
        kind=NoteKind.UNTRIED,
        section=Section.NEXT,
        stored=6,
    ),
    EvidenceKind(
        kind=NoteKind.NEED,
        section=Section.WHERE,
        stored=12,
    ),
)

KINDS: Final[KindTable] = {row.kind: row for row in _ROWS}
"""Every kind of note, in the order in which documents show the kinds that share a part."""
