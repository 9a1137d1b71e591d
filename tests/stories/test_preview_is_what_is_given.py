"""`holdfast brief`, the API, `holdfast run` and the hook give the same text for the same session."""

from __future__ import annotations

import json
import os
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.cli.conftest import HARNESS, Person, person

__all__ = ["person"]

GOAL = "Make the harbour crane unload containers by weight."
SETTINGS = {
    "as they are by default": "",
    "a small brief": "recovery_budget_chars = 600\n",
    "a start smaller than its brief": "[brief]\ntotal_chars = 500\n",
    "a brief larger than by default": "recovery_budget_chars = 5000\n",
}
OTHER = "codex"


@pytest.fixture(params=[*SETTINGS.values()], ids=[*SETTINGS])
def worker(request: pytest.FixtureRequest, person: Person) -> Person:
    """Someone whose long session is stored, and who has no hook installed."""
    person.home.mkdir(mode=0o700)
    (person.home / "config.toml").write_text(f"[continuity]\nauto_load = true\n{request.param}")
    worker = Person(person.root, {"PATH": f"{person.root}/bin:{os.defpath}"})
    programs = worker.root / "bin"
    programs.mkdir()
    for name in ("claude", OTHER):
        (programs / name).write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" > {worker.root}/words\n")
        (programs / name).chmod(0o755)
    worker.prompts(GOAL)
    for number in range(30):
        worker.prompts(f"Crane {number}: grease bearing number {number} before its shift. {'Ünload. ' * 20}")
    return worker


def hook(worker: Person, event: str, harness: str = HARNESS, session: str = "s1", **fields: str) -> str:
    """What a hook event of this session is answered with."""
    payload = {"session_id": session, "cwd": str(worker.project), "hook_event_name": event, **fields}
    return worker.types("hook", "--harness", harness, given=json.dumps(payload)).out


def started(worker: Person, session: str, source: str, harness: str = HARNESS) -> str:
    """The text that a session is given when it starts."""
    answer: Any = json.loads(hook(worker, "SessionStart", harness, session, source=source))
    return str(answer["hookSpecificOutput"]["additionalContext"])


def previews(worker: Person, reason: str) -> list[str]:
    """What `holdfast brief` and the API show."""
    by_command: Any = worker.types("brief", "--reason", reason, "--json").json
    by_api: Any = get(worker, "/api/next-brief", project=str(worker.project), reason=reason)
    assert by_command["receipt"]["budget"] == by_api["budget"]
    return [by_command["brief"], by_api["text"]]


def get(worker: Person, path: str, **query: str) -> Any:  # noqa: ANN401 - whatever was answered
    port = int((worker.home / "http" / "port").read_text().split()[1])
    token = (worker.home / "http" / "token").read_text().strip()
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {"Authorization": f"Bearer {token}"}
        connection.request("GET", f"{path}?{urlencode(query)}", headers=headers)
        return json.loads(connection.getresponse().read())


def wrapped(worker: Person, harness: str) -> str:
    """Everything that `holdfast run` passes to the harness."""
    assert worker.types("run", harness).status == 0
    return (worker.root / "words").read_text()


def test_at_a_startup(worker: Person) -> None:
    hook(worker, "SessionEnd", reason="other")
    shown, by_run = previews(worker, "startup"), wrapped(worker, HARNESS)
    by_hook = started(worker, "s2", "startup")
    assert "crane" in by_hook.lower()
    assert shown == [by_hook] * 2
    assert by_run == f"--append-system-prompt\0{by_hook}\0"


def test_at_a_startup_in_another_harness(worker: Person) -> None:
    hook(worker, "SessionEnd", reason="other")
    by_run = wrapped(worker, OTHER)
    by_hook = started(worker, "s2", "startup", OTHER)
    assert "record of Claude Code session s1" in by_hook
    assert by_run == f"-c\0developer_instructions={json.dumps(by_hook, ensure_ascii=False)}\0"


def test_after_a_compaction(worker: Person) -> None:
    hook(worker, "PreCompact", trigger="manual", custom_instructions="")
    shown = previews(worker, "compact")
    by_hook = started(worker, "s1", "compact")
    assert "Just compacted." in by_hook
    assert shown == [by_hook] * 2
