"""The agent's digest at 75 %, and what happened after it, with the real Claude Code: both outlive the cut.

The model server says how full the window is. Claude Code compacts at 67,000 tokens here, as in
`test_claude_code_pressure.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from holdfast.core.session.pressure import THRESHOLDS
from tests.clients.claude import Claude, Stream
from tests.clients.model_server import ModelServer, Reply, call, say
from tests.clients.product import Product
from tests.clients.test_claude_code_facts import brief_in, cleared, compacted
from tests.clients.test_claude_code_pressure import WINDOW, full, said
from tests.clients.test_mcp_claude_code import ask_until_it_has_our_tools, digests

TOOLS: Final = ("--allowedTools", "Bash,Read,Write,Edit,mcp__holdfast__*")
SEVENTY_FIVE: Final = next(threshold.text for threshold in THRESHOLDS if threshold.percent == 75)
CALLS_SINCE: Final = 20
FAILING: Final = "python3 check_totals.py"
ERROR: Final = "TotalsMismatch: 41 != 42"
GOAL: Final = "Cart totals are exact to the cent on every invoice (PAY-1877)."
DECISION: Final = "Round once per cart over once per line, because lines drift by a cent."
OPEN_STEP: Final = "wire rounding.py into the checkout"
FINISHED_STEP: Final = "port report.py to the new totals"
REPORT: Final = "Verified: report.py is ported to the new totals, and it works now."
FROM_THE_DIGEST: Final = {"the goal": GOAL, "the decision": DECISION, "the open step": OPEN_STEP}
SINCE_THEN: Final = {"the last edited file": "audit_trail.py", "the failing command's line": ERROR}


@pytest.fixture
def claude(claude: Claude) -> Claude:
    claude.env |= WINDOW
    return claude


def given_digest() -> Reply:
    return call(
        "mcp__holdfast__session_digest",
        usage=full(79),
        summary="Rounding is written and not used yet.",
        goal=GOAL,
        rules=["Never touch legacy.py."],
        next=[FINISHED_STEP, OPEN_STEP],
        decisions=[DECISION],
    )


def work_since(project: Path) -> tuple[Reply, ...]:
    """Twenty tool calls: one step of the digest is done, a check fails, and a file is begun."""
    (project / "check_totals.py").write_text(
        "class TotalsMismatch(Exception):\n    pass\n\n\nraise TotalsMismatch('41 != 42')\n"
    )
    looks = [call("Bash", command=f"echo step {number}", usage=full(82)) for number in range(CALLS_SINCE - 3)]
    report, trail = str(project / "report.py"), str(project / "audit_trail.py")
    return (
        call("Write", file_path=report, content="def report():\n    return 42\n", usage=full(81)),
        *looks,
        call("Bash", command=FAILING, description="Check the totals", usage=full(84)),
        call("Write", file_path=trail, content="def trail():\n    return []\n", usage=full(85)),
    )


def brief_after(cut: Callable[[Stream], None], claude: Claude, server: ModelServer, product: Product) -> str:
    """The brief in the first request after a digest at 75 %, twenty tool calls and a cut."""
    with claude.start_stream(*TOOLS) as stream:
        ask_until_it_has_our_tools(stream, server)
        server.script(said("Rounding is written.", 78))
        stream.ask("Fix the cart totals for PAY-1877. Never touch legacy.py.")
        server.script(given_digest(), said("Saved.", 80))
        stream.ask("Go on with the report.")
        assert SEVENTY_FIVE in server.last().text
        assert len(digests(product, stream.session)) == 1
        since = work_since(claude.project)
        assert len(since) == CALLS_SINCE
        server.script(*since, said(REPORT, 86))
        stream.ask("Do the next steps.")
        assert server.unused() == ()
        cut(stream)
        server.script(say("ok"))
        stream.ask("Go on.")
        text = server.last().text
        stream.close()
    return brief_in(text)


@pytest.mark.parametrize("cut", [compacted, cleared])
def test_the_digest_and_what_happened_since_are_in_the_next_request(
    claude: Claude, server: ModelServer, product: Product, cut: Callable[[Stream], None]
) -> None:
    brief = brief_after(cut, claude, server, product)
    assert [name for name, fact in (FROM_THE_DIGEST | SINCE_THEN).items() if fact not in brief] == []


@pytest.mark.parametrize("cut", [compacted, cleared])
def test_a_step_of_the_digest_that_was_done_since_is_not_told_as_open(
    claude: Claude, server: ModelServer, product: Product, cut: Callable[[Stream], None]
) -> None:
    brief = brief_after(cut, claude, server, product)
    assert OPEN_STEP in brief
    assert FINISHED_STEP not in brief
