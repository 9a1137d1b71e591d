"""Doctor: is everything as it should be? Each check gives a finding, with what to do where it is not.

Nothing is mended here. Whether the daemon answers is asked by the caller, who alone can speak to it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import msgspec

from holdfast import config
from holdfast.core.events import Skipped
from holdfast.engine.processes import alive
from holdfast.engine.redactor import lists_of, mark_of
from holdfast.errors import HoldfastError, ManifestUnreadable
from holdfast.files import install
from holdfast.files.install import EditedFile
from holdfast.harnesses.base import Envelope, Harness
from holdfast.stores.base import Store

FILES_LOOKED_AT = 5_000
LEAST_FREE = 1 << 20
ROUND_TRIP_TIME = 10.0
TRIAL_LETTER = b'"holdfast doctor"'
"""No harness writes a letter like this: it is taken in, counted as unreadable, and changes nothing else."""
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `fix` says what to do, and is empty where nothing has to be done."""

    check: str
    ok: bool
    detail: str
    fix: str


def fine(check: str, detail: str) -> Finding:
    """All is well."""
    return Finding(check, ok=True, detail=detail, fix="")


def wrong(check: str, detail: str, fix: str) -> Finding:
    """Something has to be done."""
    return Finding(check, ok=False, detail=detail, fix=fix)


# ---------------------------------------------------------------- the home and what is in it


def check_home(home: Path) -> Finding:
    """The home is there, can be written, and is for its owner's eyes only."""
    if not home.is_dir():
        return wrong("home", f"there is no home at {home}", "run `holdfast setup`")
    exposed = [path for path in (home, *_inside(home)) if _is_exposed(path)] if os.name != "nt" else []
    if exposed:
        detail = f"others may look into {exposed[0]}, one of {len(exposed)}"
        return wrong("home", detail, f"run `chmod -R go= {shlex.quote(str(home))}`")
    if not os.access(home, os.W_OK):
        return wrong(
            "home", f"{home} cannot be written", "make it writable, or name another in HOLDFAST_HOME"
        )
    if shutil.disk_usage(home).free < LEAST_FREE:
        return wrong("home", f"the disk that holds {home} is full", "make room on it")
    return fine("home", f"{home}, for its owner only")


def check_settings(home: Path, root: Path, project_id: str, environment: Mapping[str, str]) -> Finding:
    """The settings can be used, and every key in them counts."""
    try:
        warnings = config.load(home, root, project_id, environment).warnings
    except HoldfastError as error:
        return wrong("config", error.message, error.hint or "mend the file that is named")
    if warnings:
        return wrong("config", "; ".join(warnings), "take these keys out of the files")
    return fine("config", "the settings can be used; `holdfast config` shows them")


def check_store(store: Store, path: Path) -> Finding:
    """The store is sound all through."""
    if not path.exists():
        return fine("store", "there is none yet; it is made with the first letter")
    problem = store.check()
    if problem:
        fix = "run `holdfast restart`: the store is set aside as it is, and a new one begun"
        return wrong("store", f"{path}: {problem}", fix)
    return fine("store", f"{path}, {path.stat().st_size // 1024} KiB, sound")


def check_redactor(store: Store, home: Path, environment: Mapping[str, str]) -> Finding:
    """How far all that is kept went through the redactor of today; the daemon does the rest when idle."""
    try:
        redactor = mark_of(lists_of(config.load(home, None, None, environment).config))
    except HoldfastError:
        return fine("redactor", "cannot be told before the settings can be used")
    state = store.redaction(redactor)
    if state.stale:
        return fine("redactor", f"{state.stale:,} of {state.rows:,} rows still to be rewritten")
    return fine("redactor", f"all {state.rows:,} rows redacted by version {redactor}")


def check_set_aside(home: Path) -> Finding:
    """No damaged store was set aside and forgotten."""
    aside = ", ".join(sorted(path.name for path in home.glob("store.corrupt-*.db")))
    if aside:
        fix = f"take out of it what you need, then remove it from {home}"
        return wrong("set aside", f"a damaged store was replaced by a new one: {aside}", fix)
    return fine("set aside", "no damaged store")


def check_spool(home: Path) -> Finding:
    """No letter was lost."""
    dropped, unreadable = _count(home, "dropped"), _count(home, "unreadable")
    detail = f"{spooled(home)} letters wait, {dropped} were dropped, {unreadable} could not be read"
    if dropped or unreadable:
        return wrong("spool", detail, f"once seen, remove `dropped` and `unreadable` from {home / 'spool'}")
    return fine("spool", detail)


def check_skipped(skipped: Mapping[str, int], every: Iterable[Harness]) -> Finding:
    """What could not be read, by reason: for knowing, since a harness may always write something new."""
    ours = {_trial_reason(harness) for harness in every}
    listed = [f"{reason} ({times})" for reason, times in sorted(skipped.items()) if reason not in ours]
    return fine("skipped", "could not be read: " + ", ".join(listed) if listed else "everything was read")


def spooled(home: Path) -> int:
    """How many letters wait in the spool."""
    return sum(1 for _ in (home / "spool").glob("*.letter"))


# ---------------------------------------------------------------- the connection to a harness


def check_setup(home: Path) -> Finding:
    """Setup was run, and what it did is on record."""
    try:
        edited = install.read_manifest(home).edited
    except ManifestUnreadable as error:
        return wrong("setup", error.message, error.hint)
    if not edited:
        return wrong("setup", "setup was never run", "run `holdfast setup`")
    return fine("setup", "done for " + ", ".join(str(record.path) for record in edited))


