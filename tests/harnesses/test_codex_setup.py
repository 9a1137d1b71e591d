"""What Codex is asked to call, and whether it trusts it."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest

from holdfast.harnesses import get

CODEX = get("codex")
COMMAND = "python -c 'hook' codex"


def test_each_event_has_one_hook_with_its_timeout_in_seconds() -> None:
    entries = CODEX.hook_entries(COMMAND, Path("/home/you"))
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


TRUSTED_COMMAND = (
    "/usr/bin/python3 -I -S -c \"import os;p='/home/you/.holdfast/bin/hook.py'\" codex CODEX_HOME - || :"
)
# As Codex 0.166.0 gives them for these very definitions, by `hooks/list`.
KNOWN = {
    ("PreCompact", 3, "echo 5"): "sha256:eeaf6f0016627b554969aeaa0f832097c1591a92629a67a3288b6e4b0bac9d58",
    ("SessionStart", 3, "echo 1"): "sha256:659060c458899f096b8b3dfadc7ecb48bdcde3687ca5c5c29f4b755edb508622",
    ("SessionEnd", 10, "echo é"): "sha256:0c538c5a4916ca6778014f733390e3e846d4b8a756098e33d19ba7d68932574f",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".codex"
    made.mkdir()
    return made


def hooked(folder: Path, events: dict[str, list[object]]) -> None:
    (folder / "hooks.json").write_text(json.dumps({"hooks": events}), encoding="utf-8")


def group(command: str = TRUSTED_COMMAND, **more: object) -> dict[str, object]:
    return {"hooks": [{"type": "command", "command": command, **more}]}


def trusted(folder: Path, states: dict[str, str]) -> None:
    lines = [f"[hooks.state.'{folder}/hooks.json:{key}']\n{state}\n" for key, state in states.items()]
    (folder / "config.toml").write_text("# mine\n" + "\n".join(lines), encoding="utf-8")


def reason(folder: Path, command: str = TRUSTED_COMMAND) -> str:
    found = CODEX.setup_blocker(folder.parent, command)
    return found.reason if found else ""


@pytest.mark.parametrize(("event", "seconds", "command"), KNOWN)
def test_a_hook_is_trusted_if_its_hash_is_the_one_that_was_reviewed(
    folder: Path, event: str, seconds: int, command: str
) -> None:
    label = {"PreCompact": "pre_compact", "SessionStart": "session_start", "SessionEnd": "session_end"}[event]
    hooked(folder, {event: [group(command, timeout=seconds)]})
    trusted(folder, {f"{label}:0:0": f'trusted_hash = "{KNOWN[event, seconds, command]}"'})
    assert reason(folder, command) == ""


def test_a_hook_that_changed_since_it_was_reviewed_waits_again(folder: Path) -> None:
    hooked(folder, {"PreCompact": [group("echo 5", timeout=4)]})
    trusted(folder, {"pre_compact:0:0": f'trusted_hash = "{KNOWN["PreCompact", 3, "echo 5"]}"'})
    assert "1 of Holdfast's hooks changed and wait again for a review" in reason(folder, "echo 5")


def test_hooks_that_nobody_reviewed_are_counted_and_the_user_is_sent_to_the_dialog(folder: Path) -> None:
    hooked(folder, {"Stop": [group("theirs"), group()], "SessionStart": [group()]})
    found = CODEX.setup_blocker(folder.parent, TRUSTED_COMMAND)
    assert found is not None
    assert "2 of Holdfast's hooks wait for a review" in found.reason
    assert "silently ignores them" in found.reason
    assert "/hooks" in found.remedy


def test_a_hook_is_known_by_its_place_among_those_of_others(folder: Path) -> None:
    hooked(folder, {"Stop": [group("theirs"), group(statusMessage="ours")]})
    trusted(folder, {"stop:0:0": 'trusted_hash = "sha256:theirs"'})
    assert "1 of Holdfast's hooks wait" in reason(folder)
    # How a field that a person added counts is not known: then the word of the settings is taken.
    trusted(folder, {"stop:1:0": 'trusted_hash = "sha256:some"'})
    assert reason(folder) == ""


def test_hooks_that_were_turned_off_are_said(folder: Path) -> None:
    hooked(folder, {"Stop": [group(statusMessage="ours")]})
    trusted(folder, {"stop:0:0": 'trusted_hash = "sha256:some"\nenabled = false'})
    assert reason(folder) == "1 of Holdfast's hooks are turned off"


@pytest.mark.parametrize("config", [b"", b"\xff", b"[hooks]\nstate = 1\n", b"a = "])
def test_settings_that_cannot_be_read_trust_nothing(folder: Path, config: bytes) -> None:
    hooked(folder, {"Stop": [group()]})
    (folder / "config.toml").write_bytes(config)
    assert "wait for a review" in reason(folder)


@pytest.mark.parametrize("hooks", [b"", b"[]", b'{"hooks": {"Stop": [1, {"hooks": [2]}]}}', b'{"hooks": []}'])
def test_without_hooks_of_ours_there_is_nothing_to_review(folder: Path, hooks: bytes) -> None:
    assert reason(folder) == ""
    (folder / "hooks.json").write_bytes(hooks)
    assert reason(folder) == ""
