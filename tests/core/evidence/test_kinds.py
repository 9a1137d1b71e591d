"""The table of kinds of notes: a kind that is in it is stored, merged and shown everywhere it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import SECTIONS
from holdfast.core.brief.compose import BriefInput, Reason, compose
from holdfast.core.brief.weights import WEIGHTS, weights_of
from holdfast.core.documents.continuity import ContinuityPart, LayerName
from holdfast.core.documents.continuity_summary import generated
from holdfast.core.documents.handoff import Handoff, HandoffHead
from holdfast.core.documents.ledger import LedgerPart
from holdfast.core.evidence.kinds import KINDS, EvidenceKind, KindTable, Merge, NoteKind, Place, Section
from holdfast.core.evidence.notes import with_notes
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import Note
from holdfast.core.session.checkpoint import digest
from holdfast.core.session.rolling import outline_of
from holdfast.core.session.session import Session, Trigger
from holdfast.core.work.handoff_content import HandoffWords, fill_handoff
from holdfast.core.work.ledger_content import fill_ledger
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
    brief=Place("State", "Risk: "),
    item="risk",
    weight=3.0,
    heading="Risks",
    ledger=Place("questions", "Risk: "),
    handoff=Place("pending", "Risk: "),
    continuity=Place("notes", "Risk: "),
)
TEXT: Final = "the vendor may drop the old endpoint in May"
SHOWN: Final = f"Risk: {TEXT}"
LEDGER_PARTS: Final = ("constraints", "decisions", "done", "now", "next", "questions")
HANDOFF_PARTS: Final = {"request": 0, "concepts": 1, "pending": 4, "open": 4, "next": 6}
"""With the number of the section."""
CONTINUITY_PARTS: Final = ("confirmed", "failed", "untried", "next", "notes")


def table(row: EvidenceKind = ROW) -> KindTable:
    return {**KINDS, row.kind: row}


def at_risk(at: int = NOON + 2 * MINUTE) -> Session:
    """A session with a note of the made-up kind, by default from after its last prompt."""
    before = worked()
    note = Note(RISK, TEXT, at, "a1", before.trail.steps)
    return replace(before, trail=replace(before.trail, notes=(*before.trail.notes, note)))


def handoff(row: EvidenceKind, at: int = NOON + 2 * MINUTE) -> Handoff:
    brief_input = BriefInput(Reason.STARTUP, at_risk(at), NOON)
    return fill_handoff(brief_input, (), HandoffHead("go on"), HandoffWords(), table(row))


def test_a_made_up_row_is_in_the_brief_with_its_label_and_in_its_section() -> None:
    brief_input = BriefInput(Reason.COMPACT, at_risk(), NOON)
    brief = compose(brief_input, 4_000, {**WEIGHTS, **weights_of(table())}, table())
    state = brief.text.partition("### State\n")[2].partition("###")[0]
    assert f"- {SHOWN}" in state.splitlines()
    assert [item.text for item in brief.items if item.kind == "risk"] == [SHOWN]


def test_a_made_up_row_is_in_the_digest_under_its_heading() -> None:
    text = digest(at_risk(), Trigger.PERIODIC, "", NOON, (), table())
    assert f"\n### Risks\n- {TEXT}\n" in text


def test_a_made_up_row_is_in_the_outline_with_its_section() -> None:
    assert outline_of(at_risk().trail, 1, 1, table()).open_questions == (TEXT,)


@every_row("part", LEDGER_PARTS)
def test_a_made_up_row_is_in_its_part_of_the_ledger(part: str) -> None:
    kinds = table(replace(ROW, ledger=Place(part, "Risk: ")))
    ledger = fill_ledger(BriefInput(Reason.STARTUP, at_risk(), NOON), kinds)
    shown_in = [one for one in LedgerPart for entry in ledger.of(one) if entry.text == SHOWN]
    assert shown_in == [LedgerPart(part)]


@every_row(("part", "section"), HANDOFF_PARTS.items())
def test_a_made_up_row_is_in_its_part_of_the_handoff(part: str, section: int) -> None:
    sections = handoff(replace(ROW, handoff=Place(part, "Risk: "))).sections
    assert [number for number, lines in enumerate(sections) if SHOWN in lines] == [section]


def test_what_is_open_in_a_handoff_was_said_since_the_last_prompt() -> None:
    row = replace(ROW, handoff=Place("open", "Risk: "))
    assert TEXT not in repr(handoff(row, NOON))


@every_row("part", CONTINUITY_PARTS)
def test_a_made_up_row_is_in_its_part_of_the_continuity(part: str) -> None:
    layers = generated(at_risk(), table(replace(ROW, continuity=Place(part, "Risk: ")))).layers
    assert SHOWN in layers[LayerName.SHARED].items[ContinuityPart[part.upper()]]


def test_a_made_up_row_may_be_of_one_worktree_alone() -> None:
    layers = generated(at_risk(), table(replace(ROW, worktree_only=True))).layers
    assert SHOWN in layers[LayerName.LOCAL].items[ContinuityPart.NOTES]
    assert SHOWN not in layers[LayerName.SHARED].items.get(ContinuityPart.NOTES, ())


def test_a_made_up_row_is_nowhere_that_its_row_does_not_say() -> None:
    row = replace(ROW, heading="", ledger=None, handoff=None, continuity=None)
    brief_input = BriefInput(Reason.STARTUP, at_risk(), NOON)
    shown = (
        digest(at_risk(), Trigger.PERIODIC, "", NOON, (), table(row)),
        outline_of(at_risk().trail, 1, 1, table(row)),
        fill_ledger(brief_input, table(row)),
        handoff(row),
        generated(at_risk(), table(row)),
    )
    assert not [text for text in map(repr, shown) if TEXT in text]


def test_every_kind_has_its_row_and_every_row_its_kind() -> None:
    assert {kind: row.kind for kind, row in KINDS.items()} == {kind: kind for kind in NoteKind}


def test_every_kind_but_the_users_rules_has_a_rule_that_reads_it() -> None:
    assert reader.read_statements("").keys() == set(NoteKind) - {NoteKind.CONSTRAINT}


@every_row("row", KINDS.values())
def test_a_row_names_parts_in_which_its_documents_show_notes(row: EvidenceKind) -> None:
    assert row.brief.part in SECTIONS
    assert WEIGHTS[row.item] == row.weight
    assert row.ledger is None or row.ledger.part in LEDGER_PARTS
    assert row.handoff is None or row.handoff.part in HANDOFF_PARTS
    assert row.continuity is None or row.continuity.part in CONTINUITY_PARTS


def test_no_two_kinds_are_one_item_of_a_brief() -> None:
    assert len({row.item for row in KINDS.values()}) == len(KINDS)


@every_row("row", KINDS.values())
def test_no_more_notes_are_stored_than_the_row_says(row: EvidenceKind) -> None:
    names = ("cache", "queue", "parser", "writer", "socket", "ledger", "cursor", "marker", "window", "digest")
    texts = [f"{one} {other}" for one in names for other in names]
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


def test_a_sentence_that_starts_with_its_label_gets_none() -> None:
    place = Place("concepts", "Decided: ", unless="deci")
    assert place.labelled("Decision: one table") == "Decision: one table"
    assert place.labelled("one table") == "Decided: one table"
    assert Place("next").labelled("one table") == "one table"
