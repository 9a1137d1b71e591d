"""Our tools in the hands of the real Codex's agent: what its model is offered, and whose call it is."""

from __future__ import annotations

import pytest

from tests.clients.codex import Codex
from tests.clients.model_server import ModelServer, Request, call, say
from tests.clients.product import TITLE, Product

TOOLS = "mcp__holdfast"


@pytest.fixture
def product(product_for_codex: Product) -> Product:
    return product_for_codex


def offered(request: Request) -> bool:
    return any(tool.get("name") == TOOLS for tool in request.body["tools"])


def test_the_model_is_told_of_the_tools(codex: Codex, server: ModelServer, product: Product) -> None:
    server.script(say("ok"))
    codex.prompt("Hello.")
    text = server.last().text
    assert "Your work is kept when the context window dies." in text
    assert "Keep and find work across compactions, sessions and restarts." in text


def test_what_the_agent_said_is_in_the_first_request_after_a_compaction(
    codex: Codex, server: ModelServer, product: Product
) -> None:
    server.script(say("hello"))
    with codex.start_server() as app:
        session = app.begin()
        app.ask(session, "Hello.")
        app.wait_until_ready("holdfast")
        digest = call(f"{TOOLS}__session_digest", summary="Half of the parser is done, see PARSE-8.")
        server.script(digest, say("kept"), say("ok"))
        app.ask(session, "Write down where you are.")
        app.compact(session)
        app.ask(session, "Go on.")
        app.close()
    assert "PARSE-8" in server.last().text.partition(TITLE)[2]


def test_a_digest_is_kept_for_the_session_that_gave_it(
    codex: Codex, server: ModelServer, product: Product
) -> None:
    with codex.start_server() as app:
        one, two = app.begin(), app.begin()
        for session in (one, two):
            server.script(say("hello"), session=session)
            app.ask(session, "Hello.")
        app.wait_until_ready("holdfast")
        digest = call(f"{TOOLS}__session_digest", summary="Half of the parser is done, see PARSE-8.")
        server.script(digest, say("kept"), session=one)
        app.ask(one, "Write down where you are.")
        app.close()
    assert offered(server.last(one))
    kept = [row["digest"] for row in product.checkpoints(one) if row["trigger"] == "agent"]
    assert len(kept) == 1
    assert "PARSE-8" in kept[0]
    assert not [row for row in product.checkpoints(two) if row["trigger"] == "agent"]


def test_unsetup_takes_tools_and_words_out_again(codex: Codex, server: ModelServer, product: Product) -> None:
    product.run("unsetup", "--yes")
    server.script(say("ok"))
    codex.prompt("Hello.")
    assert "holdfast" not in server.last().text.lower()
    assert not offered(server.last())
