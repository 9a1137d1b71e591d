"""The first command after an update: it renews what setup wrote, says so once, and does what it was asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holdfast import __version__, environment, hook
from holdfast.engine.health.installation import relay_command
from holdfast.harnesses import get
from tests.cli.conftest import HARNESS, Person


@pytest.fixture
def updated(person: Person) -> Person:
    """Someone whose Holdfast was updated after setup."""
    assert person.types("setup", HARNESS, "--yes").status == 0
    environment.version_note(person.home).write_text("0.1.0 /usr/bin/python3\n")
    (person.home / "bin" / "hook.py").write_text("# the hook of 0.1.0\n")
    return person


def hook_of(person: Person) -> bytes:
    return (person.home / "bin" / "hook.py").read_bytes()


def test_it_renews_and_says_so_once(updated: Person) -> None:
    done = updated.types("sessions", "--json")
    assert (
        done.err
        == f"note: Holdfast is now {__version__}, it was 0.1.0; 2 files that `holdfast setup` wrote renewed\n"
    )
    assert done.json == []
    assert hook_of(updated) == Path(hook.__file__).read_bytes()
    assert updated.types("sessions", "--json").err == ""


@pytest.mark.parametrize("words", [["hook-command", HARNESS], ["demo", "--help"], ["--version"], ["help"]])
def test_commands_that_have_nothing_to_do_with_it_leave_it_alone(updated: Person, words: list[str]) -> None:
    updated.types(*words)
    assert hook_of(updated) == b"# the hook of 0.1.0\n"


def test_what_cannot_be_renewed_is_named_and_the_command_goes_on(updated: Person) -> None:
    (updated.home / "manifest.json").write_text("not JSON")
    done = updated.types("sessions", "--json")
    assert done.status == 0
    assert "hooks could not be renewed" in done.err
    assert "run `holdfast doctor`" in done.err


def test_the_daemon_renews_too(updated: Person) -> None:
    """`doctor` starts it and renews nothing itself."""
    updated.types("doctor")
    log = updated.home / "logs" / "daemon.log"
    updated.types("down")
    assert "renewed what setup wrote" in log.read_text()
    assert hook_of(updated) == Path(hook.__file__).read_bytes()


def test_a_relay_that_is_gone_ends_at_once_and_in_silence(tmp_path: Path) -> None:
    command = relay_command(get(HARNESS), tmp_path / "gone")
    done = subprocess.run(command, input=b"{}\n", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
