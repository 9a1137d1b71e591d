"""The guard of the HTTP listener: who is let in, by which key, from where and how often."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from holdfast.daemon.access import (
    BODY_MOST,
    BUCKETS_MOST,
    CHANGING,
    COOKIE,
    COOKIE_DAYS,
    LINK_SECONDS,
    LINKS_MOST,
    LOOKING,
    Guard,
    Keys,
    Limits,
    Message,
    Names,
    Pass,
    Receive,
    Scope,
    Send,
    token_path,
)
from holdfast.files import tokens

PORT = 7433
HOST = ("host", f"127.0.0.1:{PORT}")
PAGE = ("origin", f"http://127.0.0.1:{PORT}")
OTHER_PAGE = ("origin", "http://evil.example")
NAMES = Names((f"127.0.0.1:{PORT}", f"localhost:{PORT}"))


class Clock:
    """Tells the time that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> Keys:
    return Keys(tmp_path, clock)


def bearer(folder: Path, scope: Scope = Scope.FULL) -> tuple[str, str]:
    return "authorization", f"Bearer {tokens.read(token_path(folder, scope))}"


def cookie(keys: Keys) -> tuple[str, str]:
    return "cookie", f"other=1; {COOKIE}={keys.spend(keys.link())}"


class GuardedApp:
    """A guard before an app that reads what it is sent and says 200."""

    def __init__(self, keys: Keys, names: Names = NAMES) -> None:
        self._guard = Guard(self._app, names, keys, Limits(lambda: 0.0))
        self.granted: Pass | None = None
        self.read = 0

    async def _app(self, scope: Message, receive: Receive, send: Send) -> None:
        self.granted = scope["holdfast.pass"]
        while (message := await receive())["type"] == "http.request":
            self.read += len(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def request(
        self,
        *headers: tuple[str, str],
        method: str = "GET",
        path: str = "/api/health",
        kind: str = "http",
        body: tuple[bytes, ...] = (b"",),
    ) -> Message:
        """What is answered first; nothing for who is not answered at all."""
        said: list[Message] = []
        waiting = [{"type": "http.request", "body": part, "more_body": True} for part in body]
        waiting[-1]["more_body"] = False

        async def receive() -> Message:
            return waiting.pop(0)

        async def send(message: Message) -> None:
            said.append(message)

        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
        scope: dict[str, Any] = {"type": kind, "method": method, "path": path, "headers": raw}
        asyncio.run(self._guard(scope, receive, send))
        return {**said[0], "body": said[1]["body"] if len(said) > 1 else b""} if said else {"status": 0}


class TestNamesAndTokens:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ((HOST, "token"), 200),
            ((("host", f"localhost:{PORT}"), "token"), 200),
            ((("host", f"LOCALHOST:{PORT}"), "token"), 200),
            ((HOST, "token", PAGE), 200),
            ((HOST, "token", ("origin", f"http://localhost:{PORT}")), 200),
            # Another name for the loopback address: a page whose name was bound to it anew.
            (("token",), 421),
            ((("host", f"evil.example:{PORT}"), "token"), 421),
            ((("host", "127.0.0.1"), "token"), 421),
            ((("host", f"127.0.0.1:{PORT + 1}"), "token"), 421),
            ((("host", f"127.0.0.1:{PORT}.evil.example"), "token"), 421),
            ((HOST, "token", ("host", "evil.example")), 421),
            # Another site.
            ((HOST, "token", OTHER_PAGE), 403),
            ((HOST, "token", ("origin", "null")), 403),
            ((HOST, "token", ("origin", f"https://127.0.0.1:{PORT}")), 403),
            ((HOST, "token", PAGE, OTHER_PAGE), 403),
            ((HOST, "token", ("origin", "")), 403),
            # No proof.
            ((HOST,), 401),
            ((HOST, ("authorization", "Bearer ")), 401),
            ((HOST, ("authorization", "Bearer wrong")), 401),
            ((HOST, ("authorization", "Bearer \xff")), 401),
            ((HOST, ("authorization", "Basic eHg6eHg=")), 401),
            ((HOST, "token", "token"), 401),
            ((HOST, ("cookie", f"{COOKIE}=")), 401),
            ((HOST, ("cookie", f"{COOKIE}=9999999999.x.y")), 401),
            ((HOST, ("cookie", f"{COOKIE}=\xff")), 401),
        ],
    )
    def test_only_who_knows_name_and_token_and_comes_from_no_other_site_is_let_in(
        self, tmp_path: Path, keys: Keys, headers: tuple[Any, ...], status: int
    ) -> None:
        told = [bearer(tmp_path) if one == "token" else one for one in headers]
        assert GuardedApp(keys).request(*told)["status"] == status

    def test_nothing_but_http_is_let_in(self, tmp_path: Path, keys: Keys) -> None:
        assert GuardedApp(keys).request(HOST, bearer(tmp_path), kind="websocket")["status"] == 0

    def test_with_tls_a_page_of_ours_is_one_that_came_so(self, tmp_path: Path, keys: Keys) -> None:
        app = GuardedApp(keys, Names(NAMES.hosts, tls=True))
        ours = ("origin", f"https://127.0.0.1:{PORT}")
        told = [app.request(HOST, bearer(tmp_path), origin)["status"] for origin in (ours, PAGE)]
        assert told == [200, 403]

    def test_a_token_that_was_renewed_counts_at_once_and_the_old_one_no_longer(
        self, tmp_path: Path, keys: Keys
    ) -> None:
        app, old, browser = GuardedApp(keys), bearer(tmp_path), cookie(keys)
        tokens.renew(token_path(tmp_path, Scope.FULL))
        told = [app.request(HOST, proof)["status"] for proof in (old, browser, bearer(tmp_path))]
        assert told == [401, 401, 200]

    @pytest.mark.parametrize(("text", "mode"), [("", 0o600), ("short", 0o600), ("x" * 43, 0o644)])
    def test_one_that_is_no_secret_is_replaced(
        self, tmp_path: Path, clock: Clock, text: str, mode: int
    ) -> None:
        path = tmp_path / "token"
        path.write_text(text)
        path.chmod(mode)
        Keys(tmp_path, clock)
        made = path.read_text().strip()
        assert len(made) >= tokens.LEAST
        assert made != text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


