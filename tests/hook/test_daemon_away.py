"""With the daemon away, a letter is kept for it: the allowed fields only, in a spool that stays small."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from holdfast import hook
from tests.hook.harness import ENVIRONMENT, NOTHING, SECRETS, Harness, payload

SECRET = "hunter2-made-up"
OLD = 1_000_000_000_000_000_000


@pytest.mark.parametrize(
    "note", [None, "", "unix", "unix /nonexistent/s", "tcp", "tcp x", "tcp 99999999", "\x00\xff"]
)
def test_an_endpoint_that_leads_nowhere_means_that_the_daemon_is_away(
    harness: Harness, note: str | None
) -> None:
    if note is not None:
        (harness.home / "run").mkdir()
        (harness.home / "run/endpoint").write_text(note)
        (harness.home / "run/token").write_text("00")
    assert harness.fire(payload("SessionStart", source="startup")) == NOTHING
    assert harness.spooled_fields()["source"] == "startup"


def test_an_endpoint_that_a_dead_daemon_left_means_that_it_is_away(harness: Harness) -> None:
    (harness.home / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(harness.home / "run/s"))
    (harness.home / "run/endpoint").write_text(f"unix {harness.home}/run/s\n")
    assert harness.fire(payload("Stop")) == NOTHING
    assert len(harness.spooled()) == 1


def test_what_is_kept_is_a_request_named_by_its_id(harness: Harness) -> None:
    harness.fire(payload("Stop"))
    (kept,) = harness.spooled()
    assert harness.spool_names() == [f"{kept.header['id']}.event"]
    assert kept.first_line == "HOLDFAST/1 hook-event"
    assert int(kept.header["length"]) == len(kept.payload)
    assert kept.header["env.ALPHA_SESSION_ID"] == "s-1"


def test_only_allowed_fields_are_kept_and_only_if_they_are_plain(harness: Harness) -> None:
    plain = {"stop_hook_active": False, "transcript_path": None}
    allowed = {field: plain.get(field, "x") for field in hook.KEPT_FIELDS}
    others = {"tool_input": SECRET, "last_assistant_message": SECRET, "api_key": SECRET}
    harness.fire(json.dumps({**allowed, **others}).encode())
    assert harness.spooled_fields() == allowed
    harness.fire(payload("Stop", model={"key": SECRET}, reason=[SECRET]))
    assert SECRET.encode() not in _everything_in(harness.home / "spool")


@pytest.mark.parametrize("field", ["prompt", "user_prompt", "custom_instructions"])
@pytest.mark.parametrize(
    ("transcript", "is_kept"),
    [
        ("there.jsonl", False),
        ("there.jsonl/ses_1", False),
        ("link.jsonl/ses_1", True),
        ("missing.jsonl", True),
        ("folder", True),
        ("link.jsonl", True),
        ("pipe", True),
        ("nul\0", True),
        (None, True),
        (7, True),
    ],
)
def test_what_the_user_wrote_is_kept_only_where_no_transcript_has_it(
    harness: Harness, tmp_path: Path, field: str, transcript: str | int | None, *, is_kept: bool
) -> None:
    (tmp_path / "there.jsonl").write_text("{}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "there.jsonl")
    os.mkfifo(tmp_path / "pipe")
    path = f"{tmp_path}/{transcript}" if isinstance(transcript, str) else transcript
    harness.fire(payload("UserPromptSubmit", transcript_path=path, **{field: SECRET}))
    assert (harness.spooled_fields().get(field) == SECRET) == is_kept
    assert (SECRET.encode() in _everything_in(harness.home / "spool")) == is_kept


def test_a_hook_event_that_names_no_transcript_keeps_its_prompt(harness: Harness) -> None:
    harness.fire(payload("UserPromptSubmit", prompt="née \ud800"))
    assert harness.spooled_fields()["prompt"] == "née \ud800"


def test_no_key_of_the_harness_is_kept(harness: Harness) -> None:
    harness.fire(payload("Stop"))
    kept = _everything_in(harness.home / "spool")
    assert ENVIRONMENT["ALPHA_SESSION_ID"].encode() in kept
    assert not [secret for secret in SECRETS.values() if secret.encode() in kept]


def test_the_spool_is_for_its_owner_only(harness: Harness) -> None:
    before = os.umask(0)
    try:
        harness.fire(payload("Stop"))
        harness.fire(b"no letter")
    finally:
        os.umask(before)
    spool = harness.home / "spool"
    assert spool.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in spool.iterdir()} == {0o600}


def test_the_oldest_hook_events_make_room_and_are_counted(harness: Harness) -> None:
    spool = harness.home / "spool"
    spool.mkdir()
    (spool / "dropped").write_text("40\n")
    (spool / f"{OLD}-1.event.1.part").touch()  # left by a hook that was killed
    for number in range(1, hook.SPOOL_FILES + 1):
        (spool / f"{OLD + number}-1.event").touch()
    harness.fire(payload("Stop"))
    names = [name for name in harness.spool_names() if name != "dropped"]
    assert len(names) == hook.SPOOL_FILES
    assert names[0] == f"{OLD + 2}-1.event"
    assert harness.counted("dropped") == 42


def test_large_hook_events_make_room_too(harness: Harness) -> None:
    spool = harness.home / "spool"
    spool.mkdir()
    for number in range(3):
        with (spool / f"{OLD + number}-1.event").open("wb") as file:
            file.truncate(hook.SPOOL_BYTES // 2 - 1000)
    harness.fire(payload("Stop"))
    assert len(harness.spooled()) == 3
    assert harness.spool_names()[0] == f"{OLD + 1}-1.event"
    assert harness.counted("dropped") == 1


def _everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())
