"""A model that the settings name is asked by the daemon, and no letter ever waits for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import Lodging, wait_until
from tests.models.api_server import ApiServer, Said, anthropic

AT = 1_800_000_000_000
SUMMARY = "## Goal\n- Fix it."


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as running:
        yield running


def settings(lodging: Lodging, server: ApiServer) -> None:
    (lodging.home / "config.toml").write_text(
        f'[checkpoint]\nmodel = "anthropic/small"\n[models]\nbase_url = "{server.url}"\nkey = "k"\n'
    )


def transcript(lodging: Lodging) -> Path:
    """A session that has filled a third of its window."""
    folder = lodging.root / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    usage = {"input_tokens": 70_000, "output_tokens": 10}
    said = {"role": "assistant", "content": [{"type": "text", "text": "On it."}], "usage": usage, "id": "m1"}
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "Fix it."}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s1", "message": said},
    ]
    path = folder / "s1.jsonl"
    now = datetime.now(UTC).isoformat()
    path.write_text("".join(json.dumps({**line, "timestamp": now}) + "\n" for line in lines))
    return path


def prompt(lodging: Lodging, path: Path, number: int) -> bytes | None:
    payload = {
        "session_id": "s1",
        "transcript_path": str(path),
        "cwd": str(lodging.root),
        "hook_event_name": "UserPromptSubmit",
        "prompt": f"and {number}",
    }
    return lodging.payload(json.dumps(payload), str(number))


def stop(lodging: Lodging, path: Path) -> None:
    """The turn is over: only then a model is asked."""
    payload = {"session_id": "s1", "transcript_path": str(path), "cwd": str(lodging.root)}
    lodging.payload(json.dumps({**payload, "hook_event_name": "Stop"}), "stop")


def digests(lodging: Lodging) -> list[str]:
    store = open_store(lodging.home / "store.db", lodging.home / "backups", AT)
    found = [checkpoint.digest for checkpoint in store.checkpoints(9)]
    store.close()
    return found


def test_what_a_model_writes_stands_beside_what_is_known_by_rule(lodging: Lodging, server: ApiServer) -> None:
    settings(lodging, server)
    server.script(anthropic(SUMMARY))
    lodging.start()
    path = transcript(lodging)
    prompt(lodging, path, 1)
    stop(lodging, path)
    wait_until(lambda: len(digests(lodging)) == 2)
    assert digests(lodging)[0] == SUMMARY
    assert digests(lodging)[1].startswith("## Session Checkpoint")


def test_no_hook_event_waits_for_a_model_and_neither_does_the_end(
    lodging: Lodging, server: ApiServer
) -> None:
    settings(lodging, server)
    server.script(Said({}, held=True))
    daemon = lodging.start()
    path = transcript(lodging)
    prompt(lodging, path, 1)
    stop(lodging, path)
    wait_until(lambda: len(server.seen) == 1)
    assert prompt(lodging, path, 2) is not None, "while the model is still thinking"
    daemon.terminate()
    assert daemon.wait(10) == 0
    assert len(digests(lodging)) >= 1
