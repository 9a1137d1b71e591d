"""What a session's work is about: the things that the agent itself names, and how that fades."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action, ToolCalled
from holdfast.core.evidence.mentions import (
    CROWD,
    HALF_LIFE,
    file_key,
    in_call,
    in_text,
    use_at,
    with_mentions,
)
from holdfast.core.evidence.patches import FileChange
from holdfast.core.evidence.trail import MENTIONS_KEPT, Mention, Thing
from tests.core.scenes import called


def named(text: str) -> dict[str, Thing]:
    return {mention.name: mention.thing for mention in in_text(text)}


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("parse_hook drops it", {"parse_hook": Thing.NAME}),
        ("see src/app/retry.py", {"app/retry.py": Thing.FILE}),
        ("look below src/app/", {"src/app/": Thing.FOLDER}),
        ("see .gitignore and src/Makefile", {".gitignore": Thing.FILE, "src/Makefile": Thing.FILE}),
        ("see .github/CODEOWNERS", {".github/CODEOWNERS": Thing.FILE}),
        ("as in #1263 with --dry-run", {"#1263": Thing.REFERENCE, "--dry-run": Thing.OPTION}),
        ("manifest.setupStatus is empty", {"setupStatus": Thing.NAME}),
        ("session.reset does nothing", {}),
        ("nothing is called anything here", {}),
    ],
)
def test_a_text_names_things(text: str, things: dict[str, Thing]) -> None:
    assert named(text) == things


@pytest.mark.parametrize("path", ["app/retry.py", "src/app/retry.py", "/home/you/x/src/app/retry.py"])
def test_one_file_has_one_mention_however_it_is_spelled(path: str) -> None:
    assert file_key(path) == "app/retry.py"


def call(action: Action, subject: str, detail: str = "") -> ToolCalled:
    plain = called("c1", action, subject)
    return ToolCalled(
        session=plain.session,
        record=plain.record,
        at=plain.at,
        origin=plain.origin,
        call="c1",
        tool="tool",
        action=action,
        subject=subject,
        detail=detail,
    )


def test_a_command_names_its_programs_as_they_were_called() -> None:
    found = list(in_call(call(Action.RUN, "cd /x && mix credo --strict && git push | tail -3"), ()))
    programs = {mention.name: mention.shown for mention in found if mention.thing is Thing.PROGRAM}
    assert programs == {"mix credo": "mix credo --strict", "git push": "git push"}


def test_a_name_remembers_the_file_that_it_was_changed_in() -> None:
    edit = call(Action.EDIT, "src/app/retry.py", "def next_delay(): ...")
    found = {
        mention.name: mention for mention in in_call(edit, (FileChange("src/app/retry.py", Action.EDIT),))
    }
    assert found["next_delay"].file == "src/app/retry.py"
    assert found["app/retry.py"].thing is Thing.FILE


def test_a_mention_fades_by_half_in_a_half_life() -> None:
    (mention,) = with_mentions((), [Mention("a_name")], step=10)
    assert use_at(mention, 10 + HALF_LIFE) == pytest.approx(use_at(mention, 10) / 2)


def test_naming_it_again_adds_to_what_is_left() -> None:
    once = with_mentions((), [Mention("a_name")], step=0)
    (twice,) = with_mentions(once, [Mention("a_name")], step=HALF_LIFE)
    assert use_at(twice, HALF_LIFE) == pytest.approx(1.5 * once[0].use)


def test_among_many_others_a_thing_counts_less() -> None:
    (alone,) = with_mentions((), [Mention("a_name")], step=1)
    crowd = with_mentions((), [Mention(f"name_{n}") for n in range(CROWD)], step=1)
    assert crowd[0].use < 0.6 * alone.use


def test_what_is_named_last_comes_last() -> None:
    rows = with_mentions((), [Mention("one_name"), Mention("other_name")], step=1)
    assert [mention.name for mention in with_mentions(rows, [Mention("one_name")], step=2)][-1] == "one_name"


def test_the_least_used_make_room_for_the_new() -> None:
    rows: tuple[Mention, ...] = ()
    for step in range(MENTIONS_KEPT + 100):
        often = [Mention("always_there")] if step % 20 == 0 else []
        rows = with_mentions(rows, [Mention(f"name_{step}"), *often], step)
    names = {mention.name for mention in rows}
    assert len(rows) <= MENTIONS_KEPT
    assert {"always_there", f"name_{MENTIONS_KEPT + 99}"} <= names
    assert "name_0" not in names


@given(st.text(max_size=300))
def test_any_text_can_be_searched(text: str) -> None:
    rows = with_mentions((), in_text(text), step=1)
    assert len({(mention.thing, mention.name) for mention in rows}) == len(rows)
