"""The page about one's own agent: every example in it runs, in its order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.embed.loop import said

PAGE = Path(__file__).resolve().parents[2] / "docs" / "your-own-agent.md"


class Messages:
    """A provider that calls a tool once, and then says that it is done."""

    def __init__(self) -> None:
        self.answers = [said("", 100, ("t1", "bash", {"command": "ls"}))]

    def create(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - what an SDK takes
        assert request["messages"][0]["role"] == "user"
        return self.answers.pop() if self.answers else said("Done.")


class Client:
    def __init__(self) -> None:
        self.messages = Messages()


def their_folder(below: Path) -> Path:
    folder = below / "theirs"
    folder.mkdir()
    lines = [
        {"type": "session", "version": 3, "id": "s-1"},
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "hi"}},
    ]
    (folder / "s-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    index = {"agent:main:laptop": {"sessionId": "s-1"}}
    (folder / "sessions.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


def test_every_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {
        "client": Client(),
        "TOOLS": [],
        "run": lambda name, arguments: "a.py",
        "their_folder": their_folder(tmp_path),
    }
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    names["own"].close()
    names["store"].close()
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "user",
        "['message', 'custom', 'model_change']",
        "['agent:main:laptop']",
        "user",
    ]
