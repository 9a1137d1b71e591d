"""Plugins of the harnesses: which are turned on, which wait for a review, and what every manifest says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast import harnesses
from holdfast.harnesses.base import Pluggable
from holdfast.harnesses.plugin_folder import semantic_version

ON = {
    "claude-code": (".claude/settings.json", '{"enabledPlugins": {"holdfast@anywhere": true}}'),
    "codex": (".codex/config.toml", '[plugins."holdfast@anywhere"]\nenabled = true\n'),
    "gemini": (".gemini/extensions/holdfast/gemini-extension.json", "{}"),
    "opencode": (".config/opencode/opencode.jsonc", '{"plugin": ["opencode-holdfast@0.2.0"], // mine\n}'),
}
OFF = [
    ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"holdfast@anywhere": false}}'),
    ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"other@holdfast": true}}'),
    ("claude-code", ".claude/settings.json", '{"enabledPlugins": ['),
    ("codex", ".codex/config.toml", '[plugins."holdfast@anywhere"]\nenabled = false\n'),
    ("codex", ".codex/config.toml", '[plugins."other@holdfast"]\nenabled = true\n'),
    ("codex", ".codex/config.toml", "[plugins"),
    ("opencode", ".config/opencode/opencode.json", '{"plugin": ["opencode-other", ["file:///x", {}], 7]}'),
    ("opencode", ".config/opencode/opencode.json", '{"plugin": "opencode-holdfast'),
]


def has_plugin(name: str, home: Path) -> bool:
    harness = harnesses.get(name)
    assert isinstance(harness, Pluggable)
    return harness.has_plugin(home)


def write(home: Path, file: str, text: str) -> None:
    path = home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("name", ON)
def test_a_plugin_that_is_turned_on_is_seen(name: str, tmp_path: Path) -> None:
    assert not has_plugin(name, tmp_path)
    write(tmp_path, *ON[name])
    assert has_plugin(name, tmp_path)


def test_a_package_that_is_named_by_its_folder_is_seen(tmp_path: Path) -> None:
    settings = {"plugin": ["/somewhere/extensions/opencode"]}
    write(tmp_path, ".config/opencode/opencode.json", json.dumps(settings))
    assert has_plugin("opencode", tmp_path)


@pytest.mark.parametrize(("name", "file", "text"), OFF)
def test_anything_else_is_no_plugin(name: str, file: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, file, text)
    assert not has_plugin(name, tmp_path)


def test_hooks_of_a_plugin_that_nobody_reviewed_are_a_problem(tmp_path: Path) -> None:
    harness = harnesses.get("codex")
    file, text = ON["codex"]
    labels = "session_start user_prompt_submit stop pre_compact post_compact session_end interrupt".split()
    states = [
        f'[hooks.state."holdfast@anywhere:hooks.json:{label}:0:0"]\ntrusted_hash = "x"\n' for label in labels
    ]
    write(tmp_path, file, text + "".join(states[1:]))
    blocker = harness.setup_blocker(tmp_path, "command")
    assert blocker is not None
    assert blocker.reason.startswith("1 of the plugin's hooks wait for a review")
    write(tmp_path, file, text + "".join(states))
    assert harness.setup_blocker(tmp_path, "command") is None


@pytest.mark.parametrize(
    ("version", "semantic"),
    [("0.2.0", "0.2.0"), ("0.2.0.dev0", "0.2.0-dev.0"), ("1.0.0rc1", "1.0.0-rc.1"), ("1.0", "1.0")],
)
def test_a_version_has_the_form_that_npm_knows(version: str, semantic: str) -> None:
    assert semantic_version(version) == semantic
