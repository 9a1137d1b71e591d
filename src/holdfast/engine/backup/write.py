"""Write a backup: the home's files and a snapshot of its store, in one sealed file that is read back.

The daemon may run meanwhile. What belongs to this machine alone stays here: see `STAYING`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias, cast

from holdfast import __version__, system
from holdfast.core.sharing.identity import Machine
from holdfast.engine.backup.archive import BLOCK, ArchiveWriter, Description, is_inside
from holdfast.errors import HoldfastError
from holdfast.files import machine_id
from holdfast.files.sealed import USUAL_COST, Cost, SealedReader, SealedWriter, new_salt
from holdfast.harnesses.zstd import ZstdFile
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.sqlite import snapshot

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Progress: TypeAlias = Callable[[str, float], None]
"""Called with the current step and how far it is, from 0 to 1."""

STORE: Final = "store.db"
STAYING: Final = frozenset({"bin", "http", "run", "manifest.json", machine_id.NAME})
"""What a backup does not hold: the hook and the Python that runs it, port and tokens of the HTTP listener,
the daemon's lock, socket and token, what setup changed on this machine, and which machine it is."""
_STORE_LOGS: Final = (f"{STORE}-wal", f"{STORE}-shm", f"{STORE}-journal")
_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class WrittenBackup:
    """A backup that was written and read back."""

    file: Path
    files: int
    bytes: int
    """How much they hold."""
    size: int
    """How large the backup is."""
    left_out: tuple[str, ...]
    """Links and other things in the home that are no files."""


@dataclass(frozen=True, slots=True)
class HomeFile:
    """A file of the home to be backed up: its name in the home, and where its content is."""

    name: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class HomeContents:
    """What is in a home: folders, files, and what is neither."""

    folders: tuple[str, ...]
    files: tuple[HomeFile, ...]
    others: tuple[str, ...]


def write_backup(
    home: Path,
    file: Path,
    passphrase: str,
    machine: Machine,
    at: int,
    progress: Progress,
    cost: Cost = USUAL_COST,
) -> WrittenBackup:
    """Write the home into a sealed file, in place of what is there; raises HoldfastError if that fails."""
    file = file.absolute()
    _refuse_place(home, file)
    with _explained(file), _draft(file) as draft:
        # First what waits in the spool: it is in the store by the time of its snapshot, or here, or in both.
        contents = contents_of(home)
        with _store_snapshot(home, at, progress) as (store, schema):
            files = (*store, *contents.files)
            total = sum(each.size for each in files)
            description = Description(__version__, schema, at, machine.id, machine.name, total)
            with draft.open("r+b") as target:
                sealing = SealedWriter(target, passphrase, new_salt(), cost)
                hashing = _Hashing(ZstdFile(sealing, "w", level=_LEVEL))
                archive = ArchiveWriter(cast("BinaryIO", hashing), description)
                _add_all(
                    archive, contents.folders, files, lambda done: progress("writing", done / (total or 1))
                )
                hashing.target.close()
                sealing.finish()
                target.flush()
                os.fsync(target.fileno())
        _check(draft, file, sealing, hashing, archive.bytes, progress)
        size = draft.stat().st_size
        system.replace(draft, file)
        system.sync_folder(file.parent)
    return WrittenBackup(file, archive.files, archive.bytes, size, contents.others)


def contents_of(home: Path) -> HomeContents:
    """What of a home goes into a backup, apart from its store; a link to a file counts as the file."""
    folders, files, others = list[str](), list[HomeFile](), list[str]()
    for folder, names, file_names in os.walk(home):
        here = Path(folder)
        inside = here.relative_to(home)
        is_top = here == home
        links = [name for name in names if (here / name).is_symlink()]
        names[:] = sorted(n for n in names if n not in links and not (is_top and _stays(n)))
        others += [str(inside / name) for name in names if not is_inside(name)]
        names[:] = filter(is_inside, names)
        folders += [str(inside / name) for name in names]
        for name in sorted((*file_names, *links)):
            if (is_top and _stays(name)) or _is_passing(str(inside / name)):
                continue
            size = _size_of_file(here / name)
            if size is None or not is_inside(str(inside / name)):
                others.append(str(inside / name))
            else:
                files.append(HomeFile(str(inside / name), here / name, size))
    return HomeContents(tuple(folders), tuple(files), tuple(others))


