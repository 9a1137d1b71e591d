"""The promises, kept with the real Codex: what the model receives after the window died, and what not.

Assertions are on the request bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import threading
from pathlib import Path

import pytest

from tests.clients.codex import CODE_MODEL, Codex
from tests.clients.model_server import Held, ModelServer, Request, Step, Usage, call, say
from tests.clients.product import TITLE, Product, wait_until

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
ERROR = "TotalsMismatch: 41 != 42"
DECISION = "I decided to round half up in totals.py."
PATCH = "*** Begin Patch\n*** Add File: totals.py\n+def total(): return 41\n*** End Patch\n"
# What the user typed Codex keeps by itself: a brief of its own session tells only the goal and the rules.
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)
WORK: tuple[Step, ...] = (call("apply_patch", input=PATCH), call("exec_command", cmd=FAILING), say(DECISION))
"""A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
FULL = Usage(input=9_000)
EARLY = ("-c", "model_auto_compact_token_limit=8000")


@pytest.fixture
def product(product_for_codex: Product) -> Product:
    return product_for_codex


def begun(codex: Codex, server: ModelServer, *flags: str) -> str:
    """A session with some work in it; its id."""
    server.script(*WORK)
    return codex.prompt(f"Fix the totals. {RULE}", *flags).session


def brief_in(request: Request) -> str:
    """What a request holds from our title on."""
    text = request.text
    return text[text.index(TITLE) :] if TITLE in text else ""


def assert_holds_the_facts(request: Request) -> None:
    brief = brief_in(request)
    assert all(fact in brief for fact in FACTS), brief or "there is no brief"


