"""The wrapper with real programs: no hook is installed, and yet a session knows where the last one stood."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.model_server import ModelServer, say
from tests.clients.person import Person
from tests.clients.product import Product

GOAL = "Move the parser to the new grammar."
NEXT = "port the error messages of the lexer"
SETTINGS = "[continuity]\nauto_load = true\nauto_save = true\n"


def wrapped(person: Person, binary: Path, *words: str) -> None:
    """Type a command of the wrapper, with this client on the search path."""
    path = f"{binary.parent}:{person.env.get('PATH', os.defpath)}"
    person.printed([sys.executable, "-m", "holdfast.cli", *words], {**person.env, "PATH": path})


def willing(person: Person) -> Product:
    """Someone who turned the wrapper's settings on."""
    product = Product(person)
    product.home.mkdir(mode=0o700)
    (product.home / "config.toml").write_text(SETTINGS)
    return product


def test_claude_code(claude: Claude, server: ModelServer) -> None:
    product = willing(claude)
    try:
        server.script(say(f"The grammar is done. Next step: {NEXT}."), say("ok"))
        wrapped(claude, claude.binary, "exec", "claude-code", GOAL)
        assert NEXT not in server.last().text
        wrapped(claude, claude.binary, "exec", "claude-code", "Where are we?")
        assert GOAL in server.last().text
        assert NEXT in server.last().text
        assert not (claude.home / ".claude" / "settings.json").exists()
    finally:
        product.end()


def test_codex(codex: Codex, server: ModelServer) -> None:
    product = willing(codex)
    try:
        server.script(say(f"The grammar is done. Next step: {NEXT}."), say("ok"))
        skip = "--skip-git-repo-check"
        wrapped(codex, codex.binary, "exec", "codex", skip, GOAL)
        wrapped(codex, codex.binary, "exec", "codex", skip, "Where are we?")
        assert GOAL in server.last().text
        assert NEXT in server.last().text
        assert not (codex.folder / "hooks.json").exists()
    finally:
        product.end()
