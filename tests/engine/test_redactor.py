"""A secret with something unseen in the middle of it is a secret."""

from __future__ import annotations

import pytest

from holdfast.engine.redactor import redact_as_seen as redact

TOKEN = "ghp_" + "Zk3Qw9Xv7Lm2Rt8Yp4Ns6Bd1Fh5Gj0Kc2Ae4"


@pytest.mark.parametrize(
    "text",
    [
        f"token: \x1b[01;31m{TOKEN[:4]}\x1b[m{TOKEN[4:]} found",
        f"token: {TOKEN[:12]}\u200b{TOKEN[12:]} found",
        f"token: {TOKEN[:12]}\u2060\u00ad{TOKEN[12:]} found",
    ],
)
def test_what_hides_a_secret_goes_with_it(text: str) -> None:
    shown = redact(text)
    assert "[REDACTED:" in shown
    assert "found" in shown
    assert TOKEN[12:] not in shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "text", ["\x1b[32m12 passed\x1b[0m", "na\u00efve \u200bspace", "plain\nlines\twith tabs"]
)
def test_where_nothing_is_secret_nothing_changes(text: str) -> None:
    assert redact(text) == text
