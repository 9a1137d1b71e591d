"""What the work depends on is in the first request after the cut, with the real Claude Code: fact by fact.

Files that were only read are not said to be changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.claude import Claude, Json, Stream
from tests.clients.model_server import ModelServer, Request, Step, call, say
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
QUESTION = {
    "question": "Which rounding do the rules ask for?",
    "header": "Rounding",
    "options": [{"label": "Half to even", "description": "a"}, {"label": "Half up", "description": "b"}],
    "multiSelect": False,
}
SAID_TO_TOOLS = {
    "what is being done": "Doing: Round each line",
    "what is open": "To do: Show the saving in the cart",
    "what the user answered": "The user answered “Half to even” to “Which rounding do the rules ask for?”",
    "the words at a refusal": "take pnpm (said on refusing `npm install left-pad`)",
    "what was refused": "Refused by the user: `npm install left-pad`",
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


@pytest.mark.parametrize("cut", [compacted, cleared])
def test_what_the_user_said_to_tools_and_the_tasks_survive(
    claude: Claude, server: ModelServer, product: Product, cut: Callable[[Stream], None]
) -> None:
    server.script(
        call("TaskCreate", subject="Read the tax rules", description="all of them"),
        call("TaskCreate", subject="Round each line", description="in totals.py"),
        call("TaskCreate", subject="Show the saving in the cart", description="in cart.py"),
        call("TaskUpdate", taskId="1", status="completed"),
        call("TaskUpdate", taskId="2", status="in_progress"),
        call("AskUserQuestion", questions=[QUESTION]),
        call("Bash", command="npm install left-pad", description="Install it"),
        say("Understood."),
        say("ok"),
    )
    tasks = ("--allowedTools", "TaskCreate,TaskUpdate")
    with claude.start_stream("--permission-prompt-tool", "stdio", *tasks, decide=decided) as stream:
        stream.ask("Fix the cart totals.")
        cut(stream)
        stream.ask("Go on.")
        brief = brief_in(server.last().text)
        stream.close()
    assert [name for name, fact in SAID_TO_TOOLS.items() if fact not in brief] == []
    assert "Read the tax rules" not in brief
    assert "multiSelect" not in brief


@pytest.mark.parametrize("cut", [compacted, cleared])
def test_what_was_left_running_is_reported_by_its_handle_until_it_is_stopped(
    claude: Claude, server: ModelServer, product: Product, cut: Callable[[Stream], None]
) -> None:
    server.script(
        call("Bash", command="sleep 61", description="Serve", run_in_background=True),
        call("Bash", command="sleep 62", description="Watch", run_in_background=True),
        say("Serving."),
    )
    with claude.start_stream("--allowedTools", "Bash,TaskStop") as stream:
        stream.ask("Serve the cart, then look at it.")
        serving, watching = _handles(server.last())
        server.script(call("TaskStop", task_id=watching), say("Enough seen."), say("ok"))
        stream.ask("No need to watch it.")
        cut(stream)
        stream.ask("Go on.")
        brief = brief_in(server.last().text)
        server.script(call("TaskStop", task_id=serving), say("Stopped."))
        stream.ask("Stop it.")
        stream.close()
    assert f"- Left running: `sleep 61` ({serving})" in brief
    assert "Left running: `sleep 62`" not in brief
    assert "Failed" not in brief


def _handles(request: Request) -> list[str]:
    """The ids of the commands in the background, the first one first."""
    return re.findall(r"running in background with ID: (\w+)", request.text)


def decided(asked: Json) -> Json:
    """What the person says to a tool that asks them, or that wants to run."""
    if asked["tool_name"] == "AskUserQuestion":
        answers = {QUESTION["question"]: "Half to even"}
        return {"behavior": "allow", "updatedInput": {**asked["input"], "answers": answers}}
    if asked["tool_name"] == "Bash":
        return {"behavior": "deny", "message": "take pnpm"}
    return {"behavior": "allow", "updatedInput": asked["input"]}


def brief_in(text: str) -> str:
    return text[text.index(TITLE) :].partition("</holdfast-recall>")[0]


def assert_all_there(text: str) -> None:
    brief = brief_in(text)
    assert [name for name, fact in FACTS.items() if fact not in brief] == []
    changed = "\n".join(line for line in brief.splitlines() if line.startswith(("- Wrote", "- Edited")))
    assert "totals.py" in changed
    assert "rounding.py" in changed
    assert "legacy.py" not in changed
    assert len(brief) <= 2_000
