"""A secret with something unseen in the middle of it is a secret."""

from __future__ import annotations

import pytest

from holdfast.core.events.event import MAIN, AssistantText, Event, Origin, Usage
from holdfast.core.events.world import Project
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.redaction.redactor import redact_as_seen as redact
from tests.engine.stage import Stage

TOKEN = "ghp_" + "Zk3Qw9Xv7Lm2Rt8Yp4Ns6Bd1Fh5Gj0Kc2Ae4"


@pytest.mark.parametrize(
    "text",
    [
        f"token: \x1b[01;31m{TOKEN[:4]}\x1b[m{TOKEN[4:]} found",
        f"token: {TOKEN[:12]}\u200b{TOKEN[12:]} found",
        f"token: {TOKEN[:12]}\u2060\u00ad{TOKEN[12:]} found",
        f"tök\ud83d: {TOKEN[:12]}\x07{TOKEN[12:]} found",
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


def said(record: str, text: str, agent: str = MAIN) -> AssistantText:
    return AssistantText(session="a", record=record, at=1, origin=Origin.ASSISTANT, text=text, agent=agent)


def kept_of(stage: Stage, *events: Event) -> str:
    record(stage.engine(), Arrival("a", "playhouse", Project("/p", "/p", "p", "w", "/p"), events=events))
    return repr((stage.store.session("a"), stage.store.events("a", 9)))


COUNT = Usage(session="a", record="m1/usage", at=1, origin=Origin.HARNESS, input=9, output=9)


@pytest.mark.parametrize(
    ("first", "between", "second"),
    [("m1", (), "m1/1"), ("m1", (), "m2"), ("m1", (COUNT,), "m2")],
    ids=["two blocks of a record", "two records", "two records with a count between"],
)
def test_a_secret_in_two_blocks_of_one_message_is_in_neither(
    stage: Stage, first: str, between: tuple[Event, ...], second: str
) -> None:
    halves = (TOKEN[:20], TOKEN[20:])
    blocks = said(first, f"the token is {halves[0]}"), *between, said(second, f"{halves[1]} and no other")
    kept = kept_of(stage, *blocks)
    assert "and no other" in kept
    assert [half for half in halves if half in kept] == []


def test_what_two_agents_say_is_not_one_message(stage: Stage) -> None:
    kept = kept_of(stage, said("m1", "set the password="), said("m2", "hunter22 went by", agent="scout"))
    assert "hunter22 went by" in kept
