"""Setup and doctor with more than one harness on the machine, and one that asks its user first."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.cli.conftest import Person

HOOKS = '{ "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]} }\n'
CONFIG = '# mine\nmodel = "x" # the best\n\n[projects."/p"]\ntrust_level = "trusted"\n'


@pytest.fixture
def folder(person: Person) -> Path:
    """The folder of a harness whose user reviews hooks, beside the one that everybody has here."""
    made = person.user_home / ".codex"
    made.mkdir()
    (made / "hooks.json").write_text(HOOKS)
    (made / "config.toml").write_text(CONFIG)
    return made


def findings(person: Person) -> dict[str, dict[str, str]]:
    return {one["check"]: one for one in person.types("doctor", "--json").json}


def test_setup_without_names_finds_all_that_are_there(person: Person, folder: Path) -> None:
    done = person.types("setup", "--yes")
    assert done.status == 0, done.err
    ours = {name: person.types("hook-command", name).out.strip() for name in ("claude-code", "codex")}
    assert json.dumps(ours["claude-code"]) in person.settings.read_text()
    assert json.dumps(ours["codex"]) in (folder / "hooks.json").read_text()
    assert "connected: Claude Code and Codex (in all projects)\n" in done.err


def test_unsetup_leaves_every_byte_of_all_of_them(person: Person, folder: Path) -> None:
    person.settings.write_text("{}")
    person.types("setup", "--yes")
    assert person.types("unsetup", "--yes").status == 0
    assert person.settings.read_text() == "{}"
    assert (folder / "hooks.json").read_text() == HOOKS
    assert (folder / "config.toml").read_text() == CONFIG


def test_one_can_be_undone_alone(person: Person, folder: Path) -> None:
    person.types("setup", "--yes")
    kept = person.settings.read_bytes()
    assert person.types("unsetup", "codex", "--yes").status == 0
    assert (folder / "hooks.json").read_text() == HOOKS
    assert (folder / "config.toml").read_text() == CONFIG
    assert person.settings.read_bytes() == kept


def test_setup_sends_the_user_to_the_review_and_trusts_nothing_itself(person: Person, folder: Path) -> None:
    done = person.types("setup", "codex", "--yes")
    assert "7 of Holdfast's hooks wait for a review" in done.err
    assert "/hooks" in done.err
    assert "trusted_hash" not in (folder / "config.toml").read_text()


def test_doctor_says_that_hooks_wait_for_a_review_and_what_to_do(person: Person, folder: Path) -> None:
    person.types("setup", "--yes")
    found = findings(person)
    assert [check for check, one in found.items() if not one["ok"]] == ["trust of codex"]
    assert "7 of Holdfast's hooks wait for a review" in found["trust of codex"]["detail"]
    assert "review dialog" in found["trust of codex"]["fix"]
    assert found["hooks of codex"]["detail"].startswith(f"in {folder}")
    assert "from hook event to brief, through hook and daemon" in found["round trip of codex"]["detail"]


def test_health_over_http_gives_the_verdict_of_doctor(person: Person, folder: Path) -> None:
    person.types("setup", "--yes")
    failed = {check: one["fix"] for check, one in findings(person).items() if not one["ok"]}
    port = (person.home / "http" / "port").read_text().split()[1]
    asked = Request(f"http://127.0.0.1:{port}/api/health")
    asked.add_header("Authorization", f"Bearer {(person.home / 'http' / 'token').read_text().strip()}")
    with urlopen(asked) as answer:
        health = json.load(answer)
    assert {one["check"]: one["fix"] for one in health["findings"] if not one["ok"]} == failed
    assert list(failed) == ["trust of codex"]
    assert not health["ok"]
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (None, "not installed: no `codex` on the search path"),
        ("echo codex-cli 0.166.0", "0.166.0, recorded with 0.166.0"),
        ("echo codex-cli 0.99.1", "0.99.1, recorded with 0.166.0"),
        ("echo codex-cli 1.0.2", "1.0.2, later than what it was recorded with 0.166.0: news in it may be"),
        ("exit 3", "does not tell it; recorded with 0.166.0"),
    ],
)
def test_doctor_says_which_version_is_here_and_which_is_known(
    person: Person, folder: Path, program: str | None, says: str
) -> None:
    if program is not None:
        (person.root / "bin").mkdir()
        (person.root / "bin" / "codex").write_text(f"#!/bin/sh\n{program}\n")
        (person.root / "bin" / "codex").chmod(0o755)
    found = findings(person)["version of codex"]
    assert found["ok"]
    assert says in found["detail"]


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    ],
)
def test_a_harness_that_keeps_its_files_elsewhere_is_found_there(
    person: Person, name: str, variable: str, file: str
) -> None:
    elsewhere = person.root / "elsewhere"
    (elsewhere / file).parent.mkdir(parents=True)
    (elsewhere / file).write_text("{}")
    moved = Person(person.root, {variable: str(elsewhere)})
    assert moved.types("setup", name, "--yes").status == 0
    assert json.dumps(moved.types("hook-command", name).out.strip()) in (elsewhere / file).read_text()
    assert f"hooks of {name}" in findings(moved)
    assert findings(moved)[f"hooks of {name}"]["ok"]
    assert not any(path.is_file() for path in person.user_home.rglob("*"))
    assert moved.types("unsetup", "--yes").status == 0
    assert (elsewhere / file).read_text() == "{}"


def an_earlier_version_wrote(person: Person, files: list[Path]) -> None:
    """Have these files, and the record of them, as after a setup of long ago."""
    old, manifest = b"// as it was long ago\n", person.home / "manifest.json"
    told = json.loads(manifest.read_text())
    for file in files:
        file.write_bytes(old)
        (record,) = [one for one in told["copied"] if one["path"] == str(file)]
        record["sha256"] = sha256(old).hexdigest()
    manifest.write_text(json.dumps(told))


def test_an_upgrade_renews_plugins_and_skills_but_not_what_the_user_changed(person: Person) -> None:
    person.types("setup", "opencode", "openclaw", "--yes")
    opencode, openclaw = person.user_home / ".config/opencode", person.user_home / ".openclaw"
    ours = [opencode / "holdfast/plugin.js", openclaw / "holdfast/index.js", openclaw / "holdfast/post.js"]
    ours += [opencode / "skills/holdfast/SKILL.md", person.home / "bin/hook.py"]
    new = [file.read_bytes() for file in ours]
    (opencode / "holdfast/post.js").write_bytes(b"// mine\n")
    an_earlier_version_wrote(person, ours)
    found = findings(person)
    for check, file in (("Holdfast", ours[4]), ("opencode", ours[0]), ("openclaw", ours[1])):
        assert not found[f"files of {check}"]["ok"]
        assert str(file) in found[f"files of {check}"]["detail"]
    mended = person.types("doctor", "--fix")
    assert f"{ours[0]}: changed" in mended.err
    assert f"{opencode / 'holdfast/post.js'}: left there, because it is not as we wrote it" in mended.err
    assert [file.read_bytes() for file in ours] == new
    assert (opencode / "holdfast/post.js").read_bytes() == b"// mine\n"
    an_earlier_version_wrote(person, ours)
    assert person.types("setup", "opencode", "openclaw", "--yes").status == 0
    assert [file.read_bytes() for file in ours] == new
