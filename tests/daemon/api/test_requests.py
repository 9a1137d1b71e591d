"""Requests over HTTP: hook events, scopes, the login of a browser, and the description of the API."""

from __future__ import annotations

import json
from contextlib import closing
from http.client import HTTPConnection

import pytest

from holdfast.daemon.api.reference import reference
from holdfast.daemon.local import client
from tests.architecture.source import ROOT
from tests.daemon.api.served import Caller
from tests.daemon.conftest import Lodging


class TestHooks:
    def test_a_hook_event_is_recorded(self, caller: Caller, lodging: Lodging) -> None:
        payload = {"session_id": "by-http", "cwd": str(lodging.root), "source": "startup"}
        sent = caller.ask("/api/hooks/SessionStart?harness=claude-code", "POST", payload)
        assert sent.status in (200, 204)
        assert caller.ask("/api/sessions/by-http").json["harness"] == "claude-code"

    def test_a_path_in_it_is_not_opened(self, caller: Caller, lodging: Lodging) -> None:
        transcript = lodging.root / ".claude" / "projects" / "x" / "stolen.jsonl"
        transcript.parent.mkdir(parents=True)
        record = {"type": "user", "uuid": "u", "sessionId": "stolen", "message": {"content": "read me"}}
        transcript.write_text(json.dumps(record) + "\n")
        payload = {
            "session_id": "stolen",
            "cwd": str(lodging.root),
            "transcript_path": str(transcript),
            "prompt": "said by letter",
        }
        caller.ask("/api/hooks/UserPromptSubmit?harness=claude-code", "POST", payload)
        responses = caller.ask("/api/sessions/stolen/timeline").body
        assert b"said by letter" in responses
        assert b"read me" not in responses

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [
            ("/api/hooks/SessionStart?harness=nobody", {}, 404),
            ("/api/hooks/SessionStart", {}, 422),
            ("/api/hooks/..%2Fx?harness=claude-code", {}, 404),
            ("/api/hooks/SessionStart?harness=claude-code", b"[1]", 422),
            ("/api/hooks/SessionStart?harness=claude-code", b"\xff", 422),
        ],
    )
    def test_what_is_no_hook_event_is_refused(
        self, caller: Caller, path: str, body: object, status: int
    ) -> None:
        assert caller.ask(path, "POST", body).status == status


class TestAccess:
    def test_the_token_for_reading_looks_and_changes_nothing(self, lodging: Lodging) -> None:
        reader = Caller(lodging, "token-read")
        assert reader.ask("/api/sessions").status == 200
        assert reader.ask("/api/memories", "POST", {"text": "no"}).status == 403
        assert reader.ask("/mcp", "POST", {}).status == 403

    @pytest.mark.parametrize(
        ("path", "method", "status"),
        [("/api/nothing", "GET", 404), ("/api/checkpoints", "POST", 405), ("/api/checkpoints/", "GET", 200)],
    )
    def test_what_leads_nowhere_is_reported_in_the_same_shape(
        self, caller: Caller, path: str, method: str, status: int
    ) -> None:
        answer = caller.ask(path, method)
        assert answer.status == status
        assert set(answer.json) == ({"error", "hint"} if status != 200 else {"items", "next"})
        assert ("/api/openapi.json" in answer.json.get("hint", "")) is (status != 200)

    def test_a_browser_comes_by_a_link_that_works_once(self, caller: Caller, lodging: Lodging) -> None:
        url = str(client.ask(lodging.home, "link")["url"])
        path = url.removeprefix(f"http://127.0.0.1:{caller.port}")
        first = caller.ask(path, Authorization="")
        given = first.headers["set-cookie"]
        assert all(word in given for word in ("HttpOnly", "SameSite=strict", "Path=/"))
        assert caller.ask(path, Authorization="").status == 403
        browser = Browser(caller, given.split(";", 1)[0])
        assert browser.status("/api/health") == 200
        assert browser.status("/api/memories", "POST") == 403
        assert browser.status("/api/memories", "POST", Origin=f"http://127.0.0.1:{caller.port}") == 422


class Browser:
    """A browser that has a cookie and no token."""

    def __init__(self, caller: Caller, cookie: str) -> None:
        self._caller = caller
        self._cookie = cookie

    def status(self, path: str, method: str = "GET", **headers: str) -> int:
        with closing(HTTPConnection("127.0.0.1", self._caller.port, timeout=20)) as connection:
            connection.request(method, path, b"", {"Cookie": self._cookie, **headers})
            answer = connection.getresponse()
            return answer.status


class TestDescription:
    def test_the_page_is_what_the_routes_say(self) -> None:
        page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
        assert page == reference(), "run `python -m holdfast.daemon.api.reference > docs/reference/api.md`"

    def test_every_route_has_a_typed_answer(self, caller: Caller) -> None:
        spec = caller.get("/api/openapi.json")
        for path, methods in spec["paths"].items():
            for method, operation in methods.items():
                responses = [one for status, one in operation["responses"].items() if status.startswith("2")]
                for one in responses:
                    for content in one.get("content", {}).values():
                        assert content["schema"], (path, method)
                assert operation["description"], (path, method)
        assert {"HTTPBearer", "APIKeyCookie"} <= set(spec["components"]["securitySchemes"])
