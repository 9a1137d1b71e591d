"""The table of kinds of notes: a kind that is in it is stored, merged and shown everywhere it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from holdfast.core.documents.continuity import ContinuityPart
from holdfast.core.documents.continuity_summary import layers_of
from holdfast.core.documents.handoff import TITLES, HandoffHead
from holdfast.core.documents.handoff_content import HandoffWords, fill_handoff
from holdfast.core.documents.ledger import LedgerPart
from holdfast.core.documents.ledger_content import SessionContent, fill_ledger
from holdfast.core.evidence.kinds import KINDS, EvidenceKind, KindTable, Merge, NoteKind, Section
from holdfast.core.evidence.notes import with_notes
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import Note
from holdfast.core.session.checkpoint import digest
from holdfast.core.session.session import Session, Trigger
from holdfast.core.work.compute import work_state
from holdfast.core.work.lines import SECTION_TITLES
from tests.core.scenes import MINUTE, NOON, worked
from tests.tables import every_row


def made_up_kind() -> NoteKind:
    """A kind that no module can know by name."""
    kind = str.__new__(NoteKind, "risk")
    kind._name_, kind._value_ = "RISK", "risk"
    return kind


RISK: Final = made_up_kind()
ROW: Final = EvidenceKind(
    kind=RISK,
    section=Section.QUESTIONS,
    stored=3,
)
TEXT: Final = "the vendor may drop the old endpoint in May"
LEDGER_PARTS: Final = {
    Section.RULES: LedgerPart.CONSTRAINTS,
    Section.DONE: LedgerPart.DONE,
    Section.NOW: LedgerPart.NOW,
    Section.NEXT: LedgerPart.NEXT,
    Section.DECISIONS: LedgerPart.DECISIONS,
    Section.FAILURES: LedgerPart.NOW,
    Section.QUESTIONS: LedgerPart.QUESTIONS,
    Section.WHERE: LedgerPart.IDS,
}
"""Where a ledger shows each section; the goal is the user's alone, and comes from no note."""
HANDOFF_TITLES: Final = {
    Section.RULES: "Request and Intent",
    Section.DONE: "Problems Solved",
    Section.NOW: "Current Work",
    Section.NEXT: "Next Step",
    Section.DECISIONS: "Key Concepts",
    Section.FAILURES: "Current Work",
    Section.QUESTIONS: "Pending",
    Section.WHERE: "Current Work",
}


def table(row: EvidenceKind = ROW) -> KindTable:
    return {**KINDS, row.kind: row}


def at_risk(at: int = NOON + 2 * MINUTE) -> Session:
    """A session with a note of the made-up kind, by default from after its last prompt."""
    before = worked()
    note = Note(RISK, TEXT, at, "a1", before.trail.steps)
    return replace(before, trail=replace(before.trail, notes=(*before.trail.notes, note)))


def content(row: EvidenceKind) -> SessionContent:
    session = at_risk()
    return SessionContent(session, work_state(session.trail, session.git, kinds=table(row)))


@every_row(("section", "part"), LEDGER_PARTS.items())
def test_a_made_up_row_is_in_the_ledger_by_its_section(section: Section, part: LedgerPart) -> None:
    ledger = fill_ledger(content(replace(ROW, section=section)))
    assert [one for one in LedgerPart for entry in ledger.of(one) if TEXT in entry.text] == [part]


@every_row(("section", "title"), HANDOFF_TITLES.items())
def test_a_made_up_row_is_in_the_handoff_by_its_section(section: Section, title: str) -> None:
    handoff = fill_handoff(content(replace(ROW, section=section)), (), HandoffHead("go on"), HandoffWords())
    assert [one for one, lines in zip(TITLES, handoff.sections, strict=True) if TEXT in str(lines)] == [title]


def test_every_section_has_its_place_in_ledger_and_handoff() -> None:
    assert LEDGER_PARTS.keys() == HANDOFF_TITLES.keys() == set(Section) - {Section.GOAL}


@every_row("section", Section)
def test_a_made_up_row_is_in_the_digest_and_the_continuity_by_its_section(section: Section) -> None:
    made = content(replace(ROW, section=section))
    text = digest(made.session, made.state, Trigger.PERIODIC, "", NOON)
    assert TEXT in text.partition(f"### {SECTION_TITLES[section]}\n")[2].partition("\n\n")[0]
    layers = layers_of(made.state, made.session).values()
    parts = {part for layer in layers for part in ContinuityPart if TEXT in str(layer.of(part))}
    assert len(parts) == 1 or section is Section.GOAL, "of the goals, the one worth most"


def test_every_kind_has_its_row_and_every_row_its_kind() -> None:
    assert {kind: row.kind for kind, row in KINDS.items()} == {kind: kind for kind in NoteKind}


def test_every_kind_has_a_rule_that_reads_it_or_is_what_no_rule_is_sure_of() -> None:
    by_prompt_or_cue = {NoteKind.CONSTRAINT, NoteKind.REQUEST, NoteKind.FINDING, NoteKind.DOING}
    for kind in set(NoteKind) - by_prompt_or_cue:
        assert reader.statements_of(kind, "") == ()
    for kind in by_prompt_or_cue:
        with pytest.raises(KeyError):
            reader.statements_of(kind, "")


@every_row("row", KINDS.values())
def test_no_more_notes_are_stored_than_the_row_says(row: EvidenceKind) -> None:
    names = ("cache", "queue", "parser", "writer", "socket", "ledger", "cursor", "marker", "window", "digest")
    texts = [f"{one} {other} {last}" for one in names for other in names for last in ("read", "kept")]
    notes = with_notes((), (Note(row.kind, text, NOON, "a1") for text in texts))
    assert len(notes) == row.stored
    assert notes[-1].text == texts[-1]


REPEATED: Final = {
    Merge.REPEATED_MOVES: ["b", "a"],
    Merge.FIRST_STAYS: ["a", "b"],
    Merge.NEWEST_REPLACES: ["b", "a"],
    Merge.SAME_BUT_NUMBERS: ["b", "a"],
    Merge.SAME_SUBJECT: ["b", "a"],
}


@every_row("row", KINDS.values())
def test_a_repeated_note_is_stored_once_where_its_row_says(row: EvidenceKind) -> None:
    notes = with_notes((), (Note(row.kind, text, NOON, "a1") for text in ("a", "b", "a")))
    assert [note.text for note in notes] == REPEATED[row.merge]


@every_row("row", KINDS.values())
def test_a_later_figure_replaces_the_earlier_one_where_the_row_says(row: EvidenceKind) -> None:
    notes = with_notes((), (Note(row.kind, text, NOON, "a1") for text in ("12 pass", "14 pass")))
    assert len(notes) == (1 if row.merge is Merge.SAME_BUT_NUMBERS else 2)
