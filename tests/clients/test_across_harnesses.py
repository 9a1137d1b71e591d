"""Work that begins in one real harness and goes on in another: by itself, or handed over on purpose."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.codex import Codex, Json
from tests.clients.gemini import Gemini
from tests.clients.model_server import ModelServer, call, say
from tests.clients.opencode import OpenCode
from tests.clients.product import TITLE, Product

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "TotalsMismatch", DECISION)
PURPOSE = "Finish the tax"
NEXT = "round TAX-19 half up in tax.py"
TOTALS = "def total(rows): return sum(rows)"


@pytest.fixture
def codex(
    claude: Claude, codex_binary: Path, codex_models: list[Json], tmp_path: Path, server: ModelServer
) -> Codex:
    """The same person's Codex: the home and the project are those of `claude`."""
    person = Codex(codex_binary, tmp_path, server, codex_models)
    assert (person.home, person.project) == (claude.home, claude.project)
    return person


@pytest.fixture
def product(claude: Claude, codex: Codex) -> Iterator[Product]:
    """Holdfast, set up for whatever it finds."""
    (claude.home / ".claude").mkdir(exist_ok=True)
    installed = Product(claude)
    installed.run("setup", "--yes")
    codex.review_hooks()
    try:
        yield installed
    finally:
        installed.end()


def brief_in(server: ModelServer) -> str:
    return server.last().text.partition(TITLE)[2]


def test_what_claude_code_began_codex_continues(
    claude: Claude, codex: Codex, server: ModelServer, product: Product
) -> None:
    server.script(call("Bash", command=FAILING, description="Check"), say(DECISION))
    began = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash").session
    server.script(say("ok"))
    went_on = codex.prompt("Where were we?").session
    brief = brief_in(server)
    assert f"Holdfast's record of Claude Code session {began[:8]}" in brief
    assert all(fact in brief for fact in FACTS), brief
    rows = {row["session_key"]: row for row in product.json("sessions")}
    assert rows[went_on]["parent"] == began


def test_what_codex_began_claude_code_continues(
    claude: Claude, codex: Codex, server: ModelServer, product: Product
) -> None:
    server.script(call("exec_command", cmd=FAILING), say(DECISION))
    began = codex.prompt(f"Fix the totals. {RULE}").session
    server.script(say("ok"))
    claude.prompt("Where were we?")
    brief = brief_in(server)
    assert f"Holdfast's record of Codex session {began[:8]}" in brief
    assert all(fact in brief for fact in FACTS), brief


def test_what_claude_code_began_gemini_continues(
    claude: Claude, gemini_binary: Path, tmp_path: Path, server: ModelServer
) -> None:
    gemini = Gemini(gemini_binary, tmp_path, server)
    product = Product(claude)
    try:
        product.run("setup", "claude-code", "gemini", "--yes")
        server.script(call("Bash", command=FAILING, description="Check"), say(DECISION))
        began = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash").session
        server.script(say("ok"))
        gemini.prompt("Where were we?")
    finally:
        product.end()
    brief = html.unescape(brief_in(server))
    assert f"Holdfast's record of Claude Code session {began[:8]}" in brief
    assert all(fact in brief for fact in FACTS), brief


def test_what_claude_code_began_opencode_continues(
    claude: Claude, opencode_binary: Path, tmp_path: Path, server: ModelServer
) -> None:
    opencode = OpenCode(opencode_binary, tmp_path, server)
    product = Product(claude)
    try:
        product.run("setup", "claude-code", "opencode", "--yes")
        server.script(call("Bash", command=FAILING, description="Check"), say(DECISION))
        began = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash").session
        server.script(say("ok"))
        opencode.prompt("Where were we?")
        rows = {row["session_key"]: row for row in product.json("sessions")}
    finally:
        product.end()
    brief = brief_in(server)
    assert f"Holdfast's record of Claude Code session {began[:8]}" in brief
    assert all(fact in brief for fact in FACTS), brief
    assert rows[server.last().session]["parent"] == began


class TestHandedOver:
    """Claude Code hands over in the main worktree; another harness goes on in a second one."""

    @pytest.fixture
    def tree(self, claude: Claude, server: ModelServer, product: Product) -> Path:
        """The second worktree, made after the handoff was written and the work committed."""
        file = str(claude.project / "totals.py")
        server.script(
            call("Write", file_path=file, content=f"{TOTALS}\n"),
            call("mcp__holdfast__handoff", action="create", purpose=PURPOSE, next=[NEXT]),
            say(DECISION),
        )
        claude.prompt(f"Fix the totals, then hand over. {RULE}", "--allowedTools", "Write,mcp__holdfast__*")
        claude.git("add", "totals.py")
        claude.git("commit", "--quiet", "--message", "Total the rows")
        tree = claude.project.parent / "tree"
        claude.git("worktree", "add", "--quiet", "-b", "side", str(tree))
        return tree

    def test_codex_picks_up_with_the_tool_once_its_user_agrees(
        self, claude: Claude, codex: Codex, server: ModelServer, product: Product, tree: Path
    ) -> None:
        (row,) = product.json("handoff", "list", cwd=tree)
        assert row["path"].startswith(str(claude.project / ".agents" / "handoffs"))
        server.script(say("hello"))
        with codex.start_server() as app:
            session = app.begin(cwd=tree)
            app.ask(session, "Hello.")
            app.wait_until_ready("holdfast")
            server.script(call("mcp__holdfast__handoff", action="pickup"), say("It drifted. Go on?"))
            app.ask(session, "Pick up the handoff.")
            told = server.last().text
            assert "Drift: branch `main` (now it is `side`)" in told
            assert f"- {NEXT}" not in told
            assert product.json("handoff", "list")[0]["status"] == "open"
            agreed = call("mcp__holdfast__handoff", action="pickup", name="finish-the-tax", confirm=True)
            server.script(agreed, say("Going on."))
            app.ask(session, "Yes, go on.")
            app.close()
        given = server.last().text
        assert f"# Handoff: {PURPOSE}" in given
        assert f"- {NEXT}" in given
        assert f"Verified: `totals.py` holds `{TOTALS}`" in given
        assert RULE in given.partition(f"# Handoff: {PURPOSE}")[2]
        (row,) = product.json("handoff", "list")
        assert row["status"].endswith(f" by session {session}")

    @pytest.mark.parametrize("harness", ["codex", "claude-code"])
    def test_a_harness_is_started_with_it(
        self, claude: Claude, codex: Codex, server: ModelServer, product: Product, tree: Path, harness: str
    ) -> None:
        places = (claude.binary.parent, codex.binary.parent, claude.env["PATH"])
        claude.env.update(codex.env, PATH=":".join(map(str, places)))
        server.script(say("Going on."))
        said = product.run("handoff", "show", "tax", "--to", harness, "--start", cwd=tree)
        assert "Going on." in said
        given = server.last().text
        assert "Go on from the handoff below" in given
        assert f"# Handoff: {PURPOSE}" in given
        assert f"- {NEXT}" in given
        newest = product.json("sessions", cwd=tree)[0]
        assert (newest["harness"], newest["prompt_count"]) == (harness, 1)
        # What was handed over is a record, and not what the person at this session said.
        rows = product.checkpoints(newest["session_key"])
        assert rows
        assert not [row for row in rows if "TAX-19" in row["digest"]]
