"""Doctor: is everything as it should be? Each check gives a finding, with what to do where it is not.

Nothing is mended here. Whether the daemon answers is asked by the caller, who alone can speak to it.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from holdfast import config
from holdfast.core.events import Skipped
from holdfast.engine.processes import alive
from holdfast.errors import HoldfastError
from holdfast.files import install
from holdfast.harnesses.base import Envelope, Harness
from holdfast.stores.base import Store

FILES_LOOKED_AT = 5_000
ROUND_TRIP = "round trip"
ROUND_TRIP_TIME = 10.0
TRIAL_LETTER = b'"holdfast doctor"'
"""No harness writes a letter like this: it is taken in, counted as unreadable, and changes nothing else."""
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `fix` says what to do, and is empty where nothing has to be done."""

    check: str
    ok: bool
    detail: str
    fix: str = ""


def check_home(home: Path) -> Finding:
    """The home is there, and for its owner's eyes only."""
    if not home.is_dir():
        return Finding("home", False, f"there is no home at {home}", "run `holdfast setup`")
    exposed = [path for path in (home, *_files(home)) if _is_exposed(path)] if os.name != "nt" else []
    if exposed:
        detail = f"others may look into {exposed[0]}" + (f" and {len(exposed) - 1} more" if exposed[1:] else "")
        return Finding("home", False, detail, f"run `chmod -R go= {shlex.quote(str(home))}`")
    return Finding("home", True, f"{home}, for its owner only")


def check_settings(home: Path, root: Path, project_id: str, environment: Mapping[str, str]) -> Finding:
    """The settings can be used, and every key in them counts."""
    try:
        warnings = config.load(home, root, project_id, environment).warnings
    except HoldfastError as error:
        return Finding("config", False, error.message, error.hint or "mend the file that is named")
    if warnings:
        return Finding("config", False, "; ".join(warnings), "take the keys that are ignored out of these files")
    return Finding("config", True, "the settings can be used; `holdfast config` shows them")


def check_store(store: Store, path: Path) -> Finding:
    """The store is sound all through."""
    if not path.exists():
        return Finding("store", True, "there is none yet; it is made with the first letter")
    problem = store.check()
    if problem:
        return Finding("store", False, f"{path}: {problem}", "run `holdfast restart`: it is set aside, a new one begun")
    return Finding("store", True, f"{path}, {path.stat().st_size // 1024} KiB, sound")


def check_set_aside(home: Path) -> Finding:
    """No damaged database was set aside and forgotten."""
    aside = sorted(path for path in home.glob("store.corrupt-*.db"))
    if aside:
        names = ", ".join(path.name for path in aside)
        fix = f"take out of it what you need, then remove it from {home}"
        return Finding("set aside", False, f"a damaged store was replaced by a new one: {names}", fix)
    return Finding("set aside", True, "no damaged store")


def check_spool(home: Path) -> Finding:
    """No letter was lost."""
    dropped, unreadable, waiting = _count(home, "dropped"), _count(home, "unreadable"), spooled(home)
    detail = f"{waiting} letters wait, {dropped} were dropped, {unreadable} could not be read"
    if dropped or unreadable:
        return Finding("spool", False, detail, f"once seen, remove `dropped` and `unreadable` in {home / 'spool'}")
    return Finding("spool", True, detail)


def check_skipped(store: Store, harness: Harness) -> Finding:
    """What could not be read, by reason. A harness may always write something new: this is for knowing, not for mending."""
    skipped = {reason: times for reason, times in store.skipped().items() if reason != _trial_reason(harness)}
    listed = ", ".join(f"{reason} ({times})" for reason, times in sorted(skipped.items()))
    return Finding("skipped", True, f"could not be read: {listed}" if listed else "everything could be read")


def check_setup(home: Path) -> Finding:
    """Setup was run, and what it did is on record."""
    try:
        edited = install.read_manifest(home).edited
    except HoldfastError as error:
        return Finding("setup", False, error.message, error.hint)
    if not edited:
        return Finding("setup", False, "setup was never run", "run `holdfast setup`")
    return Finding("setup", True, "done for " + ", ".join(str(record.path) for record in edited))


def installed_commands(home: Path) -> tuple[str, ...]:
    """Every command line of ours that setup put somewhere; none if that is not on record."""
    try:
        edited = install.read_manifest(home).edited
    except HoldfastError:
        return ()
    return tuple(dict.fromkeys(placed.identity for record in edited for placed in record.placed))


def check_hooks(home: Path, harness: Harness, command: str, is_present: bool) -> Finding:
    """What setup wrote for this harness is still in its settings."""
    name, fix = f"hooks of {harness.name}", f"run `holdfast setup {harness.name}`"
    try:
        records = [record for record in install.read_manifest(home).edited if _is_for(record, harness)]
    except HoldfastError:
        return Finding(name, False, "what setup did cannot be read", fix)
    if not records:
        if is_present:
            return Finding(name, False, f"{harness.title} is here, but setup was never run for it", fix)
        return Finding(name, True, f"{harness.title} does not seem to be installed")
    for record in records:
        found = _strings_in(record.path)
        missing = [placed for placed in record.placed if placed.identity not in found]
        if missing:
            return Finding(name, False, f"{len(missing)} of our entries are gone from {record.path}", fix)
        if any(placed.identity != command for placed in record.placed):
            return Finding(name, False, f"{record.path} has the command of another installation", fix)
    return Finding(name, True, "in " + ", ".join(str(record.path) for record in records))


