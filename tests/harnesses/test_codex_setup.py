"""What Codex is asked to call, and how it is found."""

from pathlib import Path, PurePath

from holdfast.harnesses import get

CODEX = get("codex")
COMMAND = "python -c 'hook' codex"


def test_each_event_has_one_hook_with_its_timeout_in_seconds() -> None:
    entries = CODEX.wanted(COMMAND, Path("/home/you"))
    assert {one.path: one.value for one in entries} == {
        ("hooks", event): {"hooks": [{"type": "command", "command": COMMAND, "timeout": seconds}]}
        for event, seconds in {
            "SessionStart": 5,
            "UserPromptSubmit": 5,
            "Stop": 5,
            "PreCompact": 10,
            "PostCompact": 5,
            "SessionEnd": 3,
            "Interrupt": 3,
        }.items()
    }
    assert {one.identity for one in entries} == {COMMAND}
    assert {one.file for one in entries} == {PurePath("/home/you/.codex/hooks.json")}


def test_its_folder_or_its_program_shows_that_it_is_there(tmp_path: Path) -> None:
    assert not CODEX.present(tmp_path, search_path="")
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.touch(0o755)
    assert CODEX.present(tmp_path, search_path=str(program.parent))
    (tmp_path / ".codex").mkdir()
    assert CODEX.present(tmp_path, search_path="")
