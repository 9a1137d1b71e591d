"""What Claude Code is asked to call, and how it is found."""

from pathlib import Path

import pytest

from holdfast.harnesses.claude_code.setup import Installation

COMMAND = "python -c 'hook' claude-code"


def test_each_event_has_one_hook_with_its_timeout_in_seconds() -> None:
    entries = Installation().hook_entries(COMMAND, Path("/home/you"))
    assert {one.path: one.value for one in entries} == {
        ("hooks", event): {"hooks": [{"type": "command", "command": COMMAND, "timeout": seconds}]}
        for event, seconds in {
            "SessionStart": 5,
            "UserPromptSubmit": 5,
            "Stop": 5,
            "PreCompact": 10,
            "PostCompact": 5,
            "SessionEnd": 5,
        }.items()
    }
    assert {one.identity for one in entries} == {COMMAND}
    assert len(entries) == 6


@pytest.mark.parametrize(
    ("config_dir", "file"),
    [("", "/home/you/.claude/settings.json"), ("/etc/claude", "/etc/claude/settings.json")],
)
def test_the_settings_are_in_the_home_or_where_the_variable_says(config_dir: str, file: str) -> None:
    entries = Installation(config_dir).hook_entries(COMMAND, Path("/home/you"))
    assert {one.file for one in entries} == {Path(file)}


def test_its_folder_shows_that_it_is_there(tmp_path: Path) -> None:
    assert not Installation().present(tmp_path, search_path="")
    (tmp_path / ".claude").mkdir()
    assert Installation().present(tmp_path, search_path="")
    assert not Installation(str(tmp_path / "other")).present(tmp_path, search_path="")


def test_its_program_shows_that_it_is_there(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.touch(0o644)
    assert not Installation().present(tmp_path, search_path=str(program.parent))
    program.chmod(0o755)
    assert Installation().present(tmp_path, search_path=str(program.parent))
