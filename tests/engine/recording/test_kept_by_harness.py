"""What a harness gives its model back by itself is left out of the session's own brief, and of no other's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.brief.brief_input import KeptByHarness
from holdfast.engine.engine import Engine
from holdfast.harnesses.base import Harness
from tests.engine.stage import MINUTE, Playhouse, Stage

RULE = "Never touch the printer."
PROMPTS = (f"Mend the lexer. {RULE}", "And the parser.", "Now the writer.")
TYPED = ("At first: “Mend the lexer.”", "Also asked: “And the parser.”")
SHOWN_ANYWAY = ("“Now the writer.”", f"- {RULE}", "Edited: main.c")


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


def play(stage: Stage, session: str) -> None:
    stage.payload(session, "start", source="startup")
    lines = (("prompt", text) for text in PROMPTS)
    stage.write(session, *lines, ("edits", stage.file("main.c")))


def has(brief: str) -> tuple[list[str], list[str]]:
    """What a brief has of what the user typed, and of what is told all the same."""
    return [text for text in TYPED if text in brief], [text for text in SHOWN_ANYWAY if text in brief]


def test_it_is_not_repeated_after_a_compaction(stage: KeepersStage) -> None:
    play(stage, "a")
    assert has(stage.payload("a", "start", source="compact")) == ([], [*SHOWN_ANYWAY])


def test_it_is_not_repeated_with_the_next_prompt_either(stage: KeepersStage) -> None:
    play(stage, "a")
    stage.write("a", ("boundary", ""))
    assert has(stage.payload("a", "prompt", text="go on")) == ([], [*SHOWN_ANYWAY])


def test_another_session_never_had_it_and_is_told(stage: KeepersStage) -> None:
    play(stage, "a")
    stage.payload("a", "end", reason="other")
    stage.now += MINUTE
    assert has(stage.payload("b", "start", source="startup")) == ([*TYPED], [*SHOWN_ANYWAY])


def test_the_summary_is_still_to_be_written_and_is_told(stage: KeepersStage) -> None:
    play(stage, "a")
    assert has(stage.payload("a", "compaction")) == ([*TYPED], [*SHOWN_ANYWAY])


def test_a_harness_that_keeps_nothing_is_told_everything(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    play(stage, "a")
    assert has(stage.payload("a", "start", source="compact")) == ([*TYPED], [*SHOWN_ANYWAY])
