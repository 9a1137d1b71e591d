"""The promises, kept with the real OpenCode.

Assertions are on the request bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.model_server import ModelServer, Reply, Request, call, say
from tests.clients.opencode import OpenCode, Served
from tests.clients.product import TITLE, Product

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)


@pytest.fixture
def product(opencode: OpenCode) -> Iterator[Product]:
    """Holdfast, set up for that person's OpenCode."""
    installed = Product(opencode)
    installed.run("setup", "opencode", "--yes")
    try:
        yield installed
    finally:
        installed.end()


@pytest.fixture
def served(opencode: OpenCode, product: Product) -> Iterator[Served]:
    with opencode.serve() as running:
        yield running


def work(project: Path) -> tuple[Reply, Reply, Reply]:
    """A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
    return (
        call("write", filePath=str(project / "totals.py"), content="def total(): return 41\n"),
        call("bash", command=FAILING, description="Check the totals"),
        say(DECISION),
    )


def brief_in(request: Request) -> str:
    return request.text.partition(TITLE)[2]


def assert_holds_the_facts(request: Request) -> None:
    brief = brief_in(request)
    assert all(fact in brief for fact in FACTS), brief or "there is no brief"


def test_after_a_compaction_the_brief_is_in_the_next_request(
    opencode: OpenCode, server: ModelServer, served: Served
) -> None:
    server.script(*work(opencode.project))
    session = served.session(opencode.project)
    session.prompt(f"Fix the totals. {RULE}")
    session.compact()
    server.script(say("ok"))
    session.prompt("Go on.")
    assert_holds_the_facts(server.last())
