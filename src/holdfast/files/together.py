"""Several files changed together: after a crash at any moment, all of them are new or all can be made so.

What is to be written is put down first in a journal. Who finds a finished journal finishes its work; a file
that someone else has changed meanwhile is left to them. One process at a time, by a lock that the system
takes back when the process ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Final

from holdfast import system
from holdfast.errors import HoldfastError
from holdfast.files import atomic, worktree
from holdfast.lazy_dataclass import dataclass

WAIT: Final = 5.0
"""So many seconds another process may take before we give up."""
_COMMIT: Final = "commit.json"


@dataclass(frozen=True, slots=True)
class Target:
    """A file: below the top of a worktree, where no link is followed, or anywhere if there is no `root`."""

    path: str
    root: Path | None = None

    def read(self) -> bytes | None:
        """The bytes that are there; None if nothing is."""
        return atomic.read(Path(self.path)) if self.root is None else worktree.read(self.root, self.path)

    def write(self, content: bytes | None) -> None:
        """Put these bytes there; without any, take the file away."""
        if content is None:
            atomic.remove(self.whole)
        elif self.root is None:
            atomic.write(Path(self.path), content)
        else:
            worktree.write(self.root, self.path, content)

    @property
    def whole(self) -> Path:
        """Where it stands."""
        return Path(self.path) if self.root is None else self.root / self.path


@dataclass(frozen=True, slots=True)
class FileWrite:
    """What a file is to hold; without content it is taken away."""

    target: Target
    content: bytes | None


def write_together(journal: Path, changes: Sequence[FileWrite]) -> None:
    """Make all changes, or none if one of them is refused. Only inside `locked`."""
    before = [change.target.read() for change in changes]
    _put_down(journal, changes, before)
    done: list[int] = []
    try:
        for number, change in enumerate(changes):
            change.target.write(change.content)
            done.append(number)
    except HoldfastError:
        for number in reversed(done):
            changes[number].target.write(before[number])
        _clear(journal)
        raise
    _clear(journal)


@contextlib.contextmanager
def locked(journal: Path) -> Generator[None]:
    """Alone with the files of this journal, and with nothing of an earlier process left to be done."""
    atomic.make_folder(journal)
    descriptor = os.open(journal / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(descriptor)
        _finish(journal)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    until = time.monotonic() + WAIT
    while True:
        try:
            system.lock(descriptor)
        except OSError as error:
            if time.monotonic() > until:
                raise HoldfastError(
                    "another Holdfast is writing the same files", "try again in a moment"
                ) from error
            time.sleep(0.02)
        else:
            return


def _put_down(journal: Path, changes: Sequence[FileWrite], before: Sequence[bytes | None]) -> None:
    rows: list[dict[str, Any]] = []
    for number, change in enumerate(changes):
        part = journal / f"{number}.part"
        if change.content is not None:
            atomic.write(part, change.content)
        rows.append(
            {
                "path": change.target.path,
                "root": str(change.target.root or ""),
                "removed": change.content is None,
                "before": _hash(before[number]),
            }
        )
    atomic.write(journal / _COMMIT, json.dumps(rows).encode())


def _finish(journal: Path) -> None:
    """Do what a process that died had put down whole; what it had not, is nothing."""
    commit = atomic.read(journal / _COMMIT)
    for number, row in enumerate(json.loads(commit) if commit else ()):
        target = Target(row["path"], Path(row["root"]) if row["root"] else None)
        content = None if row["removed"] else atomic.read(journal / f"{number}.part")
        # Someone who wrote there since then knows better.
        if _hash(target.read()) == row["before"]:
            target.write(content)
    _clear(journal)


def _clear(journal: Path) -> None:
    """The journal has done its work, or is none; without its last page the parts are nothing."""
    if (journal / _COMMIT).exists():
        atomic.remove(journal / _COMMIT)
    for part in journal.glob("*.part"):
        part.unlink(missing_ok=True)


def _hash(content: bytes | None) -> str:
    return hashlib.sha256(content).hexdigest() if content is not None else ""
