"""Kinds of notes: one table with everything that depends on what kind of statement a sentence is.

A row says how many notes of a kind are stored, how a newer one merges with them, what ends it, how fast it
ages, and where each document shows it. Brief, checkpoint, ledger, handoff, continuity and summary iterate
over the table. `prose` recognises the sentences; `notes` merges them.

A new kind takes a `NoteKind` and a row here, a rule in `prose.statement_rules`, and a line in
`prose.reader._RULES` that connects them.

The parts of documents are plain words here, because the documents are in packages above this one: the title
of a brief's section, the names of `LedgerPart` and `ContinuityPart` in lower case, the fields of
`HandoffWords`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Final, TypeAlias

from holdfast.lazy_dataclass import dataclass


class NoteKind(StrEnum):
    """What kind of statement a sentence is, by rule. The values are stored: never rename one."""

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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document shows a kind of note, and the label of each."""

    part: str
    label: str = ""
    unless: str = ""
    """The lower-case beginning of a sentence that needs no label."""

    def labelled(self, text: str) -> str:
        """The text with its label."""
        needs_none = self.unless and text.lower().startswith(self.unless)
        return text if needs_none else self.label + text


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceKind:
    """One row of the table."""

    kind: NoteKind
    section: Section
    stored: int
    """How many notes are stored with a session."""
    merge: Merge = Merge.REPEATED_MOVES
    ends: Ending = Ending.NOTHING
    ages: float = 0.0
    """How fast a note goes out of date, by steps; 0 for never."""
    in_prompts: bool = False
    """Whether the rule for it is also applied to what the user writes."""
    proposes: bool = False
    """Whether the user, by agreeing with the agent's message, agrees to it."""
    needs_files: bool = False
    """Whether it no longer applies once a file that it mentions is deleted."""
    brief: Place
    item: str
    """Its kind of item in a brief and in receipts, and the name of its weight."""
    weight: float
    """The highest score of an item, as a logarithm; `holdfast eval survival --tune` fits it."""
    heading: str = ""
    """Its heading in the digest of a checkpoint; empty if the digest does not show it."""
    ledger: Place | None = None
    handoff: Place | None = None
    """Part `open` is listed with `pending`, but only what was said since the last prompt."""
    continuity: Place | None = None
    worktree_only: bool = False
    """Whether the continuity shows it in the layer of its worktree, not in the one of the whole project."""


KindTable: TypeAlias = Mapping[NoteKind, EvidenceKind]

_ROWS: Final = (
    EvidenceKind(
        kind=NoteKind.CONSTRAINT,
        section=Section.RULES,
        stored=40,
        merge=Merge.FIRST_STAYS,
        brief=Place("Constraints"),
        item="constraint",
        weight=3.1,
        heading="Constraints",
        ledger=Place("constraints"),
        handoff=Place("request", "Rule: "),
        continuity=Place("notes"),
    ),
    EvidenceKind(
        kind=NoteKind.DECISION,
        section=Section.DECISIONS,
        stored=16,
        merge=Merge.SAME_SUBJECT,
        # A decision stays valid, but the latest one matters most.
        ages=0.25,
        proposes=True,
        needs_files=True,
        brief=Place("Decisions"),
        item="decision",
        weight=3.5,
        heading="Key Decisions",
        ledger=Place("decisions"),
        handoff=Place("concepts", "Decided: ", unless="deci"),
        continuity=Place("notes"),
    ),
    EvidenceKind(
        kind=NoteKind.NEXT,
        section=Section.NEXT,
        stored=6,
        merge=Merge.NEWEST_REPLACES,
        ends=Ending.DONE,
        ages=1.0,
        needs_files=True,
        brief=Place("State", "Next: "),
        item="next",
        weight=4.2,
        heading="Next Steps",
        ledger=Place("next"),
        handoff=Place("next"),
        continuity=Place("next"),
        worktree_only=True,
    ),
    EvidenceKind(
        kind=NoteKind.QUESTION,
        section=Section.QUESTIONS,
        stored=4,
        merge=Merge.NEWEST_REPLACES,
        ends=Ending.USER_WRITES,
        ages=1.0,
        proposes=True,
        brief=Place("Open questions"),
        item="question",
        weight=-0.6,
        heading="Open Questions",
        ledger=Place("questions"),
        handoff=Place("open", "Open: "),
    ),
    EvidenceKind(
        kind=NoteKind.CONFIRMED,
        section=Section.DONE,
        stored=8,
        merge=Merge.SAME_BUT_NUMBERS,
        ages=1.0,
        brief=Place("State", "Done: "),
        item="confirmed",
        weight=0.3,
        ledger=Place("done"),
        continuity=Place("confirmed"),
    ),
    EvidenceKind(
        kind=NoteKind.MEASURED,
        section=Section.DONE,
        stored=8,
        merge=Merge.SAME_BUT_NUMBERS,
        brief=Place("State", "Measured: "),
        item="measured",
        weight=1.2,
        heading="Measured",
        handoff=Place("concepts", "Measured: ", unless="measured"),
    ),
    EvidenceKind(
        kind=NoteKind.FAILED,
        section=Section.FAILURES,
        stored=8,
        ends=Ending.FIXED,
        # A failed attempt stays useful for longer than a step or a result.
        ages=0.5,
        brief=Place("State", "Tried and failed: "),
        item="tried",
        weight=3.0,
        continuity=Place("failed"),
    ),
    EvidenceKind(
        kind=NoteKind.UNTRIED,
        section=Section.NEXT,
        stored=6,
        needs_files=True,
        brief=Place("State", "Not tried yet: "),
        item="untried",
        weight=1.6,
        ledger=Place("questions", "Not tried yet: "),
        handoff=Place("pending", "Not tried yet: "),
        continuity=Place("untried"),
    ),
    EvidenceKind(
        kind=NoteKind.NEED,
        section=Section.WHERE,
        stored=6,
        in_prompts=True,
        brief=Place("State", "Needs: "),
        item="need",
        weight=2.7,
        heading="Prerequisites",
        continuity=Place("notes"),
    ),
)

KINDS: Final[KindTable] = {row.kind: row for row in _ROWS}
"""Every kind of note, in the order in which documents show the kinds that share a part."""
