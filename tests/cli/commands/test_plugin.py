"""Plugins on the command line: what is written is what the repository holds, and works in an empty home."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from holdfast.cli.commands.plugin import pluggable, plugin_files
from holdfast.harnesses.base import Harness, Pluggable
from tests.cli.conftest import HARNESS, Person

ROOT = Path(__file__).parents[3]
FOLDERS = (".claude-plugin", ".agents/plugins", "plugin", "extensions")


def files_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_repository_holds_what_is_written() -> None:
    written = {str(file.file): file.content for file in plugin_files(pluggable())}
    held = {
        f"{folder}/{name}": content for folder in FOLDERS for name, content in files_in(ROOT / folder).items()
    }
    assert sorted(held) == sorted(written), "run `make plugins`"
    different = [name for name, content in written.items() if held[name] != content]
    assert not different, "run `make plugins`"


def test_it_prints_each_file_and_how_to_install_it(person: Person) -> None:
    folder = person.root / "plugins"
    done = person.types("plugin", str(folder), HARNESS)
    assert done.status == 0, done.err
    files = files_in(folder)
    assert sorted(done.out.split()) == sorted(str(folder / name) for name in files)
    assert f"claude plugin marketplace add {folder}" in done.err
    assert ".agents/plugins/marketplace.json" not in files
    assert not person.settings.exists()
    assert not person.home.exists()


def test_its_help_names_the_harnesses_that_have_one(person: Person) -> None:
    listed = re.findall(r"HARNESS is one of: (.*)\.", person.types("plugin", "--help").out)
    assert listed == [", ".join(one.name for one in pluggable())]


@pytest.mark.parametrize("harness", pluggable(), ids=lambda harness: harness.name)
def test_the_page_of_a_harness_shows_the_commands_that_are_printed(harness: Harness) -> None:
    assert isinstance(harness, Pluggable)
    page = (ROOT / "docs" / "harnesses" / f"{harness.name}.md").read_text(encoding="utf-8")
    shown = [line.partition("  #")[0].rstrip() for line in page.splitlines()]
    commands = [line for line in harness.install_commands("PATH") if not line.startswith("#")]
    assert [line for line in commands if line not in shown] == []


def test_as_json(person: Person) -> None:
    folder = person.root / "plugins"
    told = person.types("plugin", str(folder), "--json").json
    assert HARNESS in told["harnesses"]
    assert sorted(told["files"]) == sorted(str(folder / name) for name in files_in(folder))


def test_the_hook_of_a_plugin_captures_in_a_home_that_knows_nothing(person: Person) -> None:
    folder = person.root / "plugins"
    person.types("plugin", str(folder), HARNESS)
    program = person.root / "bin" / "holdfast"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {" ".join(person.command())} "$@"\n')
    program.chmod(0o755)
    hooks = json.loads((folder / "plugin" / "hooks" / "hooks.json").read_text())["hooks"]
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": str(person.project),
        "prompt": "mend it",
    }
    done = subprocess.run(
        ["/bin/sh", "-c", hooks["UserPromptSubmit"][0]["hooks"][0]["command"]],
        input=json.dumps(payload).encode(),
        env={
            **person.environment,
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "CLAUDE_PLUGIN_ROOT": str(folder / "plugin"),
            "CLAUDE_PLUGIN_DATA": str(person.root / "data"),
        },
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [session["session_key"] for session in person.types("sessions", "--json").json] == ["s1"]
    assert person.types("unsetup", "--yes").status == 0
    assert not (person.home / "bin").exists()


def test_twice_is_the_same_as_once(person: Person) -> None:
    folder = person.root / "plugins"
    person.types("plugin", str(folder))
    once = files_in(folder)
    assert person.types("plugin", str(folder)).status == 0
    assert files_in(folder) == once


def test_a_folder_with_other_things_in_it_is_refused_and_left_alone(person: Person) -> None:
    (person.root / "mine").mkdir()
    (person.root / "mine" / "notes.txt").write_text("mine")
    refused = person.types("plugin", str(person.root / "mine"))
    assert refused.status == 1
    assert "holds other things" in refused.err
    assert files_in(person.root / "mine") == {"notes.txt": b"mine"}


@pytest.mark.parametrize(
    ("words", "said"), [((), "no folder was named"), (("DIR", "openclaw"), "there is no plugin for OpenClaw")]
)
def test_what_cannot_be_written_is_said(person: Person, words: tuple[str, ...], said: str) -> None:
    refused = person.types("plugin", *words, cwd=person.project)
    assert refused.status == 1
    assert said in refused.err


def test_doctor_and_status_know_a_harness_by_its_plugin(person: Person) -> None:
    person.settings.write_text('{"enabledPlugins": {"holdfast@holdfast": true}}')
    checks = {row["check"]: row for row in person.types("doctor", "--json").json}
    assert checks["setup"]["ok"]
    assert checks[f"hooks of {HARNESS}"]["detail"] == "its plugin has them"
    person.types("plugin", "--prepare")
    states = {row["name"]: row["state"] for row in person.types("status", "--json").json["harnesses"]}
    assert states[HARNESS] == "connected"
    said = person.types("setup", HARNESS, "--yes").err
    assert "Claude Code has the plugin, too: it leaves hooks and tools to what setup installed" in said
    assert "Claude Code still has the plugin" in person.types("unsetup", "--yes").err
