"""What the work depends on is in the first request after the cut, with the real Claude Code: fact by fact.

Files that were only read are not said to be changed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.claude import Claude, Stream
from tests.clients.model_server import ModelServer, Step, call, say
from tests.clients.product import TITLE, Product

TOOLS = ("--allowedTools", "Bash,Read,Write,Edit")
RULE = "Never touch legacy.py, it is frozen until the audit."
CORRECTION = "Use Decimal instead of float for money."
FAILING = "python3 check_totals.py"
PASSING = "python3 -m compileall -q ."
FACTS = {
    "the user's rule, whole": RULE,
    "the user's decision": CORRECTION,
    "the ticket": "PAY-1877",
    "the failing command": FAILING,
    "its error line": "TotalsMismatch: 41 != 42",
    "the passing command": PASSING,
    "the agent's decision": "round half up once per cart",
    "the new identifier": "round_half_up_once",
    "the measured number": "412 ms",
    "the next step": "wire rounding.py into the checkout",
    "the last commit": "Begin",
    "the branch": "Branch: main",
}


def story(project: Path) -> tuple[Step, ...]:
    (project / "legacy.py").write_text("FROZEN = True\n")
    (project / "check_totals.py").write_text(
        "class TotalsMismatch(Exception):\n    pass\n\n\nraise TotalsMismatch('41 != 42')\n"
    )
    rounding = "def round_half_up_once(amount):\n    return amount\n"
    return (
        call("Read", file_path=str(project / "legacy.py")),
        call("Write", file_path=str(project / "totals.py"), content="def total():\n    return 41\n"),
        call("Bash", command=FAILING, description="Check the totals"),
        call("Write", file_path=str(project / "rounding.py"), content=rounding),
        call("Bash", command=PASSING, description="Compile everything"),
        say(
            "Decision: round half up once per cart, because rounding per line drifts. "
            "The check takes 412 ms. Next: wire rounding.py into the checkout."
        ),
        say("Understood."),
    )


def compacted(stream: Stream) -> None:
    stream.ask("/compact")


def cleared(stream: Stream) -> None:
    stream.ask("/clear")


@pytest.mark.parametrize("cut", [compacted, cleared])
def test_after_a_cut_in_the_same_process(
    claude: Claude, server: ModelServer, product: Product, cut: Callable[[Stream], None]
) -> None:
    server.script(*story(claude.project), say("ok"))
    with claude.start_stream(*TOOLS) as stream:
        stream.ask(f"Fix the cart totals for PAY-1877. {RULE}")
        stream.ask(CORRECTION)
        cut(stream)
        stream.ask("Go on.")
        text = server.last().text
        stream.close()
    assert_all_there(text)


def test_after_a_crash(claude: Claude, server: ModelServer, product: Product) -> None:
    server.script(*story(claude.project))
    with claude.start_stream(*TOOLS) as stream:
        stream.ask(f"Fix the cart totals for PAY-1877. {RULE}")
        stream.ask(CORRECTION)
        stream.kill()
    server.script(say("ok"))
    claude.prompt("Where were we?")
    assert_all_there(server.last().text)


def assert_all_there(text: str) -> None:
    brief = text[text.index(TITLE) :].partition("</holdfast-recall>")[0]
    assert [name for name, fact in FACTS.items() if fact not in brief] == []
    changed = "\n".join(line for line in brief.splitlines() if line.startswith(("- Wrote", "- Edited")))
    assert "totals.py" in changed
    assert "rounding.py" in changed
    assert "legacy.py" not in changed
    assert len(brief) <= 2_000
