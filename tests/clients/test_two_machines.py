"""Work that begins on one machine and goes on at another: real harnesses, two homes, a hub in PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.clients.claude import Claude
from tests.clients.codex import Codex, Json
from tests.clients.model_server import ModelServer, call, say
from tests.clients.person import Person
from tests.clients.product import TITLE, Product, wait_until
from tests.postgres.server import Address

LIMIT_S = 120.0
REMOTE = "git@example.com:acme/shop.git"
RULE = "Never touch legacy.py, it is frozen until the audit."
DECISION = "I decided to round half up in totals.py."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
FACTS = (RULE, "TotalsMismatch", DECISION)
SETTINGS = """\
[sharing]
hubs = ["hub: example.com/acme"]
handoffs = true
sessions = "own"

[machine]
name = "{name}"
"""


@pytest.fixture
def invite(
    postgres: Address, new_database: Callable[[], str], tmp_path: Path
) -> Iterator[Callable[[str], str]]:
    """Gives a person the line with which they join a hub that was just made."""
    person = Person(tmp_path / "owner", {})
    database, login, password = new_database(), f"owner_{secrets.token_hex(4)}", secrets.token_hex()
    password_file = person.home / "password"
    password_file.touch(0o600)
    password_file.write_text(password, encoding="ascii")
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create role {login} login createrole password '{password}'".encode())
        connection.execute(f'alter database "{database}" owner to {login}'.encode())
    owner = Product(person)
    try:
        owner.run("hub", "init", postgres.url(database, login), "--password-file", str(password_file))
        yield lambda name: owner.run("hub", "invite", name)
    finally:
        owner.end()


@contextmanager
def joined(person: Person, name: str, harness: str, invitation: str) -> Iterator[Product]:
    """A person's machine of this name, with Holdfast set up and the hub joined."""
    product = Product(person)
    try:
        product.home.mkdir(exist_ok=True)
        (product.home / "config.toml").write_text(SETTINGS.format(name=name), encoding="utf-8")
        product.run("setup", harness, "--yes")
        product.run("hub", "join", stdin=invitation)
        yield product
    finally:
        product.end()


def clone(origin: Claude, person: Person) -> None:
    """Make the person's project a clone of the other machine's."""
    person.project.rmdir()
    person.git("clone", "--quiet", str(origin.project), str(person.project), cwd=person.home)
    person.git("remote", "set-url", "origin", REMOTE)


def knows(product: Product, session: str) -> bool:
    """Whether a machine lists that session as ended, whichever machine it is of."""
    return (session, "ended") in {(row["session_key"], row["phase"]) for row in product.json("sessions")}


def begin(claude: Claude, server: ModelServer) -> str:
    """Work for a while with Claude Code; returns the session."""
    server.script(
        call("Write", file_path=str(claude.project / "totals.py"), content="def total(rows): ...\n"),
        call("Bash", command=FAILING, description="Check"),
        say(DECISION),
    )
    return claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash,Write").session


def brief_in(server: ModelServer) -> str:
    return server.last().text.partition(TITLE)[2]


