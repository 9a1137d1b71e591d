"""Our server of MCP, seen by programs that others wrote to check servers: the Inspector and the suite."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast

import pytest

from holdfast import relay
from holdfast.engine.tools import table
from tests.clients.person import LIMIT_S
from tests.daemon.agent import begin
from tests.daemon.conftest import Lodging

INSPECTOR: Final = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
SUITE: Final = "@modelcontextprotocol/conformance/dist/index.js"
NOT_OURS: Final = "Not testable: server "
"""How the suite says that a check needs a tool by a certain name, made for it alone."""
EVERY_WAY = pytest.mark.parametrize("way", ["stdio", "http"])


@pytest.fixture(scope="module")
def lodging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodging]:
    """A home with a daemon, and one live session in its project."""
    found = Lodging(tmp_path_factory.mktemp("mcp"))
    try:
        found.start()
        (found.root / "project").mkdir()
        begin(found, found.root / "project", "s1")
        (found.home / "bin").mkdir(exist_ok=True)
        (found.home / "bin" / "interpreter").write_text(f"{sys.executable}\n")
        yield found
    finally:
        found.end()


def ran(node: Path, script: str, arguments: Sequence[str], root: Path) -> subprocess.CompletedProcess[str]:
    """A program of Node.js, run to its end."""
    modules = node.parents[2]
    return subprocess.run(
        [node, modules / script, *arguments],
        cwd=root,
        env={
            "PATH": f"{node.parent}:/usr/bin:/bin",
            "HOME": str(root),
            "MCP_INSPECTOR_SECRET_STORE": "memory",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S * 2,
        check=False,
    )


class TestInspector:
    @pytest.fixture
    def servers(self, lodging: Lodging) -> Path:
        """The file in which the Inspector finds our server, by its two ways."""
        token = (lodging.home / "http" / "token").read_text().strip()
        project = str(lodging.root / "project")
        written = {
            "stdio": {
                "type": "stdio",
                "command": sys.executable,
                "args": ["-I", "-S", relay.__file__, "-", "-", str(lodging.home)],
                "cwd": project,
            },
            "http": {
                "type": "streamable-http",
                "url": lodging.ask("status")["http"],
                "headers": {"Authorization": f"Bearer {token}", "X-Holdfast-Project": project},
            },
        }
        path = lodging.root / "servers.json"
        path.write_text(json.dumps({"mcpServers": written}))
        return path

    def asked(self, mcp_checks: Path, servers: Path, way: str, *words: str) -> dict[str, Any]:
        arguments = ["--cli", "--config", str(servers), "--server", way, *words]
        done = ran(mcp_checks, INSPECTOR, arguments, servers.parent)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    @EVERY_WAY
    def test_it_finds_every_tool_and_nothing_to_complain_of_in_its_schema(
        self, mcp_checks: Path, servers: Path, way: str
    ) -> None:
        found = self.asked(mcp_checks, servers, way, "--method", "tools/list", "--strict")
        assert tuple(tool["name"] for tool in found["tools"]) == table.names()

    @EVERY_WAY
    def test_it_gives_a_digest(self, mcp_checks: Path, servers: Path, way: str) -> None:
        words = ["--tool-arg", f"summary=half done, by {way}", "--tool-arg", 'next=["the rest"]']
        call = ["--method", "tools/call", "--tool-name", "session_digest", *words]
        found = self.asked(mcp_checks, servers, way, *call)
        assert found["structuredContent"]["session"] == "s1"

    @EVERY_WAY
    def test_it_hands_over_and_picks_up(self, mcp_checks: Path, servers: Path, way: str) -> None:
        call = ["--method", "tools/call", "--tool-name", "handoff", "--tool-arg"]
        words = ["action=create", "--tool-arg", f"purpose=Go on by {way}", "--tool-arg", 'next=["the rest"]']
        made = self.asked(mcp_checks, servers, way, *call, *words)["structuredContent"]
        named = ["action=pickup", "--tool-arg", f"name=by-{way}"]
        taken = self.asked(mcp_checks, servers, way, *call, *named)["structuredContent"]
        assert (taken["name"], taken["verdict"]) == (made["name"], "Unable to verify")
        assert "## Next Step\n- the rest" in taken["document"]


class TokenProxy(ThreadingHTTPServer):
    """Adds the token in front of the daemon, which the suite cannot be told; passes on all else as it is."""

    daemon_threads = True

    def __init__(self, address: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.behind = int(address.rpartition(":")[2].partition("/")[0])
        self.token = token


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._pass_on()

    def do_GET(self) -> None:
        self._pass_on()

    def do_DELETE(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        proxy = cast("TokenProxy", self.server)
        connection = HTTPConnection("127.0.0.1", proxy.behind, timeout=LIMIT_S)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self._headers(proxy).items():
            connection.putheader(name, value)
        connection.endheaders(self.rfile.read(int(self.headers.get("content-length", "0"))))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal belongs to pytest."""

    def _headers(self, proxy: TokenProxy) -> Mapping[str, str]:
        """The headers as they came, but for the token; our port in place of the proxy's."""
        here, there = f":{proxy.server_port}", f":{proxy.behind}"
        told = {name.lower(): value for name, value in self.headers.items()}
        for name in {"host", "origin"} & told.keys():
            told[name] = told[name].replace(here, there)
        return told | {"authorization": f"Bearer {proxy.token}"}


@pytest.fixture(scope="module")
def url(lodging: Lodging) -> Iterator[str]:
    token = (lodging.home / "http" / "token").read_text().strip()
    proxy = TokenProxy(lodging.ask("status")["http"], token)
    thread = threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://localhost:{proxy.server_port}/mcp"
    proxy.shutdown()
    proxy.server_close()
    thread.join(LIMIT_S)


class TestSuite:
    # The other scenarios are for servers with prompts, resources, logging, sampling, tasks, or tools by
    # certain names; our server says that it has none of these.
    @pytest.mark.parametrize(
        ("scenario", "version"),
        [
            ("server-initialize", "2025-11-25"),
            ("server-session-lifecycle", "2025-11-25"),
            ("ping", "2025-11-25"),
            ("tools-list", "2025-11-25"),
            ("server-sse-multiple-streams", "2025-11-25"),
            ("dns-rebinding-protection", "2025-11-25"),
            ("server-stateless", "2026-07-28"),
            ("tools-list", "2026-07-28"),
            ("http-header-validation", "2026-07-28"),
            ("server-sse-multiple-streams", "2026-07-28"),
            ("dns-rebinding-protection", "2026-07-28"),
            ("input-required-result-unsupported-methods", "2026-07-28"),
        ],
    )
    def test_every_scenario_for_a_server_like_ours_passes(
        self, mcp_checks: Path, lodging: Lodging, url: str, scenario: str, version: str
    ) -> None:
        arguments = ["server", "--url", url, "--scenario", scenario, "--spec-version", version]
        said = re.sub(r"\x1b\[[0-9;]*m", "", ran(mcp_checks, SUITE, arguments, lodging.root).stdout)
        assert "Checks:" in said, said
        problems = re.findall(r"^\s*Error: (.*)$", said, re.MULTILINE)
        assert [problem for problem in problems if not problem.startswith(NOT_OURS)] == []
        failed = re.findall(r"\] FAILURE", said)
        assert len(failed) == len(problems)
