"""Setup in one project: its files are the user's own, git never sees them, and nobody is told twice."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import HARNESS, Done, Person

LOCAL = '{\n\t"permissions": {"allow": ["Bash(ls)"]}\n}'
CONFIG = '# mine\nmodel = "x" # the best\n'
FILES = {
    HARNESS: (".claude/settings.local.json", ".mcp.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "gemini": (".gemini/settings.json",),
}


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def exclude(person: Person) -> Path:
    """The project is a repository with one commit; this is where git is told what to leave alone."""
    git(person.project, "init", "--quiet", "--initial-branch=main")
    git(person.project, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    return person.project / ".git" / "info" / "exclude"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def set_up(person: Person, *names: str) -> Done:
    done = person.types("setup", "--project", *names, "--yes")
    assert done.status == 0, done.err
    return done


@pytest.mark.parametrize("name", FILES)
def test_its_hooks_stand_in_the_project_alone_and_git_does_not_see_them(
    person: Person, exclude: Path, name: str
) -> None:
    at_home = tree(person.user_home)
    set_up(person, name)
    command = person.types("hook-command", name).out.strip()
    assert json.dumps(command) in (person.project / FILES[name][0]).read_text()
    assert all((person.project / file).is_file() for file in FILES[name])
    assert git(person.project, "status", "--porcelain") == ""
    assert tree(person.user_home) == at_home


def test_unsetup_leaves_every_byte_of_project_and_repository(person: Person, exclude: Path) -> None:
    (person.project / ".claude").mkdir()
    (person.project / ".claude" / "settings.local.json").write_text(LOCAL)
    (person.project / ".codex").mkdir()
    (person.project / ".codex" / "config.toml").write_text(CONFIG)
    exclude.write_text("# mine\n*.log")
    before = tree(person.project)
    set_up(person, *FILES)
    assert exclude.read_text().splitlines()[:2] == ["# mine", "*.log"]
    assert len(exclude.read_text().splitlines()) == 7
    assert person.types("unsetup", "--project", "--yes").status == 0
    assert tree(person.project) == before
    assert {path.name for path in person.project.iterdir()} == {".claude", ".codex", ".git"}
    assert not (person.home / "manifest.json").exists()


def test_one_project_is_undone_without_the_other(person: Person, exclude: Path) -> None:
    set_up(person, HARNESS)
    kept = tree(person.project)
    second = person.project.with_name("second")
    second.mkdir()
    before = tree(second)
    assert person.types("setup", "--project", HARNESS, "--yes", cwd=second).status == 0
    assert person.types("unsetup", "--project", "--yes", cwd=second).status == 0
    assert tree(second) == before
    assert tree(person.project) == kept


def test_worktrees_share_what_git_is_told_until_the_last_is_undone(person: Person, exclude: Path) -> None:
    before = exclude.read_bytes()
    second = person.project.with_name("second")
    git(person.project, "worktree", "add", "--quiet", "-b", "side", str(second))
    set_up(person, HARNESS)
    assert person.types("setup", "--project", HARNESS, "--yes", cwd=second).status == 0
    assert person.types("unsetup", "--project", "--yes", cwd=second).status == 0
    assert git(person.project, "status", "--porcelain") == ""
    assert person.types("unsetup", "--project", "--yes").status == 0
    assert exclude.read_bytes() == before


def test_twice_is_the_same_as_once_and_a_dry_run_is_nothing(person: Person, exclude: Path) -> None:
    before = tree(person.project)
    shown = person.types("setup", "--project", *FILES, "--dry-run")
    assert f"+++ {exclude}\n" in shown.out
    assert "+/.codex/hooks.json\n" in shown.out
    assert tree(person.project) == before
    set_up(person, *FILES)
    once = tree(person.project)
    set_up(person, *FILES)
    assert tree(person.project) == once


def test_a_file_that_git_tracks_is_refused_with_a_way_out(person: Person, exclude: Path) -> None:
    (person.project / ".gemini").mkdir()
    (person.project / ".gemini" / "settings.json").write_text("{}")
    git(person.project, "add", "--force", ".")
    before = tree(person.project)
    done = person.types("setup", "--project", "gemini", "--yes")
    assert done.status == 1
    assert "`.gemini/settings.json` is tracked by git" in done.err
    assert "or leave out `--project`" in done.err
    assert tree(person.project) == before
    assert not person.home.exists()


def test_where_the_project_has_servers_of_its_own_there_are_hooks_without_tools(
    person: Person, exclude: Path
) -> None:
    (person.project / ".mcp.json").write_text('{"mcpServers": {}}')
    git(person.project, "add", ".")
    done = person.types("setup", "--project", HARNESS, "--yes")
    assert done.status == 1
    assert "`.mcp.json` is tracked by git" in done.err
    assert "leave Holdfast's tools out with `--no-mcp`" in done.err
    set_up(person, HARNESS, "--no-mcp")
    assert (person.project / ".mcp.json").read_text() == '{"mcpServers": {}}'
    assert (person.project / ".claude" / "settings.local.json").is_file()


def test_a_link_out_of_the_project_is_refused(person: Person, exclude: Path) -> None:
    (person.project / ".codex").symlink_to(person.user_home)
    done = person.types("setup", "--project", "codex", "--yes")
    assert done.status == 1
    assert "a link leads from `.codex/hooks.json` to another place" in done.err
    assert not (person.user_home / "hooks.json").exists()


def test_nobody_is_told_twice(person: Person, exclude: Path) -> None:
    person.types("setup", HARNESS, "--yes")
    done = person.types("setup", "--project", HARNESS, "--yes")
    assert done.status == 1
    assert f"run `holdfast unsetup {HARNESS}` first" in done.err
    assert not (person.project / ".claude").exists()
    person.types("unsetup", HARNESS, "--yes")
    set_up(person, HARNESS)
    done = person.types("setup", HARNESS, "--yes")
    assert done.status == 1
    assert f"is set up in `{person.project}` alone" in done.err


@pytest.mark.parametrize("name", ["opencode"])
def test_a_harness_without_such_settings_is_refused(person: Person, exclude: Path, name: str) -> None:
    done = person.types("setup", "--project", name, "--yes")
    assert done.status == 1
    assert f"hint: set it up for all of them: `holdfast setup {name}`" in done.err


def test_a_home_is_no_project(person: Person) -> None:
    done = person.types("setup", "--project", HARNESS, "--yes", cwd=person.user_home)
    assert "your home is no project" in done.err


def test_what_is_missing_there_is_said(person: Person, exclude: Path) -> None:
    said = set_up(person, HARNESS, "codex").err
    assert f"connected: Claude Code and Codex (in {person.project})\n" in said
    assert f"Codex: it does not trust {person.project}" in said


def test_doctor_looks_where_it_was_set_up(person: Person, exclude: Path) -> None:
    set_up(person, HARNESS, "--no-mcp")
    settings = person.project / FILES[HARNESS][0]
    found = {one["check"]: one for one in person.types("doctor", "--json").json}
    assert found[f"hooks of {HARNESS}"]["detail"] == f"in {settings}"
    elsewhere = {one["check"]: one for one in person.types("doctor", "--json", cwd=person.user_home).json}
    assert elsewhere[f"hooks of {HARNESS}"]["detail"] == f"in other projects alone: {person.project}"
    before = settings.read_bytes()
    settings.write_text("{}")
    broken = {one["check"]: one for one in person.types("doctor", "--json").json}
    assert broken[f"hooks of {HARNESS}"]["fix"] == f"run `holdfast setup --project {HARNESS}`"
    assert person.types("doctor", "--fix").status == 0
    assert json.loads(settings.read_bytes()) == json.loads(before)
    assert not person.settings.exists()
