"""Forgetting: what was chosen is gone from store, spool, logs and copies, and does not come back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.engine.hook_events import receive_hook_event
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.engine.privacy import forget
from holdfast.engine.privacy.forget import (
    OWED,
    Before,
    Choice,
    Everything,
    Forgotten,
    OneMemory,
    OneProject,
    OneSession,
    choice_of,
    words_of,
)
from holdfast.engine.repository.git import identity
from holdfast.harnesses.base import Envelope
from holdfast.stores.base import EVERYWHERE
from holdfast.stores.sqlite import open_store, snapshot
from tests.engine.stage import HOUR, MINUTE, NOON, Stage


def worked(stage: Stage, session: str = "a") -> None:
    """A session that its transcript tells of."""
    stage.write(session, ("prompt", f"{session}: the harbour"), ("edits", "/x/harbour.c"))
    stage.payload(session, "end", reason="other")


def everything(stage: Stage) -> str:
    return "\n".join(text.text for text in stage.store.texts())


def gone(stage: Stage, choice: Choice) -> Forgotten:
    return forget.forget(stage.store, stage.home, choice, stage.now)


class TestWhereASessionLivesOn:
    def test_in_forks_that_copied_it_under_other_names_and_in_theirs(self, stage: Stage) -> None:
        for session in ("a", "a.b", "a.b.c", "other"):
            stage.write(session, ("prompt", f"{session}: the harbour"))
            stage.payload(session, "start", source="startup" if session in ("a", "other") else "fork")
        assert forget.living_on(stage.store, "a") == ["a.b", "a.b.c"]
        assert forget.living_on(stage.store, "a.b") == ["a.b.c"]
        assert forget.living_on(stage.store, "other") == []

    def test_in_whoever_holds_its_records(self, stage: Stage) -> None:
        path = stage.write("a", ("prompt", "the harbour"))
        stage.payload("a", "end", reason="other")
        stage.transcript("b").write_bytes(path.read_bytes())
        stage.payload("b", "start", source="fork")
        assert forget.living_on(stage.store, "a") == ["b"]

    def test_not_in_one_that_only_came_after(self, stage: Stage) -> None:
        worked(stage)
        stage.payload("b", "start", source="clear", previous="a")
        assert stage.store.lineage("b") is not None
        assert forget.living_on(stage.store, "a") == []


@pytest.fixture
def filed(stage: Stage) -> Stage:
    """A home with a log, copies of the store, and files that Holdfast must not remove."""
    for name in ("logs", "backups", "spool"):
        (stage.home / name).mkdir()
    (stage.home / "logs" / "daemon.log").write_text("a line about the harbour\n")
    (stage.home / "logs" / "cli.log.1").write_text("")
    (stage.home / "backups" / "store-20260101T120000Z-schema-0001.db").write_text("harbour")
    (stage.home / "store.corrupt-20260101T120000Z.db").write_text("harbour")
    (stage.home / "store.corrupt-20260101T120000Z.db-wal").write_text("harbour")
    (stage.home / "backups" / "17-abcdef-settings.json").write_text("{}")
    (stage.home / "config.toml").write_text("")
    return stage


def spool(
    stage: Stage, name: str, session: str = "a", cwd: str = "/", at: int = NOON, ending: str = ".event"
) -> Path:
    body = json.dumps({"session_id": session, "cwd": cwd, "prompt": "harbour"})
    path = stage.home / "spool" / f"{name}{ending}"
    path.write_text(f"HOLDFAST/1 hook-event\nid: {name}\nat: {at}\nlength: {len(body)}\n\n{body}")
    return path


class TestASession:
    def test_it_is_gone_and_the_other_stays(self, stage: Stage) -> None:
        worked(stage, "a")
        worked(stage, "b")
        found = gone(stage, OneSession("a"))
        assert (found.sessions, found.checkpoints, found.documents) == (1, 1, 1)
        assert found.events == 4
        assert stage.store.keys() == ["b"]
        assert "a: the harbour" not in everything(stage)
        assert "b: the harbour" in everything(stage)

    def test_it_does_not_come_back_with_its_transcript(self, stage: Stage) -> None:
        worked(stage)
        gone(stage, OneSession("a"))
        stage.now += 1
        stage.payload("a", "end", reason="other")
        assert "harbour" not in everything(stage)

    def test_nor_where_the_transcript_has_to_be_read_from_its_start(self, stage: Stage) -> None:
        worked(stage)
        gone(stage, OneSession("a"))
        stage.now += MINUTE
        with stage.store.writing():
            stage.store.put_cursor(str(stage.transcript("a")), "")
        stage.payload("a", "prompt", text="something else", transcript="")
        stage.payload("a", "end", reason="other")
        assert "harbour" not in everything(stage)
        assert "something else" in everything(stage)

    def test_nor_is_it_known_again_before_something_new_happens(self, stage: Stage) -> None:
        worked(stage)
        with stage.store.writing():
            stage.store.put_cursor(str(stage.transcript("a")), "")
        gone(stage, OneSession("a"))
        late = json.dumps({"session": "a", "kind": "nothing", "cwd": stage.project("app")})
        envelope = Envelope("late", "playhouse", stage.now)
        receive_hook_event(stage.engine(), envelope, late.encode(), lambda: True)
        assert stage.store.keys() == []

    def test_what_it_did_not_tell_before_is_forgotten_too(self, stage: Stage) -> None:
        worked(stage)
        stage.write("a", ("prompt", "unread as yet: the lighthouse"))
        gone(stage, OneSession("a"))
        stage.now += 1
        stage.write("a", ("prompt", "new: the ferry"))
        stage.payload("a", "end", reason="other")
        assert "lighthouse" not in everything(stage)
        assert "new: the ferry" in everything(stage)

    def test_one_that_lives_goes_on_from_now(self, stage: Stage) -> None:
        stage.write("a", ("prompt", "first the harbour"))
        stage.payload("a", "prompt", text="then the harbour wall", turn="t2")
        gone(stage, OneSession("a"))
        stage.now += 1
        stage.write("a", ("prompt", "now the ferry"))
        stage.payload("a", "end", reason="other")
        found = stage.store.session("a")
        assert found is not None
        assert [said.text for said in found.trail.prompts] == ["now the ferry"]
        assert found.prompt_count == 1


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        (lambda stage: OneSession("a"), ["b", "c"]),
        (lambda stage: OneProject(identity(stage.project("app")).project_id), ["c"]),
        (lambda stage: Before(NOON + HOUR), ["b", "c"]),
        (lambda stage: Before(NOON), ["a", "b", "c"]),
        (lambda stage: Everything(), []),
    ],
)
def test_each_choice_takes_what_it_names(
    stage: Stage, choice: Callable[[Stage], Choice], left: list[str]
) -> None:
    worked(stage, "a")
    stage.now += HOUR
    worked(stage, "b")
    stage.payload("c", "end", reason="other", cwd=stage.project("another"))
    rehearsed = forget.rehearse(stage.store, stage.home, choice(stage), stage.now)
    assert stage.store.keys() == ["a", "b", "c"], "a rehearsal changes nothing"
    assert gone(stage, choice(stage)) == rehearsed
    assert stage.store.keys() == left


class TestFiles:
    def test_copies_go_and_logs_are_emptied_whatever_was_chosen(self, filed: Stage) -> None:
        worked(filed)
        found = gone(filed, OneSession("a"))
        assert (found.copies, found.logs) == (3, 1)
        names = sorted(str(file.relative_to(filed.home)) for file in filed.home.rglob("*") if file.is_file())
        assert [name for name in names if not name.startswith("transcripts")] == [
            "backups/17-abcdef-settings.json",
            "config.toml",
            "forgotten.jsonl",
            "logs/cli.log.1",
            "logs/daemon.log",
        ]
        assert (filed.home / "logs" / "daemon.log").read_bytes() == b""

    def test_where_nothing_was_found_they_stay(self, filed: Stage) -> None:
        assert gone(filed, OneSession("nobody")) == Forgotten()
        assert gone(filed, OneProject("nowhere")) == Forgotten()
        assert len(list((filed.home / "backups").iterdir())) == 2
        assert (filed.home / "logs" / "daemon.log").read_text()

    def test_everything_is_more_than_what_the_store_knows(self, filed: Stage) -> None:
        assert gone(filed, Everything()) == Forgotten(copies=3, logs=1)

    @pytest.mark.parametrize(
        ("choice", "left"),
        [
            (lambda stage: OneSession("a"), ["2", "3", "4"]),
            (lambda stage: OneProject(identity(stage.project("app")).project_id), ["2", "4"]),
            (lambda stage: Before(NOON + HOUR), ["2", "4"]),
            (lambda stage: Everything(), []),
        ],
    )
    def test_waiting_hook_events_are_forgotten_by_the_same_rule(
        self, filed: Stage, choice: Callable[[Stage], Choice], left: list[str]
    ) -> None:
        worked(filed)
        spool(filed, "1", session="a", ending=".letter")  # as hooks of version 0.1.0 name it
        spool(filed, "2", session="b", at=NOON + HOUR)
        spool(filed, "3", session="c", cwd=filed.project("app"))
        spool(filed, "4", session="b", at=NOON + 2 * HOUR)
        assert gone(filed, choice(filed)).hook_events == 4 - len(left)
        assert sorted(path.stem for path in (filed.home / "spool").iterdir()) == left

    def test_what_cannot_be_read_goes_too_but_not_what_is_being_written(self, filed: Stage) -> None:
        worked(filed)
        broken, dead, fresh = (filed.home / "spool" / name for name in ("9.event", "8.part", "7.part"))
        for path in (broken, dead, fresh):
            path.write_text("harbour")
        os.utime(dead, (0, 0))
        os.utime(fresh, (filed.now / 1000, filed.now / 1000))
        gone(filed, OneSession("a"))
        assert [path.exists() for path in (broken, dead, fresh)] == [False, False, True]

    def test_what_was_cut_off_half_way_is_finished_later(self, filed: Stage) -> None:
        worked(filed)
        with filed.store.writing():
            filed.store.forget(["a"], filed.now)
            filed.store.put_fact(OWED, forget.AFTER_FORGETTING)
        forget.clear(filed.store, filed.home, filed.now)
        assert not list(filed.home.glob("store.corrupt-*"))
        assert (filed.home / "logs" / "daemon.log").read_bytes() == b""
        assert filed.store.fact(OWED) == ""

    def test_a_backup_that_is_being_made_is_not_taken_from_under_it(self, filed: Stage) -> None:
        worked(filed)
        with filed.store.writing():
            filed.store.put_fact(OWED, forget.AFTER_REWRITING)
        path, backups = filed.home / "store.db", filed.home / "backups"
        open_store(path, backups, filed.now).close()
        with snapshot(path, backups, filed.now) as (copy, _):
            forget.clear(filed.store, filed.home, filed.now)
            assert copy.exists()


def test_a_memory_goes_alone_and_the_project_takes_its_own(stage: Stage) -> None:
    engine, shop, other = stage.engine(), identity(stage.project("shop")), identity(stage.project("other"))
    texts = ("The port is 8080", "Prefer tabs", "Lunch is at noon")
    one, _, third = (
        remember(engine, place, MemoryRequest(text), source="cli").memory
        for text, place in zip(texts, (shop, shop, other), strict=True)
    )
    known = OneMemory(one.id)
    assert forget.rehearse(stage.store, stage.home, known, NOON) == Forgotten(memories=1)
    assert forget.forget(stage.store, stage.home, known, NOON) == Forgotten(memories=1)
    assert forget.forget(stage.store, stage.home, known, NOON) == Forgotten()
    mine = OneProject(shop.project_id)
    assert forget.forget(stage.store, stage.home, mine, NOON) == Forgotten(memories=1)
    assert stage.store.memories(EVERYWHERE, 10) == [third]


@pytest.mark.parametrize(
    "choice", [OneSession("a"), OneProject("p"), OneMemory("m"), Before(5), Everything()]
)
def test_a_choice_is_the_same_after_it_was_sent(choice: Choice) -> None:
    assert choice_of(json.loads(json.dumps(words_of(choice)))) == choice


@pytest.mark.parametrize(
    "words",
    [{}, {"session": ""}, {"session": 1}, {"all": False}, {"all": True, "session": "a"}, {"before": "x"}],
)
def test_what_is_not_clear_is_no_choice(words: dict[str, object]) -> None:
    assert choice_of(words) is None
