"""What a harness gives its model back by itself gives way in the session's own brief, and in no other's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.brief.brief_input import KeptByHarness
from holdfast.engine.engine import Engine
from holdfast.harnesses.base import Harness
from tests.engine.stage import MINUTE, Playhouse, Stage

RULE = "Never touch the printer."
GOAL = "Now write the manual of the writer."
ABOUT = (
    "tabs margins headers footers quotes brackets numbers comments ligatures columns tables figures".split()
)
TYPED = [f"The {about} are as wide in print as they are on the screen of the old editor." for about in ABOUT]


class Keeper(Playhouse):
    """The same harness, but what the user typed stays with its model."""

    kept_by_harness: KeptByHarness = KeptByHarness(prompts=True)


KEEPER: Harness = Keeper()


class KeepersStage(Stage):
    """A stage on which the harness is a keeper."""

    def engine(self) -> Engine:
        return replace(super().engine(), harness=lambda name: KEEPER)


@pytest.fixture
def stage(tmp_path: Path) -> KeepersStage:
    return KeepersStage(tmp_path)


@pytest.fixture
def forgetful(tmp_path: Path) -> Stage:
    """A stage on which the harness keeps nothing."""
    folder = tmp_path / "forgetful"
    folder.mkdir()
    return Stage(folder)


def played(stage: Stage) -> Stage:
    """A session in which more was typed, and more failed, than fits into a brief."""
    stage.payload("a", "start", source="startup")
    stage.write("a", ("prompt", f"Mend the lexer. {RULE}"))
    for about, typed in zip(ABOUT, TYPED, strict=True):
        stage.now += MINUTE
        stage.write("a", ("fails", f"make {about}"), ("fails", f"test/{about} --all"), ("prompt", typed))
    stage.now += MINUTE
    stage.write("a", ("prompt", GOAL), ("edits", stage.file("main.c")))
    return stage


def typed_in(brief: str) -> int:
    """How much a brief has of what the user typed earlier; goal, rule and files it has in any case."""
    assert [text for text in (GOAL, RULE, "main.c") if text not in brief] == []
    return sum(typed in brief for typed in TYPED)


def test_it_gives_way_after_a_compaction(stage: KeepersStage, forgetful: Stage) -> None:
    kept, told = (played(each).payload("a", "start", source="compact") for each in (stage, forgetful))
    assert typed_in(kept) < typed_in(told)


def test_it_gives_way_with_the_next_prompt_too(stage: KeepersStage, forgetful: Stage) -> None:
    for each in (stage, forgetful):
        played(each).write("a", ("boundary", ""))
    kept, told = (each.payload("a", "prompt", text="go on") for each in (stage, forgetful))
    assert typed_in(kept) < typed_in(told)


def test_another_session_never_had_it_and_is_told(stage: KeepersStage, forgetful: Stage) -> None:
    for each in (stage, forgetful):
        played(each).payload("a", "end", reason="other")
        each.now += MINUTE
    kept, told = (each.payload("b", "start", source="startup") for each in (stage, forgetful))
    assert typed_in(kept) == typed_in(told) > 0


def test_the_summary_is_still_to_be_written_and_is_told(stage: KeepersStage, forgetful: Stage) -> None:
    kept, told = (played(each).payload("a", "compaction") for each in (stage, forgetful))
    assert typed_in(kept) == typed_in(told) > 0
