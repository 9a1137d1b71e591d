"""Restore: a home put back from a backup, whole or not at all.

The new home is made beside the old one, and takes its place in one step. What belongs to this machine alone
comes from the old one, which stays beside it. What was forgotten since the backup stays forgotten.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import uuid
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final, cast

from holdfast import system
from holdfast.engine.backup.archive import ArchivedFile, ArchiveReader, Description
from holdfast.engine.backup.write import STAYING, STORE, Progress, is_settings_backup
from holdfast.engine.liveness import spooled_files
from holdfast.engine.privacy import forget
from holdfast.engine.repository import projects
from holdfast.errors import BackupUnreadable, HoldfastError
from holdfast.files import atomic, forgotten_record, machine_id
from holdfast.files.sealed import SealedReader
from holdfast.harnesses.zstd import ZstdError, ZstdFile
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.sqlite import latest, open_store
from holdfast.stores.store_files import stamp

_STAGED: Final = ".restoring-"
_MARK: Final = ".restoring"
"""A file in a new home until it is in its place: only what has it may be removed."""
_READY: Final = ".restored"
"""How a whole new home is called while it takes the place of the old one in two steps."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A home that was put back."""

    home: Path
    description: Description
    files: int
    aside: Path | None
    """Where the home of before is; None if there was none."""
    is_same_machine: bool


def holds_something(home: Path) -> bool:
    """Whether there is a home that restoring would replace."""
    return home.exists() and (not home.is_dir() or any(home.iterdir()))


def restore(
    file: Path, home: Path, passphrase: str, at: int, progress: Progress, make_way: Callable[[], object]
) -> Restored:
    """Put the backup in place of the home. The caller has asked the user.

    `make_way` stops a daemon that works in the home; it is called once the backup has been read whole.
    """
    real = Path(os.path.realpath(home))
    finish_interrupted(home)
    with _explained(file, real), _staged(real) as staged, file.open("rb") as source:
        sealed = io.BufferedReader(SealedReader(source, str(file), passphrase=passphrase))
        reader = ArchiveReader(cast("BinaryIO", ZstdFile(sealed, "r")), str(file))
        description = reader.description
        _refuse_later(file, description)
        files = _unpack(reader, staged, progress)
        make_way()
        progress("preparing", 1.0)
        with _locked(real):
            is_same = _take_over(real, staged, description)
            _settle(staged, at, is_same=is_same)
            _make_durable(staged)
            aside = _put_in_place(staged, real, at)
        (real / _MARK).unlink(missing_ok=True)
    if aside is not None:
        _bring_late_hook_events(aside, real)
    return Restored(home, description, files, aside, is_same)


def finish_interrupted(home: Path) -> None:
    """Finish a restoration that was killed in the moment when neither home was in its place."""
    real = Path(os.path.realpath(home))
    ready = _ready(real)
    if not real.exists() and ready.is_dir():
        ready.rename(real)
        (real / _MARK).unlink(missing_ok=True)


# ---------------------------------------------------------------- making the new home


def _refuse_later(file: Path, description: Description) -> None:
    if description.schema > latest():
        raise BackupUnreadable(
            f"`{file}` was written by a later version of Holdfast "
            f"(schema {description.schema}, this is {latest()})",
            "upgrade with `uv tool upgrade holdfast`",
        )


