"""What the work depends on is in the first request after the cut, with the real Claude Code: fact by fact.

Files that were only read are not said to be changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.clients.claude import Claude, Json, Stream
from tests.clients.model_server import ModelServer, Request, call, say
from tests.clients.product import TITLE, Product

TOOLS = ("--allowedTools", "Bash,Read,Write,Edit,TaskCreate")
GOAL = "Fix the cart totals for PAY-1877."
RULE = "Never touch legacy.py, it is frozen until the audit."
SECOND_RULE = "Always add a line to CHANGES.md for each fix."
CORRECTION = "Use Decimal instead of float for money."
FAILING = "python3 check_totals.py"
PASSING = "python3 -m compileall -q ."
OVERTURNED = "keep the totals in float"
NOT_COMMITTED = "- Edited, not committed: .*"
# Each as a regular expression.
FACTS = {
    "the goal": "Fix the cart totals",
    "the ticket": "PAY-1877",
    "the user's first rule, whole": RULE,
    "the user's second rule, whole": SECOND_RULE,
    "the user's decision": CORRECTION,
    "the agent's decision": "round half up once per cart",
    "its reason": "because rounding per line drifts",
    "the first edited file": NOT_COMMITTED + r"\btotals.py",
    "the second edited file": NOT_COMMITTED + "rounding.py",
    "the deleted file": "Deleted cents.py",
    "the failing command": FAILING,
    "its error line": "TotalsMismatch: 41 != 42",
    "the passing command": PASSING,
    "the next step": "wire rounding.py into the checkout",
    "the to-do": "Show the saving in the cart",
    "the open question": "does the tax office accept half up",
    "the new identifier": "round_half_up_once",
    "the measured number": "412 ms",
    "the commit": "Pin the tax table",
    "the branch": "fix/cart-totals",
}
ENOUGH_FACTS = 18
QUESTION = {
    "question": "Which rounding do the rules ask for?",
    "header": "Rounding",
    "options": [{"label": "Half to even", "description": "a"}, {"label": "Half up", "description": "b"}],
    "multiSelect": False,
}
SAID_TO_TOOLS = {
    "what is being done": "### Now\n- Round each line",
    "what is open": "### Next\n- Show the saving in the cart",
    "what the user answered": "The user answered “Half to even” to “Which rounding do the rules ask for?”",
    "the words at a refusal": "take pnpm (said on refusing `npm install left-pad`)",
}


def work(claude: Claude, server: ModelServer, stream: Stream) -> None:
    """Three prompts: the second overturns what the agent decided, the third leaves what it said as it is."""
    _lay_out(claude)
    project = claude.project
    totals, rounding = str(project / "totals.py"), str(project / "rounding.py")
    server.script(
        call("Bash", command="git checkout -b fix/cart-totals", description="Make a branch"),
        call("Read", file_path=str(project / "legacy.py")),
        call("Write", file_path=str(project / "tax.py"), content="TAX = 19\n"),
        call("Bash", command='git add tax.py && git commit -m "Pin the tax table"', description="Commit"),
        call("Write", file_path=totals, content="def total():\n    return 41.0\n"),
        call("Bash", command=FAILING, description="Check the totals"),
        say(f"Decision: {OVERTURNED}, because it is fast."),
    )
    stream.ask(f"{GOAL} {RULE}")
    server.script(
        call("Edit", file_path=totals, old_string="41.0", new_string="Decimal(41)"),
        call("Write", file_path=rounding, content="def round_half_up_once(amount):\n    return amount\n"),
        call("Bash", command="rm cents.py", description="Remove what nothing imports"),
        call("Bash", command=PASSING, description="Compile everything"),
        call("TaskCreate", subject="Show the saving in the cart", description="in cart.py"),
        say(
            "Decision: round half up once per cart, because rounding per line drifts. "
            "The check takes 412 ms. Next: wire rounding.py into the checkout."
        ),
    )
    stream.ask(CORRECTION)
    server.script(say("Understood. Open question: does the tax office accept half up?"))
    stream.ask(SECOND_RULE)
    assert server.unused() == ()


def _lay_out(claude: Claude) -> None:
    """The files that are there before the work, and the name that its commit is made under."""
    project = claude.project
    (project / "legacy.py").write_text("FROZEN = True\n")
    (project / "cents.py").write_text("TOTAL = 41\n")
    (project / "check_totals.py").write_text(
        "class TotalsMismatch(Exception):\n    pass\n\n\nraise TotalsMismatch('41 != 42')\n"
    )
    claude.git("add", ".")
    claude.git("commit", "--quiet", "--message", "Begin with the old totals")
    claude.git("config", "user.name", "Test")
    claude.git("config", "user.email", "test@example.invalid")


def compacted(stream: Stream) -> None:
    stream.ask("/compact")


def cleared(stream: Stream) -> None:
    stream.ask("/clear")


@pytest.mark.parametrize("cut", [compacted, cleared])
def test_after_a_cut_in_the_same_process(
    claude: Claude, server: ModelServer, product: Product, cut: Callable[[Stream], None]
) -> None:
    with claude.start_stream(*TOOLS) as stream:
        work(claude, server, stream)
        cut(stream)
        server.script(say("ok"))
        stream.ask("Go on.")
        text = server.last().text
        stream.close()
    assert_enough_is_there(text)


def test_after_a_crash(claude: Claude, server: ModelServer, product: Product) -> None:
    with claude.start_stream(*TOOLS) as stream:
        work(claude, server, stream)
        stream.kill()
    server.script(say("ok"))
    claude.prompt("Where were we?")
    assert_enough_is_there(server.last().text)


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
    assert [name for name, fact in SAID_TO_TOOLS.items() if fact not in brief] == [], brief
    done = brief.partition("### Done\n")[2].partition("\n\n")[0]
    assert "Read the tax rules" in done
    assert brief.count("Read the tax rules") == 1
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


def assert_enough_is_there(text: str) -> None:
    brief = brief_in(text)
    missing = [name for name, fact in FACTS.items() if not re.search(fact, brief)]
    there = len(FACTS) - len(missing)
    assert there >= ENOUGH_FACTS, f"{there} of {len(FACTS)} facts; missing: {', '.join(missing)}\n{brief}"
    assert OVERTURNED not in brief, brief
    assert not re.search(NOT_COMMITTED + "legacy.py", brief), brief
    assert len(brief) <= 2_000
