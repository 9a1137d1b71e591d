"""Pressure, with the real Claude Code: what reaches the model while its window fills, and what is known then.

The model server says how full the window is. It holds 100,000 tokens as far as Claude Code may use it, which
then compacts at 67,000; that is the whole to which percentages refer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from holdfast.core.session.pressure import THRESHOLDS
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, Reply, Usage, call, say
from tests.clients.product import Product

TOOLS: Final = ("--allowedTools", "Bash,Read,Write,Edit")
WINDOW: Final = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
CAPACITY: Final = 67_000
FIFTY, SEVENTY_FIVE, NINETY = (threshold.text for threshold in THRESHOLDS)
ALL: Final = (FIFTY, SEVENTY_FIVE, NINETY)


@pytest.fixture
def claude(claude: Claude) -> Claude:
    claude.env |= WINDOW
    return claude


def full(percent: int) -> Usage:
    """What a request reports that fills so much of the window."""
    return Usage(input=1_000, cache_read=CAPACITY * percent // 100 - 1_000 + 100, output=20)


def said(text: str, percent: int) -> Reply:
    return say(text, usage=full(percent))


def state(product: Product) -> dict[str, Any]:
    (session,) = product.json("sessions")
    return dict(session)


def counts(server: ModelServer) -> list[tuple[int, ...]]:
    """How often each of the three texts stands in each request of the model."""
    return [tuple(turn.text.count(text) for text in ALL) for turn in server.turns()]


def test_each_text_reaches_the_model_once_in_a_window(
    claude: Claude, server: ModelServer, product: Product
) -> None:
    server.script(
        said("one", 30),
        said("two", 55),
        said("three", 57),
        said("four", 78),
        said("five", 80),
        said("six", 81),
    )
    with claude.start_stream(*TOOLS) as stream:
        for prompt in ("first", "second", "third", "fourth", "fifth", "sixth"):
            stream.ask(prompt)
        stream.close()
    # What was injected stays in the conversation: it is in every later request, and in each of them once.
    assert counts(server) == [(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 0)]
    assert "[Context: 52k/67k tokens (78%)]" in server.last().text


def test_the_last_one_makes_the_agent_answer_before_it_may_stop(
    claude: Claude, server: ModelServer, product: Product
) -> None:
    note = claude.project / "memory" / "2026-11-16.md"
    server.script(
        said("begun", 60),
        said("done, I think", 92),
        call("Write", file_path=str(note), content="The port is 8080.\n", usage=full(93)),
        said("NO_REPLY", 94),
    )
    with claude.start_stream(*TOOLS) as stream:
        stream.ask("Begin.")
        stream.ask("Go on.")
        stream.close()
    assert server.unused() == ()
    assert [turn.text.count(NINETY) for turn in server.turns()] == [0, 0, 1, 1]
    assert note.read_text() == "The port is 8080.\n"
    after = state(product)
    assert after["flushActioned"] is True
    assert after["flush_asked"] == [50, 75, 90]
    assert "NO_REPLY" not in "".join(row["digest"] for row in product.checkpoints(after["session_key"]))


def test_an_agent_that_writes_nothing_is_not_asked_again(
    claude: Claude, server: ModelServer, product: Product
) -> None:
    server.script(said("begun", 60), said("done", 92), said("NO_REPLY", 93), said("more", 94))
    with claude.start_stream(*TOOLS) as stream:
        stream.ask("Begin.")
        stream.ask("Go on.")
        stream.ask("And on.")
        stream.close()
    assert server.unused() == ()
    assert server.last().text.count(NINETY) == 1
    assert state(product)["flushActioned"] is False


def test_everything_begins_anew_after_a_compaction(
    claude: Claude, server: ModelServer, product: Product
) -> None:
    server.script(said("one", 60), said("two", 61), said("three", 20), said("four", 62), said("five", 63))
    with claude.start_stream(*TOOLS) as stream:
        stream.ask("first")
        stream.ask("second")
        assert state(product)["flush_asked"] == [50]
        stream.ask("/compact")
        before = state(product)
        stream.ask("third")
        stream.ask("fourth")
        stream.ask("fifth")
        stream.close()
    assert (before["tokens"], before["flush_asked"], before["flushActioned"]) == (0, [], False)
    assert [row[0] for row in counts(server)] == [0, 1, 0, 0, 1]


def test_a_compaction_of_its_own_comes_after_the_agent_was_asked(
    claude: Claude, server: ModelServer, product: Product
) -> None:
    server.script(
        said("one", 60),
        said("two", 95),
        said("NO_REPLY", 96),
        call("Bash", command="echo one", usage=full(104)),
        call("Bash", command="echo two", usage=full(105)),
        said("after", 20),
    )
    with claude.start_stream(*TOOLS) as stream:
        stream.ask("first")
        stream.ask("second")
        stream.ask("third")
        stream.close()
    requests = server.requests
    compaction = requests.index(server.compactions()[0])
    asked = next(number for number, each in enumerate(requests) if NINETY in each.text)
    assert asked < compaction
    assert state(product)["windows"] >= 2


def test_a_window_that_fills_is_saved_on_the_way(
    claude: Claude, server: ModelServer, product: Product, tmp_path: Path
) -> None:
    file = str(claude.project / "totals.py")
    server.script(
        call("Write", file_path=file, content="x = 1\n", usage=full(26)),
        call("Bash", command="echo one", usage=full(40)),
        call("Bash", command="echo two", usage=full(52)),
        said("I decided to round half up in totals.py.", 77),
    )
    session = claude.prompt("Fix the totals.", *TOOLS).session
    saved = [row for row in product.checkpoints(session) if row["trigger"] == "threshold"]
    tokens = [row["checkpoint"]["tokensAtCheckpoint"] for row in reversed(saved)]
    assert tokens == [CAPACITY * percent // 100 + 120 for percent in (26, 52, 77)]
    newest = saved[0]
    stamp, _, unique = newest["id"].partition("_")
    assert stamp.isdecimal()
    assert int(unique, 16) >= 0
    assert "Fix the totals." in newest["checkpoint"]["summary"]
    assert any("round half up" in one for one in newest["checkpoint"]["keyDecisions"])
    assert newest["checkpoint"]["messageCountAtCheckpoint"] == 5


def test_in_the_middle_of_a_turn_it_is_told_where_the_user_wants_that(
    claude: Claude, server: ModelServer, product: Product
) -> None:
    (product.home / "config.toml").write_text("[pressure]\nmid_turn = true\n")
    product.run("setup", "claude-code", "--yes")
    server.script(
        call("Bash", command="sleep 0.3", usage=full(55)),
        call("Bash", command="sleep 0.3", usage=full(56)),
        said("done", 57),
    )
    claude.prompt("Work.", *TOOLS)
    assert [row[0] for row in counts(server)] == [0, 1, 1]
