"""Beside the brief stands the continuity: nothing of it that the brief says, and all within its room."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.startup_block import KIND, narrowed, written
from holdfast.core.documents.continuity import LayerName, Part, Summary
from holdfast.core.documents.continuity_startup import TITLE, Layered, Limits, Loaded
from holdfast.core.documents.continuity_summary import generated
from holdfast.core.text.untrusted import without_injected_text
from tests.core.scenes import NOON, session, worked

LAYERS = tuple(Layered(name, f"{name}.md", said) for name, said in generated(worked()).layers.items())
MINE = Layered(LayerName.LOCAL, "mine.md", Summary("", {Part.NEXT: ("ask Ada about the port",)}))


def told(*layers: Layered, chars: int = 6_000) -> BriefInput:
    return BriefInput(Reason.STARTUP, worked(), NOON, loaded=Loaded(layers, (), Limits(60, chars)))


def test_what_the_brief_says_is_not_said_again() -> None:
    bare = written(replace(told(), loaded=None), 2_000)
    both = written(told(*LAYERS), 2_000)
    assert both.text == bare.text, "the session that the brief is of is the one that was saved"
    omitted = [item.omitted for item in both.items if item.kind == KIND]
    assert omitted
    assert set(omitted) == {"said already"}


def test_what_only_the_continuity_says_stands_behind_the_brief() -> None:
    brief = written(told(*LAYERS, MINE), 2_000).text
    assert brief.index("## Session Recovery Context") < brief.index(TITLE)
    assert brief.count("ask Ada about the port") == 1
    assert brief.count("tests/test_retry.py") == written(replace(told(), loaded=None), 2_000).text.count(
        "tests/test_retry.py"
    )
    assert without_injected_text(brief).strip() == "", "both are between our marks"


def test_where_there_is_no_session_the_continuity_stands_alone() -> None:
    alone = replace(told(MINE), session=session())
    assert written(alone, 2_000).text.startswith(f"<holdfast-recall>\n{TITLE}\n")


@given(chars=st.integers(0, 4_000), budget=st.integers(200, 2_000))
def test_both_together_stay_within_the_room_of_a_start(chars: int, budget: int) -> None:
    brief = written(told(*LAYERS, MINE, chars=chars), budget)
    assert len(brief.text) <= max(chars, budget)


def test_less_room_makes_the_block_smaller() -> None:
    full = written(told(MINE), 2_000)
    tight = written(narrowed(told(MINE), len(full.text) / 6_000 - 0.01), 2_000)
    assert len(tight.text) < len(full.text)
    assert narrowed(replace(told(), loaded=None), 0.5).loaded is None
