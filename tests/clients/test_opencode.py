"""The promises, kept with the real OpenCode: one server for all, and in it a project for each story.

Assertions are on the request bodies that reach the model, and never on a position in them.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.clients.model_server import Held, ModelServer, Reply, Request, Usage, call, plain_text, say
from tests.clients.opencode import FULL, LONGEST_ANSWER, WINDOW, OpenCode, Served, Session
from tests.clients.opencode_api import OpenCodeMessages
from tests.clients.person import LIMIT_S, end
from tests.clients.product import TITLE, Product, wait_until

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "totals.py", "TotalsMismatch", DECISION)
DEAF = "unheard"
"""A project in which our plugin is told of no compaction."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A person's OpenCode as a running server, Holdfast set up for it, and the model that answers."""

    server: ModelServer
    opencode: OpenCode
    product: Product
    served: Served
    numbers: Iterator[int]

    def project(self) -> Path:
        """One more project, a repository of its own."""
        return self.opencode.make_project(f"project-{next(self.numbers)}")

    def session(self, project: Path, *script: Reply | Held) -> Session:
        session = self.served.session(project)
        self.server.script(*script, session=session.id)
        return session

    def worked(self, project: Path) -> Session:
        """A session in which something was done."""
        session = self.session(project, *work(project))
        session.prompt(f"Fix the totals. {RULE}")
        return session

    def say(self, session: Session, prompt: str, *script: Reply | Held) -> Request:
        """The last request of what comes of a prompt."""
        self.server.script(*(script or (say("ok"),)), session=session.id)
        session.prompt(prompt)
        return self.server.last(session.id)

    def asked(self, session: Session) -> list[Request]:
        """Every request of a session, whatever for."""
        return [request for request in self.server.requests if request.session == session.id]


