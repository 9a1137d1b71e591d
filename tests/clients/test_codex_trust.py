"""What the real Codex does with hooks that nobody has reviewed, and that we see it as Codex does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.codex import Codex
from tests.clients.model_server import ModelServer, say
from tests.clients.product import Product


@pytest.fixture
def product(codex: Codex) -> Iterator[Product]:
    """Holdfast, set up for Codex by a person who has not looked at its hooks yet."""
    installed = Product(codex)
    installed.run("setup", "codex", "--yes")
    try:
        yield installed
    finally:
        installed.end()


def statuses(codex: Codex) -> set[str]:
    """What Codex itself says of its hooks."""
    with codex.start_server() as app:
        listed = app.call("hooks/list", cwds=[str(codex.project)])["data"]
        app.close()
    return {hook["trustStatus"] for entry in listed for hook in entry["hooks"]}


def finding(product: Product) -> tuple[bool, str]:
    (trust,) = (one for one in product.findings() if one["check"] == "trust of codex")
    return trust["ok"], trust["detail"]


def test_unreviewed_hooks_are_passed_over_in_silence_and_doctor_says_so(
    codex: Codex, server: ModelServer, product: Product
) -> None:
    server.script(say("went through"))
    done = codex.prompt("Hello.")
    assert (done.code, done.text) == (0, "went through")
    assert "hook" not in done.stdout + done.stderr
    assert product.json("sessions") == []
    assert statuses(codex) == {"untrusted"}
    assert finding(product)[0] is False


def test_reviewed_hooks_run_and_doctor_says_so(codex: Codex, server: ModelServer, product: Product) -> None:
    codex.review_hooks()
    server.script(say("ok"))
    session = codex.prompt("Hello.").session
    assert [row["session_key"] for row in product.json("sessions")] == [session]
    assert statuses(codex) == {"trusted"}
    assert finding(product) == (True, "its hooks may run")


def test_hooks_that_changed_wait_again_and_doctor_says_so(codex: Codex, product: Product) -> None:
    codex.review_hooks()
    hooks = codex.folder / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 5', '"timeout": 4'))
    assert statuses(codex) == {"trusted", "modified"}
    assert "4 of Holdfast's hooks changed and wait again for a review" in finding(product)[1]


def test_unsetup_leaves_what_codex_wrote_about_the_review_and_nothing_of_ours(
    codex: Codex, product: Product
) -> None:
    codex.review_hooks()
    product.run("unsetup", "codex", "--yes")
    assert not (codex.folder / "hooks.json").exists()
    left = codex.config.read_text()
    assert left.startswith("# Written by a test.\n")
    assert "trusted_hash" in left
    assert "mcp_servers" not in left
    assert statuses(codex) == set()
