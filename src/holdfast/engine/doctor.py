"""Doctor: is everything as it should be? Each check gives a finding, with what to do where it is not.

Nothing is mended by looking. Whether the daemon answers is asked by the caller, who alone can speak to it;
how the harnesses are connected is for `connections` to say.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from holdfast import config
from holdfast.engine.presence import PROC, lock_holder, runs_daemon, spooled
from holdfast.engine.redactor import lists_of, mark_of
from holdfast.errors import HoldfastError, ModelError
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Count
from holdfast.stores.base import Store
from holdfast.stores.codec import to_iso

FILES_LOOKED_AT = 5_000
LEAST_FREE = 1 << 20


class Mend(StrEnum):
    """What `doctor --fix` can do by itself: it takes nothing from anybody, and can be done again."""

    CLOSE = "close the home to others"
    SETUP = "write what setup wrote once more"
    RESTART = "restart the daemon"
    END = "end the daemons that do not answer"
    COUNT = "begin to count anew"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `fix` says what to do, and is empty where nothing has to be done."""

    check: str
    ok: bool
    detail: str
    fix: str
    mend: Mend | None = None
    """How it can be mended without a person."""


def fine(check: str, detail: str) -> Finding:
    """All is well."""
    return Finding(check, ok=True, detail=detail, fix="")


def wrong(check: str, detail: str, fix: str, mend: Mend | None = None) -> Finding:
    """Something has to be done."""
    return Finding(check, ok=False, detail=detail, fix=fix, mend=mend)


# ---------------------------------------------------------------- the home and what is in it


def check_home(home: Path) -> Finding:
    """The home is there, can be written, and is for its owner's eyes only."""
    if not home.is_dir():
        return wrong("home", f"there is no home at {home}", "run `holdfast setup`")
    exposed = [path for path in (home, *_inside(home)) if _is_exposed(path)] if os.name != "nt" else []
    if exposed:
        detail = f"others may look into {exposed[0]}, one of {len(exposed)}"
        return wrong("home", detail, f"run `chmod -R go= {shlex.quote(str(home))}`", Mend.CLOSE)
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


def check_records(store: Store, home: Path, environment: Mapping[str, str]) -> Finding:
    """How much of what sessions said is kept, and how much may be."""
    try:
        records = config.load(home, None, None, environment).config.records
    except HoldfastError:
        return fine("records", "cannot be told before the settings can be used")
    kept = store.records_kept()
    room = f"of at most {records.max_mb:,} MB and {records.retention_days:,} days"
    since = f", since {to_iso(kept.since)[:10]}" if kept.passages else ""
    return fine("records", f"{kept.passages:,} passages, {kept.bytes / 1e6:.1f} MB{since}; {room}")


def check_tokens(counter: Callable[[], Count | None]) -> Finding:
    """Tokens are counted by the ranks that they should be counted by."""
    try:
        count = counter()
    except ModelError as error:
        return wrong("tokens", error.message, error.hint)
    if count is None:
        return wrong("tokens", "what is about to be sent cannot be counted", "`holdfast logs` says why")
    return fine("tokens", "what is about to be sent can be counted")


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
        fix = f"once seen, remove `dropped` and `unreadable` from {home / 'spool'}"
        return wrong("spool", detail, fix, Mend.COUNT)
    return fine("spool", detail)


# ---------------------------------------------------------------- processes


def check_leftovers(home: Path, daemon_pid: int) -> Finding:
    """No process of ours lives that nobody can reach."""
    left = leftovers(home, daemon_pid)
    if left:
        pids = " ".join(map(str, left))
        return wrong("leftovers", f"daemons that do not answer: {pids}", f"end them: `kill {pids}`", Mend.END)
    return fine("leftovers", "no process left behind")


def leftovers(home: Path, daemon_pid: int) -> list[int]:
    """The daemons of this home but the one that answers."""
    return sorted({*_daemons_of(home), lock_holder(home)} - {daemon_pid, 0})


def _daemons_of(home: Path) -> Iterator[int]:
    """The daemons of this home, where the system shows them."""
    own = b"HOLDFAST_HOME=" + os.fsencode(home)
    for entry in PROC.glob("[0-9]*"):
        try:
            if runs_daemon(int(entry.name)) and own in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue


# ---------------------------------------------------------------- files


def close(home: Path) -> None:
    """Let nobody but the owner look into the home."""
    for path in (home, *_inside(home)):
        if _is_exposed(path):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~0o077)


def count_anew(home: Path) -> None:
    """Forget how many letters were lost."""
    for name in ("dropped", "unreadable"):
        (home / "spool" / name).unlink(missing_ok=True)


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


def _count(home: Path, name: str) -> int:
    """A number that hooks keep beside their letters."""
    try:
        return int((home / "spool" / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