@pytest.fixture(scope="module")
def stage(opencode_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ModelServer(OpenCodeMessages()) as server:
        opencode = OpenCode(opencode_binary, tmp_path_factory.mktemp("opencode"), server)
        product = Product(opencode)
        product.run("setup", "opencode", "--yes")
        deafen(opencode.folder / "holdfast" / "plugin.js")
        try:
            with opencode.serve() as served:
                yield Stage(server, opencode, product, served, count(1))
        finally:
            product.end()


@pytest.fixture
def product(opencode: OpenCode) -> Iterator[Product]:
    """Holdfast, set up for that person's OpenCode."""
    installed = Product(opencode)
    installed.run("setup", "opencode", "--yes")
    try:
        yield installed
    finally:
        installed.end()


def deafen(plugin: Path) -> None:
    """In one project, have OpenCode never say that something happened, nor that it compacts."""
    told, whole = plugin.read_text(), "return hooks("
    assert told.count(whole) == 1
    unheard = '{ ...hooks(directory, post), event: undefined, "experimental.session.compacting": undefined }'
    there = f'if (directory.endsWith("/{DEAF}")) return {unheard}'
    plugin.write_text(told.replace(whole, f"{there}\n  {whole}"))


def work(project: Path) -> tuple[Reply, Reply, Reply]:
    """A turn in which the agent writes a file, runs a command that fails, and says what it decided."""
    return (
        call("write", filePath=str(project / "totals.py"), content="def total(): return 41\n"),
        call("bash", command=FAILING, description="Check the totals"),
        say(DECISION),
    )


def brief_in(request: Request) -> str:
    return request.text.partition(TITLE)[2]


def system_of(request: Request) -> str:
    return plain_text(request.body["system"])


def assert_holds_the_facts(request: Request) -> None:
    brief = brief_in(request)
    assert all(fact in brief for fact in FACTS), brief or "there is no brief"


class TestCompaction:
    def test_it_is_known_in_which_folder_a_command_ran(self, stage: Stage) -> None:
        project = stage.project()
        folder = project / "billing"
        folder.mkdir()
        (folder / "rates.py").write_text("RATE = 1\n", encoding="utf-8")
        change = call("bash", command="sed -i s/1/2/ rates.py", description="Change", workdir=str(folder))
        session = stage.session(project, change, say("Two."))
        session.prompt("Double the rate.")
        assert (folder / "rates.py").read_text(encoding="utf-8") == "RATE = 2\n"
        session.compact()
        assert "- Edited, not committed: billing/rates.py" in brief_in(stage.say(session, "Go on."))

    def test_manual(self, stage: Stage) -> None:
        session = stage.worked(stage.project())
        session.compact()
        after = stage.say(session, "Go on.")
        assert_holds_the_facts(after)
        assert after.text.count(TITLE) == 1
        assert "Just compacted." in brief_in(after)
        # Its own summary was told what to keep, and the checkpoint was there before.
        (compaction,) = [request for request in stage.asked(session) if request.compaction]
        told = compaction.text.partition("<holdfast-recall>")[2]
        assert RULE in told
        assert "totals.py" in told
        (kept,) = [row for row in stage.product.checkpoints(session.id) if row["trigger"] == "pre_compaction"]
        assert "totals.py" in kept["digest"]

    def test_automatic_in_the_middle_of_a_turn_and_the_same_bytes_from_then_on(self, stage: Stage) -> None:
        session = stage.worked(stage.project())
        full = call("bash", command="echo one", description="One", usage=Usage(input=FULL))
        echo = call("bash", command="echo on", description="On")
        stage.say(session, "And now the rest.", full, echo, say("done"))
        asked = stage.asked(session)
        (compaction,) = [request for request in asked if request.compaction]
        first = asked[asked.index(compaction) + 1]
        assert_holds_the_facts(first)
        stage.say(session, "And on.", echo, say("ok"))
        window = [each for each in stage.server.turns(session.id) if TITLE in each.text]
        assert len(window) == 4
        assert {system_of(each) for each in window} == {system_of(first)}
        # A title and a summary are asked for without it.
        aside = [each for each in stage.asked(session) if not each.turn]
        assert len(aside) == 2
        assert not [each for each in aside if TITLE in system_of(each)]
        session.compact()
        again = stage.say(session, "Still there?")
        assert again.text.count(TITLE) == 1
        assert RULE in brief_in(again)

    def test_with_the_next_prompt_if_no_hook_fired(self, stage: Stage) -> None:
        session = stage.worked(stage.opencode.make_project(DEAF))
        session.compact()
        (compaction,) = [request for request in stage.asked(session) if request.compaction]
        assert "<holdfast-recall>" not in compaction.text
        after = stage.say(session, "Go on.")
        assert_holds_the_facts(after)
        assert system_of(stage.say(session, "And on.")) == system_of(after)


QUESTION = {
    "question": "Which rounding do the rules ask for?",
    "header": "Rounding",
    "options": [{"label": "Half to even", "description": "a"}, {"label": "Half up", "description": "b"}],
}


def test_what_the_user_answers_to_a_tool_survives(stage: Stage) -> None:
    session = stage.session(stage.project(), call("question", questions=[QUESTION]), say("Understood."))
    asking = threading.Thread(target=session.prompt, args=("Fix the totals.",))
    asking.start()
    wait_until(lambda: bool(session.questions()))
    session.answer(session.questions()[0], "Half to even")
    asking.join(LIMIT_S)
    session.compact()
    brief = brief_in(stage.say(session, "Go on."))
    assert "The user answered “Half to even” to “Which rounding do the rules ask for?”" in brief


class TestANewSession:
    def test_after_the_first_and_its_subagents_without(self, stage: Stage) -> None:
        project = stage.project()
        stage.worked(project)
        second = stage.session(project)
        task = call("task", description="Look for callers", prompt="Look.", subagent_type="general")
        stage.server.script_subagents(call("read", filePath=str(project / "README.md")), say("None."))
        stage.say(second, "Where were we?", task, say("ok"))
        turns = [each for each in stage.server.turns(second.id) if not each.subagent]
        assert len(turns) == 2
        assert_holds_the_facts(turns[0])
        assert system_of(turns[0]) == system_of(turns[1])
        aside = [each for each in stage.asked(second) if not each.turn]
        assert not [each for each in aside if TITLE in each.text]
        children = [each for each in stage.server.turns() if each.subagent]
        assert len(children) == 2
        assert not [each for each in children if TITLE in each.text]
        assert children[0].session not in [row["session_key"] for row in stage.product.json("sessions")]

    def test_beside_one_that_is_at_work_nothing_bleeds(self, stage: Stage) -> None:
        project, gate = stage.project(), threading.Event()
        wrote, ran, _ = work(project)
        busy = stage.session(project, wrote, ran, Held(gate, say("done")))
        at_work = threading.Thread(target=busy.prompt, args=(f"Fix the totals. {RULE}",))
        at_work.start()
        try:
            stage.server.wait_until(lambda: len(stage.server.turns(busy.id)) == 3)
            beside = stage.say(stage.session(project), "Something else.")
        finally:
            gate.set()
            at_work.join()
        assert not [fact for fact in FACTS if fact in beside.text]
        assert f"Session {busy.id[:8]} is live" in beside.text


def test_a_fork_is_given_nothing_and_knows_its_parent(stage: Stage) -> None:
    session = stage.worked(stage.project())
    fork = session.fork()
    asked = stage.say(fork, "Try it another way.")
    assert DECISION in asked.text
    assert TITLE not in asked.text
    rows = {row["session_key"]: row for row in stage.product.json("sessions")}
    assert (rows[fork.id]["parent"], rows[fork.id]["lineage"]) == (session.id, "fork")
    # What the settings say that the model holds, less the room for its answer.
    assert rows[fork.id]["capacity"] == WINDOW - LONGEST_ANSWER


class TestTools:
    def test_a_digest_is_kept_for_the_session_that_gave_it(self, stage: Stage) -> None:
        project = stage.project()
        other, session = stage.session(project), stage.session(project)
        stage.say(other, "Hello.")
        digest = call("holdfast_session_digest", summary="Half is done, see PARSE-8.")
        told = stage.say(session, "Write down where you are.", digest, say("ok"))
        # Somebody else speaks last: the newest session is not the one that called.
        stage.say(other, "Hello again.")
        assert "Your work is kept when the context window dies." in told.text
        assert "holdfast" in told.text.partition("<available_skills>")[2]
        kept = [row["digest"] for row in stage.product.checkpoints(session.id) if row["trigger"] == "agent"]
        assert kept == ["Half is done, see PARSE-8."]
        session.compact()
        assert "PARSE-8" in brief_in(stage.say(session, "Go on."))


class TestTheDaemon:
    def test_killed_in_mid_session_nothing_is_lost(self, stage: Stage) -> None:
        session = stage.worked(stage.project())
        stage.product.kill_daemon()
        session.compact()
        before = stage.say(session, "Go on.")
        assert_holds_the_facts(before)
        # Where it cannot even be started, the brief of the window goes along all the same.
        note = stage.product.home / "bin" / "interpreter"
        kept = note.read_text()
        note.write_text("/nonexistent/python3\n")
        try:
            stage.product.kill_daemon()
            without = stage.say(session, "And on, see LATE-7.")
        finally:
            note.write_text(kept)
        assert system_of(without) == system_of(before)
        session.compact()
        assert "LATE-7" in brief_in(stage.say(session, "Still there?"))


def test_doctor_finds_nothing_wrong(stage: Stage) -> None:
    about = [each for each in stage.product.findings() if "opencode" in each["check"]]
    assert about
    assert [each for each in about if not each["ok"]] == []


class TestItsOwnProcess:
    """Headless prompts, each a process that begins and ends."""

    def test_resumed_it_is_told_nothing_twice_and_killed_it_is_continued(
        self, opencode: OpenCode, server: ModelServer, product: Product
    ) -> None:
        server.script(*work(opencode.project))
        done = opencode.prompt(f"Fix the totals. {RULE}")
        assert done.code == 0, done.stderr
        assert TITLE not in server.last().text
        first = server.last().session
        # Killed in the middle of a turn, after it went on with the same session.
        gate = threading.Event()
        server.script(call("bash", command="echo TAX-19", description="Tax"), Held(gate, say("never said")))
        with opencode.start("Go on with TAX-19.", "--session", first) as running:
            server.wait_until(lambda: len(server.turns(first)) == 5, 2 * LIMIT_S)
            end(running)
        gate.set()
        assert TITLE not in server.last(first).text
        # And a new one is given both.
        server.script(say("ok"))
        opencode.prompt("Where were we?")
        assert server.last().session != first
        assert_holds_the_facts(server.last())
        assert "TAX-19" in brief_in(server.last())
        rows = {row["session_key"]: row for row in product.json("sessions")}
        assert rows[first]["prompt_count"] == 2
        assert rows[server.last().session]["parent"] == first

    @pytest.mark.parametrize("gone", ["the home", "the interpreter"])
    def test_whatever_is_gone_nobody_notices(
        self, opencode: OpenCode, server: ModelServer, product: Product, gone: str
    ) -> None:
        if gone == "the home":
            # The package, and all that it left: only the plugin and its entry are there still.
            shutil.rmtree(product.home)
        else:
            interpreter = product.run("hook-command", "opencode").split()[0].strip("'\"")
            settings = opencode.settings.read_text()
            assert settings.count(interpreter) == 2  # for the plugin, and for the server of our tools
            opencode.settings.write_text(settings.replace(interpreter, "/nonexistent/python3"))
        server.script(say("went through"))
        done = opencode.prompt("Hello.")
        assert (done.code, done.stdout.strip()) == (0, "went through")
        assert "holdfast" not in done.stderr.lower()
        assert product.daemon() == 0
        assert product.home.exists() is (gone == "the interpreter")


def test_unsetup_leaves_every_file_as_it_was(opencode: OpenCode) -> None:
    before = {path: path.read_bytes() for path in opencode.folder.rglob("*") if path.is_file()}
    product = Product(opencode)
    product.run("setup", "opencode", "--yes")
    assert opencode.settings.read_bytes() != before[opencode.settings]
    product.run("unsetup", "opencode", "--yes")
    assert {path: path.read_bytes() for path in opencode.folder.rglob("*") if path.is_file()} == before
    wait_until(lambda: product.daemon() == 0)
