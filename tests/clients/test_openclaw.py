"""The promises, kept with the real OpenClaw. Its gateway takes long to start, so one serves all tests here.

Each test has an agent of its own, with a workspace in which nobody else works. Assertions are on the request
bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.model_server import ModelServer, Reply, Request, Usage, call, plain_text, say
from tests.clients.openclaw import FULL, OpenClaw
from tests.clients.openclaw_api import MEMORY, OpenClawMessages
from tests.clients.product import TITLE, Product

AGENTS = ("by-hand", "by-itself", "anew", "next", "tools", "daemon", "gone", "killed")
RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(OpenClawMessages()) as running:
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
    try:
        openclaw.start()
        yield installed
    finally:
        openclaw.kill()
        installed.end()


def work(workspace: Path) -> tuple[Reply, Reply, Reply]:
    """A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
    return (
        call("write", path=str(workspace / "totals.py"), content="def total(): return 41\n"),
        call("exec", command=FAILING),
        say(DECISION),
    )


def brief_in(request: Request) -> str:
    return plain_text(request.body["system"]).partition(TITLE)[2]


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
    server.script(call("exec", command="echo on"), say("ok"), say("ok"))
    session.prompt("Go on.")
    session.prompt("And on.")
    briefs = [brief_in(request) for request in server.turns()[-3:]]
    assert_holds_the_facts(server.last())
    assert briefs[0] == briefs[1] == briefs[2]


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
    rows = product.json("sessions", cwd=openclaw.workspace("tools"))
    kept = {
        row["session_key"]: [
            each["digest"] for each in product.checkpoints(row["session_key"]) if each["trigger"] == "agent"
        ]
        for row in rows
        if row["project"] == str(openclaw.workspace("tools"))
    }
    assert sorted(kept.values()) == [[], ["Half is done, see PARSE-8."]]
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


def test_nobody_notices_that_everything_is_gone(
    openclaw: OpenClaw, server: ModelServer, product: Product
) -> None:
    (product.home / "bin").rename(product.home / "gone")
    try:
        product.kill_daemon()
        server.script(say("went through"))
        assert openclaw.session("gone").prompt("Hello.") == "went through"
        assert product.daemon() == 0
    finally:
        (product.home / "gone").rename(product.home / "bin")


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
