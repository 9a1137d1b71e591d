"""Old sessions are imported once, as their conversation, by one process or by several."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from multiprocessing import active_children
from pathlib import Path

import pytest

from holdfast.config import Config
from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.events.durations import DAY_MS, HOUR_MS
from holdfast.core.session.session import Phase
from holdfast.engine.briefing.resume import next_brief
from holdfast.engine.memory.recall import Query, recall
from holdfast.engine.privacy import forget
from holdfast.engine.recording.importing import (
    BATCH_BYTES,
    ImportResult,
    Job,
    LeftOut,
    Piece,
    Reading,
    Survey,
    in_turn,
    side_by_side,
    take_in,
)
from holdfast.engine.repository import projects
from holdfast.engine.repository.git import identity
from holdfast.engine.repository.projects import every_project
from holdfast.errors import TranscriptUnreadable
from holdfast.settings import Capture, Records
from tests.core.made_up import PROVIDER_KEYS
from tests.engine.attic import NOW, SPACE_LEFT, Attic, Killed
from tests.harnesses import claude_code_records as claude
from tests.harnesses import codex_records as codex
from tests.harnesses import openclaw_records as openclaw

SECRET = dict(PROVIDER_KEYS)["github-token"]


@pytest.fixture
def attic(tmp_path: Path) -> Attic:
    return Attic(tmp_path)


def keys(found: Survey) -> list[str]:
    return [one.session for one in found.sessions]


def test_a_survey_says_whose_sessions_there_are_the_newest_first(attic: Attic) -> None:
    older = attic.keeps("s1", ("Why is it slow?", "The index is missing."), at=NOW - 9_000)
    newer = attic.keeps("s2", ("Add the index", "Done."))
    found = attic.survey()
    assert [(one.session, one.path, one.size) for one in found.sessions] == [
        ("s2", newer, newer.stat().st_size),
        ("s1", older, older.stat().st_size),
    ]
    assert {one.project.root for one in found.sessions} == {attic.project}
    assert {one.started_at for one in found.sessions} == {claude.AT}
    assert attic.documents() == []


def test_what_was_said_can_be_found_and_the_session_is_over(attic: Attic) -> None:
    path = attic.keeps("s1", ("Why is it slow?", "The index is missing."), ("Add it", "Done."))
    content, changed = path.read_bytes(), path.stat().st_mtime_ns
    assert attic.imported() == ImportResult(
        sessions=1, passages=2, characters=attic_text(attic), size=len(content)
    )
    first, second = attic.documents()
    assert first.text == "User: Why is it slow?\nAgent: The index is missing."
    assert (first.kind, first.session, first.place, second.place) == ("record", "s1", 0, 1)
    assert (first.at, first.source, first.project_id) == (
        claude.AT,
        "session s1",
        identity(attic.project).project_id,
    )
    session = attic.store.session("s1")
    assert session is not None
    assert (session.phase, session.ended_at, session.last_event_at) == (Phase.ENDED, claude.AT, claude.AT)
    assert session.prompts_known == 2
    assert attic.store.live_sessions() == []
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (content, changed)


def attic_text(attic: Attic) -> int:
    return sum(len(document.text) for document in attic.documents())


def test_nothing_is_imported_twice(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    before = attic.documents()
    again = attic.survey()
    assert (again.sessions, again.left_out) == ((), {LeftOut.DONE: 1})
    assert attic.imported() == ImportResult()
    assert attic.documents() == before


def test_a_transcript_that_has_grown_is_read_on(attic: Attic) -> None:
    path = attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    size = path.stat().st_size
    attic.keeps("s1", ("Add it", "Done."))
    assert [one.size for one in attic.survey().sessions] == [path.stat().st_size - size]
    attic.imported()
    assert [(one.place, one.text) for one in attic.documents()] == [
        (0, "User: Why is it slow?\nAgent: The index is missing."),
        (1, "User: Add it\nAgent: Done."),
    ]
    session = attic.store.session("s1")
    assert session is not None
    assert session.prompts_known == 2


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_an_import_that_was_cut_off_goes_on_where_it_was(attic: Attic, tmp_path: Path, pieces: int) -> None:
    whole = Attic(tmp_path / "whole")
    whole.root.mkdir()
    for one in (attic, whole):
        for part in range(5):
            answer = " ".join(f"Sentence {number} of part {part}." for number in range(BATCH_BYTES // 28))
            one.keeps("s1", (f"question {part}", answer), cwd="/nowhere")
    whole.imported()

    left = iter(range(pieces))

    def done(_: int) -> None:
        if next(left, None) is None:
            raise Killed

    with pytest.raises(Killed):
        take_in(attic.engine(), attic.survey().sessions, SPACE_LEFT, done)
    assert 0 < len(attic.documents()) < len(whole.documents())
    attic.imported()
    assert attic.documents() == whole.documents()


def test_no_secret_gets_in_by_an_import(attic: Attic) -> None:
    attic.keeps("s1", (f"use {SECRET} to push", f"I will use {SECRET}."))
    attic.imported()
    assert attic.documents()
    assert not any(SECRET in text.text for text in attic.store.texts())
    assert "[REDACTED:github-token" in attic.documents()[0].text


def test_what_is_imported_carries_the_mark_of_the_redactor_it_went_through(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    mark = attic.engine().redactor(identity(attic.project)).mark
    assert attic.store.redaction(mark).stale == 0


def test_a_session_known_from_hook_events_is_left_to_the_daemon(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.payload("s1", "UserPromptSubmit", prompt="Why is it slow?")
    found = attic.survey()
    assert (found.sessions, found.left_out) == ((), {LeftOut.RECORDED_LIVE: 1})


def test_a_session_that_goes_live_while_it_waits_for_its_turn_is_left_alone(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    found = attic.survey()
    attic.payload("s1", "UserPromptSubmit", prompt="Why is it slow?")
    before = attic.store.session("s1")
    take_in(attic.engine(), found.sessions, SPACE_LEFT, lambda _: None)
    assert attic.store.session("s1") == before
    assert [one for one in attic.documents() if one.kind == "record"] == []


def test_two_imports_at_once_keep_everything_once(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    one, other = attic.survey(), attic.survey()
    for found in (one, other):
        take_in(attic.engine(), found.sessions, SPACE_LEFT, lambda _: None)
    session = attic.store.session("s1")
    assert session is not None
    assert (session.prompts_known, len(attic.documents())) == (1, 1)


def brief_of_start(attic: Attic) -> BriefInput | None:
    return next_brief(attic.engine(), identity(attic.project), "")


def test_an_imported_session_is_continued_within_the_recovery_window_only(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    given = brief_of_start(attic)
    assert given is not None
    assert (given.session.key, given.reason) == ("s1", Reason.STARTUP)
    attic.now = claude.AT + 5 * HOUR_MS
    assert brief_of_start(attic) is None


def test_an_imported_session_that_may_still_be_at_work_is_only_named(attic: Attic) -> None:
    attic.now = claude.AT + 60_000
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    given = brief_of_start(attic)
    assert given is not None
    assert given.reason is Reason.PARALLEL


def test_an_import_does_not_change_what_is_continued_of_recorded_work(attic: Attic) -> None:
    attic.keeps("live", ("Write the report", "It is half done."), said="2026-03-01T09:50:00.000Z")
    attic.payload("live", "UserPromptSubmit", prompt="Write the report")
    before = brief_of_start(attic)
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    assert attic.imported().sessions == 1
    assert before is not None
    assert brief_of_start(attic) == before


def test_an_imported_session_that_is_resumed_is_read_from_its_start(attic: Attic) -> None:
    attic.keeps("s1", ("Never touch the schema. Why is it slow?", "The index is missing."))
    attic.imported()
    attic.payload("s1", "SessionStart", source="resume")
    session = attic.store.session("s1")
    assert session is not None
    assert (session.phase, session.prompts_known) == (Phase.LIVE, 1)
    assert [said.text for said in session.trail.statements] == ["The index is missing."]
    assert len(attic.store.events("s1", 10)) > 1


def test_what_was_forgotten_does_not_come_back_by_an_import(attic: Attic) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    forget.forget(attic.store, attic.root / "home", forget.OneSession("s1"), NOW)
    assert attic.documents() == []
    assert attic.imported() == ImportResult()
    assert (attic.documents(), attic.store.sessions(9)) == ([], [])


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (Config(capture=Capture(exclude=("app",))), LeftOut.EXCLUDED),
        (Config(records=Records(retention_days=1)), LeftOut.OLD),
    ],
)
def test_what_the_settings_leave_out_is_left_out(attic: Attic, config: Config, reason: LeftOut) -> None:
    attic.keeps("s1", ("Why is it slow?", "The index is missing."), at=NOW - 3 * 86_400_000)
    attic.config = config
    assert (attic.survey().sessions, attic.survey().left_out) == ((), {reason: 1})


def test_what_there_is_no_room_for_is_left_out_the_oldest_first(attic: Attic) -> None:
    for number in range(4):
        attic.keeps(f"s{number}", ("Why?", f"Because of {number}."), at=NOW + number * 1_000)
    found = attic.survey().sessions
    taken = take_in(attic.engine(), found, 40, lambda _: None)
    assert (taken.sessions, taken.no_room) == (2, 2)
    assert {one.session for one in attic.documents()} == {"s3", "s2"}
    assert keys(attic.survey()) == ["s1", "s0"]


def test_of_a_session_that_is_fresh_what_is_too_old_is_not_kept(attic: Attic) -> None:
    attic.now = NOW + 30 * DAY_MS
    attic.config = Config(records=Records(retention_days=29))
    attic.keeps("s1", ("Why is it slow?", "The index is missing."), at=attic.now)
    assert keys(attic.survey()) == ["s1"]
    assert attic.imported().passages == 0
    assert attic.documents() == []


def test_a_person_may_ask_for_some_sessions_only(attic: Attic) -> None:
    attic.keeps("s1", ("old", "it is"), at=NOW - 9_000)
    attic.keeps("s2", ("new", "it is"))
    attic.keeps("s3", ("elsewhere", "it is"), cwd="/elsewhere")
    assert keys(attic.survey(since=NOW - 1_000)) == ["s2", "s3"]
    assert keys(attic.survey(project_id=identity(attic.project).project_id)) == ["s2", "s1"]


def test_the_same_session_in_two_files_is_one_session(attic: Attic) -> None:
    rollout = [codex.meta(), codex.turn(), codex.message("user", "Why is it slow?")]
    for folder, more in (
        ("sessions/2026/03/01", []),
        ("archived_sessions", [codex.message("user", "Add it")]),
    ):
        path = attic.root / ".codex" / folder / "rollout.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(codex.jsonl([*rollout, *more]))
    found = attic.survey().sessions
    assert [(one.session, one.path.parent.name) for one in found] == [(codex.THREAD, "archived_sessions")]


def test_a_session_whose_file_was_moved_is_not_imported_again(attic: Attic) -> None:
    path = attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    elsewhere = path.parent.parent / "other" / path.name
    elsewhere.parent.mkdir()
    path.rename(elsewhere)
    assert attic.survey().left_out == {LeftOut.DONE: 1}


def test_what_a_fork_repeats_of_its_parent_is_found_once(attic: Attic) -> None:
    attic.keeps("parent", ("Why is it slow?", "The index is missing."))
    attic.keeps("fork", ("Why is it slow?", "The index is missing."), ("And now?", "Still."))
    attic.imported()
    assert sorted(one.text for one in attic.documents()) == [
        "User: And now?\nAgent: Still.",
        "User: Why is it slow?\nAgent: The index is missing.",
    ]


def last_first(jobs: Iterator[Job]) -> Generator[tuple[Job, Piece]]:
    """As when the process that got the last job is the quickest."""
    yield from in_turn(reversed(list(jobs)))


@pytest.mark.parametrize("reading", [in_turn, last_first])
@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"a": "10:10", "b": "10:30", "c": "10:20"}, "b"),
        ({"a": "10:30", "b": "10:10", "c": "10:30"}, "c"),
    ],
    ids=["the last", "the last by name of those at the same time, as a fork has it"],
)
def test_what_several_sessions_said_is_found_in_the_same_one_in_whatever_order_they_are_read(
    attic: Attic, reading: Reading, said: dict[str, str], found: str
) -> None:
    for key, time in said.items():
        attic.keeps(key, ("Go on", "Done."), said=f"2026-03-01T{time}:00.000Z")
    take_in(attic.engine(), attic.survey().sessions, SPACE_LEFT, lambda _: None, reading)
    assert [one.session for one in attic.documents()] == [found]


def test_what_was_said_since_is_not_taken_to_an_older_session_that_is_imported_later(attic: Attic) -> None:
    attic.keeps("newer", ("Go on", "Done."), said="2026-03-01T10:30:00.000Z")
    attic.imported()
    kept = attic.documents()
    attic.keeps("older", ("Go on", "Done."))
    assert attic.imported().sessions == 1
    assert attic.documents() == kept


def test_a_file_that_is_gone_when_its_turn_comes_is_passed_over(attic: Attic) -> None:
    path = attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    found = attic.survey()
    path.unlink()
    assert take_in(attic.engine(), found.sessions, SPACE_LEFT, lambda _: None).sessions == 0


def test_every_byte_is_accounted_for(attic: Attic) -> None:
    for number in range(3):
        attic.keeps(f"s{number}", ("Why?", "The index. " * 150_000))
    found, told = attic.survey(), list[int]()
    take_in(attic.engine(), found.sessions, SPACE_LEFT, told.append)
    assert sum(told) == found.size
    assert len(told) > len(found.sessions)


def test_a_session_that_does_not_say_where_it_worked_is_in_no_project_of_anybody(attic: Attic) -> None:
    path = attic.root / ".openclaw" / "agents" / "main" / "sessions" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(openclaw.jsonl([openclaw.user("Why is it slow?")]))
    attic.imported()
    (document,) = attic.documents()
    assert document.project_id not in ("", identity(attic.project).project_id, identity("/").project_id)


# ---------------------------------------------------------------- another repository at the same path


def repository(attic: Attic, began_at: int) -> Path:
    """A repository in the attic's project that began then, in seconds."""
    git = Path(attic.project) / ".git"
    for folder in ("objects", "refs", "logs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("")
    entry = f"{'0' * 40} {'1' * 40} You <you@example.invalid> {began_at} +0000\tcommit (initial): first\n"
    (git / "logs" / "HEAD").write_text(entry)
    return git.parent


def test_a_session_from_before_the_repository_began_is_none_of_its_own(attic: Attic) -> None:
    root = repository(attic, claude.AT // 1000 + 60)
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    here = projects.at(attic.store, str(root), NOW)
    (said,) = attic.documents()
    assert said.project_id != here.project_id
    assert recall(attic.engine(), here, Query("index missing", 5)) == []
    former, present = sorted(
        every_project(attic.store, str(root)), key=lambda one: one.project_id == here.project_id
    )
    assert (former.project_id, former.paths, former.former_paths) == (said.project_id, (), (str(root),))
    assert (former.is_there, present.is_there) == (False, True)
    attic.keeps("s2", ("And now?", "It is as slow as before."))
    attic.imported()
    assert {one.project_id for one in attic.documents()} == {said.project_id}
    assert forget.forget(attic.store, attic.root, forget.OneProject(said.project_id), NOW).sessions == 2


def test_a_session_is_given_to_the_project_that_left_its_path_since(attic: Attic) -> None:
    before = projects.at(attic.store, str(repository(attic, claude.AT // 1000 - 60)), NOW)
    Path(attic.project).rename(attic.root / "elsewhere")
    root = repository(attic, claude.AT // 1000 + 60)
    assert projects.at(attic.store, str(attic.root / "elsewhere"), NOW).project_id == before.project_id
    assert projects.at(attic.store, str(root), NOW).project_id != before.project_id
    attic.keeps("s1", ("Why is it slow?", "The index is missing."))
    attic.imported()
    assert [one.project_id for one in attic.documents()] == [before.project_id]


def test_a_session_during_which_the_repository_began_is_its_own(attic: Attic) -> None:
    root = repository(attic, claude.AT // 1000)
    attic.keeps("s1", ("Begin a repository", "Done."))
    attic.imported()
    here = projects.at(attic.store, str(root), NOW)
    assert [one.project_id for one in attic.documents()] == [here.project_id]


def test_a_repository_that_began_in_the_directory_of_a_session_is_its_project(attic: Attic) -> None:
    then = datetime.now(UTC) + timedelta(hours=1)
    attic.now = int(then.timestamp() * 1000) + DAY_MS
    root = repository(attic, int(then.timestamp()) + 3_600)
    said = then.isoformat().replace("+00:00", "Z")
    attic.keeps("s1", ("Why is it slow?", "The index is missing."), at=attic.now - DAY_MS, said=said)
    attic.imported()
    here = projects.at(attic.store, str(root), attic.now)
    assert [one.project_id for one in attic.documents()] == [here.project_id], "the directory is older"


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
        taken = take_in(attic.engine(), found.sessions, SPACE_LEFT, told.append, reading)
    assert attic.documents() == alone.documents()
    assert (taken.sessions, taken.no_room, sum(told)) == (7, 0, found.size)
    assert not any(SECRET in text.text for text in attic.store.texts())
    assert active_children() == []


def test_the_processes_end_when_the_import_is_cut_off(attic: Attic) -> None:
    for number in range(4):
        attic.keeps(f"s{number}", ("Why?", "The index. " * 150_000))

    def done(_: int) -> None:
        raise Killed

    found = attic.survey().sessions
    with pytest.raises(Killed), side_by_side(2) as reading:
        take_in(attic.engine(), found, SPACE_LEFT, done, reading)
    assert active_children() == []


def test_a_process_that_dies_is_an_error_and_the_import_goes_on_afterwards(attic: Attic) -> None:
    for number in range(4):
        attic.keeps(f"s{number}", (f"Why {number}?", "The index. " * 150_000))

    def done(_: int) -> None:
        for child in active_children():
            child.kill()

    found = attic.survey().sessions
    with pytest.raises(TranscriptUnreadable, match="ended before"), side_by_side(2) as reading:
        take_in(attic.engine(), found, SPACE_LEFT, done, reading)
    attic.imported()
    assert {one.session for one in attic.documents()} == {"s0", "s1", "s2", "s3"}


def test_one_process_needs_no_other() -> None:
    with side_by_side(1) as reading:
        assert reading is in_turn
