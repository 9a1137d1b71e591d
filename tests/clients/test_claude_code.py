"""The promises, kept with the real Claude Code: what the model receives after the window died, and what not.

Assertions are on the request bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import uuid
import venv
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.model_server import Held, ModelServer, Step, Usage, call, overflow, say
from tests.clients.product import TITLE, Product, wait_until

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
ERROR = "TotalsMismatch: 41 != 42"
DECISION = "I decided to round half up in totals.py."
TOOLS = ("--allowedTools", "Bash,Read,Write,Edit")
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)


def work(project: Path) -> tuple[Step, ...]:
    """A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
    return (
        call("Write", file_path=str(project / "totals.py"), content="def total(): return 41\n"),
        call("Bash", command=FAILING, description="Check the totals"),
        say(DECISION),
    )


def begun(claude: Claude, server: ModelServer) -> str:
    """A session with some work in it; its id."""
    server.script(*work(claude.project))
    return claude.prompt(f"Fix the totals. {RULE}", *TOOLS).session


def assert_holds_the_facts(text: str) -> None:
    assert TITLE in text, text[-8_000:]
    brief = text[text.index(TITLE) :]
    for fact in FACTS:
        assert fact in brief, brief[:2_000]


class TestCompaction:
    def test_manual(self, claude: Claude, server: ModelServer, product: Product) -> None:
        session = begun(claude, server)
        claude.compact(session)
        server.script(say("ok"))
        claude.prompt("Go on.", resume=session)
        assert_holds_the_facts(server.last().text)
        assert server.last().text.count(TITLE) == 1

    def test_the_checkpoint_is_there_before_the_summary_is_asked_for(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        session = begun(claude, server)
        claude.compact(session, "keep the ids")
        found = [row for row in product.checkpoints(session) if row["trigger"] == "pre_compaction"]
        assert len(found) == 1
        assert "keep the ids" in found[0]["digest"]
        assert "totals.py" in found[0]["digest"]

    def test_its_summary_is_told_what_it_must_keep(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        session = begun(claude, server)
        claude.compact(session)
        asked = server.compactions()[0].text
        assert "## What the summary must keep" in asked
        steering = asked[asked.index("## What the summary must keep") :]
        assert all(fact in steering for fact in FACTS)

    def test_automatic(self, claude: Claude, server: ModelServer, product: Product) -> None:
        full = Usage(input=150_000)
        server.script(
            *work(claude.project)[:2],
            say(DECISION),
            call("Bash", command="echo one", usage=full),
            call("Bash", command="echo two", usage=full),
            say("done"),
        )
        session = claude.prompt(f"Fix the totals. {RULE}", *TOOLS).session
        claude.prompt("And now the rest.", *TOOLS, "--autocompact", "100k", resume=session)
        assert len(server.compactions()) >= 1
        after = server.requests[server.requests.index(server.compactions()[0]) + 1]
        assert_holds_the_facts(after.text)

    def test_when_the_window_overflows(self, claude: Claude, server: ModelServer, product: Product) -> None:
        session = begun(claude, server)
        server.script(overflow(), say("ok"))
        claude.prompt("Go on.", *TOOLS, resume=session)
        assert len(server.compactions()) == 1
        assert_holds_the_facts(server.last().text)

    def test_a_second_one_in_the_same_session(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(*work(claude.project), say("ok"), say("better"), say("fine"))
        with claude.start_stream(*TOOLS) as stream:
            stream.ask(f"Fix the totals. {RULE}")
            stream.ask("/compact")
            stream.ask("Now write down the rounding rule RND-7.")
            stream.ask("/compact")
            stream.ask("Go on.")
            text = server.last().text
            stream.close()
        assert_holds_the_facts(text)
        assert "RND-7" in text[text.rindex(TITLE) :]

    def test_with_the_next_prompt_if_its_start_hook_never_fired(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        session = begun(claude, server)
        settings = claude.home / ".claude" / "settings.json"
        whole = settings.read_text()
        settings.write_text(whole.replace('"SessionStart"', '"Notification"'))
        claude.compact(session)
        settings.write_text(whole.replace('"SessionStart"', '"Notification"'))
        server.script(say("ok"))
        claude.prompt("Go on.", resume=session)
        assert_holds_the_facts(server.last().text)


class TestResume:
    def test_nothing_is_repeated(self, claude: Claude, server: ModelServer, product: Product) -> None:
        session = begun(claude, server)
        server.script(say("ok"))
        claude.prompt("Go on.", resume=session)
        assert TITLE not in server.last().text

    def test_after_a_compaction_the_brief_is_there_once(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        session = begun(claude, server)
        claude.compact(session)
        server.script(say("ok"), say("ok"))
        claude.prompt("Go on.", resume=session)
        claude.prompt("And on.", resume=session)
        assert server.last().text.count(TITLE) == 1

    def test_only_what_the_model_cannot_know(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        session = begun(claude, server)
        claude.git("checkout", "-q", "-b", "elsewhere")
        server.script(say("ok"))
        claude.prompt("Go on.", resume=session)
        brief = server.last().text.partition(TITLE)[2]
        assert "the branch was `main`, now it is `elsewhere`" in brief
        assert DECISION not in brief

    def test_a_fork_gets_nothing_and_knows_its_parent(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        session = begun(claude, server)
        server.script(say("ok"))
        fork = claude.prompt("Try it another way.", resume=session, fork=True).session
        assert fork != session
        assert TITLE not in server.last().text
        rows = {row["session_key"]: row for row in product.json("sessions")}
        assert rows[fork]["parent"] == session


class TestANewSession:
    def test_after_the_first_ended(self, claude: Claude, server: ModelServer, product: Product) -> None:
        begun(claude, server)
        server.script(say("ok"))
        claude.prompt("Where were we?")
        assert_holds_the_facts(server.last().text)

    def test_after_the_client_was_killed(self, claude: Claude, server: ModelServer, product: Product) -> None:
        gate = threading.Event()
        server.script(*work(claude.project), Held(gate, say("never said")))
        with claude.start_stream(*TOOLS) as stream:
            stream.ask(f"Fix the totals. {RULE}")
            stream.send("And the tax too, see TAX-19.")
            server.wait_until(lambda: len(server.turns()) == 4)
            session = stream.session
            stream.kill()
        gate.set()
        server.script(say("ok"))
        claude.prompt("Where were we?")
        assert_holds_the_facts(server.last().text)
        assert "TAX-19" in server.last().text
        assert product.checkpoints(session)[0]["trigger"] == "orphan"

    def test_after_clear(self, claude: Claude, server: ModelServer, product: Product) -> None:
        server.script(*work(claude.project), say("ok"))
        with claude.start_stream(*TOOLS) as stream:
            stream.ask(f"Fix the totals. {RULE}")
            before = stream.session
            stream.ask("/clear")
            stream.ask("Hello.")
            stream.close()
        text = server.last().text
        assert_holds_the_facts(text)
        assert "Ignore this if you start something new." in text
        assert "clear" in {row["trigger"] for row in product.checkpoints(before)}

    def test_in_a_worktree_of_the_same_repository(
        self, claude: Claude, server: ModelServer, product: Product, tmp_path: Path
    ) -> None:
        begun(claude, server)
        tree = tmp_path / "tree"
        claude.git("worktree", "add", "-q", str(tree), "-b", "side")
        server.script(say("ok"))
        claude.prompt("Where were we?", cwd=tree)
        assert_holds_the_facts(server.last().text)

    def test_in_an_unrelated_project_nothing_is_given(
        self, claude: Claude, server: ModelServer, product: Product, tmp_path: Path
    ) -> None:
        begun(claude, server)
        other = tmp_path / "other"
        other.mkdir()
        server.script(say("ok"))
        claude.prompt("Hello.", cwd=other)
        assert TITLE not in server.last().text
        assert "totals.py" not in server.last().text

    def test_beside_a_live_one_nothing_bleeds(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        server.script(*work(claude.project), say("still here"), session=first)
        server.script(say("hello"), say("hello again"), session=second)
        with claude.start_stream(*TOOLS, session_id=first) as one:
            one.ask(f"Fix the totals. {RULE}")
            with claude.start_stream(*TOOLS, session_id=second) as two:
                two.ask("Something else entirely.")
                text = server.last(session=second).text
                assert f"Session {first[:8]} is live" in text
                assert all(fact not in text for fact in (RULE, ERROR, DECISION))
                two.close()
            one.ask("Go on.")
            assert "Something else entirely" not in server.last(session=first).text
            one.close()

    def test_when_there_was_none_before(self, claude: Claude, server: ModelServer, product: Product) -> None:
        server.script(say("ok"))
        claude.prompt("Hello.")
        assert TITLE not in server.last().text


class TestTheDaemon:
    def test_is_started_by_the_first_hook(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        assert product.daemon() == 0
        begun(claude, server)
        assert product.daemon() != 0

    def test_killed_in_mid_session_nothing_is_lost(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(*work(claude.project), say("noted"), say("ok"))
        with claude.start_stream(*TOOLS) as stream:
            stream.ask(f"Fix the totals. {RULE}")
            product.kill_daemon()
            stream.ask("Remember TAX-19 for later.")
            stream.ask("/compact")
            stream.ask("Go on.")
            stream.close()
        assert_holds_the_facts(server.last().text)
        assert "TAX-19" in server.last().text

    def test_down_at_the_start_of_a_new_session(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        begun(claude, server)
        product.run("down")
        assert product.daemon() == 0
        server.script(say("ok"))
        claude.prompt("Where were we?")
        assert_holds_the_facts(server.last().text)

    def test_hung_it_harms_nobody(self, claude: Claude, server: ModelServer, product: Product) -> None:
        session = begun(claude, server)
        product.kill_daemon(signal.SIGSTOP)
        server.script(say("went through"))
        assert claude.prompt("Go on.", resume=session).text == "went through"
        os.kill(product.daemon(), signal.SIGCONT)
        rows = {row["session_key"]: row for row in product.json("sessions")}
        assert rows[session]["prompt_count"] == 2

    def test_over_tcp_where_there_are_no_unix_sockets(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        claude.env["HOLDFAST_ENDPOINT"] = "tcp"
        session = begun(claude, server)
        assert (product.home / "run" / "endpoint").read_text().startswith("tcp ")
        claude.compact(session)
        server.script(say("ok"))
        claude.prompt("Go on.", resume=session)
        assert_holds_the_facts(server.last().text)

    def test_reads_a_session_that_began_before_it_was_installed(
        self, claude: Claude, server: ModelServer
    ) -> None:
        session = begun(claude, server)
        product = Product(claude)
        product.run("setup", "claude-code", "--yes")
        try:
            claude.compact(session)
            server.script(say("ok"))
            claude.prompt("Go on.", resume=session)
            assert_holds_the_facts(server.last().text)
        finally:
            product.end()


class TestWhatIsGone:
    """Whatever is taken away from under the hook, the prompt goes through and nothing is shown."""

    @pytest.mark.parametrize("gone", ["hook.py", "the home", "the package", "the daemon's interpreter"])
    def test_nobody_notices(
        self, claude: Claude, server: ModelServer, product: Product, tmp_path: Path, gone: str
    ) -> None:
        match gone:
            case "hook.py":
                (product.home / "bin" / "hook.py").unlink()
            case "the home":
                shutil.rmtree(product.home)
            case "the package":
                bare = tmp_path / "bare"
                venv.create(bare, symlinks=True)
                (product.home / "bin" / "interpreter").write_text(f"{bare}/bin/python\n")
            case _:
                (product.home / "bin" / "interpreter").write_text("/nonexistent/python\n")
        self.assert_unharmed(claude, server)

    def test_nor_that_the_interpreter_is_gone(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        settings = claude.home / ".claude" / "settings.json"
        command = product.run("hook-command", "claude-code").strip()
        interpreter = command.split()[0].strip("'\"")
        assert interpreter in settings.read_text()
        settings.write_text(settings.read_text().replace(interpreter, "/nonexistent/python3"))
        self.assert_unharmed(claude, server)

    def assert_unharmed(self, claude: Claude, server: ModelServer) -> None:
        server.script(say("went through"))
        done = claude.prompt("Hello.")
        assert (done.code, done.text, done.stderr) == (0, "went through", "")
        kinds = {record.get("attachment", {}).get("type") for record in claude.records(done.session)}
        assert "hook_non_blocking_error" not in kinds


def test_unsetup_leaves_the_settings_as_they_were(claude: Claude, server: ModelServer) -> None:
    claude.write_settings(
        {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    )
    settings = claude.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    product = Product(claude)
    product.run("setup", "claude-code", "--yes")
    try:
        begun(claude, server)
        product.run("unsetup", "claude-code", "--yes")
        assert settings.read_bytes() == before
    finally:
        product.end()


def test_no_process_outlives_its_purpose(claude: Claude, server: ModelServer, product: Product) -> None:
    begun(claude, server)
    product.run("down")
    wait_until(lambda: product.daemon() == 0)
    assert not list((product.home / "run").glob("daemon.sock"))
