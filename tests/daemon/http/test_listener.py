"""The HTTP listener: its port and address, and attacks that it withstands."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

import pytest

from holdfast.daemon.http.listener import HOST, HttpListener, open_http_listener
from holdfast.settings import Daemon as Settings
from tests.daemon.conftest import LIMIT_S, Lodging

LOG = logging.getLogger("test")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def opened(home: Path, port: int) -> HttpListener:
    return open_http_listener(home, Settings(http_port=port), LOG)


class TestPort:
    def test_the_wanted_one_if_it_can_be_had(self, tmp_path: Path) -> None:
        port = free_port()
        http = opened(tmp_path, port)
        http.listener.close()
        assert (http.port, http.address) == (port, f"http://127.0.0.1:{port}")

    def test_another_if_it_is_taken_and_that_one_again_after_a_restart(self, tmp_path: Path) -> None:
        with socket.create_server((HOST, 0)) as other:
            taken: int = other.getsockname()[1]
            first = opened(tmp_path, taken)
            first.listener.close()
            assert first.port != taken
        again = opened(tmp_path, taken)
        again.listener.close()
        assert again.port == first.port

    def test_the_wanted_one_again_if_another_is_wanted_now(self, tmp_path: Path) -> None:
        with socket.create_server((HOST, 0)) as other:
            opened(tmp_path, other.getsockname()[1]).listener.close()
        port = free_port()
        http = opened(tmp_path, port)
        http.listener.close()
        assert http.port == port

    @pytest.mark.parametrize("note", ["", "x y", "1", "1 2 3", "7433 99999999", "7433 -1"])
    def test_a_note_that_makes_no_sense_is_none(self, tmp_path: Path, note: str) -> None:
        (tmp_path / "http").mkdir()
        (tmp_path / "http" / "port").write_text(note)
        port = free_port()
        http = opened(tmp_path, port)
        http.listener.close()
        assert http.port == port


class TestAddress:
    @pytest.mark.parametrize(
        ("host", "certificate", "listens"),
        [
            ("127.0.0.1", "", "127.0.0.1"),
            # Without TLS nobody else's machine is listened to, whatever the settings say.
            ("0.0.0.0", "", "127.0.0.1"),
            ("0.0.0.0", "/cert.pem", "0.0.0.0"),
            ("not an address", "", "127.0.0.1"),
        ],
    )
    def test_others_are_listened_to_with_tls_alone(
        self, tmp_path: Path, host: str, certificate: str, listens: str
    ) -> None:
        wanted = Settings(
            http_port=free_port(), http_host=host, tls_certificate=certificate, tls_key="/key.pem"
        )
        http = open_http_listener(tmp_path, wanted, LOG)
        http.listener.close()
        assert (http.host, http.names.tls) == (listens, bool(certificate))

    def test_further_names_are_those_of_the_settings(self, tmp_path: Path) -> None:
        port = free_port()
        http = open_http_listener(tmp_path, Settings(http_port=port, http_names=("Box.example",)), LOG)
        http.listener.close()
        assert http.names.hosts == (f"127.0.0.1:{port}", f"localhost:{port}", f"box.example:{port}")


def test_an_answer_does_not_wait_for_its_beginning_to_be_acknowledged(tmp_path: Path) -> None:
    http = opened(tmp_path, free_port())

    async def sends_at_once() -> bool:
        told = asyncio.get_running_loop().create_future()

        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked = writer.get_extra_info("socket")
            told.set_result(asked.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)
            writer.close()

        async with await asyncio.start_server(greet, sock=http.listener):
            _, caller = await asyncio.open_connection(HOST, http.port)
            caller.close()
            return await asyncio.wait_for(told, LIMIT_S)

    assert asyncio.run(sends_at_once())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodging]:
    """A home whose daemon nothing is going to happen to."""
    lodging = Lodging(tmp_path_factory.mktemp("standing"))
    try:
        lodging.start()
        yield lodging
    finally:
        lodging.end()


def post(
    lodging: Lodging, body: object, path: str = "/mcp", method: str = "POST", **headers: str
) -> tuple[int, Any]:
    """The status and the body of an answer."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    usual = {
        "Authorization": f"Bearer {(lodging.home / 'http' / 'token').read_text().strip()}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    with closing(HTTPConnection(HOST, port_of(lodging), timeout=LIMIT_S)) as connection:
        connection.request(method, path, raw, usual | headers)
        answer = connection.getresponse()
        said = answer.read()
    return answer.status, json.loads(said) if said.startswith(b"{") else said


