"""The manifest: all that setup did to other programs' files, so that unsetup can undo it.

It is in Holdfast's home and is written before the changes it lists. `install` makes the changes.
"""

import hashlib
from pathlib import Path

import msgspec

from holdfast.core.events.install_request import KeyPath
from holdfast.errors import ManifestUnreadable
from holdfast.files import atomic
from holdfast.files.settings_text import Hollow
from holdfast.lazy_dataclass import dataclass

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry that Holdfast added: where it is, and the string that identifies it."""

    path: KeyPath
    identity: str


@dataclass(frozen=True, slots=True)
class EditedFile:
    """What setup did to one settings file."""

    path: Path
    # None if there was no file before us.
    backup: Path | None
    # SHA-256 of the file before and after us: while it is as we left it, unsetup puts the backup back.
    # An empty `after` says that the backup must not be put back: others wrote in between.
    before: str
    after: str
    folders: tuple[Path, ...]
    placed: tuple[Placed, ...]
    hollows: tuple[Hollow, ...]
    # The top of the project whose settings these are; None if they are a user's, for all projects.
    project: Path | None = None


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file as Holdfast wrote it, and the folders that were created for it."""

    path: Path
    sha256: str
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class ExcludedLine:
    """A line that Holdfast added to a repository's `info/exclude`."""

    path: Path
    pattern: str
    made: bool
    """Whether there was no file before us."""
    cut: bool
    """Whether the last line before ours was not ended, and we ended it."""
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """All changes to other programs' files that unsetup must undo."""

    edited: tuple[EditedFile, ...] = ()
    copied: tuple[CopiedFile, ...] = ()
    excluded: tuple[ExcludedLine, ...] = ()
    version: int = _VERSION


def manifest_path(home: Path) -> Path:
    """Where the manifest of this home is."""
    return home / "manifest.json"


def read_manifest(home: Path) -> Manifest:
    """What setup has done so far; nothing if it never ran."""
    path = manifest_path(home)
    raw = atomic.read(path)
    if raw is None:
        return Manifest()
    hint = "move it away and run `holdfast setup` again: it knows its own entries without it"
    try:
        version = msgspec.json.decode(raw, type=_Versioned).version
        if version != _VERSION:
            raise ManifestUnreadable(f"`{path}` has version {version}; this Holdfast reads {_VERSION}", hint)
        return msgspec.json.decode(raw, type=Manifest, dec_hook=_path)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ManifestUnreadable(f"`{path}` cannot be read: {error}", hint) from error


def manifest_bytes(manifest: Manifest) -> bytes | None:
    """The manifest as a file; one that tells of nothing is none."""
    if not manifest.edited and not manifest.copied and not manifest.excluded:
        return None
    return msgspec.json.format(msgspec.json.encode(manifest, enc_hook=str), indent=2) + b"\n"


def sha256(content: bytes | None) -> str:
    """The digest of a file's bytes; empty for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class _Versioned:
    version: int


def _path(kind: type, raw: object) -> object:
    if kind is Path and isinstance(raw, str):
        return Path(raw)
    raise TypeError(f"{raw!r} is no path")