def is_settings_backup(name: str) -> bool:
    """Whether a file of the home is one of setup's copies of a harness's settings, for unsetup."""
    folder, _, base = name.rpartition("/")
    return folder == "backups" and not base.startswith("store-")


def _stays(name: str) -> bool:
    return name in STAYING or name in (STORE, *_STORE_LOGS) or name.startswith(".")


def _is_passing(name: str) -> bool:
    """Whether a file stays with this machine, or is one that somebody is writing."""
    base = name.rpartition("/")[2]
    is_draft = base.startswith(".holdfast-") or base.endswith(".part") or ".salvage-" in base
    return is_draft or is_settings_backup(name)


def _size_of_file(path: Path) -> int | None:
    """The size of a regular file, or the one that a link leads to; None for anything else."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None if path.is_symlink() else 0
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextlib.contextmanager
def _store_snapshot(home: Path, at: int, progress: Progress) -> Generator[tuple[tuple[HomeFile, ...], int]]:
    """The store as it is now, in a file of its own, and its schema; nothing and 0 if there is none."""
    path = home / STORE
    if not path.exists():
        yield (), 0
        return
    progress("copying the store", 0.0)
    with snapshot(path, home / "backups", at) as (copy, schema):
        yield (HomeFile(STORE, copy, copy.stat().st_size),), schema


def _add_all(
    archive: ArchiveWriter, folders: tuple[str, ...], files: tuple[HomeFile, ...], tell: Callable[[int], None]
) -> None:
    for folder in folders:
        archive.add_folder(folder)
    for each in files:
        content = _blocks(each.path)
        first = next(content, None)
        if first is None and not each.path.exists():
            continue  # It was there for a moment, such as a hook event that the daemon has recorded.
        archive.add_file(each.name, _telling(first, content, lambda: tell(archive.bytes)))
    archive.finish()


def _telling(first: bytes | None, rest: Iterator[bytes], tell: Callable[[], None]) -> Iterator[bytes]:
    if first is not None:
        yield first
    for block in rest:
        tell()
        yield block


def _blocks(path: Path) -> Iterator[bytes]:
    """The content of a regular file; nothing if it is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    with os.fdopen(descriptor, "rb") as source:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            while block := source.read(BLOCK):
                yield block


def _check(
    draft: Path, file: Path, sealing: SealedWriter, hashing: _Hashing, total: int, progress: Progress
) -> None:
    """Read back what is on the disk, decrypt it and compare it with what was written."""
    digest, done = hashlib.sha256(), 0
    with draft.open("rb") as source:
        if advise := getattr(os, "posix_fadvise", None):
            # Not what the system still has in memory, but what is on the disk.
            advise(source.fileno(), 0, 0, getattr(os, "POSIX_FADV_DONTNEED", 4))
        plain = ZstdFile(io.BufferedReader(SealedReader(source, str(file), sealing.key)), "r")
        while block := plain.read(BLOCK):
            digest.update(block)
            done += len(block)
            progress("checking", min(done / (total or 1), 1.0))
    if digest.digest() != hashing.digest():
        raise HoldfastError(
            f"`{file}` does not hold what was written", "the disk may be failing; nothing was kept"
        )


class _Hashing(io.RawIOBase):
    """Passes on what is written, and hashes it."""

    def __init__(self, target: ZstdFile) -> None:
        super().__init__()
        self.target: Final = target
        self._digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: ReadableBuffer) -> int:
        self._digest.update(content)
        return self.target.write(content)

    def digest(self) -> bytes:
        return self._digest.digest()


def _refuse_place(home: Path, file: Path) -> None:
    if not file.parent.is_dir():
        raise HoldfastError(f"there is no folder `{file.parent}`", "make it, or name another file")
    if file.exists() and not file.is_file():
        raise HoldfastError(f"`{file}` is not a regular file", "name another one")
    if file.parent.resolve().is_relative_to(home.resolve()):
        raise HoldfastError(f"`{file}` is in the home that is backed up", "name a file elsewhere")


@contextlib.contextmanager
def _draft(file: Path) -> Generator[Path]:
    """An empty file beside the one to be written, for its owner alone; removes what killed processes left."""
    for leftover in file.parent.glob(f".{file.name}.*.part"):
        pid = leftover.name.removesuffix(".part").rpartition(".")[2]
        if pid.isdigit() and not system.process_exists(int(pid)):
            leftover.unlink(missing_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _explained(file: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise HoldfastError(
            f"the backup `{file}` cannot be written: {error.strerror or error}", "nothing was kept of it"
        ) from error
