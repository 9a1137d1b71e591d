"""Doctor: checks the installation. Each check gives a finding, with what to do if something is wrong.

Checks change nothing. The caller checks whether the daemon answers, because only it can connect;
`connections` checks the harnesses.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from holdfast import config
from holdfast.core.text.strings import many
from holdfast.engine.home_store import is_on_server
from holdfast.engine.liveness import (
    PROC,
    is_plain_file,
    lock_holder,
    rejected_hook_events,
    runs_daemon,
    spool_counter,
    spooled_hook_events,
)
from holdfast.engine.redaction.redactor import lists_of, mark_of
from holdfast.errors import HoldfastError, ModelError
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Count
from holdfast.stores.base import Store
from holdfast.stores.codec import to_iso
from holdfast.stores.store_files import RECOVER, emptied, set_aside_stores

LEAST_FREE = 1 << 20


class Mend(StrEnum):
    """What `doctor --fix` can do by itself: it loses nothing, and can be repeated."""

    CLOSE = "close the home to others"
    SETUP = "write what setup wrote once more"
    RESTART = "restart the daemon"
    END = "end the daemons that do not answer"
    COUNT = "begin to count anew"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; `fix` says what to do, and is empty if nothing is."""

    check: str
    ok: bool
    detail: str
    fix: str
    mend: Mend | None = None
    """How `doctor --fix` can fix it."""
    absent: bool = False
    """Whether there was nothing to check, because the harness is not installed or not connected."""

    @property
    def row(self) -> dict[str, object]:
        """The finding as programs get it."""
        return {
            "check": self.check,
            "ok": self.ok,
            "detail": self.detail,
            "fix": self.fix,
            "mend": self.mend,
        }


@dataclass(frozen=True, slots=True)
class HealthVerdict:
    """The findings by result, each in the order of the checks."""

    problems: tuple[CheckResult, ...]
    passed: tuple[CheckResult, ...]
    absent: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """All findings, problems first."""
        return (*self.problems, *self.passed, *self.absent)

    @property
    def summary(self) -> str:
        """One line, such as `1 problem, 43 checks passed, 2 harnesses not in use`."""
        parts = [
            many(len(self.problems), "problem") if self.problems else "no problem",
            f"{many(len(self.passed), 'check')} passed",
        ]
        if self.absent:
            parts.append(f"{many(len(self.absent), 'harness', 'harnesses')} not in use")
        return ", ".join(parts)


def verdict_of(findings: Iterable[CheckResult]) -> HealthVerdict:
    """What these findings mean together; `doctor`, `status` and the dashboard show the same."""
    findings = tuple(findings)
    return HealthVerdict(
        tuple(one for one in findings if not one.ok),
        tuple(one for one in findings if one.ok and not one.absent),
        tuple(one for one in findings if one.absent),
    )


def fine(check: str, detail: str) -> CheckResult:
    """A finding without a problem."""
    return CheckResult(check, ok=True, detail=detail, fix="")


def wrong(check: str, detail: str, fix: str, mend: Mend | None = None) -> CheckResult:
    """A finding with a problem."""
    return CheckResult(check, ok=False, detail=detail, fix=fix, mend=mend)


def absent(check: str, detail: str) -> CheckResult:
    """A finding about a harness that is not installed or not connected: neither a problem nor passed."""
    return CheckResult(check, ok=True, detail=detail, fix="", absent=True)


# ---------------------------------------------------------------- the home and what is in it


def check_home(home: Path) -> CheckResult:
    """Check that the home exists, is writable, and is readable by its owner only."""
    if not home.is_dir():
        return fine("home", f"{home} is not there yet; `holdfast setup` makes it")
    wrong_modes = [path for path in _inside(home) if _wrong_mode(path)] if sys.platform != "win32" else []
    if wrong_modes:
        exposed = [path for path in wrong_modes if path.lstat().st_mode & 0o077]
        what = "others may look into" if exposed else "the mode is wrong of"
        detail = f"{what} {(exposed or wrong_modes)[0]}, one of {len(wrong_modes)}"
        fix = f"run `chmod -R u=rwX,go= {shlex.quote(str(home))}`"
        return wrong("home", detail, fix, Mend.CLOSE)
    if not os.access(home, os.W_OK):
        return wrong(
            "home", f"{home} cannot be written", "make it writable, or name another in HOLDFAST_HOME"
        )
    if shutil.disk_usage(home).free < LEAST_FREE:
        return wrong("home", f"the disk that holds {home} is full", "make room on it")
    return fine("home", f"{home}, for its owner only")


def check_settings(
    home: Path, root: Path | None, project_id: str | None, environment: Mapping[str, str]
) -> CheckResult:
    """Check that the settings are valid and have no unknown keys."""
    loaded = config.load(home, root, project_id, environment)
    try:
        config.require_protection(loaded.config)
    except HoldfastError as error:
        return wrong("config", error.message, error.hint)
    if loaded.warnings:
        return wrong("config", "; ".join(loaded.warnings), "correct or remove what is named")
    return fine("config", "the settings can be used; `holdfast config` shows them")


def check_store(store: Store, path: Path) -> CheckResult:
    """Check the integrity of the whole store."""
    if is_on_server(path.parent):
        return _check_server(store)
    if reason := emptied(path):
        return wrong("store", f"{path}: {reason}", "run `holdfast restart`, then " + RECOVER)
    if not path.exists():
        return fine("store", "there is none yet; the first hook event creates it")
    problem = store.check()
    if problem:
        fix = "run `holdfast restart`: the store is set aside as it is, and a new one begun; then " + RECOVER
        return wrong("store", f"{path}: {problem}", fix)
    return fine("store", f"{path}, {path.stat().st_size / 1e6:,.1f} MB, sound")


