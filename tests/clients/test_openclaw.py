"""The promises, kept with the real OpenClaw. Its gateway takes long to start, so one serves all tests here.

Each test has an agent of its own, with a workspace in which nobody else works. Assertions are on the request
bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.claude import Claude
from tests.clients.model_server import (
    AnthropicMessages,
    Held,
    ModelServer,
    Reply,
    Request,
    Usage,
    call,
    plain_text,
    say,
)
from tests.clients.openclaw import FULL, WINDOW, OpenClaw
from tests.clients.openclaw_api import MEMORY, OpenClawMessages
from tests.clients.person import LIMIT_S
from tests.clients.product import TITLE, Product

DEAF = "unheard"
"""An agent whose compactions our plugin is told nothing of."""
AGENTS = (
    *("by-hand", "by-itself", "anew", "next", "tools", "daemon", "gone", "killed", "serving"),
    *("forked", "at-work", "across", DEAF),
)
RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(OpenClawMessages(), AnthropicMessages()) as running:
        yield running


@pytest.fixture(scope="module")
def openclaw(
    openclaw_binary: Path, tmp_path_factory: pytest.TempPathFactory, server: ModelServer
) -> OpenClaw:
    return OpenClaw(openclaw_binary, tmp_path_factory.mktemp("openclaw"), server, AGENTS)


@pytest.fixture(scope="module")
def product(openclaw: OpenClaw) -> Iterator[Product]:
    """Holdfast, set up for that person's OpenClaw, whose gateway runs."""
    installed = Product(openclaw)
    installed.run("setup", "openclaw", "--yes")
    deafen(openclaw.state / "holdfast" / "index.js")
    link_interpreter(openclaw, installed)
    try:
        openclaw.start()
        yield installed
    finally:
        openclaw.kill()
        installed.end()


def deafen(plugin: Path) -> None:
    """Have OpenClaw never say that it compacts, nor that it has, where one agent works."""
    told = plugin.read_text()
    hook_event = "api.on(name, harmless(hook))"
    assert told.count(hook_event) == 1
    unheard = f'name.endsWith("_compaction") && context.agentId === "{DEAF}"'
    hook = f"(event, context) => {unheard} ? undefined : hook(event, context)"
    plugin.write_text(told.replace(hook_event, f"api.on(name, harmless({hook}))"))


def interpreter_of(openclaw: OpenClaw) -> Path:
    """The Python that runs our hook and our relay, in a place from which it can be taken."""
    return openclaw.scratch / "python3"


def link_interpreter(openclaw: OpenClaw, product: Product) -> None:
    """Have the settings name our Python by a link, as some installations do."""
    interpreter = product.run("hook-command", "openclaw").split()[0].strip("'\"")
    link, settings = interpreter_of(openclaw), openclaw.settings.read_text()
    assert settings.count(interpreter) == 2  # for the plugin, and for the server of our tools
    link.symlink_to(Path(interpreter).resolve())
    openclaw.settings.write_text(settings.replace(interpreter, str(link)))


