"""Each thing that an agent is given unasked comes by default, and does not come once its setting is off."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.session.agent_prompts import ADVICE
from holdfast.core.session.pressure import THRESHOLDS
from holdfast.core.text.untrusted import TITLE
from holdfast.settings import Config
from tests.engine.stage import MINUTE, Stage

README = Path(__file__).parents[3] / "README.md"


def work(stage: Stage) -> None:
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text="mend the parser")
    stage.write("a", ("prompt", "mend the parser"), ("fails", "make check"), ("edits", stage.file("main.c")))


def filled(stage: Stage, tokens: int) -> None:
    stage.now += MINUTE
    stage.write("a", ("says", f"done {tokens}"), ("usage", str(tokens)))
    stage.now += MINUTE


def brief(stage: Stage) -> str:
    work(stage)
    asked = stage.payload("a", "compaction")
    return asked + stage.payload("a", "start", source="compact")


def gauge(stage: Stage) -> str:
    work(stage)
    filled(stage, 110_000)
    return stage.payload("a", "prompt", text="go on")


def kept_from_stopping(stage: Stage) -> str:
    work(stage)
    filled(stage, 185_000)
    return stage.payload("a", "stop")


def advice(stage: Stage) -> str:
    work(stage)
    for _ in range(2):
        stage.now += 10 * MINUTE
        stage.write("a", ("boundary", ""), ("brief", ""))
    filled(stage, 20_000)
    return stage.payload("a", "prompt", text="go on")


CASES: dict[str, tuple[Callable[[Stage], str], str]] = {
    "brief.inject": (brief, TITLE),
    "pressure.show_in_context": (gauge, "[Context: 110k/200k tokens (55%)]"),
    "memory_flush.enabled": (gauge, THRESHOLDS[0].text),
    "memory_flush.hold_agent": (kept_from_stopping, THRESHOLDS[-1].text),
    "pressure.advice": (advice, ADVICE[0].text),
}


def without(config: Config, key: str) -> Config:
    """The settings with this one off."""
    section, name = key.split(".")
    changed: dict[str, Any] = {section: replace(getattr(config, section), **{name: False})}
    return replace(config, **changed)


@pytest.mark.parametrize("key", CASES)
def test_it_comes_by_default(stage: Stage, key: str) -> None:
    given, text = CASES[key]
    assert text in given(stage)


@pytest.mark.parametrize("key", CASES)
def test_it_does_not_come_when_it_is_off(stage: Stage, key: str) -> None:
    given, text = CASES[key]
    stage.config = without(stage.config, key)
    assert text not in given(stage)


def test_an_agent_that_is_not_kept_from_stopping_is_asked_with_the_next_prompt(stage: Stage) -> None:
    stage.config = without(stage.config, "memory_flush.hold_agent")
    kept_from_stopping(stage)
    assert THRESHOLDS[-1].text in stage.payload("a", "prompt", text="go on")


def test_the_readme_names_each_of_these_settings() -> None:
    section = README.read_text(encoding="utf-8").partition("## What it puts in front of your agent\n")[2]
    table = section.partition("\n## ")[0]
    assert set(re.findall(r"`([a-z_]+\.[a-z_]+) = false` \|", table)) == CASES.keys()