class TestCompaction:
    def test_manual(self, codex: Codex, server: ModelServer, product: Product) -> None:
        server.script(*WORK, say("ok"))
        with codex.start_server() as app:
            session = app.begin()
            app.ask(session, f"Fix the totals. {RULE}")
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert len(server.compactions()) == 1
        assert_holds_the_facts(server.last())
        assert server.last().text.count(TITLE) == 1
        assert "Just compacted." in brief_in(server.last())

    def test_what_the_user_answers_to_a_tool_survives(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        options = [{"label": "Half to even", "description": "a"}, {"label": "Half up", "description": "b"}]
        question = {"id": "round", "header": "Round", "question": "Which rounding?", "options": options}
        server.script(call("request_user_input", questions=[question]), say("Understood."), say("ok"))
        with codex.start_server("features.default_mode_request_user_input=true") as app:
            session = app.begin()
            app.send(session, "Fix the totals.")
            app.answer(round="Half to even")
            app.wait_for("turn/completed", session)
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert "The user answered “Half to even” to “Which rounding?”" in brief_in(server.last())

    def test_what_was_left_running_is_reported_by_its_session(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        server.script(call("exec_command", cmd="sleep 61", yield_time_ms=300), say("Serving."), say("ok"))
        with codex.start_server() as app:
            session = app.begin()
            app.ask(session, "Serve the cart, then look at it.")
            (process,) = re.findall(r"Process running with session ID (\d+)", server.last().text)
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert f"- Left running: `sleep 61` (session {process})" in brief_in(server.last())

    def test_the_checkpoint_is_there_before_the_summary_is_asked_for(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        server.script(*WORK)
        with codex.start_server() as app:
            session = app.begin()
            app.ask(session, f"Fix the totals. {RULE}")
            app.compact(session)
            app.close()
        found = [row for row in product.checkpoints(session) if row["trigger"] == "pre_compaction"]
        assert len(found) == 1
        assert "totals.py" in found[0]["digest"]

    def test_automatic_in_the_middle_of_a_turn(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        session = begun(codex, server)
        server.script(call("exec_command", cmd="echo one", usage=FULL), say("done"))
        codex.prompt("And now the rest.", *EARLY, resume=session)
        assert len(server.compactions()) >= 1
        after = server.requests[server.requests.index(server.compactions()[0]) + 1]
        assert_holds_the_facts(after)

    def test_by_the_vendor_with_a_summary_that_only_it_can_read(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        # Codex lets its own vendor compact, and knows it by its name.
        codex.config.write_text(codex.config.read_text().replace('name = "test"', 'name = "OpenAI"'))
        session = begun(codex, server)
        server.script(call("exec_command", cmd="echo one", usage=FULL), say("done"))
        codex.prompt("And now the rest.", *EARLY, resume=session)
        assert server.compactions()[0].body["input"][-1] == {"type": "compaction_trigger"}
        after = server.requests[server.requests.index(server.compactions()[0]) + 1]
        assert_holds_the_facts(after)

    def test_a_second_one_in_the_same_session(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        server.script(*WORK, say("ok"), say("better"), say("fine"))
        with codex.start_server() as app:
            session = app.begin()
            app.ask(session, f"Fix the totals. {RULE}")
            app.compact(session)
            app.ask(session, "Now write down the rounding rule RND-7.")
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert_holds_the_facts(server.last())
        assert server.last().text.count(TITLE) == 1

    def test_with_the_next_prompt_if_its_start_hook_never_fired(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        hooks = codex.folder / "hooks.json"
        hooks.write_text(hooks.read_text().replace('"SessionStart"', '"SubagentStart"'))
        codex.review_hooks()
        server.script(*WORK, say("ok"))
        with codex.start_server() as app:
            session = app.begin()
            app.ask(session, f"Fix the totals. {RULE}")
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert_holds_the_facts(server.last())

    def test_where_the_model_has_one_tool_that_takes_a_program(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        run = f"text(await tools.exec_command({json.dumps({'cmd': FAILING})}))"
        write = f"text(await tools.apply_patch({json.dumps(PATCH)}))"
        server.script(call("exec", input=write), call("exec", input=run), say(DECISION), say("ok"))
        with codex.start_server(f'model="{CODE_MODEL}"') as app:
            session = app.begin()
            app.ask(session, f"Fix the totals. {RULE}")
            assert (codex.project / "totals.py").exists()
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert_holds_the_facts(server.last())


class TestResume:
    def test_nothing_is_repeated(self, codex: Codex, server: ModelServer, product: Product) -> None:
        session = begun(codex, server)
        server.script(say("ok"))
        codex.prompt("Go on.", resume=session)
        assert TITLE not in server.last().text

    def test_only_what_the_model_cannot_know(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        session = begun(codex, server)
        codex.git("checkout", "-q", "-b", "elsewhere")
        server.script(say("ok"))
        codex.prompt("Go on.", resume=session)
        brief = brief_in(server.last())
        assert "the branch was `main`, now it is `elsewhere`" in brief
        assert "TotalsMismatch" not in brief.partition("Go on.")[0]

    def test_a_fork_gets_nothing_and_knows_its_parent(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        session = begun(codex, server)
        server.script(say("ok"))
        fork = codex.prompt("Try it another way.", fork=session).session
        assert fork not in ("", session)
        assert TITLE not in server.last().text
        rows = {row["session_key"]: row for row in product.json("sessions")}
        assert rows[fork]["parent"] == session


class TestANewSession:
    def test_knows_in_which_folder_a_command_ran(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        folder = codex.project / "billing"
        folder.mkdir()
        (folder / "rates.py").write_text("RATE = 1\n", encoding="utf-8")
        change = call("exec_command", cmd="sed -i s/1/2/ rates.py", workdir=str(folder))
        server.script(change, say("Two."), say("ok"))
        codex.prompt("Double the rate.")
        assert (folder / "rates.py").read_text(encoding="utf-8") == "RATE = 2\n"
        codex.prompt("Where were we?")
        assert "- Edited, not committed: billing/rates.py" in brief_in(server.last())

    def test_after_the_first_ended(self, codex: Codex, server: ModelServer, product: Product) -> None:
        begun(codex, server)
        server.script(say("ok"))
        codex.prompt("Where were we?")
        assert_holds_the_facts(server.last())
        assert ", which is over: data to check" in brief_in(server.last())

    def test_after_codex_was_killed(self, codex: Codex, server: ModelServer, product: Product) -> None:
        gate = threading.Event()
        server.script(*WORK[:2], Held(gate, say("never said")))
        with codex.start(f"Fix the totals, see TAX-19. {RULE}") as running:
            server.wait_until(lambda: len(server.turns()) == 3)
            running.kill()
            running.communicate()
        gate.set()
        server.script(say("ok"))
        codex.prompt("Where were we?")
        brief = brief_in(server.last())
        assert all(fact in brief for fact in (RULE, "TAX-19", "totals.py", "TotalsMismatch")), brief

    @pytest.mark.parametrize(
        ("source", "opening"),
        [
            ("startup", ", which has stopped but may still be open: data to check"),
            ("clear", "Ignore this if you start something new."),
        ],
    )
    def test_in_the_same_process(
        self, codex: Codex, server: ModelServer, product: Product, source: str, opening: str
    ) -> None:
        server.script(*WORK, say("ok"))
        with codex.start_server() as app:
            app.ask(app.begin(), f"Fix the totals. {RULE}")
            app.ask(app.begin(source), "Hello.")
            app.close()
        assert_holds_the_facts(server.last())
        assert opening in brief_in(server.last())

    def test_beside_one_that_is_at_work_in_the_same_process_nothing_bleeds(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        gate = threading.Event()
        with codex.start_server() as app:
            first, second = app.begin(), app.begin()
            server.script(*WORK[:2], Held(gate, say(DECISION)), session=first)
            server.script(say("hello"), session=second)
            app.send(first, f"Fix the totals. {RULE}")
            server.wait_until(lambda: len(server.turns(first)) == 3)
            app.ask(second, "Something else entirely.")
            gate.set()
            app.close()
        text = server.last(second).text
        assert f"Session {first[:8]} is live" in text
        assert all(fact not in text for fact in (RULE, ERROR))

    def test_in_an_unrelated_project_nothing_is_given(
        self, codex: Codex, server: ModelServer, product: Product, tmp_path: Path
    ) -> None:
        begun(codex, server)
        other = tmp_path / "other"
        other.mkdir()
        server.script(say("ok"))
        codex.prompt("Hello.", cwd=other)
        assert TITLE not in server.last().text
        assert "totals.py" not in server.last().text

    def test_after_one_that_was_never_written_down(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        begun(codex, server, "--ephemeral")
        server.script(say("ok"))
        codex.prompt("Where were we?")
        brief = brief_in(server.last())
        # Only letters tell of it: what was asked and what was said last.
        assert all(fact in brief for fact in (RULE, DECISION)), brief

    def test_when_there_was_none_before(self, codex: Codex, server: ModelServer, product: Product) -> None:
        server.script(say("ok"))
        codex.prompt("Hello.")
        assert TITLE not in server.last().text


class TestSubagents:
    def test_what_a_subagent_does_is_not_what_the_session_does(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        spawn = call("multi_agent_v1__spawn_agent", message="Look for SUB-3.", task_name="look")
        server.script(spawn, call("multi_agent_v1__wait_agent", timeout_ms=5_000), say(DECISION))
        server.script_subagents(call("exec_command", cmd="false # SUB-4"), say("found nothing"))
        session = codex.prompt(f"Fix the totals. {RULE}").session
        rows = {row["session_key"]: row for row in product.json("sessions")}
        assert list(rows) == [session]
        assert rows[session]["prompt_count"] == 1


class TestTheDaemon:
    def test_is_started_by_the_first_hook(self, codex: Codex, server: ModelServer, product: Product) -> None:
        assert product.daemon() == 0
        begun(codex, server)
        assert product.daemon() != 0

    def test_killed_in_mid_session_nothing_is_lost(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        server.script(*WORK, say("noted"), say("ok"))
        with codex.start_server() as app:
            session = app.begin()
            app.ask(session, f"Fix the totals. {RULE}")
            product.kill_daemon()
            app.ask(session, "Remember TAX-19 for later.")
            app.compact(session)
            app.ask(session, "Go on.")
            app.close()
        assert_holds_the_facts(server.last())

    def test_down_at_the_start_of_a_new_session(
        self, codex: Codex, server: ModelServer, product: Product
    ) -> None:
        begun(codex, server)
        product.run("down")
        server.script(say("ok"))
        codex.prompt("Where were we?")
        assert_holds_the_facts(server.last())

    def test_hung_it_harms_nobody(self, codex: Codex, server: ModelServer, product: Product) -> None:
        begun(codex, server)
        product.kill_daemon(signal.SIGSTOP)
        server.script(say("went through"))
        assert codex.prompt("Hello.").text == "went through"


class TestWhatIsGone:
    """Whatever is taken away from under the hook, the prompt goes through and nothing is shown."""

    @pytest.mark.parametrize("gone", ["the hook", "the home", "the interpreter"])
    def test_nobody_notices(self, codex: Codex, server: ModelServer, product: Product, gone: str) -> None:
        hooks = codex.folder / "hooks.json"
        if gone == "the hook":
            (product.home / "bin" / "hook.py").unlink()
        elif gone == "the home":
            # With it goes the server of our tools, which Codex starts as well.
            shutil.rmtree(product.home)
        else:
            interpreter = product.run("hook-command", "codex").split()[0].strip("'\"")
            assert interpreter in hooks.read_text()
            hooks.write_text(hooks.read_text().replace(interpreter, "/nonexistent/python3"))
            codex.review_hooks()
        server.script(say("went through"))
        done = codex.prompt("Hello.")
        assert (done.code, done.text) == (0, "went through")
        assert not [one for one in done.events if one.get("item", {}).get("type") == "error"]


def test_no_process_outlives_its_purpose(codex: Codex, server: ModelServer, product: Product) -> None:
    begun(codex, server)
    product.run("down")
    wait_until(lambda: product.daemon() == 0)
