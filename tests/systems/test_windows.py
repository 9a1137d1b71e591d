"""Windows, as far as Linux can show it: in an interpreter that is like Windows's (`as_windows.py`)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AS_WINDOWS = str(ROOT / "tests" / "systems" / "as_windows.py")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a model of Windows that runs on Linux")

IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
import holdfast

modules = [module.name for module in pkgutil.walk_packages(holdfast.__path__, "holdfast.")]
for name in modules:
    if not name.endswith("__main__"):
        importlib.import_module(name)
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    raise SystemExit(f"this is no model of Windows: there is {name}")
print(sys.platform, len(modules))
"""
LOCK_TWICE = """
import sys
from pathlib import Path
from holdfast.daemon.local.lock import take_lock

home = Path(sys.argv[1])
first = take_lock(home)
assert first and take_lock(home) is None
assert (home / "run" / "lock").read_text("ascii").strip().isdecimal()
first.release()
assert take_lock(home)
"""
CHANGE_TOGETHER = """
import sys
from pathlib import Path
from holdfast.errors import PathRefused
from holdfast.files import together, worktree
from holdfast.files.together import FileWrite, Target

top = Path(sys.argv[1])
journal = top / "journal"
with together.locked(journal):
    changes = [FileWrite(Target(".agents/state.md", top), b"new"), FileWrite(Target(str(top / "b")), b"b")]
    together.write_together(journal, changes)
worktree.write(top, ".agents/state.md", b"newer")
assert worktree.read(top, ".agents/state.md") == b"newer"
assert worktree.listed(top, ".agents") == ("state.md",)
(top / "away").symlink_to("/etc")
try:
    worktree.write(top, "away/x.md", b"")
except PathRefused as refused:
    assert "there is a link on the way" in str(refused)
else:
    raise SystemExit("it followed a link")
"""
END_WHAT_TAKES_TOO_LONG = """
import subprocess, sys
from holdfast import system

started = []
subprocess.run = lambda words, **options: started.append(words)
system.end_tree(4711)
assert started == [["taskkill", "/F", "/T", "/PID", "4711"]], started
assert [number.name for number in system.ways_to_end()] == ["SIGTERM"]
"""


@dataclass(frozen=True)
class Machine:
    """A user's home, in which every program is run as on Windows."""

    user: Path

    @property
    def home(self) -> Path:
        return self.user / ".holdfast"

    @property
    def environment(self) -> dict[str, str]:
        names = {"HOME", "USERPROFILE"}
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **dict.fromkeys(names, str(self.user))}

    def run(self, *words: str, payload: str = "") -> str:
        done = subprocess.run(
            [sys.executable, AS_WINDOWS, *words],
            cwd=self.user,
            env=self.environment,
            input=payload,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr if "-c" in words else "") == (0, ""), done.stderr
        return done.stdout

    def holdfast(self, *words: str) -> str:
        return self.run("-m", "holdfast.cli", *words)

    def hook(self, command: str, **payload: str) -> str:
        """Run a hook's command line as Windows does: split into words, and no shell."""
        program, *words = split_as_windows_does(command)
        assert Path(program).exists()
        return self.run(*words, payload=json.dumps(payload))


def split_as_windows_does(command: str) -> list[str]:
    """The words of a command line: quotes group, and backslashes are nothing special before other letters."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    user = tmp_path / "user"
    (user / ".claude").mkdir(parents=True)
    return Machine(user)


def test_no_module_needs_what_only_posix_has(machine: Machine) -> None:
    platform, number = machine.run("-c", IMPORT_EVERYTHING).split()
    assert platform == "win32"
    assert int(number) > 300


@pytest.mark.parametrize("code", [LOCK_TWICE, CHANGE_TOGETHER, END_WHAT_TAKES_TOO_LONG])
def test_locks_files_and_processes(machine: Machine, code: str) -> None:
    machine.run("-c", code, str(machine.user))


def test_a_hooks_command_line_needs_no_shell(machine: Machine) -> None:
    command = machine.holdfast("hook-command", "claude-code").strip()
    outside_quotes = re.sub(r'"[^"]*"', "", command)
    assert not set(outside_quotes) & set("$%&|<>();'`^!\\")
    assert "%" not in command
    assert split_as_windows_does(command)[1:4] == ["-I", "-S", "-c"]


@pytest.mark.slow
def test_a_session_is_kept_and_setup_undone(machine: Machine) -> None:
    settings = machine.user / ".claude" / "settings.json"
    settings.write_text('{"model": "opus"}\n', encoding="utf-8")
    machine.holdfast("setup", "claude-code", "--yes")
    command = json.loads(settings.read_text("utf-8"))["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    transcript = machine.user / ".claude" / "projects" / "shop" / "s-1.jsonl"
    start = {"session_id": "s-1", "cwd": str(machine.user), "transcript_path": str(transcript)}
    try:
        machine.hook(command, hook_event_name="SessionStart", source="startup", **start)
        machine.holdfast("up")
        assert (machine.home / "run" / "endpoint").read_text("ascii").startswith("tcp ")
        (session,) = json.loads(machine.holdfast("sessions", "--json"))
        assert session["session_key"] == "s-1"
    finally:
        machine.holdfast("down")
    assert not (machine.home / "run" / "endpoint").exists()
    machine.holdfast("unsetup", "claude-code", "--yes")
    assert settings.read_text("utf-8") == '{"model": "opus"}\n'
