"""Append and read back: what follows from a record is kept with it, and only what a window needs is read."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from holdfast.core.agent_log.context import turns_of
from holdfast.core.agent_log.records import Log, Record, new_record, path_to
from holdfast.core.session.session import Phase, Process
from holdfast.engine.agent_log import append as module
from holdfast.engine.agent_log.append import Owner, append, path_at, path_of, take_over
from holdfast.engine.repository.git import identity
from holdfast.engine.upkeep.maintain import finalise_orphans, prune
from holdfast.settings import Records
from holdfast.stores.sqlite import SqliteStore, open_in_memory
from tests.core.logs import LOGS, answered, asked, chain, compacted, message, returned
from tests.engine.stage import HOUR, NOON, Stage

KEY = "s"


def owner(stage: Stage) -> Owner:
    return Owner(KEY, identity(stage.project("app")))


def test_what_a_record_tells_is_known_of_its_session(stage: Stage) -> None:
    records = [
        asked("1", "", "Never touch the parser."),
        answered("2", "1", "I will not.", "c1", usage={"input": 900, "output": 100}, model="m"),
        returned("3", "2", "c1", "boom", isError=True),
    ]
    session = append(stage.engine(), owner(stage), records).session
    assert [said.text for said in session.trail.prompts] == ["Never touch the parser."]
    assert (session.prompt_count, session.pressure.used, session.model) == (1, 1_000, "m")
    assert session.trail.open_calls == ()
    assert stage.store.session(KEY) == session
    assert stage.store.events(KEY, 10) == [], "the log is the truth"


def test_a_record_that_is_known_tells_nothing_new(stage: Stage) -> None:
    once = append(stage.engine(), owner(stage), chain(("user", "hi"))).session
    twice = append(stage.engine(), owner(stage), chain(("user", "hi"))).session
    assert once == twice
    assert twice.prompt_count == 1


def test_no_secret_gets_into_the_log_or_the_state(stage: Stage) -> None:
    key = "ghp_" + "aB3dE6" * 6
    append(stage.engine(), owner(stage), [asked("1", "", f"the token is {key}")])
    assert all(key not in text.text for text in stage.store.texts())
    assert stage.store.redaction(stage.engine().redactor(owner(stage).project).mark).stale == 0


def test_a_secret_in_two_blocks_of_one_record_is_in_neither(stage: Stage) -> None:
    key = "ghp_" + "aB3dE6" * 6
    blocks = [
        {"type": "text", "text": f"it is {key[:19]}"},
        {"type": "text", "text": f"{key[19:]} and no other"},
    ]
    append(stage.engine(), owner(stage), [message("1", "", "user", blocks)])
    kept = " ".join(text.text for text in stage.store.texts())
    assert "and no other" in kept
    assert [half for half in (key[:19], key[19:]) if half in kept] == []


def test_another_programs_log_is_taken_over_whole_and_nothing_is_done_about_it(stage: Stage) -> None:
    records = [
        *chain(("user", "Use tabs."), ("assistant", "Yes.")),
        compacted("c", "1", "so far", "1"),
        asked("aside", "0", "on a branch"),
        asked("2", "c", "Go on."),
    ]
    session = take_over(stage.engine(), owner(stage), Log(tuple(records)))
    assert stage.store.log(KEY, "", 10) == records
    assert (session.window, session.prompt_count) == (1, 2), "what was left on a branch is not its state"
    assert stage.store.checkpoints_of_session(KEY, 10) == []


# Reading back


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(log=LOGS)
def test_from_any_log_a_model_is_told_the_same_as_from_all_of_it(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    stage = Stage(tmp_path_factory.getbasetemp())
    take_over(stage.engine(), owner(stage), log)
    assert turns_of(path_of(stage.store, KEY)) == turns_of(path_to(log.records))
    for leaf in log.records[::7]:
        assert turns_of(path_at(stage.store, KEY, leaf.id)) == turns_of(path_to(log.records, leaf.id))


def test_of_a_long_log_only_the_last_window_is_read(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    store, read = open_in_memory(), list[Record]()
    stage.store = store

    def log(session: str, before: str, limit: int) -> list[Record]:
        page = SqliteStore.log(store, session, before, limit)
        read.extend(page)
        return page

    old = chain(*[("user", "old")] * 5_000)
    window = [compacted("c", old[-1].id, "so far", old[-1].id), asked("new", "c", "new")]
    take_over(stage.engine(), owner(stage), Log((*old, *window)))
    monkeypatch.setattr(store, "log", log)
    assert len(path_of(store, KEY)) == 3
    assert 0 < len(read) <= module.PAGE


# A log is nobody else's to end


def test_an_agent_that_is_gone_leaves_a_session_that_is_not_pruned(stage: Stage) -> None:
    gone = Owner(KEY, identity(stage.project("app")), Process(2**22 + 1, 1))
    append(stage.engine(), gone, [new_record("custom", "1", "", NOON, {}), asked("2", "1", "hi")])
    stage.now = NOON + HOUR
    assert finalise_orphans(stage.engine()) == [KEY]
    stage.now = NOON + 400 * 24 * HOUR
    assert prune(stage.engine(), 7, Records()).sessions == 0
    assert len(stage.store.log(KEY, "", 10)) == 2
    again = append(
        stage.engine(),
        gone,
        [new_record("message", "3", "2", stage.now, {"message": {"role": "user", "content": "on"}})],
    )
    assert again.session.phase is Phase.LIVE