class TestScopes:
    @pytest.mark.parametrize(
        ("method", "status"),
        [("GET", 200), ("HEAD", 200), ("POST", 403), ("PUT", 403), ("PATCH", 403), ("DELETE", 403)],
    )
    def test_the_token_for_reading_changes_nothing(
        self, tmp_path: Path, keys: Keys, method: str, status: int
    ) -> None:
        assert GuardedApp(keys).request(HOST, bearer(tmp_path, Scope.READ), method=method)["status"] == status

    def test_the_app_is_told_who_came(self, tmp_path: Path, keys: Keys) -> None:
        app = GuardedApp(keys)
        app.request(HOST, bearer(tmp_path, Scope.READ))
        assert app.granted == Pass("read", Scope.READ)
        app.request(HOST, cookie(keys))
        assert app.granted == Pass("browser", Scope.FULL, is_browser=True)


class TestBrowser:
    @pytest.mark.parametrize(
        ("method", "headers", "status"),
        [
            ("GET", (), 200),
            ("GET", (("sec-fetch-site", "same-origin"),), 200),
            ("GET", (("sec-fetch-site", "none"),), 200),
            # A page of another server on this machine: to a browser it is the same site.
            ("GET", (("sec-fetch-site", "same-site"),), 403),
            ("GET", (("sec-fetch-site", "cross-site"),), 403),
            # A person who follows a link.
            (
                "GET",
                (
                    ("sec-fetch-site", "cross-site"),
                    ("sec-fetch-mode", "navigate"),
                    ("sec-fetch-dest", "document"),
                ),
                200,
            ),
            (
                "GET",
                (
                    ("sec-fetch-site", "same-site"),
                    ("sec-fetch-mode", "navigate"),
                    ("sec-fetch-dest", "iframe"),
                ),
                403,
            ),
            ("POST", (PAGE,), 200),
            ("POST", (PAGE, ("sec-fetch-site", "same-origin")), 200),
            ("POST", (), 403),
            ("POST", (("origin", "http://127.0.0.1:8000"),), 403),
            ("POST", (PAGE, ("sec-fetch-site", "same-site")), 403),
        ],
    )
    def test_a_cookie_counts_where_a_page_of_ours_asks(
        self, keys: Keys, method: str, headers: tuple[tuple[str, str], ...], status: int
    ) -> None:
        assert GuardedApp(keys).request(HOST, cookie(keys), *headers, method=method)["status"] == status

    def test_a_link_works_once(self, keys: Keys) -> None:
        link = keys.link()
        assert keys.of_cookie(keys.spend(link))
        assert keys.spend(link) == ""

    def test_a_link_works_for_a_moment(self, keys: Keys, clock: Clock) -> None:
        links = [keys.link(), keys.link()]
        clock.now += LINK_SECONDS - 1
        assert keys.spend(links[0])
        clock.now += 2
        assert keys.spend(links[1]) == ""

    def test_of_very_many_links_the_oldest_work_no_longer(self, keys: Keys) -> None:
        first = keys.link()
        later = [keys.link() for _ in range(LINKS_MOST)]
        assert keys.spend(first) == ""
        assert all(map(keys.spend, later))

    def test_a_cookie_outlives_the_daemon_but_not_its_week(
        self, tmp_path: Path, keys: Keys, clock: Clock
    ) -> None:
        given = keys.spend(keys.link())
        clock.now += COOKIE_DAYS * 86_400 - 1
        assert Keys(tmp_path, clock).of_cookie(given)
        clock.now += 2
        assert Keys(tmp_path, clock).of_cookie(given) is None

    def test_nobody_can_make_a_cookie_last_longer(self, keys: Keys) -> None:
        until, rest = keys.spend(keys.link()).split(".", 1)
        assert keys.of_cookie(f"{int(until) + 1}.{rest}") is None

    def test_the_login_page_needs_no_key_but_the_right_host(self, keys: Keys) -> None:
        app = GuardedApp(keys)
        assert app.request(HOST, path="/open")["status"] == 200
        assert app.request(("host", "evil.example"), path="/open")["status"] == 421
        assert app.request(HOST, path="/open", method="POST")["status"] == 401
        assert app.request(HOST, path="/open/../api/health")["status"] == 401


