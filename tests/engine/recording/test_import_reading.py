"""Old transcripts are read by several processes at once as by one, and none of them is left behind."""

from __future__ import annotations

from multiprocessing import active_children
from pathlib import Path

import pytest

from holdfast.engine.recording.import_reading import BATCH_BYTES, in_turn, side_by_side
from holdfast.engine.recording.importing import take_in
from holdfast.errors import TranscriptUnreadable
from tests.core.made_up import PROVIDER_KEYS
from tests.engine.attic import ROOM, Attic, Killed

SECRET = dict(PROVIDER_KEYS)["github-token"]


@pytest.fixture
def attic(tmp_path: Path) -> Attic:
    return Attic(tmp_path)


def test_several_processes_bring_in_the_same_as_one(attic: Attic, tmp_path: Path) -> None:
    alone = Attic(tmp_path / "alone")
    alone.root.mkdir()
    for one in (attic, alone):
        for number in range(7):
            answer = " ".join(f"Sentence {n} of {number}." for n in range(BATCH_BYTES // 40 * (number % 3)))
            turns = (f"question {number}", answer), (SECRET, f"yes, {number}")
            one.keeps(f"s{number}", *turns, cwd="/nowhere")
    alone.imported()
    told = list[int]()
    found = attic.survey()
    with side_by_side(3) as reading:
        taken = take_in(attic.engine(), found.found, ROOM, told.append, reading)
    assert attic.documents() == alone.documents()
    assert (taken.sessions, taken.no_room, sum(told)) == (7, 0, found.size)
    assert not any(SECRET in text.text for text in attic.store.texts())
    assert active_children() == []


def test_the_processes_end_when_the_import_is_cut_off(attic: Attic) -> None:
    for number in range(4):
        attic.keeps(f"s{number}", ("Why?", "The index. " * 150_000))

    def done(_: int) -> None:
        raise Killed

    found = attic.survey().found
    with pytest.raises(Killed), side_by_side(2) as reading:
        take_in(attic.engine(), found, ROOM, done, reading)
    assert active_children() == []


def test_a_process_that_dies_is_an_error_and_the_import_goes_on_afterwards(attic: Attic) -> None:
    for number in range(4):
        attic.keeps(f"s{number}", (f"Why {number}?", "The index. " * 150_000))

    def done(_: int) -> None:
        for child in active_children():
            child.kill()

    found = attic.survey().found
    with pytest.raises(TranscriptUnreadable, match="ended before"), side_by_side(2) as reading:
        take_in(attic.engine(), found, ROOM, done, reading)
    attic.imported()
    assert {one.session for one in attic.documents()} == {"s0", "s1", "s2", "s3"}


def test_one_process_needs_no_other() -> None:
    with side_by_side(1) as reading:
        assert reading is in_turn