def work(workspace: Path) -> tuple[Reply, Reply, Reply]:
    """A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
    return (
        call("write", path=str(workspace / "totals.py"), content="def total(): return 41\n"),
        call("exec", command=FAILING),
        say(DECISION),
    )


def brief_in(request: Request) -> str:
    return plain_text(request.body["system"]).partition(TITLE)[2]


def sessions_in(product: Product, workspace: Path) -> list[dict[str, Any]]:
    """What is kept of the sessions of an agent, the newest first."""
    rows: list[dict[str, Any]] = product.json("sessions", cwd=workspace)
    return [row for row in rows if row["project"] == str(workspace)]


def pre_compaction(product: Product, workspace: Path) -> list[dict[str, Any]]:
    """The checkpoints that were taken before a compaction, in the one session of an agent."""
    (session,) = sessions_in(product, workspace)
    kept = product.checkpoints(session["session_key"])
    return [checkpoint for checkpoint in kept if checkpoint["trigger"] == "pre_compaction"]


def assert_holds_the_facts(request: Request) -> None:
    brief = brief_in(request)
    assert all(fact in brief for fact in FACTS), brief or "there is no brief"


def test_after_a_compaction_the_brief_goes_with_every_request(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("by-hand")
    server.script(*work(openclaw.workspace("by-hand")))
    assert session.prompt(f"Fix the totals. {RULE}") == DECISION
    assert TITLE not in server.last().text
    session.compact()
    assert TITLE not in server.compactions()[-1].text
    (kept,) = pre_compaction(product, openclaw.workspace("by-hand"))
    assert "totals.py" in kept["digest"]
    server.script(call("exec", command="echo on"), say("ok"), say("ok"))
    session.prompt("Go on.")
    session.prompt("And on.")
    briefs = [brief_in(request) for request in server.turns()[-3:]]
    assert_holds_the_facts(server.last())
    assert briefs[0] == briefs[1] == briefs[2]


def test_what_was_left_running_is_reported_by_its_session_until_it_is_killed(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("serving")
    waits = (call("exec", command=f"sleep {seconds}", background=True) for seconds in (61, 62))
    server.script(*waits, say("Serving."))
    session.prompt("Serve the cart, and watch it.")
    serving, watching = re.findall(r"Command still running \(session ([\w-]+)", server.last().text)
    server.script(call("process", action="kill", sessionId=watching), say("Enough seen."))
    session.prompt("No need to watch it.")
    session.compact()
    server.script(say("ok"))
    session.prompt("Go on.")
    brief = brief_in(server.last())
    server.script(call("process", action="kill", sessionId=serving), say("Stopped."))
    session.prompt("Stop it.")
    assert f"- Left running: `sleep 61` (session {serving})" in brief
    assert "Left running: `sleep 62`" not in brief


def test_with_the_next_prompt_if_no_hook_fired(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session(DEAF)
    server.script(*work(openclaw.workspace(DEAF)), say("ok"), say("ok"))
    session.prompt(f"Fix the totals. {RULE}")
    session.compact()
    session.prompt("Go on.")
    before = brief_in(server.last())
    assert_holds_the_facts(server.last())
    session.prompt("And on.")
    assert brief_in(server.last()) == before


def test_a_fork_is_given_nothing_and_knows_its_parent(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("forked")
    server.script(*work(openclaw.workspace("forked")), say("ok"))
    session.prompt(f"Fix the totals. {RULE}")
    (parent,) = sessions_in(product, openclaw.workspace("forked"))
    session.fork().prompt("Try it another way.")
    assert DECISION in server.last().text
    assert TITLE not in server.last().text
    rows = sessions_in(product, openclaw.workspace("forked"))
    # What the settings say that the model holds, less what OpenClaw keeps free.
    assert [row["capacity"] for row in rows if row["session_key"] == parent["session_key"]] == [
        WINDOW - 16_384
    ]
    assert {row["session_key"]: row["parent"] for row in rows if row["parent"]} == {
        rows[0]["session_key"]: parent["session_key"]
    }


def test_beside_a_session_at_work_nothing_bleeds(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    gate, before = threading.Event(), len(server.turns())
    wrote, ran, _ = work(openclaw.workspace("at-work"))
    server.script(wrote, ran, Held(gate, say("done")), say("ok"))
    busy = openclaw.session("at-work")
    at_work = threading.Thread(target=busy.prompt, args=(f"Fix the totals. {RULE}",))
    at_work.start()
    try:
        server.wait_until(lambda: len(server.turns()) == before + 3, LIMIT_S)
        (known,) = sessions_in(product, openclaw.workspace("at-work"))
        openclaw.session("at-work", "beside").prompt("Something else.")
        beside = server.last()
    finally:
        gate.set()
        at_work.join()
    assert not [fact for fact in FACTS if fact in beside.text]
    assert f"Session {known['session_key'][:8]} is live" in beside.text


def test_what_claude_code_began_it_continues(
    openclaw: OpenClaw, claude_binary: Path, server: ModelServer, product: Product
) -> None:
    workspace = openclaw.workspace("across")
    claude = Claude(claude_binary, openclaw.home.parent, server)
    product.run("setup", "claude-code", "--yes")
    server.script(call("Bash", command=FAILING, description="Check"), say(DECISION))
    began = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash", cwd=workspace).session
    server.script(say("ok"))
    openclaw.session("across").prompt("Where were we?")
    brief = brief_in(server.last())
    assert f"Holdfast's record of Claude Code session {began[:8]}" in brief
    assert all(fact in brief for fact in (RULE, "TotalsMismatch", DECISION)), brief


def test_neither_notes_nor_a_summary_are_given_a_brief_when_it_compacts_by_itself(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("by-itself")
    wrote, ran, _ = work(openclaw.workspace("by-itself"))
    server.script(wrote, ran, say(DECISION, usage=Usage(input=FULL)))
    session.prompt(f"Fix the totals. {RULE}")
    server.script(say("ok"))
    session.prompt("Go on.")
    notes = [request for request in server.turns() if request.subagent == MEMORY]
    assert notes
    assert not any(TITLE in request.text for request in (*notes, *server.compactions()))
    assert_holds_the_facts(server.last())


def test_after_new_the_session_is_given_what_it_was_and_may_ignore_it(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("anew")
    server.script(*work(openclaw.workspace("anew")))
    session.prompt(f"Fix the totals. {RULE}")
    session.reset()
    server.script(say("ok"), say("ok"))
    session.prompt("Where were we?")
    session.prompt("And then?")
    assert_holds_the_facts(server.last())
    assert "gnore" in brief_in(server.last())
    first, second = (brief_in(request) for request in server.turns()[-2:])
    assert first == second


def test_a_new_session_is_given_the_last_and_one_elsewhere_nothing(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    server.script(*work(openclaw.workspace("next")))
    openclaw.session("next").prompt(f"Fix the totals. {RULE}")
    server.script(say("ok"), say("ok"))
    openclaw.session("next", "other").prompt("Where were we?")
    assert_holds_the_facts(server.last())
    openclaw.session("daemon", "first").prompt("Hello.")
    assert TITLE not in server.last().text


def test_its_agent_has_our_tools_and_what_it_says_is_kept_with_its_session(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    one, other = openclaw.session("tools"), openclaw.session("tools", "other")
    server.script(say("ok"))
    other.prompt("I look at something else.")
    server.script(call("holdfast__session_digest", summary="Half is done, see PARSE-8."), say("ok"))
    one.prompt("Write down where you are. This is TAX-19.")
    kept = [
        [each["digest"] for each in product.checkpoints(row["session_key"]) if each["trigger"] == "agent"]
        for row in sessions_in(product, openclaw.workspace("tools"))
    ]
    assert sorted(kept) == [[], ["Half is done, see PARSE-8."]]
    one.compact()
    server.script(say("ok"))
    one.prompt("Where were we?")
    assert "PARSE-8" in brief_in(server.last())


def test_nothing_is_lost_when_the_daemon_is_killed(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("daemon")
    server.script(*work(openclaw.workspace("daemon")))
    product.kill_daemon()
    assert session.prompt(f"Fix the totals. {RULE}") == DECISION
    session.compact()
    product.kill_daemon()
    server.script(say("ok"))
    session.prompt("Go on.")
    assert_holds_the_facts(server.last())


def test_after_a_crash_the_window_is_given_the_same_and_our_summary_costs_no_request(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    session = openclaw.session("killed")
    server.script(*work(openclaw.workspace("killed")), say("ok"))
    session.prompt(f"Fix the totals. {RULE}")
    session.compact()
    session.prompt("Go on.")
    before = brief_in(server.last())
    openclaw.kill()
    openclaw.have_summaries_from("holdfast")
    openclaw.start()
    server.script(say("ok"), say("ok"))
    session.prompt("Go on.")
    assert before
    assert brief_in(server.last()) == before
    asked = len(server.compactions())
    session.compact()
    session.prompt("And on.")
    assert len(server.compactions()) == asked
    assert "## What the summary must keep" in plain_text(server.last().body["messages"])
    assert_holds_the_facts(server.last())


@pytest.mark.parametrize("gone", ["the home", "the interpreter"])
def test_whatever_is_gone_nobody_notices(
    openclaw: OpenClaw, server: ModelServer, product: Product, gone: str
) -> None:
    place = product.home if gone == "the home" else interpreter_of(openclaw)
    aside = place.with_name("gone")
    product.end()
    place.rename(aside)
    try:
        server.script(say("went through"))
        assert openclaw.session("gone", gone.replace(" ", "-")).prompt("Hello.") == "went through"
        assert TITLE not in server.last().text
        assert product.daemon() == 0
        assert not place.exists()
    finally:
        aside.rename(place)


def test_unsetup_leaves_the_settings_as_they_were(
    openclaw_binary: Path, tmp_path: Path, server: ModelServer
) -> None:
    person = OpenClaw(openclaw_binary, tmp_path, server, ("main",))
    before = "// mine\n" + person.settings.read_text().replace('"gateway"', "gateway", 1)
    person.settings.write_text(before)
    (person.workspace("main") / "AGENTS.md").write_text("# Mine\n")
    product = Product(person)
    product.run("setup", "openclaw", "--yes")
    assert person.settings.read_text() != before
    assert "holdfast" in (person.workspace("main") / "AGENTS.md").read_text()
    product.run("unsetup", "openclaw", "--yes")
    assert person.settings.read_text() == before
    assert (person.workspace("main") / "AGENTS.md").read_text() == "# Mine\n"
    assert [path.name for path in person.state.iterdir()] == ["openclaw.json"]
