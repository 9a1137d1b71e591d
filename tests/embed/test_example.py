"""The example agent: it works with tools, outlives its window many times over, and goes on after a crash."""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import embed
from tests.clients.model_server import ModelServer, Request, Usage, call, say
from tests.core.providers import refused_by_anthropic

AGENT = Path(__file__).resolve().parents[2] / "examples" / "agent.py"
WINDOW = 100_000


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def agent(
    server: ModelServer,
    tmp_path: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., list[str]]:
    """Lets the agent answer prompts from its start to its end; its answers."""
    options = ["--model", "some-model", "--window", str(WINDOW), "--cwd", str(project)]
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy")

    def run(*prompts: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [str(AGENT), *options])
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{prompt}\n" for prompt in prompts)))
        runpy.run_path(str(AGENT), run_name="__main__")
        told = capsys.readouterr()
        assert told.err == ""
        return told.out.splitlines()

    return run


def refused(request: Request) -> list[str]:
    return list(refused_by_anthropic(request.body["messages"]))


def test_it_works_with_its_tools(
    server: ModelServer, agent: Callable[..., list[str]], tmp_path: Path, project: Path
) -> None:
    server.script(
        call("write", path="notes/a.txt", content="hello"),
        call("bash", command="cat notes/a.txt && exit 3"),
        call("read", path="gone.txt"),
        say("Done."),
    )
    assert agent("Write a note.") == ["Done."]
    assert (project / "notes" / "a.txt").read_text() == "hello"
    assert "hello\n\nCommand exited with code 3" in server.requests[2].text
    assert "FileNotFoundError" in server.requests[3].text
    assert [refused(request) for request in server.turns()] == [[]] * 4


def test_it_outlives_its_window_many_times_over(
    server: ModelServer, agent: Callable[..., list[str]], tmp_path: Path, project: Path
) -> None:
    prompts = ["Never touch the parser.", *(f"Do part {number}." for number in range(1, 30))]
    fill = [20_000, 40_000, 60_000, 80_000, 97_000]
    server.script(*(say(f"Part {n} is done.", usage=Usage(input=fill[n % 5])) for n in range(len(prompts))))
    answers = agent(*prompts)
    assert answers == [f"Part {number} is done." for number in range(30)]
    assert server.unused() == ()
    sent = server.turns()
    assert [refused(request) for request in sent] == [[]] * len(sent)
    assert all("Never touch the parser." in request.text for request in sent), "its first rule is in all"
    assert all(f"Do part {number}." in request.text for number, request in enumerate(sent) if number)
    store = embed.open_store(tmp_path / "home", project=project)
    assert [info.compactions for info in store.list()] == [5]
    store.close()


def test_it_is_told_how_full_its_window_is_and_asked_in_time(
    server: ModelServer, agent: Callable[..., list[str]], tmp_path: Path, project: Path
) -> None:
    server.script(
        say("one", usage=Usage(input=52_000)),
        say("two", usage=Usage(input=78_000)),
        say("three", usage=Usage(input=91_000)),
        call("write", path="memory/2026-01-01.md", content="Tabs.", usage=Usage(input=92_000)),
        say("Noted.", usage=Usage(input=93_000)),
    )
    agent("a", "b", "c", "d")
    first, second, third, fourth, _ = server.turns()
    assert "[Context: " not in first.text
    assert "[Context: 52k/100k tokens (52%)]" in second.text
    assert "Context at 50%" in second.body["system"]
    assert "Context at 75%" in third.body["system"]
    assert "[SYSTEM: pre-compaction memory flush]" in str(fourth.body["messages"][-1])
    assert (project / "memory" / "2026-01-01.md").read_text() == "Tabs."


def test_started_again_it_goes_on_where_it_was(
    server: ModelServer, agent: Callable[..., list[str]], tmp_path: Path, project: Path
) -> None:
    server.script(say("I will."), say("Blue."))
    agent("The colour is blue.")
    assert agent("Which colour?") == ["Blue."]
    assert "The colour is blue." in server.last().text
    assert "I will." in server.last().text
