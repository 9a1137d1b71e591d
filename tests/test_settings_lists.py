"""Settings that hold lists of something else than texts: percentages, thresholds, windows of models."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.config import Config, load, toml_list
from holdfast.core.session.pressure import THRESHOLDS, Delivery, KnownModel, Threshold
from holdfast.settings import TABLE, Inherit

SEEDS_JSON = """
{
  "checkpoint": {
    "enabled": true,
    "model": "anthropic/claude-3-haiku",
    "fallbackToMain": true,
    "tokenThresholdPercents": [25, 50, 75],
    "turnThreshold": 15,
    "minTokensForGen": 10000
  },
  "memoryFlush": {
    "enabled": true,
    "showInSystemPrompt": true,
    "thresholds": [
      {
        "percent": 50,
        "prompt": "Context at 50%. Consider noting key decisions to memory.",
        "injectAs": "system"
      },
      {
        "percent": 75,
        "prompt": "Context at 75%. Write important context to memory/YYYY-MM-DD.md now.",
        "injectAs": "system"
      },
      {
        "percent": 90,
        "prompt": "[SYSTEM: pre-compaction memory flush]\\nContext at 90%. Compaction imminent.\\nStore durable memories now (use memory/YYYY-MM-DD.md).\\nIf nothing to store, reply with NO_REPLY.",
        "injectAs": "user"
      }
    ]
  },
  "compaction": {
    "reserveTokens": 4000,
    "preferCheckpoint": true
  },
  "session": {
    "defaultKey": "agent:main:main"
  },
  "session.inherit": {
    "enabled": true,
    "source": "~/.openclaw/agents/main/sessions",
    "format": "jsonl"
  }
}
"""  # noqa: E501 - as it was written
"""The settings as their first description has them, in its spelling."""


def loaded(home: Path, text: str, environment: Mapping[str, str] | None = None) -> Config:
    (home / "config.toml").write_text(text, encoding="utf-8")
    return load(home, None, None, environment or {}, managed=home / "none").config


def respelled(value: Any) -> Any:  # noqa: ANN401 - it is JSON
    """The same with our spelling of names."""
    if isinstance(value, dict):
        return {re.sub(r"(?=[A-Z])", "_", name).lower(): respelled(each) for name, each in value.items()}
    return [respelled(each) for each in value] if isinstance(value, list) else value


def toml(document: Mapping[str, Mapping[str, Any]]) -> str:
    """A document of sections as TOML; tables in lists are written as tables of their own."""
    lines: list[str] = []
    for section, settings in document.items():
        lines.append(f"[{section}]")
        tables = {
            name: each
            for name, each in settings.items()
            if isinstance(each, list) and each and isinstance(each[0], dict)
        }
        lines += [f"{name} = {json.dumps(each)}" for name, each in settings.items() if name not in tables]
        for name, rows in tables.items():
            for row in rows:
                lines.append(f"[[{section}.{name}]]")
                lines += [f"{key} = {json.dumps(each)}" for key, each in row.items()]
    return "\n".join(lines)


def test_the_first_description_of_the_settings_can_be_used_in_our_spelling(tmp_path: Path) -> None:
    found = loaded(tmp_path, toml(respelled(json.loads(SEEDS_JSON))))
    assert found.checkpoint == replace(Config().checkpoint, model="anthropic/claude-3-haiku")
    assert found.compaction == Config().compaction
    assert found.session.default_key == Config().session.default_key
    assert found.session.inherit == Inherit(True, "~/.openclaw/agents/main/sessions", "jsonl")  # noqa: FBT003
    flush, rows = found.memory_flush, json.loads(SEEDS_JSON)["memoryFlush"]["thresholds"]
    assert (flush.enabled, flush.show_in_system_prompt) == (True, True)
    assert flush.thresholds == tuple(
        Threshold(row["percent"], row["prompt"], Delivery(row["injectAs"])) for row in rows
    )
    assert [one.percent for one in flush.thresholds] == [one.percent for one in THRESHOLDS]
    for theirs, ours in zip(flush.thresholds[:2], THRESHOLDS[:2], strict=True):
        assert ours.text.startswith(f"{theirs.text}\n"), "ours asks for a digest too"


@pytest.mark.parametrize("text", ["[session]\ninherit = true", "session.inherit = true"])
def test_inheriting_can_be_wanted_in_one_word(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, text).session.inherit == Inherit(enabled=True)
    refused = loaded(tmp_path, text, {"HOLDFAST_SESSION_INHERIT_ENABLED": "false"})
    assert refused.session.inherit == Inherit(enabled=False)


def test_inheriting_in_one_word_of_another_type_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[session]\ninherit = "yes"\ndefault_key = "agent:a:b"', "utf-8")
    found = load(tmp_path, None, None, {}, managed=tmp_path / "none")
    place, problem = f"{tmp_path / 'config.toml'}, line 2", "must be true or false, not 'yes'; it is ignored"
    assert found.warnings == (f"{place}: `session.inherit.enabled` {problem}",)
    assert found.config.session == replace(Config().session, default_key="agent:a:b")


def test_by_default_the_last_one_is_marked_and_says_what_to_make_first() -> None:
    last = Config().memory_flush.thresholds[2]
    assert (last.percent, last.inject_as) == (90, Delivery.MARKED)
    assert last.text.startswith("[SYSTEM: pre-compaction memory flush]\nContext at 90%.")
    assert "create memory/ if needed" in last.text
    assert last.text.count("[SYSTEM:") == 1


def test_windows_of_models_are_a_table(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[pressure.windows]\n"my-model" = 64_000\n"vendor/other" = 1_000')
    assert found.pressure.windows == (KnownModel("my-model", 64_000), KnownModel("vendor/other", 1_000))


def test_how_a_threshold_is_given_may_be_left_out(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[[memory_flush.thresholds]]\npercent = 60\nprompt = "Write."')
    assert found.memory_flush.thresholds == (Threshold(60, "Write.", Delivery.MARKED),)


@pytest.mark.parametrize(
    ("variable", "text", "section", "name", "value"),
    [
        ("CHECKPOINT_TOKEN_THRESHOLD_PERCENTS", "10, 90", "checkpoint", "token_threshold_percents", (10, 90)),
        ("CHECKPOINT_TOKEN_THRESHOLD_PERCENTS", "", "checkpoint", "token_threshold_percents", ()),
        ("PRESSURE_WINDOWS", '{"m": 5000}', "pressure", "windows", (KnownModel("m", 5_000),)),
        (
            "MEMORY_FLUSH_THRESHOLDS",
            '[{"percent": 80, "prompt": "Write.", "inject_as": "user"}]',
            "memory_flush",
            "thresholds",
            (Threshold(80, "Write.", Delivery.USER),),
        ),
    ],
)
def test_the_environment_sets_them_too(
    variable: str, text: str, section: str, name: str, value: object, tmp_path: Path
) -> None:
    found = loaded(tmp_path, "", {f"HOLDFAST_{variable}": text})
    assert getattr(getattr(found, section), name) == value


@pytest.mark.parametrize(
    "text",
    [
        "[checkpoint]\ntoken_threshold_percents = [0]",
        "[checkpoint]\ntoken_threshold_percents = [25, 101]",
        '[checkpoint]\ntoken_threshold_percents = ["25"]',
        "[checkpoint]\ntoken_threshold_percents = [true]",
        "[checkpoint]\ntoken_threshold_percents = 25",
        '[pressure]\nwindows = ["m"]',
        "[pressure.windows]\nm = 10",
        '[pressure.windows]\nm = "64k"',
        '[pressure.windows]\n"" = 64_000',
        '[[memory_flush.thresholds]]\npercent = 0\nprompt = "x"',
        "[[memory_flush.thresholds]]\npercent = 50",
        '[[memory_flush.thresholds]]\npercent = 50\nprompt = " "',
        '[[memory_flush.thresholds]]\npercent = 50\nprompt = "x"\ninject_as = "shout"',
        '[[memory_flush.thresholds]]\npercent = 50\nprompt = "x"\ninjectAs = "user"',
        "[memory_flush]\nthresholds = [50]",
    ],
)
def test_a_wrong_list_is_ignored_with_a_warning_that_names_the_setting(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text)
    found = load(tmp_path, None, None, {})
    assert found.config == Config()
    (warning,) = found.warnings
    assert re.search(r"`(checkpoint|pressure|memory_flush)\.\w+` must be .*; it is ignored$", warning)


@pytest.mark.parametrize("variable", ["HOLDFAST_PRESSURE_WINDOWS", "HOLDFAST_MEMORY_FLUSH_THRESHOLDS"])
@pytest.mark.parametrize("text", ["{", "[" * 100_000])
def test_a_variable_that_is_no_json_is_ignored_with_a_warning(
    variable: str, text: str, tmp_path: Path
) -> None:
    found = load(tmp_path, None, None, {variable: text})
    assert found.config == Config()
    (warning,) = found.warnings
    assert warning.startswith(f"${variable}: ")


@pytest.mark.parametrize(
    "key", ["checkpoint.token_threshold_percents", "memory_flush.thresholds", "pressure.windows"]
)
def test_a_default_as_it_is_shown_can_be_set(key: str, tmp_path: Path) -> None:
    section, name = key.split(".")
    text = f"[{section}]\n{name} = {toml_list(TABLE[key])}"
    tomllib.loads(text)
    assert loaded(tmp_path, text) == Config()
