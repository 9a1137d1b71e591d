"""Which Python and which version of Holdfast a home notes, and when a command renews what setup wrote."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from holdfast import environment, hook

GONE = "/nonexistent/python"
OTHER = "/bin/sh"  # an executable that is there


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home as setup of this version leaves it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hook.py").write_bytes(Path(hook.__file__).read_bytes())
    environment.interpreter_note(tmp_path).write_bytes(environment.own_interpreter())
    environment.version_note(tmp_path).write_bytes(environment.own_version())
    return tmp_path


def test_nothing_is_due_after_setup_or_without_it(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert not environment.is_due(home)
    assert not environment.is_due(tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize(
    ("interpreter", "version", "due"),
    [
        (sys.executable, None, True),
        (sys.executable, f"0.1.0 {environment.base_python()}", True),
        (sys.executable, environment.own_version().decode().replace(" ", " /old"), True),
        (GONE, environment.own_version().decode(), True),
        (OTHER, "0.1.0 /usr/bin/python3", False),
    ],
    ids=["no note", "another version", "another Python", "moved", "another installation"],
)
def test_it_is_due_for_the_installation_that_was_set_up_or_where_that_is_gone(
    home: Path, interpreter: str, version: str | None, *, due: bool
) -> None:
    environment.interpreter_note(home).write_text(f"{interpreter}\n")
    if version is None:
        environment.version_note(home).unlink()
    else:
        environment.version_note(home).write_text(version)
    assert environment.is_due(home) is due


def test_it_is_due_if_another_version_wrote_its_hook_and_no_note(home: Path) -> None:
    (home / "bin" / "hook.py").write_text("# of another version\n")
    assert environment.is_due(home)


@pytest.mark.parametrize(
    ("prefix", "temporary"),
    [
        ("/home/you/.local/share/uv/tools/holdfast", False),
        ("/home/you/.local/share/pipx/venvs/holdfast", False),
        ("/home/you/.cache/pypoetry/virtualenvs/holdfast", False),
        ("/home/you/.cache/uv/archive-v0/wVijAYJyu7Aqw-d5", True),
        ("/home/you/.cache/uv/environments-v2/holdfast-1a2b", True),
        ("/home/you/.cache/pipx/3e28cfc3f5eab5f", True),
    ],
)
def test_the_environment_of_a_single_command_is_temporary(prefix: str, *, temporary: bool) -> None:
    assert environment.is_temporary(prefix) is temporary
