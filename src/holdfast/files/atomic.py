"""One file, read or replaced whole: a reader sees the old bytes or the new ones, never a part.

A link is followed to the regular file behind it, because people keep their settings in a repository of
dotfiles. Whatever is not a regular file is refused: opening a FIFO would wait for ever.
Changing several files together is not here.
"""

import contextlib
import os
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path

from holdfast import system
from holdfast.errors import HoldfastError

_NEW_FOLDER = 0o700
_WRITABLE = 0o222


def read(path: Path) -> bytes | None:
    """The bytes of a regular file; None if nothing is there."""
    with _explained(path, "read"):
        real = _behind(path)
        return None if _status(real) is None else real.read_bytes()


def write(path: Path, content: bytes) -> None:
    """Put `content` in place of the file in one step, keeping its mode, owner and the link that leads to it.

    A new file is for its owner alone, and so are the folders made for it.
    """
    with _explained(path, "write"):
        real = _behind(path)
        replaced = _status(real)
        make_folder(real.parent)
        draft = _draft(real.parent, content, replaced)
        try:
            system.replace(draft, real)
        except OSError:
            draft.unlink()
            raise
        system.sync_folder(real.parent)


def remove(path: Path) -> None:
    """Delete the file; it is no error if it does not exist."""
    with _explained(path, "remove"):
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            system.sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Create the folder and its parents, each accessible to its owner only."""
    # With `parents=True` only the innermost would be.
    for missing in reversed(missing_folders(folder / "file")):
        missing.mkdir(_NEW_FOLDER, exist_ok=True)


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders above `path` that are not there yet, innermost first."""
    return tuple(folder for folder in path.parents if not folder.exists())


def remove_empty_folder(folder: Path) -> None:
    """Delete the folder if it is empty."""
    with _explained(folder, "remove"):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def _behind(path: Path) -> Path:
    """The file that `path` leads to: itself, or the end of a chain of links."""
    if not path.is_symlink():
        return path
    try:
        # Not `Path.resolve`: it tells of a circle of links with a RuntimeError.
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError as error:
        raise HoldfastError(f"`{path}` is a link to a file that is not there") from error


def _status(real: Path) -> os.stat_result | None:
    """The status of a regular file, None if there is no file; anything else is refused."""
    try:
        status = real.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise HoldfastError(f"`{real}` is not a regular file")
    return status


def _draft(folder: Path, content: bytes, replaced: os.stat_result | None) -> Path:
    """A finished file beside the one it will replace, on the disk and with the right mode and owner."""
    if replaced is not None and not replaced.st_mode & _WRITABLE:
        # Renaming over it would work, but whoever made it read-only did not want it changed.
        raise PermissionError(0, "the file is read-only")
    # A new file keeps the mode that `mkstemp` gives it, 0600.
    descriptor, name = tempfile.mkstemp(prefix=".holdfast-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if replaced is not None:
                system.keep_owner(file.fileno(), replaced)
            os.fsync(file.fileno())
    except OSError:
        Path(name).unlink()
        raise
    return Path(name)


@contextlib.contextmanager
def _explained(path: Path, verb: str) -> Generator[None]:
    """Turn an OSError into one that says what failed, and for which file."""
    try:
        yield
    except OSError as error:
        raise HoldfastError(f"cannot {verb} `{path}`: {error.strerror or error}") from error
