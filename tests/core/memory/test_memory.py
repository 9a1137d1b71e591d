"""What someone said to keep: read by known prefixes, labelled by rule, never refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.durations import DAY_MS
from holdfast.core.memory.memory import (
    CRITICAL,
    FADING,
    SHORTLY_MS,
    USUAL,
    Label,
    Memory,
    MemoryKind,
    MemoryScope,
    Wording,
    asked_to_remember,
    clear_superseded,
    contradicts,
    identity,
    in_series,
    kind_of,
    labels_of,
    mark_recalled,
    mark_superseded,
    read,
    strength,
    subject_of,
    with_repetition,
)
from tests.core.scenes import NOON


def memory(tags: tuple[str, ...] = (), *, pinned: bool = False) -> Memory:
    text = "The port is 8080."
    return Memory("m1", text, kind_of(text), MemoryScope.PROJECT, "p1", "w1", NOON, tags, pinned=pinned)


@pytest.mark.parametrize(
    ("typed", "wording"),
    [
        ("the port is 80", Wording("the port is 80")),
        ("/remember the port is 80", Wording("the port is 80")),
        ("critical: never push to main", Wording("never push to main", (), CRITICAL, pinned=True)),
        ("[db, Schema]: WAL it is", Wording("WAL it is", ("db", "schema"))),
        ("[db]: critical: WAL", Wording("WAL", ("db",), CRITICAL, pinned=True)),
        ("CRITICAL : [#ops]: call first", Wording("call first", ("ops",), CRITICAL, pinned=True)),
        ("[1, 2] is a list", Wording("[1, 2] is a list")),
        ("critically: no", Wording("critically: no")),
    ],
)
def test_the_prefixes_that_people_know_are_understood(typed: str, wording: Wording) -> None:
    assert read(typed) == wording


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("/remember use tabs", "/remember use tabs"),
        ("/remember", ""),
        ("/remembering things", ""),
        ("please /remember this", ""),
    ],
)
def test_only_a_prompt_that_begins_so_wants_something_remembered(prompt: str, wanted: str) -> None:
    assert asked_to_remember(prompt) == wanted


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never push to main.", MemoryKind.RULE),
        ("She prefers short commit messages.", MemoryKind.PREFERENCE),
        ("We decided to keep SQLite.", MemoryKind.DECISION),
        ("The login test is flaky.", MemoryKind.ISSUE),
        ("It turns out the cache is per process.", MemoryKind.LEARNING),
        ("The staging host is blue-7.", MemoryKind.FACT),
        ("不要直接推送到主分支", MemoryKind.RULE),
    ],
)
def test_the_kind_is_decided_by_rule(text: str, kind: MemoryKind) -> None:
    assert kind_of(text) is kind


def test_what_speaks_of_this_moment_is_labelled_and_kept() -> None:
    assert labels_of("The build is currently red.") == (Label.TRANSIENT,)
    assert labels_of("The build runs on blue-7.") == ()


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("The port is 80", "the port is 8080.", True),
        ("The port is 80", "The port is 80.", False),
        ("The port is 80", "The host is 80", False),
        ("use ruff for linting", "Use black for linting", True),
        ("never push to main", "always push to main", True),
        ("never push to main", "don't push to main", False),
        ("our deploy script lives in ops/", "The deploy script lives in tools/", True),
        ("tests are slow", "lunch was good", False),
        ("The port is 80. It was free.", "The port is 8080", False),
        ("The port is 80; ask first", "The port is 8080; ask first", False),
    ],
)
def test_only_another_value_for_the_same_subject_contradicts(one: str, other: str, *, differ: bool) -> None:
    assert contradicts(one, other) is differ
    assert contradicts(other, one) is differ


def test_saying_it_again_is_one_memory_seen_twice() -> None:
    again = with_repetition(memory(tags=("net",)), read("critical: [http]: The port is 8080"), NOON + DAY_MS)
    assert (again.seen, again.seen_at) == (2, NOON + DAY_MS)
    assert (again.tags, again.importance, again.pinned) == (("net", "http"), CRITICAL, True)
    assert again.text == "The port is 8080."


def test_the_older_of_two_that_contradict_stays_and_says_so() -> None:
    older = mark_superseded(mark_superseded(memory(), "m2"), "m3")
    assert (older.superseded_by, older.labels) == ("m3", (Label.SUPERSEDED,))


def test_what_superseded_it_is_gone_so_that_it_holds_again() -> None:
    before = replace(memory(), labels=(Label.TRANSIENT,))
    assert clear_superseded(mark_superseded(before, "m2")) == before


@pytest.mark.parametrize(("later", "place"), [(0, 3), (SHORTLY_MS, 3), (SHORTLY_MS + 1, 0), (-1, 0)])
def test_what_is_said_shortly_after_another_follows_it(later: int, place: int) -> None:
    last = replace(memory(), id="last", stretch="first", place=2)
    after = in_series(replace(memory(), id="new", created_at=NOON + later), last)
    assert (after.stretch, after.place) == ("first" if place else "new", place)


def test_what_follows_none_begins_a_stretch() -> None:
    assert in_series(replace(memory(), id="new"), None).stretch == "new"


@pytest.mark.parametrize(
    ("text", "subject"),
    [("The port is 80", "port"), ("our port is 8080.", "port"), ("Lunch!", ""), ("never push", "push")],
)
def test_what_a_text_speaks_of_is_its_subject(text: str, subject: str) -> None:
    assert subject_of(text) == subject


def test_strength_fades_by_the_day_and_returns_when_it_is_found() -> None:
    assert strength(memory(), NOON) == USUAL
    assert strength(memory(), NOON + 2 * DAY_MS) == pytest.approx(USUAL * FADING**2)
    result = mark_recalled(memory(), NOON + 2 * DAY_MS)
    assert (result.found, strength(result, NOON + 2 * DAY_MS)) == (1, USUAL)
    assert strength(memory(pinned=True), NOON + 999 * DAY_MS) == 1.0


@given(st.text(max_size=200))
def test_nothing_that_is_said_is_refused(text: str) -> None:
    wording = read(text)
    assert wording.text in text
    assert identity(identity(wording.text)) == identity(wording.text)
    assert not contradicts(text, text)
