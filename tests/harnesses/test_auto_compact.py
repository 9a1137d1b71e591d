"""When a harness compacts by itself, as its own settings and its environment say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import readable, reader
from holdfast.harnesses.claude_code import hooks, setup

ONE_MILLION = 1_000_000


def written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", readable())
def test_every_harness_knows_without_any_settings(name: str, tmp_path: Path) -> None:
    assert 0 < reader(name).auto_compact(tmp_path, {}).limit(200_000) < 200_000


class TestClaudeCode:
    """The limits in this table are those at which the program itself compacted."""

    @pytest.mark.parametrize(
        ("environment", "window", "limit"),
        [
            ({}, 200_000, 167_000),
            ({}, ONE_MILLION, 967_000),
            ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}, ONE_MILLION, 67_000),
            ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100k"}, ONE_MILLION, 67_000),
            ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "30000"}, ONE_MILLION, 67_000),
            ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500k"}, 200_000, 167_000),
            ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "half"}, 200_000, 167_000),
            ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "5"}, ONE_MILLION, 49_000),
            ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99"}, 200_000, 167_000),
            ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "0"}, 200_000, 167_000),
            ({"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, ONE_MILLION, 167_000),
            ({"DISABLE_AUTO_COMPACT": "1"}, 200_000, 200_000),
            ({"DISABLE_COMPACT": "true"}, 200_000, 200_000),
            ({"DISABLE_COMPACT": "0"}, 200_000, 167_000),
        ],
    )
    def test_by_its_environment(
        self, environment: Mapping[str, str], window: int, limit: int, tmp_path: Path
    ) -> None:
        assert self.found(tmp_path, environment).limit(window) == limit

    def test_by_its_settings_of_which_the_nearest_wins_and_the_environment_over_all(
        self, tmp_path: Path
    ) -> None:
        project = tmp_path / "project"
        here = {"CLAUDE_PROJECT_DIR": str(project)}
        written(tmp_path / ".claude" / "settings.json", json.dumps({"autoCompactWindow": 400_000}))
        assert self.found(tmp_path, here).limit(ONE_MILLION) == 367_000
        written(project / ".claude" / "settings.json", json.dumps({"autoCompactWindow": 300_000}))
        assert self.found(tmp_path, here).limit(ONE_MILLION) == 267_000
        written(project / ".claude" / "settings.local.json", json.dumps({"autoCompactWindow": 200_000}))
        assert self.found(tmp_path, here).limit(ONE_MILLION) == 167_000
        asked = here | {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150k"}
        assert self.found(tmp_path, asked).limit(ONE_MILLION) == 117_000

    def test_in_a_folder_that_was_moved(self, tmp_path: Path) -> None:
        written(tmp_path / "moved" / "settings.json", json.dumps({"autoCompactEnabled": False}))
        moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
        assert self.found(tmp_path, moved).limit(200_000) == 200_000

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", '{"autoCompactWindow": {}}', '{"autoCompactWindow": -5}']
    )
    def test_settings_that_cannot_be_read_say_nothing(self, text: str, tmp_path: Path) -> None:
        written(tmp_path / ".claude" / "settings.json", text)
        assert self.found(tmp_path, {}).limit(200_000) == 167_000

    def test_a_link_in_a_repository_is_not_followed(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        written(tmp_path / "elsewhere.json", json.dumps({"autoCompactWindow": 300_000}))
        (project / ".claude").mkdir(parents=True)
        (project / ".claude" / "settings.json").symlink_to(tmp_path / "elsewhere.json")
        found = self.found(tmp_path, {"CLAUDE_PROJECT_DIR": str(project)})
        assert found.limit(ONE_MILLION) == 967_000

    def test_the_hook_carries_what_is_read_of_the_environment(self) -> None:
        assert set(setup.AUTO_COMPACT_VARIABLES) <= set(hooks.HOOK_VARIABLES)

    def found(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        return reader("claude-code").auto_compact(home, environment)


class TestCodex:
    @pytest.mark.parametrize(
        ("config", "limit"),
        [
            ("", 244_800),
            ("model_auto_compact_token_limit = 100000", 100_000),
            ("model_auto_compact_token_limit = 0", 244_800),
            ('model_auto_compact_token_limit = "many"', 244_800),
            ("not toml [", 244_800),
        ],
    )
    def test_by_its_configuration(self, config: str, limit: int, tmp_path: Path) -> None:
        written(tmp_path / ".codex" / "config.toml", config)
        assert reader("codex").auto_compact(tmp_path, {}).limit(258_400) == pytest.approx(limit, abs=1)

    def test_in_a_home_that_was_moved(self, tmp_path: Path) -> None:
        written(tmp_path / "moved" / "config.toml", "model_auto_compact_token_limit = 5000")
        moved = {"CODEX_HOME": str(tmp_path / "moved")}
        assert reader("codex").auto_compact(tmp_path, moved).most == 5_000


class TestOpenCode:
    @pytest.mark.parametrize(
        ("settings", "limit"),
        [
            ("{}", 180_000),
            ('{"compaction": {"reserved": 50000}}', 150_000),
            ('{"compaction": {"reserved": true}}', 180_000),
            ('{"compaction": {"auto": false}}', 200_000),
            ("not json", 180_000),
        ],
    )
    def test_by_its_settings(self, settings: str, limit: int, tmp_path: Path) -> None:
        written(tmp_path / ".config" / "opencode" / "opencode.json", settings)
        assert reader("opencode").auto_compact(tmp_path, {}).limit(200_000) == limit

    def test_in_a_folder_that_was_moved(self, tmp_path: Path) -> None:
        written(tmp_path / "moved" / "opencode" / "opencode.json", '{"compaction": {"reserved": 50000}}')
        moved = {"XDG_CONFIG_HOME": str(tmp_path / "moved")}
        assert reader("opencode").auto_compact(tmp_path, moved).limit(200_000) == 150_000