def check_hooks(home: Path, harness: Harness, command: str) -> Finding:
    """What setup wrote for this harness is still in its settings, and is what it would write today."""
    check, fix = f"hooks of {harness.name}", f"run `holdfast setup {harness.name}`"
    records = _records(home, harness)
    if not records:
        return wrong(check, f"{harness.title} is here, but setup was not run for it", fix)
    for record in records:
        found = _texts_in(record.path)
        missing = [placed for placed in record.placed if placed.identity not in found]
        if missing:
            return wrong(check, f"{len(missing)} of our entries are gone from {record.path}", fix)
        if any(placed.identity != command for placed in record.placed):
            return wrong(check, f"{record.path} has the command line of another installation", fix)
    return fine(check, "in " + ", ".join(str(record.path) for record in records))


def check_interpreters(home: Path, harness: Harness) -> Finding:
    """The Python that runs the hook is there, and so is the one that runs the daemon."""
    check = f"interpreter for {harness.name}"
    hooks, note = shlex.split(installed(home, harness))[0], home / "bin" / "interpreter"
    daemons = note.read_text(encoding="utf-8").strip() if note.is_file() else ""
    gone = [path for path in (hooks, daemons or str(note)) if not _is_program(Path(path))]
    if gone:
        return wrong(check, f"no Python at `{gone[0]}`", "run `holdfast setup` again")
    return fine(check, f"the hook runs with {hooks}, the daemon with {daemons}")


def check_round_trip(home: Path, harness: Harness, skipped: Callable[[], Mapping[str, int]]) -> Finding:
    """A real letter goes through the installed command line and the daemon into the store.

    `skipped` tells what the store counted as unreadable: there the trial letter shows when it has arrived.
    """
    check, again = f"round trip of {harness.name}", "run `holdfast setup` again"
    reason = _trial_reason(harness)
    before, began = skipped().get(reason, 0), time.monotonic()
    words = shlex.split(installed(home, harness))
    try:
        done = subprocess.run(
            words, input=TRIAL_LETTER, capture_output=True, timeout=ROUND_TRIP_TIME, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return wrong(check, f"the hook could not be run: {error}", again)
    took = round((time.monotonic() - began) * 1000)
    if done.returncode or done.stdout or done.stderr:
        return wrong(check, f"the hook was not silent (exit {done.returncode})", again)
    if skipped().get(reason, 0) > before:
        return fine(check, f"a letter went through hook and daemon into the store in {took} ms")
    if os.environ.get("HOLDFAST_DISABLE") == "1":
        return wrong(check, "HOLDFAST_DISABLE=1 turns the hook off", "unset HOLDFAST_DISABLE")
    return wrong(check, f"a letter did not reach the store in {took} ms", "look at `holdfast logs`")


def installed(home: Path, harness: Harness) -> str:
    """The command line that setup gave to this harness; empty if it gave none."""
    identities = [placed.identity for record in _records(home, harness) for placed in record.placed]
    return identities[0] if identities else ""


def _records(home: Path, harness: Harness) -> list[EditedFile]:
    """The settings files in which our command for this harness stands, as far as that is on record."""
    try:
        edited = install.read_manifest(home).edited
    except ManifestUnreadable:
        return []
    return [record for record in edited if any(f" {harness.name} " in one.identity for one in record.placed)]


def _trial_reason(harness: Harness) -> str:
    """Under which reason the trial letter is counted."""
    skipped = harness.parse_hook(TRIAL_LETTER, Envelope(id="doctor", harness=harness.name, at=0))
    return f"letter: {skipped.reason}" if isinstance(skipped, Skipped) else ""


def _texts_in(file: Path) -> set[str]:
    """Every text that stands somewhere in a settings file; none if it is gone or cannot be read."""
    try:
        return set(_texts(msgspec.json.decode(file.read_bytes())))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return set()


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in cast("list[object]", value):
                yield from _texts(each)
        case dict():
            for each in cast("dict[str, object]", value).values():
                yield from _texts(each)
        case _:
            pass


# ---------------------------------------------------------------- processes


def check_leftovers(home: Path, daemon_pid: int) -> Finding:
    """No process of ours lives that nobody can reach."""
    left = sorted({*_daemons_of(home), lock_holder(home)} - {daemon_pid, 0})
    if left:
        pids = " ".join(map(str, left))
        return wrong("leftovers", f"daemons that do not answer: {pids}", f"end them: `kill {pids}`")
    return fine("leftovers", "no process left behind")


def lock_holder(home: Path) -> int:
    """The daemon that holds the home's lock, as its file says; 0 if there is none."""
    try:
        pid = int((home / "run" / "lock").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
    # The file outlives its daemon, and a pid is used again.
    return pid if alive(pid, 0) and _runs_daemon(pid) else 0


def _daemons_of(home: Path) -> Iterator[int]:
    """The daemons of this home, where the system shows them."""
    own = b"HOLDFAST_HOME=" + os.fsencode(home)
    for entry in PROC.glob("[0-9]*"):
        try:
            if _runs_daemon(int(entry.name)) and own in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue


def _runs_daemon(pid: int) -> bool:
    """Whether the process is one of our daemons; taken for one where its command line cannot be seen."""
    if not PROC.is_dir():
        return True
    try:
        return b"holdfast.daemon" in (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


# ---------------------------------------------------------------- files


def _inside(home: Path) -> Iterator[Path]:
    """What lies in the home, but for `bin`: what Python keeps compiled there is as public as its source."""
    looked_at = 0
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if Path(folder, name) != home / "bin"]
        for name in (*folders, *files):
            looked_at += 1
            if looked_at > FILES_LOOKED_AT:
                return
            yield Path(folder, name)


def _is_exposed(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & 0o077)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _count(home: Path, name: str) -> int:
    """A number that hooks keep beside their letters."""
    try:
        return int((home / "spool" / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
