"""Secrets of every family are planted wherever a session can carry them; then all of the home is read."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw
import pytest

from holdfast.core.redaction.redact import NO_LISTS, Lists
from holdfast.engine.liveness import lock_holder
from holdfast.engine.privacy.forget import OWED
from holdfast.engine.privacy.rewrite import FILES
from holdfast.engine.redaction.redactor import mark_of
from holdfast.stores.sqlite import open_store
from tests import fork_server
from tests.daemon.conftest import LIMIT_S, Lodging, request, wait_until
from tests.stores.sqlite_files import first_schema

LETTERS = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
LINE = "MIIEpAIBAAKCAQEAx7" + LETTERS + "Qw"

CANARIES: Final = {
    "anthropic": "sk-ant-api03-" + (LETTERS * 3)[:93] + "AA",
    "openai": "sk-proj-" + LETTERS[:20] + "T3BlbkFJ" + LETTERS[10:30],
    "github": "ghp_" + "Qw3r" * 9,
    "gitlab": "glpat-" + LETTERS[:20],
    "aws": "AKIA" + "Q2W3E4R5T6Y7U8I9",
    "aws secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "Zq3x7Yp1mN",
    "google": "AIza" + "SyB" + LETTERS,
    "azure": base64.b64encode(bytes(range(60, 124))).decode(),
    "slack": "xoxb-" + "123456789012-1234567890123-" + LETTERS[:24],
    "stripe": "sk_" + "live_" + LETTERS[:24],
    "npm": "npm_" + LETTERS + "Qq7Z",
    "pypi": "pypi-AgEIcHlwaS5vcmc" + LETTERS * 3,
    "hugging face": "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYzaBcDeFgH",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0" * 2 + "." + "dozjgNryP4J3jVmN" * 2,
    "basic": base64.b64encode(b"deploy:c0rrect-h0rse-battery").decode(),
    "private key": LINE,
    "ssh key": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ" + LETTERS[:20],
    "url": "hunter2-" + "swordfish",
    "assignment": "Tr0ub4dor-" + "and-3-more",
    "yaml": "Ym4l-" + "s3cr3t-Pa55",
    "connection string": "C0nn3ct-" + "M3-n0w",
    "option": "0pti0n-" + "s3cr3t-42",
    "curl": "curl-" + "Us3r-Pa55-77",
    "prose": "Xk9#" + "mQ2vLp7!",
    "chinese": "Lotus" + "-9!x-Pond",
    "mysql": "My5ql-" + "r00t-Pa55",
    "here-string": "Here-" + "Str1ng-88!",
    "call": "Ca11-" + "s1gn3d-K3y",
    "kubernetes": "S3Vi" + "ZXJuM3RlcyE5",
    "netrc": "N3trc-" + "l1ne-Pa55",
    "telegram": "AAG7kQ2" + "xV9mT4bR8zL3wN6pYcJ1hD5fS0eUa",
    "vault": "hvs." + "Q7v2Kx9Lm4Rt8Yp1Ns6Bd3Fh",
    "discord": "t5" + "Yq8Wc2Lx7Vn4Rk9Zm1Tb6Gd3Fh0JsApQe-uK_iXoHyNaCvMrBwSgElDfPjUzO7t",
}


def planted() -> str:
    told = CANARIES
    return (
        f"push with {told['github']} or {told['gitlab']}, ask {told['anthropic']} and {told['openai']}, "
        f"key {told['aws']}, aws_secret_access_key = {told['aws secret']}\n"
        f"maps {told['google']}, AccountName=app;AccountKey={told['azure']};EndpointSuffix=core.windows.net\n"
        f"slack {told['slack']} stripe {told['stripe']} {told['npm']} {told['pypi']} {told['hugging face']}\n"
        f"Authorization: Bearer {told['jwt']}\nAuthorization: Basic {told['basic']}\n"
        f"-----BEGIN RSA PRIVATE KEY-----\n{told['private key']}\n-----END RSA PRIVATE KEY-----\n"
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{told['ssh key']}\n-----END OPENSSH PRIVATE KEY-----\n"
        f"postgres://app:{told['url']}@db/app\nexport DB_PASSWORD={told['assignment']}\n"
        f"db:\n  password: {told['yaml']}\n"
        f"Server=db;Database=app;User Id=sa;Password={told['connection string']};\n"
        f"deploy --password {told['option']} && curl -u admin:{told['curl']} https://example.org\n"
        f"By the way, the password is {told['prose']}\n数据库密码是{told['chinese']}\n"
        f"mysql -u root -p{told['mysql']} shop; sudo -S <<< '{told['here-string']}'\n"
        f"jwt.sign(payload, '{told['call']}'); machine h login me password {told['netrc']}\n"
        f"kind: Secret\ndata:\n  anything: {told['kubernetes']}\n"
        f"bot 123456789:{told['telegram']} {told['vault']}\n"
        f"https://discord.com/api/webhooks/123456789012345678/{told['discord']}\n"
    )


def record(kind: str, uuid: str, content: object, **more: object) -> dict[str, object]:
    stamp = {"uuid": uuid, "timestamp": "2026-11-15T12:00:00.000Z", "sessionId": "s1"}
    return {"type": kind, **stamp, "message": {"role": kind, "content": content}, **more}


def called(uuid: str, call: str, tool: str, **given: object) -> dict[str, object]:
    return record("assistant", uuid, [{"type": "tool_use", "id": call, "name": tool, "input": given}])


def returned(uuid: str, call: str, **more: object) -> dict[str, object]:
    return record("user", uuid, [{"type": "tool_result", "tool_use_id": call, "content": planted(), **more}])


def transcript() -> list[dict[str, object]]:
    """Every place that a transcript has for a text."""
    secret = planted()
    return [
        record("user", "u1", f"Do it: {secret}"),
        record("assistant", "a1", [{"type": "text", "text": f"I will use {secret}"}]),
        called("a2", "t1", "Bash", command=secret),
        returned("u2", "t1", is_error=True),
        called(
            "a3", "t2", "TodoWrite", todos=[{"content": secret, "status": "pending", "activeForm": secret}]
        ),
        called("a4", "t3", "Read", file_path=f"/x/{CANARIES['github']}/{CANARIES['jwt']}.txt"),
        returned("u3", "t3"),
        called("a5", "t4", "Write", file_path="/x/.env", content=secret),
        called("a6", "t5", "Task", description=secret, prompt=secret, subagent_type="general-purpose"),
        record("user", "u4", f"This session is being continued. {secret}", isCompactSummary=True),
        {"type": f"new-kind {CANARIES['github']}", "uuid": "x1", "timestamp": "2026-11-15T12:00:00.000Z"},
    ]


def hook_events(path: Path) -> list[dict[str, object]]:
    common = {"session_id": "s1", "cwd": "/", "transcript_path": str(path)}
    bare = {"session_id": "s2", "cwd": "/", "transcript_path": None}
    return [
        {**common, "hook_event_name": "UserPromptSubmit", "prompt": planted(), "prompt_id": "p9"},
        {**common, "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": planted()},
        {**common, "hook_event_name": "SessionStart", "source": "compact"},
        {**common, "hook_event_name": "PostCompact", "compact_summary": planted()},
        {**bare, "hook_event_name": "UserPromptSubmit", "prompt": planted()},
        {**bare, "hook_event_name": "Stop", "last_assistant_message": planted()},
        {**bare, "hook_event_name": "SessionEnd", "reason": planted()},
        {**common, "hook_event_name": "SessionEnd", "reason": "other"},
    ]


class Plot:
    """Someone who lets secrets slip at every door of a home."""

    def __init__(self, lodging: Lodging) -> None:
        self.lodging = lodging
        self.spool = lodging.home / "spool"
        self.path = lodging.root / ".claude" / "projects" / "p" / "s1.jsonl"
        beside = self.path.parent / "s1" / "subagents" / "agent-1.jsonl"
        beside.parent.mkdir(parents=True)
        for file in (self.path, beside):
            file.write_text("".join(json.dumps(line) + "\n" for line in transcript()))

    def spools(self) -> None:
        """Letters that found nobody, one of them broken off with its hook."""
        payload = json.dumps({**hook_events(self.path)[4], "session_id": "s3"})
        self.types("hook", "--harness", "claude-code", given=payload, HOLDFAST_HOME=str(self.lodging.home))
        self.spool.mkdir(mode=0o700, exist_ok=True)
        (self.spool / "0.letter").write_bytes(request(payload, "spooled"))
        (self.spool / "1.letter").write_bytes(b"no letter at all: " + planted().encode())
        half = self.spool / "2.letter.99.part"
        half.write_bytes(request(payload, "broken")[:-9])
        os.utime(half, (0, 0))

    def sends(self) -> bytes:
        """Letters through the socket; what was given back."""
        given = b""
        for number, payload in enumerate(hook_events(self.path)):
            id, process = f"id-{number}", f"{os.getpid()} 0"
            given += self.lodging.payload(json.dumps(payload), id, process=process) or b""
        self.lodging.send(request("{", "bad", harness=planted().replace("\n", " ")))
        wait_until(lambda: not [*self.spool.glob("*.letter"), *self.spool.glob("*.part")])
        self.lodging.ask("flush")
        return given

    def types(self, *words: str, given: str = "", **environment: str) -> str:
        """A command; everything it printed."""
        done = fork_server.run(
            [sys.executable, "-m", "holdfast.cli", *words],
            input=given,
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.lodging.root)}
            | {"HOLDFAST_HOME": str(self.lodging.home)}
            | environment,
            cwd="/",
            timeout=60,
            check=False,
        )
        return str(done.stdout + done.stderr)

    def fails(self) -> str:
        """A command that breaks with a secret in its traceback; everything it printed."""
        code = """if True:
            import sys
            from holdfast.cli.command_list import COMMANDS, Entry
            from holdfast.cli.main import main
            COMMANDS["broken"] = Entry(sys.stdin.read(), "x", "y")
            main(["broken"])
        """
        own = {"PATH": os.environ["PATH"], "HOLDFAST_HOME": str(self.lodging.home)}
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=planted(),
            capture_output=True,
            text=True,
            env=own,
            check=False,
        )
        return done.stdout + done.stderr


@pytest.fixture
def plot(lodging: Lodging) -> Iterator[Plot]:
    yield Plot(lodging)
    # A hook that finds nobody starts a daemon, which the lodging knows nothing of.
    if holder := lock_holder(lodging.home):
        os.kill(holder, signal.SIGKILL)
        wait_until(lambda: not lock_holder(lodging.home))


def test_nothing_unredacted_is_kept_or_given(plot: Plot, lodging: Lodging) -> None:
    daemon = lodging.start()
    plot.spools()
    given = plot.sends().decode()
    assert "Session Recovery Context" in given
    assert "[REDACTED" in given
    said = plot.types("checkpoint", "--session", "s1", "--digest", planted())
    for words in (["checkpoints", "--json"], ["checkpoints"], ["sessions"], ["brief"], ["logs"], ["doctor"]):
        said += plot.types(*words)
    said += plot.fails()
    assert (lodging.home / "logs" / "cli.log").exists()
    assert leaks(given) == []
    assert leaks(said) == []
    assert leaks("\n".join(columns(lodging.home / "store.db"))) == []
    assert in_files(lodging.home) == {}
    # Killed with everything in its log, found by the next, and read again from the start.
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(LIMIT_S)
    assert Path(f"{lodging.home / 'store.db'}-wal").stat().st_size > 0
    assert in_files(lodging.home) == {}
    plot.spools()
    lodging.start()
    plot.sends()
    assert in_files(lodging.home) == {}


def test_what_an_older_version_let_pass_is_found_after_the_migration(lodging: Lodging) -> None:
    path = lodging.home / "store.db"
    first_schema(path, planted(), at=time.time_ns() // 1_000_000)
    log = lodging.home / "logs" / "daemon.log"
    log.parent.mkdir(mode=0o700)
    log.write_text(planted())
    assert leaks("\n".join(columns(path))) == sorted(CANARIES), "they are there before"
    first = lodging.start()
    first.send_signal(signal.SIGKILL)
    first.wait(LIMIT_S)
    lodging.start()
    wait_until(lambda: is_rewritten(lodging.home))
    assert leaks("\n".join(columns(path))) == []
    assert in_files(lodging.home) == {}
    rows = "\n".join(columns(path))
    assert rows.count("push with [REDACTED") >= 5, "nothing else is lost"


def test_a_word_that_is_denied_later_is_gone_from_everywhere(plot: Plot, lodging: Lodging) -> None:
    lodging.start()
    lodging.payload(json.dumps({**hook_events(plot.path)[4], "prompt": "the code name is Bluebell"}), "1")
    assert "Bluebell" in "\n".join(columns(lodging.home / "store.db", least=20))
    (lodging.home / "config.toml").write_text('[redact]\ndeny = ["Bluebell"]\n')
    (lodging.home / "config.toml").chmod(0o600)
    wait_until(lambda: "Bluebell" not in "\n".join(columns(lodging.home / "store.db", least=20)))
    lodging.payload(json.dumps({**hook_events(plot.path)[4], "prompt": "Bluebell sails"}), "2")
    lodging.send(request("{", "bad", harness="Bluebell"))
    wait_until(lambda: "no harness" in lodging.log())
    wait_until(lambda: is_rewritten(lodging.home, Lists(deny=("Bluebell",))))
    holding = [file.name for file in files(lodging.home) if b"Bluebell" in file.read_bytes()]
    assert holding == ["config.toml"]


def test_the_search_for_leaks_would_find_one() -> None:
    assert leaks(planted()) == sorted(CANARIES)
    assert leaks(json.dumps(planted())) == sorted(CANARIES)


def is_rewritten(home: Path, lists: Lists = NO_LISTS) -> bool:
    """Whether all that is kept went through that redactor, and no trace of before is left to be cleared."""
    store = open_store(home / "store.db", home / "backups", 0)
    try:
        mark = mark_of(lists)
        return store.redaction(mark).stale == 0 and store.fact(FILES) == mark and not store.fact(OWED)
    finally:
        store.close()


def leaks(text: str) -> list[str]:
    return sorted(name for name, value in CANARIES.items() if value in text)


def files(home: Path) -> list[Path]:
    return [file for file in sorted(home.rglob("*")) if file.is_file()]


def in_files(home: Path) -> dict[str, list[str]]:
    """Which secrets stand in which file of the home, byte for byte."""
    found = {file.name: leaks(file.read_bytes().decode("utf-8", "replace")) for file in files(home)}
    return {name: names for name, names in found.items() if names}


def columns(path: Path, least: int = 50) -> list[str]:
    """Every value of every column of every table."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
    values = [
        str(value)
        for table in tables
        for row in connection.execute(f'select * from "{table}"')
        for value in row
    ]
    connection.close()
    assert len(values) > least
    return values
