"""What each harness gives us to read: its hook events and its transcripts, fed with anything."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from holdfast.core.events.event import Skipped
from holdfast.core.events.world import Project
from holdfast.core.session.session import Policy, advance, begin
from holdfast.harnesses import get, names, readable, reader
from holdfast.harnesses.base import Envelope, Harness, HookEvent, Reader, StatusLine
from tests.fuzz.target import Target
from tests.harnesses.test_reader_contract import SAMPLES

HOOK_EVENTS = (
    b'{"session_id":"s1","cwd":"/p","hook_event_name":"SessionStart","source":"compact","model":"m"}',
    b'{"session_id":"s1","cwd":"/p","hook_event_name":"UserPromptSubmit","prompt":"go on"}',
    b'{"sessionKey":"s1","hook_event_name":"PreCompact","trigger":"auto","transcript_path":"/t.jsonl"}',
    b'{"session_id":"s1","hook_event_name":"Stop","stop_hook_active":true,"agent_id":null}',
    b'{"session_id":"s1","context_window":{"context_window_size":9,"used_percentage":1.5}}',
)
PROJECT = Project("/p", "/p", "p", "p", "/p")
PIECE_BYTES = 2_048
PIECES_MOST = 10_000


def targets() -> Iterator[Target]:
    """The hook events of every harness that has them, and the transcripts of all."""
    for name in names():
        yield Target(f"hook-events-{name}", HOOK_EVENTS, partial(_parse_hook_event, get(name)))
    for name in readable():
        yield Target(f"transcripts-{name}", _seeds(SAMPLES[name]), partial(_read, reader(name)))


def _seeds(sample: bytes) -> tuple[bytes, ...]:
    """A sample, and each of its first records alone: short seeds are changed faster."""
    lines = sample.splitlines(keepends=True) if sample.startswith(b"{") else []
    return (sample, *lines[:40])


def _parse_hook_event(harness: Harness, payload: bytes) -> None:
    hook_event = harness.parse_hook(payload, Envelope("e1", harness.name, 1))
    if isinstance(hook_event, HookEvent):
        assert isinstance(harness.render_reply(hook_event, "the brief"), bytes)
    else:
        assert isinstance(hook_event, Skipped)
    if isinstance(harness, StatusLine):
        harness.parse_status(payload)


def _read(reading: Reader, content: bytes) -> None:
    """Read it in pieces, from a file, and have the core make of it what it can."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s1.jsonl"
        path.write_bytes(content)
        session, cursor = begin("s1", reading.name, PROJECT, 0), ""
        for _piece in range(PIECES_MOST):
            batch = reading.read_transcript(path, "s1", cursor, PIECE_BYTES)
            for event in batch.events:
                session, _ = advance(session, event, Policy())
            cursor = batch.cursor
            if batch.done:
                return
    raise AssertionError("it is read for ever")
