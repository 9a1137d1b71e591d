"""The ledger's file in a worktree, its past versions, and what `.agents.yml` says of it.

All three are written together, so that they never disagree. What the Markdown says is
`core.documents.ledger`'s knowledge; which path it has, the settings'.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from holdfast.core.documents.agents_yml import (
    LedgerSetting,
    Unclear,
    combine_ledger_settings,
    parse_ledger_setting,
)
from holdfast.core.documents.ledger import STAMP, Ledger, conflict, is_ledger, parse
from holdfast.core.documents.ledger import new_ledger_text as ledger_text
from holdfast.core.documents.ledger import read as read_ledger
from holdfast.errors import PathRefused
from holdfast.files import atomic
from holdfast.files.together import FileWrite, Target, locked, write_together
from holdfast.lazy_dataclass import dataclass

VERSIONS_KEPT: Final = 20
LARGEST: Final = 256 * 1024
BY_HAND: Final = "hand"
"""The writer of a version that Holdfast did not write."""
_VERSION: Final = re.compile(r"(\d{15})-([0-9a-z]+)\.md")


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where a worktree's ledger is stored: below the worktree's root, and Holdfast's own folder for it."""

    root: Path
    path: str
    folder: Path

    @property
    def target(self) -> Target:
        """The file itself."""
        return Target(self.path, self.root)

    @property
    def own(self) -> Path:
        """The record of the part of the file that Holdfast wrote."""
        return self.folder / "written.md"

    @property
    def former_own(self) -> Path:
        """Where version 0.1.0 kept that record."""
        return self.folder / "ours.md"

    def alone(self) -> AbstractContextManager[None]:
        """A lock that keeps other Holdfast processes from the same ledger."""
        return locked(self.folder / "journal")


@dataclass(frozen=True, slots=True)
class Version:
    """One state of the file that was kept: when, and who wrote it, as `writer` names a session."""

    at: int
    writer: str
    path: Path

    def text(self) -> str:
        """Its text; empty if it is gone by now."""
        return (atomic.read(self.path) or b"").decode("utf-8", "replace")


def place(home: Path, project_id: str, worktree_id: str, root: Path, path: str) -> LedgerPlace:
    """The place of one worktree's ledger."""
    return LedgerPlace(root, path, home / "projects" / project_id / "ledger" / worktree_id)


def writer(session: str) -> str:
    """How a version names the session that wrote it: keys may hold anything, file names may not."""
    return hashlib.blake2s(session.encode("utf-8", "replace"), digest_size=8).hexdigest()


def read(place: LedgerPlace) -> str | None:
    """The ledger's text; None if there is none. PathRefused for a file that is something else."""
    raw = place.target.read()
    if raw is None:
        return None
    hint = "name another file by `session.ledger_path`, or put this one aside"
    if len(raw) > LARGEST:
        raise PathRefused(f"`{place.path}` is larger than a ledger can be ({LARGEST // 1024} KiB)", hint)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise PathRefused(f"`{place.path}` is not text in UTF-8", hint) from None
    if not is_ledger(text):
        raise PathRefused(f"`{place.path}` is there and is no ledger", hint)
    return text


def read_to_change(place: LedgerPlace) -> str | None:
    """The same; also refused while a merge conflict is in it."""
    text = read(place)
    if line := conflict(text or ""):
        raise PathRefused(
            f"`{place.path}` has a merge conflict in line {line}", "settle the conflict, then save again"
        )
    return text


def own_part(place: LedgerPlace) -> Ledger:
    """The part of the file that Holdfast last wrote."""
    raw = atomic.read(place.own) or atomic.read(place.former_own)
    return read_ledger(parse(raw.decode("utf-8", "replace"))) if raw else Ledger()


def versions(place: LedgerPlace) -> list[Version]:
    """The stored versions of the file, the newest first."""
    return versions_in(place.folder)


def folders(home: Path) -> list[Path]:
    """Holdfast's folders for all ledgers: below each project's folder, one for each worktree."""
    return sorted(folder for folder in home.glob("projects/*/ledger/*") if folder.is_dir())


