"""The relay: started by a harness, it carries messages whatever becomes of the daemon."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from holdfast import relay
from holdfast.daemon.local import client
from holdfast.stores.sqlite import open_store
from tests.daemon.agent import INITIALIZE, SESSION_ID, Agent, begin, request
from tests.daemon.conftest import LIMIT_S, Lodging, wait_until

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
DIGEST = {"name": "session_digest", "arguments": {"summary": "half done"}}


@pytest.fixture
def project(lodging: Lodging) -> Path:
    path = lodging.root / "project"
    path.mkdir()
    return path


@pytest.fixture
def agent(lodging: Lodging, project: Path) -> Iterator[Agent]:
    with Agent(lodging, project, **{SESSION_ID: "s1"}) as running:
        yield running
        lodging.adopt()


def digests(lodging: Lodging, session: str = "s1") -> list[str]:
    store = open_store(lodging.home / "store.db", lodging.home / "backups", 0)
    try:
        return [one.words for one in store.checkpoints_of_session(session, 50) if one.words]
    finally:
        store.close()


class TestWithADaemon:
    def test_the_daemon_is_started_if_it_is_away(self, lodging: Lodging, agent: Agent) -> None:
        assert agent.shake_hands()["serverInfo"]["name"] == "holdfast"
        assert agent.call("session_digest", summary="half done")["isError"] is False
        assert digests(lodging) == ["half done"]

    def test_the_session_is_the_one_in_the_environment(self, lodging: Lodging, agent: Agent) -> None:
        agent.shake_hands()
        kept = agent.call("session_digest", summary="half done")["structuredContent"]
        assert (kept["session"], kept["taken"]) == ("s1", "the session that called")

    def test_without_one_it_is_the_newest_live_one_here(self, lodging: Lodging, project: Path) -> None:
        lodging.start()
        begin(lodging, project, "s7")
        with Agent(lodging, project) as agent:
            agent.shake_hands()
            kept = agent.call("session_digest", summary="half done")["structuredContent"]
        assert kept["session"] == "s7"
        assert "newest live session" in kept["taken"]

    def test_without_any_the_agent_is_told_what_to_do(self, lodging: Lodging, project: Path) -> None:
        lodging.start()
        with Agent(lodging, project) as agent:
            agent.shake_hands()
            answer = agent.call("session_digest", summary="half done")
        assert answer["isError"] is True
        assert "no session is live" in answer["content"][0]["text"]
        assert "holdfast setup" in answer["content"][0]["text"]

    def test_what_it_was_asked_is_answered_though_nothing_more_comes(
        self, lodging: Lodging, agent: Agent
    ) -> None:
        agent.send(request("a", "initialize", INITIALIZE))
        agent.send(request("b", "tools/call", DIGEST))
        status, said, stderr = agent.hang_up()
        assert (status, stderr) == (0, b"")
        assert [message["id"] for message in said] == ["a", "b"]
        assert digests(lodging) == ["half done"]


class TestWhenTheDaemonDies:
    def test_between_two_calls_another_one_answers(self, lodging: Lodging, agent: Agent) -> None:
        first = lodging.start()
        agent.shake_hands()
        first.kill()
        first.wait(LIMIT_S)
        assert agent.call("session_digest", summary="half done")["isError"] is False
        assert digests(lodging) == ["half done"]

    def test_in_the_middle_of_a_call_it_is_asked_again_and_stored_once(
        self, lodging: Lodging, agent: Agent
    ) -> None:
        first = lodging.start()
        agent.shake_hands()
        agent.call("session_digest", summary="half done")
        first.send_signal(signal.SIGSTOP)
        agent.send(request("x", "tools/call", DIGEST))
        first.kill()
        first.wait(LIMIT_S)
        answer = agent.hear()
        assert (answer["id"], answer["result"]["isError"]) == ("x", False)
        assert digests(lodging) == ["half done"]

    def test_in_the_middle_of_the_handshake(self, lodging: Lodging, agent: Agent) -> None:
        first = lodging.start()
        first.send_signal(signal.SIGSTOP)
        agent.send(request("x", "initialize", INITIALIZE))
        first.kill()
        first.wait(LIMIT_S)
        assert agent.hear()["result"]["serverInfo"]["name"] == "holdfast"
        assert len(agent.ask("tools/list")["result"]["tools"]) >= 2

    def test_a_handshake_that_was_refused_is_not_reported_to_the_next(
        self, lodging: Lodging, agent: Agent
    ) -> None:
        first = lodging.start()
        # Some harnesses do not wait for the answer in the newer protocol before they try the older one.
        agent.send(request("new", "server/discover", {"_meta": ENVELOPE}))
        agent.send(request("old", "initialize", INITIALIZE))
        answers = {answer["id"]: answer for answer in (agent.hear(), agent.hear())}
        assert ("result" in answers["new"], "error" in answers["old"]) == (True, True)
        first.kill()
        first.wait(LIMIT_S)
        answer = agent.ask("tools/call", {**DIGEST, "_meta": ENVELOPE})
        assert answer["result"]["isError"] is False
        assert digests(lodging) == ["half done"]

    def test_as_often_as_it_likes(self, lodging: Lodging, agent: Agent) -> None:
        agent.shake_hands()
        for number in range(2):
            pid = int((lodging.home / "run" / "lock").read_text())
            os.kill(pid, signal.SIGKILL)
            agent.call("session_digest", summary=f"step {number}")
        assert digests(lodging) == ["step 1", "step 0"]

    def test_for_a_harness_that_is_gone_none_is_started(self, lodging: Lodging, agent: Agent) -> None:
        first = lodging.start()
        agent.shake_hands()
        first.send_signal(signal.SIGSTOP)
        agent.send(request("x", "tools/call", DIGEST))
        agent.close()
        wait_until(lambda: not agent.reads())
        first.kill()
        first.wait(LIMIT_S)
        status, said, _ = agent.hang_up()
        assert (status, [message["error"]["message"] for message in said]) == (0, [relay.LOST])
        assert not client.is_up(lodging.home)


class Mute:
    """A daemon that hangs up whenever it is told something; what it was told."""

    def __init__(self, home: Path) -> None:
        (home / "run").mkdir()
        self.told: list[bytes] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(home / "run" / "s"))
        self._listener.listen()
        (home / "run" / "endpoint").write_text(f"unix {home}/run/s\n")
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(LIMIT_S)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self.told.append(connection.recv(1 << 16))
                connection.sendall(b"HOLDFAST/1 ok 0\n")
                connection.recv(1 << 16)


class TestWithoutADaemon:
    def test_one_that_always_dies_is_asked_twice_and_no_more(self, lodging: Lodging, project: Path) -> None:
        with Mute(lodging.home) as mute, Agent(lodging, project) as agent:
            answer = agent.ask("initialize", INITIALIZE)
        assert answer["error"]["message"] == relay.LOST
        assert len(mute.told) == 2

    def test_one_that_cannot_be_started_is_said_so(self, lodging: Lodging, project: Path) -> None:
        with Agent(lodging, project) as agent:
            (lodging.home / "bin" / "interpreter").write_text("/nonexistent/python\n")
            answer = agent.ask("initialize", INITIALIZE)
            assert answer["error"] == {"code": relay.DAEMON_AWAY, "message": relay.AWAY}
            assert agent.ask("tools/list")["error"]["message"] == relay.AWAY

    def test_of_the_environment_it_tells_only_what_it_was_told_to(
        self, lodging: Lodging, project: Path
    ) -> None:
        secrets = {"ANTHROPIC_API_KEY": "sk-made-up", "CLAUDE_CODE_MESSAGING_TOKEN": "made-up"}
        forged = "s1\nenv.FORGED: yes"
        with Mute(lodging.home) as mute, Agent(lodging, project, **{SESSION_ID: forged}, **secrets) as agent:
            agent.ask("initialize", INITIALIZE)
        head = mute.told[0].decode().splitlines()
        names = [line.partition(":")[0] for line in head]
        assert names == ["HOLDFAST/1 mcp", "harness", "cwd", "process", f"env.{SESSION_ID}", ""]
        assert f"cwd: {project}" in head
        assert f"process: {os.getpid()} " in head[3]


@pytest.mark.parametrize("variable", ["HOLDFAST_DISABLE", "HOLDFAST_INTERNAL"])
def test_turned_off_it_has_no_tools_and_starts_nothing(
    lodging: Lodging, project: Path, variable: str
) -> None:
    with Agent(lodging, project, **{variable: "1"}) as agent:
        assert agent.shake_hands()["capabilities"] == {}
        assert agent.ask("tools/list")["error"]["message"] == relay.OFF
        assert agent.hang_up()[0] == 0
    assert not (lodging.home / "run").exists()


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """An agent whose daemon nothing is going to happen to."""
    lodging = Lodging(tmp_path_factory.mktemp("settled"))
    try:
        lodging.start()
        with Agent(lodging, lodging.root) as agent:
            agent.shake_hands()
            yield agent
    finally:
        lodging.end()


class TestBadLines:
    @pytest.mark.parametrize(
        ("line", "code"),
        [
            pytest.param(b"nonsense", -32700, id="nonsense"),
            pytest.param(b"[1, 2]", -32600, id="a list"),
            pytest.param(b"\xff\xfe\x00", -32700, id="invalid UTF-8"),
            pytest.param(b"[" * 100_000, -32700, id="too deep"),
            pytest.param(b'"' + b"x" * relay.LINE_LIMIT + b'"', -32700, id="too long"),
            pytest.param(b'{"jsonrpc": "2.0", "id": 5, "method": "no/such"}', -32601, id="unknown method"),
        ],
    )
    def test_what_is_no_message_gets_an_error_and_the_next_one_an_answer(
        self, settled: Agent, line: bytes, code: int
    ) -> None:
        settled.send(line)
        assert settled.hear()["error"]["code"] == code
        assert settled.ask("ping")["result"] == {}

    def test_empty_ones_are_nothing(self, settled: Agent) -> None:
        for _ in range(3):
            settled.send("")
        assert settled.ask("ping")["result"] == {}


def test_a_request_that_was_cancelled_is_not_waited_for(lodging: Lodging, agent: Agent) -> None:
    daemon = lodging.start()
    agent.shake_hands()
    daemon.send_signal(signal.SIGSTOP)
    agent.send(request(99, "tools/list", {}))
    agent.tell("notifications/cancelled", {"requestId": 99})
    agent.tell("notifications/cancelled", {"requestId": ["no", "id"]})
    status, said, _ = agent.hang_up()
    daemon.send_signal(signal.SIGCONT)
    assert (status, said) == (0, [])
    wait_until(lambda: lodging.ask("status")["pid"] == daemon.pid)
