"""The promises, kept with the real Gemini CLI. It takes seconds to start, so each test holds a whole story.

Assertions are on the request bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

import html
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.gemini import Gemini
from tests.clients.model_server import Held, ModelServer, Reply, Request, Usage, call, say
from tests.clients.person import LIMIT_S, end
from tests.clients.product import TITLE, Product

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)
EMPTY = Usage(input=9)
FILLER = " ".join(f"word{number}" for number in range(6_000))
"""More than may be said before it compacts; where the words repeat, it takes them for a loop."""


@pytest.fixture
def product(gemini: Gemini) -> Iterator[Product]:
    """Holdfast, set up for that person's Gemini CLI."""
    installed = Product(gemini)
    installed.run("setup", "gemini", "--yes")
    try:
        yield installed
    finally:
        installed.end()


def work(project: Path) -> tuple[Reply, Reply, Reply]:
    """A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
    return (
        call(
            "write_file",
            file_path=str(project / "totals.py"),
            content="def total(): return 41\n",
            usage=EMPTY,
        ),
        call("run_shell_command", command=FAILING, description="Check the totals", usage=EMPTY),
        say(DECISION, usage=EMPTY),
    )


def brief_in(request: Request) -> str:
    """What a request holds from our title on, with the brackets that Gemini CLI escapes."""
    return html.unescape(request.text).partition(TITLE)[2]


def assert_holds_the_facts(request: Request) -> None:
    brief = brief_in(request)
    assert all(fact in brief for fact in FACTS), brief or "there is no brief"


def test_a_new_session_is_given_the_last_and_a_resumed_one_nothing(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    server.script(*work(gemini.project))
    done = gemini.prompt(f"Fix the totals. {RULE}")
    assert done.code == 0, done.stderr
    assert TITLE not in server.last().text
    server.script(say("ok"))
    gemini.prompt("Go on.", resume=True)
    assert TITLE not in server.last().text
    server.script(say("ok"))
    gemini.prompt("Where were we?")
    assert_holds_the_facts(server.last())
    (first,) = (row for row in product.json("sessions") if row["prompt_count"] == 2)
    assert first["harness"] == "gemini"


def test_after_a_compaction_the_brief_comes_with_the_next_tool(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    wrote, ran, _ = work(gemini.project)
    server.script(wrote, ran, say(f"{DECISION}\n\n{FILLER}", usage=EMPTY))
    gemini.prompt(f"Fix the totals. {RULE}")
    gemini.compact_early()
    server.script(call("run_shell_command", command="echo go", usage=EMPTY), say("ok", usage=EMPTY))
    gemini.prompt("Go on.", resume=True)
    assert server.compactions()
    assert_holds_the_facts(server.last())
    assert html.unescape(server.last().text).count(TITLE) == 1


def test_after_a_compaction_by_hand_the_brief_comes_with_the_next_prompt(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    wrote, ran, _ = work(gemini.project)
    server.script(wrote, ran, say(f"{DECISION}\n\n{FILLER}", usage=EMPTY))
    gemini.prompt(f"Fix the totals. {RULE}")
    with gemini.at_terminal("--resume", "latest") as terminal:
        terminal.enter("/compress", lambda: "<state_snapshot>" in gemini.chats()[-1].read_text())
        assert server.compactions()
        server.script(say("ok", usage=EMPTY))
        turns = len(server.turns())
        terminal.enter("Go on", lambda: len(server.turns()) > turns)
    assert_holds_the_facts(server.last())


def test_what_was_left_running_is_reported_by_its_process(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    serve = call("run_shell_command", command="sleep 61", is_background=True, usage=EMPTY)
    server.script(serve, say("Serving.", usage=EMPTY))
    with gemini.at_terminal("--yolo") as terminal:
        terminal.enter("Serve it", lambda: any("Serving." in chat.read_text() for chat in gemini.chats()))
        (process,) = re.findall(r"moved to background \(PID: (\d+)\)", server.last().text)
        terminal.enter("/clear", lambda: len(gemini.chats()) == 2)
        server.script(say("ok", usage=EMPTY))
        turns = len(server.turns())
        terminal.enter("Hello", lambda: len(server.turns()) > turns)
    assert f"- Left running: `sleep 61` (PID {process})" in brief_in(server.last())


def test_a_new_session_knows_in_which_folder_a_command_ran(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    folder = gemini.project / "billing"
    folder.mkdir()
    (folder / "rates.py").write_text("RATE = 1\n", encoding="utf-8")
    server.script(
        call("run_shell_command", command="cat rates.py", dir_path="billing"), say("One."), say("ok")
    )
    gemini.prompt("What is the rate?")
    assert "RATE = 1" in server.last().text
    gemini.prompt("Where were we?")
    assert "- Read last: billing/rates.py" in brief_in(server.last())


def test_after_clear_the_brief_comes_with_the_first_prompt(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    server.script(*work(gemini.project))
    gemini.prompt(f"Fix the totals. {RULE}")
    with gemini.at_terminal("--resume", "latest") as terminal:
        terminal.enter("/clear", lambda: len(gemini.chats()) == 2)
        server.script(say("ok"))
        turns = len(server.turns())
        terminal.enter("Hello", lambda: len(server.turns()) > turns)
    assert_holds_the_facts(server.last())
    assert "The context was just cleared." in brief_in(server.last())


def test_where_no_hook_fires_behind_tools_the_brief_comes_with_the_next_prompt(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    gemini.take_hook_away("AfterTool")
    wrote, ran, _ = work(gemini.project)
    server.script(wrote, ran, say(f"{DECISION}\n\n{FILLER}", usage=EMPTY))
    gemini.prompt(f"Fix the totals. {RULE}")
    gemini.compact_early()
    server.script(call("run_shell_command", command="echo go", usage=EMPTY), say("ok", usage=EMPTY))
    gemini.prompt("Go on.", resume=True)
    assert server.compactions()
    assert TITLE not in server.last().text
    server.script(say("ok", usage=EMPTY))
    gemini.prompt("And now?", resume=True)
    assert_holds_the_facts(server.last())


def test_killed_in_mid_session_the_daemon_loses_nothing(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    gate = threading.Event()
    wrote, ran, _ = work(gemini.project)
    server.script(wrote, Held(gate, ran), say(DECISION))
    with gemini.start(f"Fix the totals. {RULE}") as running:
        server.wait_until(lambda: len(server.turns()) == 2, 2 * LIMIT_S)
        product.kill_daemon()
        gate.set()
        running.communicate(timeout=2 * LIMIT_S)
    server.script(say("ok"))
    gemini.prompt("Where were we?")
    assert_holds_the_facts(server.last())


def test_beside_a_session_at_work_nothing_bleeds(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    gate = threading.Event()
    wrote, ran, _ = work(gemini.project)
    server.script(wrote, ran, Held(gate, say("never said")))
    with gemini.start(f"Fix the totals. {RULE}") as running:
        server.wait_until(lambda: len(server.turns()) == 3, 2 * LIMIT_S)
        server.script(say("ok"))
        gemini.prompt("Hello.")
        beside = html.unescape(server.last().text)
        end(running)
    gate.set()
    assert "Hello." in beside
    assert not [fact for fact in (RULE, "TotalsMismatch", DECISION) if fact in beside]


def test_after_a_crash_a_new_session_is_given_the_last(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    gate = threading.Event()
    wrote, ran, _ = work(gemini.project)
    server.script(wrote, ran, Held(gate, say("never said")))
    with gemini.start(f"Fix the totals, see TAX-19. {RULE}") as running:
        server.wait_until(lambda: len(server.turns()) == 3, 2 * LIMIT_S)
        end(running)
    gate.set()
    server.script(say("ok"))
    gemini.prompt("Where were we?")
    brief = brief_in(server.last())
    assert all(fact in brief for fact in (RULE, "TAX-19", "totals.py", "TotalsMismatch")), brief


def test_its_agent_has_our_tools_and_is_told_of_them(
    gemini: Gemini, server: ModelServer, product: Product
) -> None:
    # It offers its model `wait_for_previous` with every tool, and passes that on to the tool's server.
    summary = "Half is done, see PARSE-8."
    server.script(call("mcp_holdfast_session_digest", summary=summary, wait_for_previous=True), say("ok"))
    gemini.prompt("Write down where you are.")
    assert "Your work is kept when the context window dies." in server.last().text
    assert "Keep and find work across compactions, sessions and restarts." in server.last().text
    (session,) = product.json("sessions")
    kept = [row["digest"] for row in product.checkpoints(session["session_key"]) if row["trigger"] == "agent"]
    assert kept == [summary]
    server.script(say("ok"))
    gemini.prompt("Where were we?")
    assert "PARSE-8" in brief_in(server.last())


@pytest.mark.parametrize("gone", ["the home", "the interpreter"])
def test_whatever_is_gone_nobody_notices(
    gemini: Gemini, server: ModelServer, product: Product, gone: str
) -> None:
    interpreter = product.run("hook-command", "gemini").split()[0].strip("'\"")
    settings = gemini.settings.read_text()
    assert interpreter in settings
    if gone == "the home":
        # With it goes the server of our tools, which Gemini CLI starts as well.
        shutil.rmtree(product.home)
    else:
        gemini.settings.write_text(settings.replace(interpreter, "/nonexistent/python3"))
    server.script(say("went through"))
    done = gemini.prompt("Hello.")
    assert (done.code, done.stdout.strip()) == (0, "went through")
    assert "hook" not in done.stderr.lower()


def test_unsetup_leaves_the_settings_as_they_were(gemini: Gemini) -> None:
    before = gemini.settings.read_bytes()
    product = Product(gemini)
    product.run("setup", "gemini", "--yes")
    assert gemini.settings.read_bytes() != before
    product.run("unsetup", "gemini", "--yes")
    assert gemini.settings.read_bytes() == before
    assert [path.name for path in gemini.settings.parent.iterdir()] == ["settings.json"]
