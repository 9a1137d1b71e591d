"""Every model that writes: it answers, or says whether it is worth asking again; never anything else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast import models
from holdfast.errors import ModelBusy, ModelError
from holdfast.models.base import CUT_OFF, REFUSED, Address, ModelAnswer, Writer
from holdfast.models.command import CommandWriter
from tests.models import api_server
from tests.models.api_server import ApiServer, Said

KINDS: dict[str, Callable[..., Said]] = {"anthropic": api_server.anthropic, "openai": api_server.openai}


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as running:
        yield running


@dataclass
class Api:
    """A model behind an API of one kind, and how that API says something."""

    kind: str
    server: ApiServer
    says: Callable[..., Said]

    def writer(self, timeout: float = 20.0, key: str = "our-key") -> Writer:
        return models.writer(self.kind, "small", Address(key, self.server.url, timeout))


@pytest.fixture(params=KINDS)
def api(request: pytest.FixtureRequest, server: ApiServer) -> Api:
    return Api(request.param, server, KINDS[request.param])


def test_an_answer_comes_with_what_it_took(api: Api) -> None:
    api.server.script(api.says("Hello."))
    assert api.writer().write("Hi?", 50) == ModelAnswer("Hello.", 100, 10)
    (seen,) = api.server.seen
    assert (seen.body["model"], seen.body["max_tokens"]) == ("small", 50)
    assert seen.body["messages"] == [{"role": "user", "content": "Hi?"}]
    assert api.writer().name == f"{api.kind}/small"


def test_only_our_own_key_is_used(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "somebody-elses")
    api.server.script(api.says("Hello."))
    api.writer().write("Hi?", 50)
    (seen,) = api.server.seen
    sent = seen.headers.get("x-api-key") or seen.headers.get("authorization")
    assert sent in ("our-key", "Bearer our-key")
    assert "somebody-elses" not in str(seen.headers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CUSTOM_HEADERS", "X-Private: somebody-elses"),
        ("CUSTOM_HEADERS", "x-api-key: somebody-elses"),
        ("CUSTOM_HEADERS", "Authorization: Bearer somebody-elses"),
        ("CUSTOM_HEADERS", "Host: somebody-elses.example"),
        ("CUSTOM_HEADERS", "User-Agent: somebody-elses"),
        ("ORG_ID", "somebody-elses"),
        ("PROJECT_ID", "somebody-elses"),
        ("ADMIN_KEY", "somebody-elses"),
        ("PROFILE", "somebody-elses"),
    ],
)
def test_nothing_goes_out_that_the_environment_says(
    api: Api, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"{api.kind.upper()}_{name}", value)
    api.server.script(api.says("Hello."))
    assert api.writer().write("Hi?", 50).text == "Hello."
    (seen,) = api.server.seen
    assert "somebody-elses" not in str(seen.headers)
    keys = {seen.headers.get("x-api-key"), seen.headers.get("authorization")} - {None}
    assert keys <= {"our-key", "Bearer our-key"}
    assert keys


@pytest.mark.parametrize("kind", models.APIS)
def test_without_its_package_it_names_the_command_that_installs_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    monkeypatch.delitem(sys.modules, f"holdfast.models.{kind}_api", raising=False)
    with pytest.raises(ModelError, match=f"models of `{kind}` need a package that is not there") as refused:
        models.writer(kind, "small", Address("our-key", "http://127.0.0.1:1", 1.0))
    assert f"`uv tool install 'holdfast[{kind}]'`, `pipx inject holdfast {kind}`" in refused.value.hint


def test_nowhere_else_is_asked_than_at_our_address(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    api.server.script(api.says("Hello."))
    assert api.writer().write("Hi?", 50).text == "Hello."


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_passes_is_worth_asking_again(api: Api, status: int) -> None:
    api.server.script(Said({"error": {"message": "later"}}, status, {"retry-after": "7"}))
    with pytest.raises(ModelBusy, match=f"HTTP {status}") as caught:
        api.writer().write("Hi?", 50)
    assert caught.value.after == 7.0
    assert len(api.server.seen) == 1, "how often to ask is not its decision"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_what_does_not_pass_is_not(api: Api, status: int) -> None:
    api.server.script(Said({"error": {"message": "no such thing"}}, status))
    with pytest.raises(ModelError, match=f"HTTP {status}.*no such thing") as caught:
        api.writer().write("Hi?", 50)
    assert not isinstance(caught.value, ModelBusy)


def test_one_that_is_too_slow_is_busy(api: Api) -> None:
    api.server.script(Said({}, held=True))
    with pytest.raises(ModelBusy, match="in time"):
        api.writer(timeout=0.3).write("Hi?", 50)


def test_one_that_is_away_is_busy(api: Api) -> None:
    away = models.writer(api.kind, "small", Address("k", "http://127.0.0.1:1", 5.0))
    with pytest.raises(ModelBusy, match="cannot be reached"):
        away.write("Hi?", 50)


@pytest.mark.parametrize("body", [b'{"id": "msg_1", "content": [{"type": "te', b"<html>oops</html>", b""])
def test_an_answer_that_broke_off_is_no_answer(api: Api, body: bytes) -> None:
    api.server.script(Said(body))
    with pytest.raises(ModelError):
        api.writer().write("Hi?", 50)


def test_an_empty_answer_is_empty(api: Api) -> None:
    api.server.script(api.says(""))
    assert api.writer().write("Hi?", 50) == ModelAnswer("", 100, 10)


@pytest.mark.parametrize(
    ("kind", "said", "trouble"),
    [
        ("anthropic", api_server.anthropic("No.", "refusal"), REFUSED),
        ("anthropic", api_server.anthropic("It is", "max_tokens"), CUT_OFF),
        ("openai", api_server.openai("", refusal="No."), REFUSED),
        ("openai", api_server.openai("", "content_filter"), REFUSED),
        ("openai", api_server.openai("It is", "length"), CUT_OFF),
    ],
)
def test_a_refusal_is_paid_for_too(server: ApiServer, kind: str, said: Said, trouble: str) -> None:
    server.script(said)
    answer = Api(kind, server, KINDS[kind]).writer().write("Hi?", 50)
    assert (answer.trouble, answer.sent, answer.received) == (trouble, 100, 10)


def test_what_came_from_a_cache_was_sent_too(server: ApiServer) -> None:
    server.script(api_server.anthropic("x", cache_read_input_tokens=5, cache_creation_input_tokens=3))
    assert Api("anthropic", server, api_server.anthropic).writer().write("Hi?", 50).sent == 108


def test_a_server_of_ones_own_needs_no_key(server: ApiServer) -> None:
    server.script(api_server.openai("Hello."))
    api = Api("openai", server, api_server.openai)
    assert api.writer(key="").write("Hi?", 50).text == "Hello."


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    with pytest.raises(ModelError, match="`telepathy`") as caught:
        models.writer("telepathy", "m", Address(""))
    assert "`anthropic/…`" in caught.value.hint


# Commands


def command(tmp_path: Path, script: str, timeout: float = 20.0) -> CommandWriter:
    return CommandWriter([sys.executable, "-c", script], tmp_path, {"OURS": "1"}, timeout)


def test_a_command_reads_the_question_and_prints_the_answer(tmp_path: Path) -> None:
    script = "import os, sys; print(sys.stdin.read().upper(), os.getcwd(), sorted(os.environ)[0])"
    answer = command(tmp_path, script).write("hi äöü", 50)
    assert answer.text.startswith(f"HI ÄÖÜ {tmp_path}")
    assert (answer.sent, answer.received > 0) == (1, True)


def test_its_environment_is_the_one_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODY_ELSES_KEY", "x")
    script = "import os; print('SOMEBODY_ELSES_KEY' in os.environ, os.environ['OURS'])"
    assert command(tmp_path, script).write("", 50).text == "False 1"


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"ended with 3: out of credit"):
        command(tmp_path, "import sys; sys.stderr.write('out of credit'); sys.exit(3)").write("hi", 50)


def test_a_command_that_is_not_there_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be run"):
        CommandWriter([str(tmp_path / "gone")], tmp_path, {}, 5.0).write("hi", 50)


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    script = """
import os, sys, threading
child = os.fork()
open(f"{'child' if child == 0 else 'parent'}.pid", "w").write(str(os.getpid()))
threading.Event().wait()
"""
    with pytest.raises(ModelBusy, match="in time"):
        command(tmp_path, script, timeout=2.0).write("hi", 50)
    for name in ("parent", "child"):
        pid = int((tmp_path / f"{name}.pid").read_text())
        assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()