class TestAnswers:
    def test_every_answer_is_protected_and_kept_by_nobody(self, tmp_path: Path, keys: Keys) -> None:
        for answer in (GuardedApp(keys).request(HOST, bearer(tmp_path)), GuardedApp(keys).request(HOST)):
            headers = dict(answer["headers"])
            assert headers[b"cache-control"] == b"no-store"
            assert headers[b"x-content-type-options"] == b"nosniff"
            assert b"default-src 'none'" in headers[b"content-security-policy"]
            assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]
            assert b"unsafe" not in headers[b"content-security-policy"]
            assert not any(name.startswith(b"access-control") for name in headers)

    def test_a_program_gets_json_and_a_person_a_page(self, keys: Keys) -> None:
        program = GuardedApp(keys).request(HOST)
        assert json.loads(program["body"])["error"] == "there is no key, or a wrong one"
        assert (b"www-authenticate", b"Bearer") in program["headers"]
        person = GuardedApp(keys).request(HOST, ("accept", "text/html"), path="/")
        assert person["status"] == 401
        assert b"holdfast dashboard" in person["body"]
        assert b"<p>There is no key, or a wrong one.</p>" in person["body"]
        assert b"A link works once." in person["body"]

    @pytest.mark.parametrize(
        ("path", "length", "status"),
        [
            ("/api/memories", BODY_MOST, 200),
            ("/api/memories", BODY_MOST + 1, 413),
            ("/api/hooks/SessionStart", BODY_MOST + 1, 200),
            ("/mcp", BODY_MOST + 1, 200),
            ("/mcp", (16 << 20) + 1, 413),
        ],
    )
    def test_a_body_that_is_said_to_be_too_long_is_not_read(
        self, tmp_path: Path, keys: Keys, path: str, length: int, status: int
    ) -> None:
        app = GuardedApp(keys)
        said = ("content-length", str(length))
        assert app.request(HOST, bearer(tmp_path), said, method="POST", path=path)["status"] == status

    def test_a_body_that_goes_on_for_too_long_is_not_read_to_its_end(
        self, tmp_path: Path, keys: Keys
    ) -> None:
        app, part = GuardedApp(keys), b"x" * (BODY_MOST // 2)
        app.request(HOST, bearer(tmp_path), method="POST", body=(part,) * 10)
        assert app.read == BODY_MOST


class TestLimits:
    def test_who_asks_too_often_is_told_when_to_come_back(self, tmp_path: Path, keys: Keys) -> None:
        app = GuardedApp(keys)
        told = [app.request(HOST, bearer(tmp_path))["status"] for _ in range(LOOKING.burst)]
        refused = app.request(HOST, bearer(tmp_path))
        assert set(told) == {200}
        assert refused["status"] == 429
        assert (b"retry-after", b"1") in refused["headers"]

    def test_each_token_and_each_route_has_turns_of_its_own(self) -> None:
        limits = Limits(lambda: 0.0)
        for _ in range(CHANGING.burst):
            assert limits.wait("full", "POST", "/api/memories") == 0
        assert limits.wait("full", "POST", "/api/memories/x") > 0
        assert limits.wait("full", "GET", "/api/memories") == 0
        assert limits.wait("full", "POST", "/api/projects/x/dreams") == 0
        assert limits.wait("browser", "POST", "/api/memories") == 0

    def test_turns_come_back_as_time_passes(self) -> None:
        clock = Clock()
        limits = Limits(clock)
        while limits.wait("full", "GET", "/api/health") == 0:
            pass
        clock.now += 1
        told = [limits.wait("full", "GET", "/api/health") for _ in range(int(LOOKING.per_second) + 1)]
        assert told == [0] * int(LOOKING.per_second) + [1]

    def test_what_is_remembered_of_them_is_bounded(self) -> None:
        limits = Limits(lambda: 0.0)
        for number in range(3 * BUCKETS_MOST):
            limits.wait("full", "GET", f"/api/{number}")
        assert len(limits._buckets) == BUCKETS_MOST
