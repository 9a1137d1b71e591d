"""Of an imported session the work state is derived when it is needed, and nothing is doubled."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.durations import DAY_MS
from holdfast.core.session.session import Phase, Session, is_imported, work_of
from holdfast.engine.privacy import forget
from holdfast.engine.recording.imported_work import derivation, next_derivation, with_work
from holdfast.engine.repository.git import identity
from holdfast.engine.upkeep.maintain import prune
from holdfast.settings import Records
from tests.core.made_up import PROVIDER_KEYS
from tests.engine.attic import NOW, Attic
from tests.harnesses import claude_code_records as claude

SECRET = dict(PROVIDER_KEYS)["github-token"]
WHY = "The index is missing, because nobody created it."
EARLIER = "2026-03-01T09:00:00.000Z"


@pytest.fixture
def attic(tmp_path: Path) -> Attic:
    return Attic(tmp_path)


def session(attic: Attic, key: str) -> Session:
    stored = attic.store.session(key)
    assert stored is not None
    return stored


def test_the_newest_session_of_a_project_has_its_work_and_a_checkpoint_at_once(attic: Attic) -> None:
    attic.edits("old", "Rename it", "It is called wrongly.", "b.py", "name = 1", said=EARLIER)
    attic.edits("new", "Why is it slow?", WHY, "a.py", "create_index()")
    attic.imported()
    newest = session(attic, "new")
    assert [touch.path for touch in newest.trail.files] == [f"{attic.project}/a.py"]
    assert (is_imported(newest), newest.phase, newest.ended_at) == (True, Phase.ENDED, claude.AT)
    (checkpoint,) = attic.store.checkpoints_of_session("new", 9)
    assert checkpoint.created_at == claude.AT
    assert "Why is it slow?" in checkpoint.digest
    assert session(attic, "old").trail.is_empty()
    assert attic.store.checkpoints_of_session("old", 9) == []
    assert attic.store.events("new", 9) == []


def test_every_imported_session_has_a_title_at_once(attic: Attic) -> None:
    attic.keeps("old", ("ok", "Yes."), ("Rename the table", "Done."), said=EARLIER)
    attic.keeps("new", ("Why is it slow?", "It is not."))
    attic.imported()
    assert work_of(session(attic, "old")).title == "Rename the table"


def test_the_work_of_another_is_derived_when_it_is_asked_for(attic: Attic) -> None:
    attic.edits("old", "Rename it", "It is called wrongly.", "b.py", "name = 1", said=EARLIER)
    attic.edits("new", "Why is it slow?", WHY, "a.py", "create_index()")
    attic.imported()
    assert attic.store.waiting_imports(9) == ["old"]
    shown = with_work(attic.engine(), session(attic, "old"))
    assert (shown.note, shown.session) == ("", session(attic, "old"))
    assert [prompt.text for prompt in shown.session.trail.prompts] == ["Rename it"]
    assert len(attic.store.checkpoints_of_session("old", 9)) == 1
    assert attic.store.waiting_imports(9) == []
    assert with_work(attic.engine(), shown.session).session == shown.session


def test_the_daemon_derives_what_waits_step_by_step(attic: Attic) -> None:
    for number in range(3):
        attic.keeps(f"s{number}", (f"Why {number}?", "Because."), said=f"2026-03-01T09:0{number}:00.000Z")
    attic.imported()
    assert attic.store.waiting_imports(9) == ["s1", "s0"]
    while (steps := next_derivation(attic.engine())) is not None:
        deque(steps, maxlen=0)
    assert attic.store.waiting_imports(9) == []
    assert not session(attic, "s0").trail.is_empty()


def test_a_transcript_that_is_gone_is_told_in_a_sentence(attic: Attic) -> None:
    old = attic.keeps("old", ("Rename it", "Done."), said=EARLIER)
    new = attic.keeps("new", ("Why is it slow?", "The index is missing."))
    attic.imported()
    for path in (old, new):
        path.unlink()
    assert "gone since it was imported" in with_work(attic.engine(), session(attic, "new")).note
    assert "only the conversation is known" in with_work(attic.engine(), session(attic, "old")).note
    steps = next_derivation(attic.engine())
    assert steps is not None
    deque(steps, maxlen=0)
    assert next_derivation(attic.engine()) is None


def test_a_transcript_that_has_grown_is_derived_again_and_one_that_was_rewritten_is_not(attic: Attic) -> None:
    path = attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    attic.keeps("s1", ("Add it", "Done."), at=NOW + 5_000)
    grown = with_work(attic.engine(), session(attic, "s1"))
    assert (grown.note, grown.session.prompts_known) == ("", 2)
    assert len(attic.store.checkpoints_of_session("s1", 9)) == 1
    path.write_bytes(b"{}\n")
    rewritten = with_work(attic.engine(), grown.session)
    assert "rewritten since" in rewritten.note
    assert rewritten.session == grown.session


def test_a_session_that_goes_live_while_its_work_is_derived_is_left_alone(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.keeps("s2", ("Later", "Yes."), said="2026-03-01T10:30:00.000Z")
    attic.imported()
    steps = derivation(attic.engine(), session(attic, "s1"))
    next(steps)
    attic.payload("s1", "SessionStart", source="resume")
    before = session(attic, "s1")
    deque(steps, maxlen=0)
    assert session(attic, "s1") == before
    assert attic.store.imported_work("s1") is None


def test_no_secret_gets_into_the_work(attic: Attic) -> None:
    attic.edits("s1", f"use {SECRET}", f"Because {SECRET} is needed.", "a.py", f"token = '{SECRET}'")
    attic.imported()
    assert attic.store.file_edits(identity(attic.project).project_id, ["a.py"], 9)
    assert not any(SECRET in text.text for text in attic.store.texts())
    mark = attic.engine().redactor(identity(attic.project)).mark
    assert attic.store.redaction(mark).stale == 0


def test_forgetting_takes_the_work_too(attic: Attic) -> None:
    attic.edits("s1", "Why is it slow?", WHY, "a.py", "create_index()")
    attic.imported()
    shown = session(attic, "s1")
    forget.forget(attic.store, attic.root / "home", forget.OneSession("s1"), NOW)
    assert attic.store.checkpoints(9) == []
    assert attic.store.file_edits(shown.project.project_id, ["a.py"], 9) == []
    assert attic.store.imported_work("s1") is None
    attic.imported()
    assert attic.store.session("s1") is None


def test_an_old_import_is_kept_as_long_as_its_words(attic: Attic) -> None:
    attic.now = claude.AT + 120 * DAY_MS
    attic.keeps("s1", ("Why is it slow?", "The index is missing."), at=attic.now)
    attic.imported()
    assert prune(attic.engine(), 7, Records()).sessions == 0
    attic.now += 300 * DAY_MS
    assert prune(attic.engine(), 7, Records()).sessions == 1


STEPS = st.lists(st.sampled_from(["import", "derive", "idle", "show"]), max_size=6)


def state(attic: Attic) -> tuple[object, ...]:
    """All that is stored of the sessions, but for ids that are made anew."""
    project = identity(attic.project).project_id
    edits = attic.store.file_edits(project, ["a.py", "b.py"], 99)
    checkpoints = [replace(one, id="") for one in attic.store.checkpoints(99)]
    sessions = [replace(one, last_checkpoint_at=0) for one in attic.store.sessions(9)]
    return edits, checkpoints, sessions, attic.documents()


@given(before=STEPS, after=STEPS)
def test_whatever_is_repeated_nothing_is_doubled(before: list[str], after: list[str]) -> None:
    with TemporaryDirectory() as folder:
        attic = Attic(Path(folder))
        attic.edits("s1", "Why is it slow?", WHY, "a.py", "create_index()")
        attic.edits("s1", "And the name?", "It is wrong.", "b.py", "name = 1")
        attic.imported()
        once = state(attic)
        for step in before:
            repeat(attic, step)
        assert state(attic) == once
        # The hook event of a resumed session reads the same transcript.
        attic.payload("s1", "SessionStart", source="resume")
        live = state(attic)
        assert [edit.record for edit in live[0]] == [edit.record for edit in once[0]]  # type: ignore[attr-defined]
        assert live[1] == []
        assert session(attic, "s1").prompts_known == 2
        for step in after:
            repeat(attic, step)
        assert state(attic) == live


def repeat(attic: Attic, step: str) -> None:
    match step:
        case "import":
            attic.imported()
        case "derive" if is_imported(session(attic, "s1")):
            deque(derivation(attic.engine(), session(attic, "s1")), maxlen=0)
        case "idle":
            deque(next_derivation(attic.engine()) or (), maxlen=0)
        case _:
            with_work(attic.engine(), session(attic, "s1"))