def port_of(lodging: Lodging) -> int:
    return int((lodging.home / "http" / "port").read_text().split()[1])


ENVELOPE_HEADERS: Final = {"MCP-Protocol-Version": "2026-07-28"}


def in_envelope(method: str, **params: object) -> dict[str, Any]:
    """A request as it is sent since 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {**LIST, "method": method, "params": {**params, "_meta": meta}}


class TestListener:
    def test_whoever_comes_first_is_answered_too(self, standing: Lodging) -> None:
        status, answer = post(standing, LIST)
        assert status == 200
        assert "session_digest" in [tool["name"] for tool in answer["result"]["tools"]]

    def test_the_address_is_in_the_daemons_status(self, standing: Lodging) -> None:
        assert standing.ask("status")["http"] == f"http://127.0.0.1:{port_of(standing)}/mcp"

    @pytest.mark.parametrize(
        ("path", "method", "body", "headers", "status"),
        [
            ("/mcp", "POST", LIST, {"Authorization": "Bearer wrong"}, 401),
            ("/mcp", "POST", LIST, {"Origin": "http://evil.example"}, 403),
            ("/mcp", "POST", LIST, {"Host": "evil.example"}, 421),
            ("/nothing", "GET", b"", {}, 404),
            ("/../run/token", "GET", b"", {}, 404),
            ("/mcp", "GET", b"", {}, 405),
            ("/mcp", "DELETE", b"", {}, 405),
            ("/mcp", "POST", b"nonsense", {}, 400),
            ("/mcp", "POST", b"\xff\xfe", {}, 400),
            ("/mcp", "POST", LIST, {"Content-Type": "text/plain"}, 415),
        ],
    )
    def test_what_it_does_not_answer_it_refuses(
        self,
        standing: Lodging,
        path: str,
        method: str,
        body: object,
        headers: dict[str, str],
        status: int,
    ) -> None:
        assert post(standing, body, path, method, **headers)[0] == status

    def test_more_than_it_takes_is_refused_before_it_is_sent(self, standing: Lodging) -> None:
        assert post(standing, b"", **{"Content-Length": str((16 << 20) + 1)})[0] == 413

    def test_who_is_refused_hears_it_however_much_was_sent(self, standing: Lodging) -> None:
        # More than the kernel takes unread: to close now would reset the connection, and the answer with it.
        long = b"x" * (12 << 20)
        assert post(standing, long, Authorization="Bearer wrong")[0] == 401
        assert post(standing, long, "/api/memories")[0] == 413

    def test_who_says_nothing_is_in_nobodys_way(self, standing: Lodging) -> None:
        silent = [socket.create_connection((HOST, port_of(standing)), LIMIT_S) for _ in range(20)]
        try:
            assert post(standing, LIST)[0] == 200
            assert standing.ask("status")["spooled"] == 0
        finally:
            for connection in silent:
                connection.close()

    def test_half_requests_are_closed_to_let_others_in(self, standing: Lodging) -> None:
        with contextlib.ExitStack() as opened:
            halves = [
                opened.enter_context(socket.create_connection((HOST, port_of(standing)), LIMIT_S))
                for _ in range(300)
            ]
            for half in halves:
                with contextlib.suppress(ConnectionError):
                    half.sendall(b"POST /mcp HTTP/1.1\r\nHost: x")
            assert post(standing, LIST)[0] == 200
            # The first ones made room for the last.
            assert hung_up(halves[0])

    def test_half_a_request_behind_a_whole_one_is_not_waited_for(self, standing: Lodging) -> None:
        with socket.create_connection((HOST, port_of(standing)), LIMIT_S) as connection:
            connection.sendall(b"GET /mcp HTTP/1.1\r\nHost: x\r\n\r\nGET /mcp HTTP/1.1\r\nHo")
            assert hung_up(connection)

    @pytest.mark.parametrize(
        ("change", "status", "code"),
        [
            ({}, 200, None),
            ({"MCP-Protocol-Version": "2025-11-25"}, 400, -32020),
            ({"MCP-Protocol-Version": "2099-01-01"}, 400, -32020),
            ({"Mcp-Method": "tools/list"}, 400, -32020),
            ({"Mcp-Name": "remember"}, 400, -32020),
            ({"Mcp-Name": "=?base64?c2Vzc2lvbl9yZWNvdmVy?="}, 200, None),
            ({"Mcp-Name": "=?base64?c2Vzc2lvbl9yZWNvdmVy"}, 400, -32020),
            ({"Mcp-Name": "=?base64?c2Vzc2lvbl9yZWNvdmVz?="}, 400, -32020),
            ({"Mcp-Name": "=?base64?////?="}, 400, -32020),
        ],
    )
    def test_headers_must_say_what_the_message_says(
        self, standing: Lodging, change: dict[str, str], status: int, code: int | None
    ) -> None:
        call = in_envelope("tools/call", name="session_recover", arguments={})
        headers = ENVELOPE_HEADERS | {"Mcp-Method": "tools/call", "Mcp-Name": "session_recover"}
        got, answer = post(standing, call, **headers | change)
        assert (got, answer.get("error", {}).get("code")) == (status, code)

    @pytest.mark.parametrize(
        ("body", "headers", "status"),
        [
            ([LIST, {**LIST, "id": 2, "method": "ping"}], {}, 200),
            ([LIST], {"MCP-Protocol-Version": "2025-06-18"}, 400),
            ([], {}, 400),
            ([{"jsonrpc": "2.0", "method": "notifications/initialized"}], {}, 202),
            ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}, 202),
            (LIST, {"Accept": "text/event-stream"}, 406),
            (LIST, {"MCP-Protocol-Version": "2025-06-18"}, 200),
            (LIST, {"MCP-Protocol-Version": "2099-01-01"}, 400),
            ({**LIST, "method": "nothing"}, {}, 200),
            (in_envelope("nothing"), ENVELOPE_HEADERS | {"Mcp-Method": "nothing"}, 404),
            (in_envelope("initialize"), ENVELOPE_HEADERS | {"Mcp-Method": "initialize"}, 404),
            (in_envelope("tools/list"), ENVELOPE_HEADERS | {"Mcp-Method": "tools/list"}, 200),
        ],
    )
    def test_each_version_is_answered_in_its_way(
        self, standing: Lodging, body: object, headers: dict[str, str], status: int
    ) -> None:
        assert post(standing, body, **headers)[0] == status

    def test_a_project_must_be_known(self, standing: Lodging) -> None:
        call = {**LIST, "method": "tools/call", "params": {"name": "session_recover", "arguments": {}}}
        _, nowhere = post(standing, call)
        _, relative = post(standing, call, **{"X-Holdfast-Project": "../somewhere"})
        _, here = post(standing, call, **{"X-Holdfast-Project": str(standing.root)})
        told = [one["result"]["isError"] for one in (nowhere, relative, here)]
        assert told == [True, True, False]
        assert "which project" in nowhere["result"]["content"][0]["text"]


def hung_up(connection: socket.socket) -> bool:
    """Whether the other side closes the connection, whatever it said before; TimeoutError if it does not."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(65_536):
            pass
    return True


def test_a_daemon_that_is_not_to_listen_does_not(lodging: Lodging) -> None:
    lodging.start(HOLDFAST_DAEMON_HTTP_PORT="0")
    assert lodging.ask("status")["http"] == ""
    assert not (lodging.home / "http").exists()


def test_a_daemon_nobody_spoke_to_has_loaded_nothing_heavy(lodging: Lodging) -> None:
    lodging.executes()
    daemon = lodging.start()
    loaded = Path(f"/proc/{daemon.pid}/maps").read_text()
    assert "pydantic_core" not in loaded
    assert post(lodging, LIST)[0] == 200
    assert "pydantic_core" in Path(f"/proc/{daemon.pid}/maps").read_text()


def test_the_same_port_and_token_after_a_restart(lodging: Lodging) -> None:
    told: list[list[bytes]] = []
    for _ in range(2):
        daemon = lodging.start()
        assert post(lodging, LIST)[0] == 200
        told.append([(lodging.home / "http" / name).read_bytes() for name in ("port", "token")])
        lodging.ask("stop")
        assert daemon.wait(LIMIT_S) == 0
    assert told[0] == told[1]