def _unpack(reader: ArchiveReader, staged: Path, progress: Progress) -> int:
    files = done = 0
    total = reader.description.bytes or 1
    for entry in reader.entries():
        target = staged.joinpath(*entry.path.parts)
        if entry.path.parts[0] in STAYING:
            raise BackupUnreadable(f"a backup has no `{entry.path.parts[0]}`", "nothing was changed")
        if not isinstance(entry, ArchivedFile):
            target.mkdir(0o700, parents=True, exist_ok=True)
            continue
        target.parent.mkdir(0o700, parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as written:
            for block in entry.content:
                written.write(block)
                done += len(block)
                progress("reading", min(done / total, 1.0))
        files += 1
    return files


def _take_over(old: Path, staged: Path, description: Description) -> bool:
    """Bring what belongs to this machine from the old home; returns whether the backup is of this very home.

    Another machine's home becomes that of a new machine: the original may live on, and what two homes with
    one id share with others could not be told apart.
    """
    is_same = bool(description.machine) and machine_id.read(old) == description.machine
    for name in STAYING - {"run", machine_id.NAME}:
        if (old / name).is_dir():
            shutil.copytree(old / name, staged / name, symlinks=True)
        elif (old / name).is_file():
            shutil.copy2(old / name, staged / name)
    for each in sorted((old / "backups").glob("*")) if (old / "backups").is_dir() else ():
        if is_settings_backup(f"backups/{each.name}") and each.is_file() and not each.name.endswith(".part"):
            (staged / "backups").mkdir(0o700, exist_ok=True)
            shutil.copy2(each, staged / "backups" / each.name)
    id = description.machine if is_same else str(uuid.uuid4())
    atomic.write(staged / machine_id.NAME, f"{id}\n".encode())
    _merge_forgotten(old, staged)
    return is_same


def _merge_forgotten(old: Path, staged: Path) -> None:
    """Add to the backup's record of what was forgotten that of the home it replaces."""
    since, before = forgotten_record.read(old), forgotten_record.read(staged)
    if not since.generation:
        return
    names = dict(before.names)
    for name, at in since.names.items():
        names[name] = max(at, names.get(name, 0))
    key = before.key or since.key
    # Wordings under another key are of another store, and mean nothing here.
    added = since.wordings if since.key == key else ()
    merged = {(each.words, each.blocks): each for each in before.wordings}
    for each in added:
        known = merged.get((each.words, each.blocks))
        merged[each.words, each.blocks] = each if known is None or each.at >= known.at else known
    record = replace(before, generation=token_hex(8), key=key, names=names, wordings=tuple(merged.values()))
    forgotten_record.write(staged, record)


def _settle(staged: Path, at: int, *, is_same: bool) -> None:
    """Open the store once: to migrate it, to drop what was forgotten, and to note a move between machines."""
    if not (staged / STORE).exists():
        return
    store = open_store(staged / STORE, staged / "backups", at)
    try:
        forget.settle(store, staged, at)
        if not is_same:
            with store.writing():
                projects.leave_former_machine(store, at)
        store.leave_wal()
    finally:
        store.close()


def _make_durable(staged: Path) -> None:
    for folder, _, names in os.walk(staged):
        for name in names:
            path = Path(folder, name)
            if path.is_symlink():
                continue
            with path.open("rb") as file:
                os.fsync(file.fileno())
        system.sync_folder(Path(folder))


# ---------------------------------------------------------------- taking its place


def _put_in_place(staged: Path, real: Path, at: int) -> Path | None:
    """Put the new home in place of the old one; returns where the old one is now."""
    if not holds_something(real):
        staged.rename(real)
        system.sync_folder(real.parent)
        return None
    aside = _free_name(real.with_name(f"{real.name}.before-{stamp(at)}"))
    if system.exchange(staged, real):
        # The old home has the draft's name now.
        staged.rename(aside)
    else:
        ready = _ready(real)
        staged.rename(ready)
        real.rename(aside)
        try:
            ready.rename(real)
        except OSError:
            aside.rename(real)
            shutil.rmtree(ready)
            raise
    system.sync_folder(real.parent)
    return aside


def _ready(real: Path) -> Path:
    return real.with_name(f"{real.name}{_READY}")


def _free_name(path: Path) -> Path:
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def _bring_late_hook_events(aside: Path, home: Path) -> None:
    """Bring over what hooks wrote while no daemon ran: it is of sessions that go on."""
    spool = home / "spool"
    for event in spooled_files(aside):
        atomic.make_folder(spool)
        with contextlib.suppress(OSError):
            event.rename(spool / event.name)


@contextlib.contextmanager
def _locked(home: Path) -> Generator[None]:
    """The home's lock, so that no daemon starts in it; raises if one has it."""
    if not holds_something(home):
        yield
        return
    atomic.make_folder(home / "run")
    descriptor = os.open(home / "run" / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        try:
            system.lock(descriptor)
        except OSError:
            raise HoldfastError(
                f"a daemon works in `{home}`", "stop it with `holdfast down`; nothing was changed"
            ) from None
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _staged(real: Path) -> Generator[Path]:
    """A folder beside the home, for its owner alone; what killed processes left there goes."""
    if os.path.ismount(real):
        raise HoldfastError(
            f"`{real}` is where a disk is mounted, and cannot be replaced whole",
            "name a folder inside it in HOLDFAST_HOME",
        )
    for leftover in real.parent.glob(f"{real.name}{_STAGED}*"):
        pid = leftover.name.rpartition("-")[2]
        if pid.isdigit() and not system.process_exists(int(pid)):
            _clear_leftover(leftover, real)
    _clear_leftover(_ready(real), real)
    atomic.make_folder(real.parent)
    staged = real.with_name(f"{real.name}{_STAGED}{os.getpid()}")
    staged.mkdir(0o700)
    try:
        (staged / _MARK).touch(0o600)
        yield staged
    finally:
        _clear_leftover(staged, real)


def _clear_leftover(folder: Path, real: Path) -> None:
    """Remove an unfinished new home; the home of before, if it was swapped already, only gets its name."""
    if not folder.is_dir():
        return
    if (folder / _MARK).exists() or not any(folder.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)
    else:
        folder.rename(_free_name(real.with_name(f"{real.name}.before")))


@contextlib.contextmanager
def _explained(file: Path, home: Path) -> Generator[None]:
    """Turn an error of the system, or of a stream that ends, into one that says what failed."""
    try:
        yield
    except (EOFError, ZstdError) as error:
        raise BackupUnreadable(f"`{file}` is incomplete or was changed", "nothing was changed") from error
    except OSError as error:
        raise HoldfastError(
            f"`{error.filename or file}`: {error.strerror or error}", f"`{home}` is as it was"
        ) from error
