"""A secret with something unseen in the middle of it is a secret."""

from __future__ import annotations

import pytest

from holdfast.core.events import AssistantText, Origin
from holdfast.core.world import Project
from holdfast.engine.record import Arrival, record
from holdfast.engine.redactor import redact_as_seen as redact
from tests.engine.stage import Stage

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


def test_a_secret_in_two_blocks_of_one_message_is_in_neither(stage: Stage) -> None:
    halves = (TOKEN[:20], TOKEN[20:])
    events = tuple(
        AssistantText(session="a", record=f"m1/{n}" if n else "m1", at=1, origin=Origin.ASSISTANT, text=half)
        for n, half in enumerate((f"the token is {halves[0]}", f"{halves[1]} and no other"))
    )
    record(stage.desk(), Arrival("a", "playhouse", Project("/p", "/p", "p", "w", "/p"), events=events))
    kept = repr((stage.store.session("a"), stage.store.events("a", 9)))
    assert "and no other" in kept
    assert [half for half in halves if half in kept] == []