def _check_server(store: Store) -> CheckResult:
    """Check a store that is no file of the home: its disk and its backups are its owner's."""
    if problem := store.check():
        return wrong(
            "store", problem, "look after the database; what hooks report waits in the spool meanwhile"
        )
    advice = "its backups are those of the database's owner"
    return fine("store", f"{store.place}, {store.size // 1024} KiB, answers; {advice}")


def check_redactor(store: Store, home: Path, environment: Mapping[str, str]) -> CheckResult:
    """Report how much is still to be redacted by the current rules; the daemon does that when idle."""
    try:
        redactor = mark_of(lists_of(config.load(home, None, None, environment).config))
    except HoldfastError:
        return fine("redactor", "cannot be told before the settings can be used")
    state = store.redaction(redactor)
    if state.stale:
        return fine("redactor", f"{state.stale:,} of {state.rows:,} rows still to be rewritten")
    return fine("redactor", f"all {state.rows:,} rows redacted by version {redactor}")


def check_records(store: Store, home: Path, environment: Mapping[str, str]) -> CheckResult:
    """Report how much conversation is stored, and the limit."""
    settings = config.load(home, None, None, environment).config
    if settings.unreadable is not None:
        return fine("records", "cannot be told before the settings can be used")
    records = settings.records
    stored = store.records_kept()
    limits = f"of at most {records.max_mb:,} MB and {records.retention_days:,} days"
    since = f", since {to_iso(stored.since)[:10]}" if stored.passages else ""
    return fine("records", f"{stored.passages:,} passages, {stored.bytes / 1e6:.1f} MB{since}; {limits}")


def check_tokens(counter: Callable[[], Count | None]) -> CheckResult:
    """Check that tokens can be counted."""
    try:
        token_counter = counter()
    except ModelError as error:
        return wrong("tokens", error.message, error.hint)
    if token_counter is None:
        return wrong("tokens", "what is about to be sent cannot be counted", "`holdfast logs` says why")
    return fine("tokens", "what is about to be sent can be counted")


def check_set_aside(home: Path) -> CheckResult:
    """Check that no damaged store is waiting for the user's decision."""
    aside = set_aside_stores(home / "store.db")
    if aside:
        return wrong("set aside", "; ".join(map(str, aside)), aside[0].advice)
    return fine("set aside", "no damaged store")


def check_spool(home: Path) -> CheckResult:
    """Check that no hook event was lost."""
    dropped, unreadable = spool_counter(home, "dropped"), rejected_hook_events(home)
    waiting = spooled_hook_events(home)
    detail = f"{many(waiting, 'hook event')} waiting, {dropped} dropped, {unreadable} unreadable"
    if dropped or unreadable:
        reasons = ", ".join(f"{reason} ({times})" for reason, times in _reasons(home).most_common(3))
        fix = f"once seen, remove `dropped`, `unreadable` and `rejected` from {home / 'spool'}"
        return wrong("spool", f"{detail}: {reasons}" if reasons else detail, fix, Mend.COUNT)
    return fine("spool", detail)


# ---------------------------------------------------------------- processes


def check_leftovers(home: Path, daemon_pid: int) -> CheckResult:
    """Check that no unreachable daemon is running."""
    running = leftovers(home, daemon_pid)
    if running:
        pids = " ".join(map(str, running))
        return wrong("leftovers", f"daemons that do not answer: {pids}", f"end them: `kill {pids}`", Mend.END)
    return fine("leftovers", "no process left behind")


def leftovers(home: Path, daemon_pid: int) -> list[int]:
    """The daemons of this home except the one that answers."""
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


def close_to_others(home: Path) -> None:
    """Make everything in the home accessible to its owner only."""
    for path in _inside(home):
        if mode := _wrong_mode(path):
            with suppress(PermissionError):  # It belongs to another user; the check reports it again.
                path.chmod(mode)


def count_anew(home: Path) -> None:
    """Reset the count of lost hook events and their reasons."""
    for path in (home / "spool" / "dropped", home / "spool" / "unreadable", *_reports(home)):
        path.unlink(missing_ok=True)


def _inside(home: Path) -> Iterator[Path]:
    """The home and everything in it except Python's compiled files, which are as public as their source.

    A folder comes before its contents, so that an unreadable one can be fixed before it is entered.
    """
    yield home
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(folder, name) for name in (*folders, *files))


def _wrong_mode(path: Path) -> int:
    """The mode that a file should have; 0 if it has it."""
    try:
        status = path.lstat()
    except OSError:
        return 0
    if stat.S_ISLNK(status.st_mode):
        return 0
    # An executable file stays executable.
    mode = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600 | status.st_mode & stat.S_IXUSR
    return 0 if stat.S_IMODE(status.st_mode) == mode else mode


def _reports(home: Path) -> list[Path]:
    """The daemon's reports on the last rejected hook events, one file each."""
    return [path for path in (home / "spool" / "rejected").glob("*.json") if is_plain_file(path)]


def _reasons(home: Path) -> Counter[str]:
    """Why the last hook events were rejected, and how many for each reason."""
    reasons = Counter[str]()
    for path in _reports(home):
        with suppress(OSError, ValueError):
            reasons[str(json.loads(path.read_bytes())["reason"])] += 1
    return reasons