def project_of(folder: Path) -> str:
    """The id of the project that a ledger's own folder is of."""
    return folder.parent.parent.name


def texts(folder: Path) -> list[Path]:
    """The files of a ledger's own folder that hold any of its words."""
    return sorted(folder.rglob("*.md"))


def versions_in(folder: Path) -> list[Version]:
    """The versions below a ledger's own folder, the newest first."""
    names = [(path, _VERSION.fullmatch(path.name)) for path in (folder / "history").glob("*.md")]
    rows = [Version(int(name[1]), name[2], path) for path, name in names if name]
    return sorted(rows, key=lambda version: (version.at, version.writer), reverse=True)


def write(
    place: LedgerPlace, text: str, own: Ledger, at: int, session: str, redact: Callable[[str], str]
) -> None:
    """Put the text in place, keep it as a version, and before it what someone else had made of the last one.

    In our home nothing stands unredacted; the user's own file is the user's.
    """
    changes = [FileWrite(place.target, text.encode(errors="replace"))]
    changes.append(FileWrite(Target(str(place.own)), ledger_text(own, "").encode(errors="replace")))
    if place.former_own.exists():
        changes.append(FileWrite(Target(str(place.former_own)), None))
    before, past = read(place), versions(place)[:1]
    last = "".join(version.text() for version in past)
    if before and redact(before) != last:
        changes.append(_version(place, at - 1, BY_HAND, redact(before)))
    who = writer(session) if session else BY_HAND
    changes.append(_version(place, at, who, redact(text)))
    # What says the same again, only later, takes the place of what it repeats.
    repeated = [version for version in past if _bare(last) == _bare(redact(text)) and version.at < at]
    changes += [FileWrite(Target(str(version.path)), None) for version in repeated]
    write_together(place.folder / "journal", changes)
    for version in versions(place)[VERSIONS_KEPT:]:
        version.path.unlink(missing_ok=True)


def _bare(text: str) -> list[str]:
    return [line for line in text.splitlines() if not STAMP.match(line)]


def _version(place: LedgerPlace, at: int, who: str, text: str) -> FileWrite:
    return FileWrite(
        Target(str(place.folder / "history" / f"{at:015d}-{who}.md")), text.encode(errors="replace")
    )


LARGEST_AGENTS_FILE: Final = 64 * 1024
AGENTS_VARIABLE: Final = "AGENTS_CONFIG"
AGENTS_LOCAL: Final = ".agents.local.yml"


@dataclass(frozen=True, slots=True)
class AgentsFiles:
    """What the files say together, and what in them could not be used."""

    ledger_setting: LedgerSetting
    warnings: tuple[str, ...] = ()


def read_agents_files(root: Path, environment: Mapping[str, str]) -> AgentsFiles:
    """What the files of the worktree at `root` say of the ledger."""
    ledger_settings: list[LedgerSetting] = []
    warnings: list[str] = []
    for path in _agents_paths(root, environment):
        text = _agents_text(path)
        answer = parse_ledger_setting(text) if isinstance(text, str) else text
        if isinstance(answer, Unclear):
            warnings.append(f"{path}: {answer.reason}; it is ignored")
        else:
            ledger_settings.append(answer)
    return AgentsFiles(combine_ledger_settings(ledger_settings), tuple(warnings))


def _agents_paths(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    name = environment.get(AGENTS_VARIABLE, "").strip() or ".agents.yml"
    if name.startswith("~/"):
        name = environment.get("HOME", "") + name[1:]
    yield root / name
    yield root / AGENTS_LOCAL


def _agents_text(path: Path) -> str | Unclear:
    """The file's text, empty where there is none; a link, a device or a giant is not read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_AGENTS_FILE:
                return Unclear("it is not a regular file of at most 64 KiB")
            return file.read(LARGEST_AGENTS_FILE).decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        return Unclear(f"it cannot be read ({error})")
