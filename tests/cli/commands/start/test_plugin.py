"""A plugin is written into a folder of its own, and nothing else is touched."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.cli.conftest import HARNESS, Person


def files_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_it_holds_all_that_setup_gives_but_the_status_line(person: Person) -> None:
    folder = person.root / "plugin"
    written = person.types("plugin", HARNESS, str(folder))
    assert written.status == 0
    files = files_in(folder)
    assert sorted(written.out.split()) == sorted(str(folder / name) for name in files)
    hooks = json.loads(files["hooks/hooks.json"])["hooks"]
    assert {"SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"} <= hooks.keys()
    assert json.loads(files[".mcp.json"])["mcpServers"].keys() == {"holdfast"}
    assert json.loads(files[".claude-plugin/plugin.json"])["name"] == "holdfast"
    assert files["skills/holdfast/SKILL.md"].startswith(b"---\nname: holdfast\n")
    assert not person.settings.exists()


def test_its_hook_captures(person: Person) -> None:
    folder = person.root / "plugin"
    person.types("plugin", HARNESS, str(folder))
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": str(person.project),
        "prompt": "mend it",
    }
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(payload).encode(),
        env=person.environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [session["session_key"] for session in person.types("sessions", "--json").json] == ["s1"]


def test_twice_is_the_same_as_once(person: Person) -> None:
    folder = person.root / "plugin"
    person.types("plugin", HARNESS, str(folder))
    once = files_in(folder)
    assert person.types("plugin", HARNESS, str(folder)).status == 0
    assert files_in(folder) == once


def test_a_folder_with_other_things_in_it_is_refused_and_left_alone(person: Person) -> None:
    (person.root / "mine").mkdir()
    (person.root / "mine" / "notes.txt").write_text("mine")
    refused = person.types("plugin", HARNESS, str(person.root / "mine"))
    assert refused.status == 1
    assert "holds other things" in refused.err
    assert files_in(person.root / "mine") == {"notes.txt": b"mine"}
    assert not person.home.exists()


def test_who_is_connected_by_setup_is_told_that_once_is_enough(person: Person) -> None:
    person.settings.write_text("{}")
    person.types("setup", "--yes")
    told = person.types("plugin", HARNESS, str(person.root / "plugin")).err
    assert f"`holdfast unsetup {HARNESS}`" in told


def test_unsetup_takes_away_what_it_needed_in_the_home(person: Person) -> None:
    person.types("plugin", HARNESS, str(person.root / "plugin"))
    assert (person.home / "bin" / "hook.py").is_file()
    assert person.types("unsetup", "--yes").status == 0
    assert not (person.home / "bin").exists()


def test_a_harness_without_plugins_is_named_with_those_that_have_them(person: Person) -> None:
    refused = person.types("plugin", "codex", str(person.root / "plugin"))
    assert refused.status == 1
    assert HARNESS in refused.err