def check_interpreters(home: Path, command: str) -> Finding:
    """The Python that runs the hook is there, and so is the one that runs the daemon."""
    hooks, note = shlex.split(command)[0], home / "bin" / "interpreter"
    daemons = note.read_text(encoding="utf-8").strip() if note.is_file() else ""
    gone = [path for path in (hooks, daemons or str(note)) if not _is_program(path)]
    if gone:
        return Finding("interpreter", False, f"no Python at `{gone[0]}`", "run `holdfast setup` again")
    return Finding("interpreter", True, f"the hook runs with {hooks}, the daemon with {daemons}")


def check_round_trip(command: str, harness: Harness, skipped: Callable[[], Mapping[str, int]]) -> Finding:
    """A real letter goes through the installed command line and the daemon into the store.

    `skipped` tells what the store has counted as unreadable; the trial letter is counted there when it has arrived.
    """
    again = "run `holdfast setup` again"
    reason = _trial_reason(harness)
    before = skipped().get(reason, 0)
    began = time.monotonic()
    try:
        done = subprocess.run(
            shlex.split(command), input=TRIAL_LETTER, capture_output=True, timeout=ROUND_TRIP_TIME, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(ROUND_TRIP, False, f"the hook could not be run: {error}", again)
    took = round((time.monotonic() - began) * 1000)
    if done.returncode or done.stdout or done.stderr:
        return Finding(ROUND_TRIP, False, f"the hook was not silent (exit {done.returncode})", again)
    if skipped().get(reason, 0) > before:
        return Finding(ROUND_TRIP, True, f"a letter went through hook and daemon into the store in {took} ms")
    if "1" in (os.environ.get("HOLDFAST_DISABLE"), os.environ.get("HOLDFAST_INTERNAL")):
        return Finding(ROUND_TRIP, False, "HOLDFAST_DISABLE turns the hook off", "unset HOLDFAST_DISABLE")
    return Finding(ROUND_TRIP, False, f"a letter did not reach the store in {took} ms", "look at `holdfast logs`")


def check_leftovers(home: Path, daemon_pid: int) -> Finding:
    """No process of ours lives that nobody can reach."""
    left = sorted({*_daemons_of(home), lock_holder(home)} - {daemon_pid, 0})
    if left:
        pids = " ".join(map(str, left))
        return Finding("leftovers", False, f"daemons that do not answer: {pids}", f"end them: `kill {pids}`")
    return Finding("leftovers", True, "no process left behind")


def spooled(home: Path) -> int:
    """How many letters wait in the spool."""
    return sum(1 for _ in (home / "spool").glob("*.letter"))


def lock_holder(home: Path) -> int:
    """The process that holds the daemon's lock, as its file says; 0 if there is none."""
    try:
        pid = int((home / "run" / "lock").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
    # The file outlives its daemon, and a pid is used again.
    return pid if alive(pid, 0) and _runs_daemon(pid) else 0


def _runs_daemon(pid: int) -> bool:
    if not _PROC.is_dir():
        return True
    try:
        return b"holdfast.daemon" in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _daemons_of(home: Path) -> Iterator[int]:
    """The daemons of this home that the system shows us."""
    own = b"HOLDFAST_HOME=" + os.fsencode(home)
    for entry in _PROC.glob("[0-9]*"):
        try:
            if _runs_daemon(int(entry.name)) and own in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue


def _files(home: Path) -> Iterator[Path]:
    """What lies in the home, but for `bin`: what Python keeps compiled there is as public as its source."""
    looked_at = 0
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if Path(folder, name) != home / "bin"]
        for name in (*folders, *files):
            looked_at += 1
            if looked_at > FILES_LOOKED_AT:
                return
            yield Path(folder, name)


def _is_program(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)


def _is_exposed(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & 0o077)


def _count(home: Path, name: str) -> int:
    try:
        return int((home / "spool" / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _trial_reason(harness: Harness) -> str:
    """Under which reason the trial letter is counted."""
    skipped = harness.parse_hook(TRIAL_LETTER, Envelope(id="doctor", harness=harness.name, at=0))
    return f"letter: {skipped.reason}" if isinstance(skipped, Skipped) else ""


def _is_for(record: install.EditedFile, harness: Harness) -> bool:
    return any(f" {harness.name} " in placed.identity for placed in record.placed)


def _strings_in(file: Path) -> set[str]:
    """Every text that stands somewhere in a settings file; none if it is gone or cannot be read."""
    try:
        return set(_strings(msgspec.json.decode(file.read_bytes())))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return set()


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _strings(each)
        case dict():
            for each in value.values():
                yield from _strings(each)
        case _:
            pass
