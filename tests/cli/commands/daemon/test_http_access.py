"""The tokens of the HTTP listener, and the link to the dashboard, on the command line."""

from __future__ import annotations

import stat
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

from tests.cli.conftest import Person


def test_a_token_is_made_when_it_is_first_shown_and_then_stays(person: Person) -> None:
    first, second = (person.types("token", "show") for _ in range(2))
    assert first.out == second.out
    assert len(first.out.strip()) >= 32
    assert stat.S_IMODE((person.home / "http" / "token").stat().st_mode) == 0o600


def test_each_scope_has_its_own_and_is_renewed_by_itself(person: Person) -> None:
    full, read = person.types("token", "show").out, person.types("token", "show", "--scope", "read").out
    assert full != read
    assert person.types("token", "rotate", "--scope", "read").status == 0
    assert person.types("token", "show").out == full
    assert person.types("token", "show", "--scope", "read").out != read


def test_the_dashboards_link_lets_a_browser_in_once(person: Person) -> None:
    done = person.types("dashboard", "--print")
    assert done.status == 0, done.err
    link = urlsplit(done.out.strip())
    told: list[tuple[int, str]] = []
    for _ in range(2):
        with closing(HTTPConnection(link.netloc, timeout=30)) as connection:
            connection.request("GET", f"{link.path}?{link.query}")
            answer = connection.getresponse()
            told.append((answer.status, answer.headers.get("set-cookie", "").partition("=")[0]))
    assert told == [(200, "holdfast"), (403, "")]


def test_without_an_http_listener_the_command_says_so(person: Person) -> None:
    person.variables["HOLDFAST_DAEMON_HTTP_PORT"] = "0"
    done = person.types("dashboard", "--print")
    assert (done.status, done.out) == (1, "")
    assert "no HTTP listener" in done.err
