"""Whenever an agent dies, its session is there: whole up to the last record that was kept, and usable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import embed
from holdfast.core.agent_log.records import Record
from holdfast.stores.sqlite import open_store
from tests.core.logs import NOON
from tests.core.providers import refused_by_anthropic
from tests.embed.loop import said, texts, write_settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def whole_log(home: Path, key: str) -> list[Record]:
    store = open_store(home / "store.db", home / "backups", NOON)
    records = store.log(key, "", 1_000_000)
    store.close()
    return records


def test_what_a_killed_agent_was_told_is_kept_was_kept(tmp_path: Path, home: Path) -> None:
    command = [sys.executable, "-m", "tests.embed.endless", str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        kept = [agent.stdout.readline().strip() for _ in range(30)]
        agent.kill()
        kept += [line.strip() for line in agent.stdout if line.endswith("\n")]
    ids = {record.id for record in whole_log(home, "k")}
    assert ids >= set(kept)
    store = embed.open_store(home, project=home)
    session = store.load("k", window=20_000)
    session.ask("Still there?")
    assert list(refused_by_anthropic(session.request().messages)) == []
    assert texts(session.messages())[-1] == "Still there?"
    assert store.list()[0].compactions > 2
    store.close()


def long_session(home: Path) -> list[Record]:
    """The log of a session with tools, checkpoints, flushes and compactions in it."""
    write_settings(home)
    store = embed.open_store(home, project=home)
    session = store.load("k", window=20_000)
    for number in range(12):
        session.ask(f"question {number}")
        session.request()
        calls = session.answer(said("", 2_000 + 3_000 * (number % 6), (f"t{number}", "bash", {"n": number})))
        for call in calls:
            session.returned(call.id, f"result {number}")
        session.request()
        session.answer(said(f"answer {number}", 2_500 + 3_000 * (number % 6)))
    store.close()
    return whole_log(home, "k")


def test_a_session_that_broke_off_at_any_record_goes_on(tmp_path: Path) -> None:
    log = long_session(tmp_path / "whole")
    assert {"compaction", "checkpoint", "custom_message", "message"} <= {record.type for record in log}
    store = embed.open_store(tmp_path / "cut", project=tmp_path)
    for cut in range(1, len(log) + 1):
        key = f"k{cut}"
        store.append(key, *log[:cut])
        session = store.load(key, window=20_000)
        session.ask("Go on.")
        assert list(refused_by_anthropic(session.request().messages)) == []
        session.answer(said("Going on.", 3_000))
        assert texts(store.load(key).messages())[-1] == "Going on."
    store.close()


def test_records_that_are_reported_again_change_nothing(tmp_path: Path) -> None:
    log = long_session(tmp_path / "whole")
    store = embed.open_store(tmp_path / "again", project=tmp_path)
    for cut in (5, len(log) // 2, len(log)):
        store.append("k", *log[:cut])
    told = store.load("k").messages()
    (before,) = store.list()
    store.append("k", *log)
    assert store.load("k").messages() == told
    assert store.list() == [before]
    store.close()
    assert [record.id for record in whole_log(tmp_path / "again", "k")] == [record.id for record in log]
