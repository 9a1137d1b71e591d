"""The agent's own words, said by the real Claude Code through our tools and given back after the window died.

By the relay, as `setup` installs it, and over HTTP, as a person may configure it by hand. Assertions are on
the request bodies that reach the model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.events import install_request
from holdfast.engine.tools import table
from tests.clients.claude import Claude, Stream
from tests.clients.model_server import ModelServer, Step, call, say
from tests.clients.product import TITLE, Product, wait_until

WORDS = "The totals are half done: rounding is decided, the report is not."
NEXT = "port report.py to the new totals"
SECRET = "ghp_" + "Zz9y" * 9
TOOLS = ("--allowedTools", "mcp__holdfast__*")
PROMPTS = 100
DIGEST: dict[str, Any] = {"summary": WORDS, "next": [NEXT], "decisions": ["round half up"]}


def digest(**more: Any) -> Step:  # noqa: ANN401 - whatever a digest takes
    return call("mcp__holdfast__session_digest", **(DIGEST | more))


def own_words(text: str) -> str:
    """What the newest brief of a request says of the work: now, next, and what was decided."""
    brief = text[text.rindex(TITLE) :]
    return brief[brief.index("### Now\n") :].partition("</holdfast-recall>")[0]


def digests(product: Product, session: str) -> list[str]:
    return [row["digest"] for row in product.checkpoints(session) if row["trigger"] == "agent"]


def ask_until_it_has_our_tools(stream: Stream, server: ModelServer) -> None:
    """The harness does not wait for a server that is still starting: it tells of it when it is there."""
    for _ in range(PROMPTS):
        stream.ask("Hello.")
        if table.INSTRUCTIONS in server.last().text:
            return
    raise AssertionError("the model was never told of our tools")


class TestByTheRelay:
    def test_what_the_agent_said_is_in_the_first_request_after_a_compaction(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(digest(), say("saved"), say("ok"))
        session = claude.prompt("Save where you are.", *TOOLS).session
        assert len(digests(product, session)) == 1
        claude.compact(session)
        claude.prompt("Go on.", *TOOLS, resume=session)
        assert WORDS in own_words(server.last().text)
        assert NEXT in own_words(server.last().text)

    def test_in_one_process_and_the_newest_words_speak_for_the_older_ones(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(digest(), digest(summary="And now the report is done too."), say("saved"), say("ok"))
        with claude.start_stream(*TOOLS) as stream:
            stream.ask("Save where you are.")
            stream.ask("/compact")
            stream.ask("Go on.")
            words = own_words(server.last().text)
            stream.close()
        assert "And now the report is done too." in words
        assert WORDS not in words

    def test_after_a_clear_the_words_go_to_the_session_that_goes_on(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(say("hello"), say("ok"), digest(), say("saved"))
        with claude.start_stream(*TOOLS) as stream:
            stream.ask("Fix the totals.")
            first = stream.session
            stream.ask("/clear")
            stream.ask("Something else.")
            stream.ask("Save where you are.")
            second = stream.session
            stream.close()
        assert first != second
        assert (len(digests(product, first)), len(digests(product, second))) == (0, 1)

    def test_the_model_is_told_of_the_tools_and_when_to_use_them(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        with claude.start_stream(*TOOLS) as stream:
            ask_until_it_has_our_tools(stream, server)
            stream.close()
        told = server.last().text
        assert table.INSTRUCTIONS in told
        assert install_request.INSTRUCTIONS.strip() in told
        assert "Keep and find work across compactions" in told
        assert all(f"mcp__holdfast__{name}" in told for name in table.names())

    def test_a_secret_in_it_reaches_neither_the_store_nor_the_model_again(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(digest(now=f"the key is {SECRET}"), say("saved"), say("ok"))
        session = claude.prompt("Save where you are.", *TOOLS).session
        assert SECRET not in json.dumps(digests(product, session))
        claude.compact(session)
        claude.prompt("Go on.", *TOOLS, resume=session)
        assert SECRET not in server.last().text

    def test_what_is_remembered_in_one_session_is_recalled_in_another(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        pitfall = "The importer hangs on empty files; pass --strict."
        server.script(
            call("mcp__holdfast__remember", text=pitfall, tags=["importer"]),
            say("kept"),
            call("mcp__holdfast__recall", query="importer hangs"),
            say("found"),
        )
        claude.prompt("Remember that.", *TOOLS)
        claude.prompt("What about the importer?", *TOOLS)
        assert pitfall in server.last().text
        assert "<holdfast-recall>" in server.last().text

    def test_a_daemon_that_dies_in_the_middle_of_a_session_is_back_for_the_next_call(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        with claude.start_stream(*TOOLS) as stream:
            ask_until_it_has_our_tools(stream, server)
            product.kill_daemon()
            server.script(digest(), say("saved"))
            stream.ask("Save where you are.")
            session = stream.session
            stream.close()
        assert len(digests(product, session)) == 1

    def test_bad_arguments_are_told_to_the_model(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(call("mcp__holdfast__session_digest", summary=" "), say("sorry"))
        session = claude.prompt("Save where you are.", *TOOLS).session
        assert "the summary is empty" in server.last().text
        assert digests(product, session) == []


class TestOverHttp:
    @pytest.fixture
    def flags(self, claude: Claude, product: Product) -> tuple[str, ...]:
        """Our server over HTTP, and no other; the token is in the environment and in no file."""
        product.run("up")
        url = product.json("status")["http"]
        headers = {"Authorization": "Bearer ${HOLDFAST_TOKEN}"}
        written = {"mcpServers": {"holdfast": {"type": "http", "url": url, "headers": headers}}}
        path: Path = claude.home / "http.json"
        path.write_text(json.dumps(written), encoding="utf-8")
        claude.env["HOLDFAST_TOKEN"] = (product.home / "http" / "token").read_text().strip()
        return ("--mcp-config", str(path), "--strict-mcp-config", *TOOLS)

    def test_the_session_is_found_by_its_transcript_and_the_words_come_back(
        self, claude: Claude, server: ModelServer, product: Product, flags: tuple[str, ...]
    ) -> None:
        server.script(say("hello"), digest(), say("saved"), say("ok"))
        other = claude.prompt("Something else.", *flags).session
        session = claude.prompt("Save where you are.", *flags).session
        assert (len(digests(product, other)), len(digests(product, session))) == (0, 1)
        claude.compact(session)
        claude.prompt("Go on.", *flags, resume=session)
        assert WORDS in own_words(server.last().text)

    def test_of_two_sessions_at_once_the_one_that_called(
        self, claude: Claude, server: ModelServer, product: Product, flags: tuple[str, ...]
    ) -> None:
        with claude.start_stream(*flags) as one, claude.start_stream(*flags) as other:
            server.script(say("hello"), say("hello"))
            one.ask("Fix the totals.")
            other.ask("Fix the report.")
            server.script(digest(), say("saved"))
            one.ask("Save where you are.")
            sessions = one.session, other.session
            one.close()
            other.close()
        wait_until(lambda: len(digests(product, sessions[0])) == 1)
        assert digests(product, sessions[1]) == []