def test_what_claude_code_began_on_the_laptop_it_continues_at_the_desk(
    claude: Claude,
    claude_binary: Path,
    server: ModelServer,
    invite: Callable[[str], str],
    tmp_path: Path,
) -> None:
    claude.git("remote", "add", "origin", REMOTE)
    desk_claude = Claude(claude_binary, tmp_path / "desk", server)
    clone(claude, desk_claude)
    invitation = invite("ann")
    with (
        joined(claude, "laptop", "claude-code", invitation) as laptop,
        joined(desk_claude, "desk", "claude-code", invitation) as desk,
    ):
        # The desk knows the project once a session was in it.
        server.script(say("hello"))
        desk_claude.prompt("Hello.")
        claude.git("commit", "--quiet", "--allow-empty", "--message", "Prepare the totals")
        began = begin(claude, server)
        assert knows(laptop, began)
        wait_until(lambda: knows(desk, began), LIMIT_S)

        preview = desk.json("brief")
        assert preview["receipt"]["predecessor"] == began
        assert preview["receipt"]["machine"] == "laptop"

        server.script(say("ok"))
        went_on = desk_claude.prompt("Where were we?").session
        brief = brief_in(server)
        assert f"Holdfast's record of session {began[:8]} on laptop" in brief
        assert all(fact in brief for fact in FACTS), brief
        assert "you are 1 commit behind it" in brief
        assert "totals.py — UNCONFIRMED: not here" in brief
        assert str(claude.project) not in brief
        rows = {row["session_key"]: row for row in desk.json("sessions")}
        assert rows[went_on]["parent"] == began
        assert rows[began]["machine"] == "laptop"
        # And back: the laptop goes on with what was done at the desk.
        wait_until(lambda: knows(laptop, went_on), LIMIT_S)
        assert laptop.json("brief")["receipt"]["machine"] == "desk"


def test_what_claude_code_began_on_the_laptop_codex_continues_at_the_desk(
    claude: Claude,
    codex_binary: Path,
    codex_models: list[Json],
    server: ModelServer,
    invite: Callable[[str], str],
    tmp_path: Path,
) -> None:
    claude.git("remote", "add", "origin", REMOTE)
    (tmp_path / "desk").mkdir()
    codex = Codex(codex_binary, tmp_path / "desk", server, codex_models)
    clone(claude, codex)
    invitation = invite("ann")
    with (
        joined(claude, "laptop", "claude-code", invitation),
        joined(codex, "desk", "codex", invitation) as desk,
    ):
        codex.review_hooks()
        server.script(say("hello"))
        codex.prompt("Hello.")
        began = begin(claude, server)
        wait_until(lambda: knows(desk, began), LIMIT_S)
        server.script(say("ok"))
        went_on = codex.prompt("Where were we?").session
        brief = brief_in(server)
        assert f"Holdfast's record of Claude Code session {began[:8]} on laptop" in brief
        assert all(fact in brief for fact in FACTS), brief
        rows = {row["session_key"]: row for row in desk.json("sessions")}
        assert rows[went_on]["parent"] == began


def test_a_handoff_for_a_person_reaches_their_machine_and_they_are_told(
    claude: Claude,
    claude_binary: Path,
    server: ModelServer,
    invite: Callable[[str], str],
    tmp_path: Path,
) -> None:
    claude.git("remote", "add", "origin", REMOTE)
    of_bob = Claude(claude_binary, tmp_path / "bob", server)
    clone(claude, of_bob)
    with (
        joined(claude, "laptop", "claude-code", invite("ann")) as laptop,
        joined(of_bob, "desk", "claude-code", invite("bob")) as desk,
    ):
        server.script(say("hello"))
        of_bob.prompt("Hello.")
        began = begin(claude, server)
        made = laptop.json("handoff", "create", "Finish the totals", "--to", "bob")
        wait_until(lambda: desk.json("handoff", "list") != [], LIMIT_S)
        (row,) = desk.json("handoff", "list")
        assert (row["name"], row["person"], row["machine"], row["to"]) == (
            made["name"],
            "ann",
            "laptop",
            "bob",
        )
        server.script(say("ok"))
        of_bob.prompt("What is there to do?")
        brief = brief_in(server)
        assert "A handoff for the user waits (from ann on laptop" in brief
        assert "Finish the totals" in brief
        # Ann's session is hers: bob is neither given its brief nor shown it.
        assert DECISION not in brief
        assert not knows(desk, began)
        picked = desk.run("handoff", "pickup", "finish-the-totals", "--yes")
        assert "# Handoff: Finish the totals" in picked
        assert RULE in picked
        assert desk.json("handoff", "list")[0]["status"].startswith("consumed ")
