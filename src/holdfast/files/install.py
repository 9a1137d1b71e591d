"""Install: what setup puts into other people's files, and how it comes out again without a trace.

Both ways are planned first, as file changes that one can print, and then applied; the manifest in our home
remembers what was done. What is wanted, and by which harness, is decided elsewhere.
"""

import difflib
import hashlib
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import msgspec

from holdfast.core.wanted import KeyPath, Mark, WantedCopy, WantedEntry, mark_of
from holdfast.errors import HoldfastError, ManifestUnreadable, SettingsUnreadable
from holdfast.files import atomic, json_text

_VERSION = 1
_NEW_SETTINGS = "{}\n"


class Role(StrEnum):
    """Why a file is in a plan."""

    SETTINGS = "settings"
    """Someone else's file, with our entries in it."""
    COPY = "copy"
    """A whole file of ours that a harness starts or loads."""
    KEPT = "kept"
    """The manifest or a backup."""


class Verb(StrEnum):
    """What becomes of a file."""

    CREATED = "created"
    CHANGED = "changed"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None stands for no file."""

    path: Path
    role: Role
    before: bytes | None
    after: bytes | None

    @property
    def verb(self) -> Verb:
        if self.before == self.after:
            return Verb.UNCHANGED
        if self.before is None:
            return Verb.CREATED
        return Verb.REMOVED if self.after is None else Verb.CHANGED


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, in this order. The folders go last, if they are empty; `left` stays on purpose."""

    changes: tuple[Change, ...]
    folders: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What became of settings and copies. Left are backups that differ by now and copies someone changed."""

    changes: tuple[Change, ...]
    left: tuple[Path, ...]


def setup(entries: Iterable[WantedEntry], copies: Iterable[WantedCopy], home: Path, now_ms: int) -> Report:
    """Put the entries and the copies in their places; twice is the same as once."""
    return apply(plan_setup(entries, copies, home, now_ms))


def unsetup(home: Path) -> Report:
    """Take out again all that setup put in."""
    return apply(plan_unsetup(home, [record.path for record in read_manifest(home).edited]))


def plan_setup(entries: Iterable[WantedEntry], copies: Iterable[WantedCopy], home: Path, now_ms: int) -> Plan:
    """What setup would do; settings that cannot be read are refused here, before anything is written."""
    manifest = read_manifest(home)
    wanted = _by_file(entries)
    mark = _mark(home, manifest, [entry.identity for group in wanted.values() for entry in group])
    records = {record.path: record for record in manifest.edited}
    merges = [
        _merge(file, group, records.get(file), mark, _backup_path(home, file, now_ms))
        for file, group in wanted.items()
    ]
    copied = [Change(Path(one.file), Role.COPY, atomic.read(Path(one.file)), one.content) for one in copies]
    known_copies = {one.path: one for one in manifest.copied}
    updated = Manifest(
        tuple((records | {one.record.path: one.record for one in merges}).values()),
        tuple(
            (known_copies | {one.path: CopiedFile(one.path, _sha256(one.after)) for one in copied}).values()
        ),
    )
    # The manifest is written before what it tells of: after a crash it may say too much, never too little.
    kept = (*(change for merge in merges for change in merge.backup), _manifest_change(home, updated))
    return Plan((*kept, *copied, *(merge.settings for merge in merges)))


def plan_unsetup(home: Path, files: Iterable[Path]) -> Plan:
    """What unsetup would do for these settings; our copies and the manifest go with the last of them."""
    manifest = read_manifest(home)
    chosen = frozenset(file.absolute() for file in files)
    undone = [record for record in manifest.edited if record.path in chosen]
    others = tuple(record for record in manifest.edited if record.path not in chosen)
    mark = _mark(home, manifest, ())
    settings = [
        Change(one.path, Role.SETTINGS, atomic.read(one.path), _restored(one, mark)) for one in undone
    ]
    removals = [*_backups(undone, settings), *(() if others else _copies(manifest))]
    spare = tuple(change for change, can_go in removals if can_go)
    left = tuple(change.path for change, can_go in removals if not can_go)
    emptied = () if others else (hook_path(home).parent, home / "backups")
    remaining = _manifest_change(home, replace(manifest, edited=others) if others else Manifest())
    folders = tuple(folder for record in undone for folder in record.folders)
    return Plan((*settings, *spare, remaining), (*folders, *emptied), left)


def apply(plan: Plan) -> Report:
    """Do what was planned, unless a file has changed since."""
    for change in plan.changes:
        if atomic.read(change.path) != change.before:
            raise HoldfastError(
                f"`{change.path}` changed in the meantime", hint="nothing was done; try again"
            )
    for change in plan.changes:
        if change.verb is Verb.UNCHANGED:
            continue
        if change.after is None:
            atomic.remove(change.path)
        else:
            atomic.write(change.path, change.after)
    for folder in plan.folders:
        atomic.remove_empty_folder(folder)
    return Report(tuple(change for change in plan.changes if change.role is not Role.KEPT), plan.left)


def diff(plan: Plan) -> str:
    """What the plan would change in settings files, as a unified diff."""
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for change in plan.changes
        if change.role is Role.SETTINGS
        for line in difflib.unified_diff(
            _lines(change.before), _lines(change.after), str(change.path), str(change.path)
        )
    )


def hook_path(home: Path) -> Path:
    """Where the hook is copied to; the path in every command of ours, by which they are known again."""
    return home / "bin" / "hook.py"


# ---------------------------------------------------------------- the manifest


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry of ours: the list it is in, and the string it is known by."""

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
    hollows: tuple[json_text.Hollow, ...]


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file of ours, as we wrote it."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that setup did and unsetup must undo."""

    edited: tuple[EditedFile, ...] = ()
    copied: tuple[CopiedFile, ...] = ()
    version: int = _VERSION


def read_manifest(home: Path) -> Manifest:
    """What setup has done so far; nothing if it never ran."""
    path = _manifest_path(home)
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


@dataclass(frozen=True, slots=True)
class _Versioned:
    version: int


def _path(kind: type, raw: object) -> object:
    if kind is Path and isinstance(raw, str):
        return Path(raw)
    raise TypeError(f"{raw!r} is no path")


def _manifest_path(home: Path) -> Path:
    return home / "manifest.json"


def _manifest_change(home: Path, manifest: Manifest) -> Change:
    """The change that makes this the manifest; one that tells of nothing is no file."""
    path = _manifest_path(home)
    text = msgspec.json.format(msgspec.json.encode(manifest, enc_hook=str), indent=2) + b"\n"
    return Change(path, Role.KEPT, atomic.read(path), text if manifest.edited or manifest.copied else None)


# ---------------------------------------------------------------- putting in


@dataclass(frozen=True, slots=True)
class _Merge:
    """One settings file with our entries in it, and its record; `backup` is empty where one is not needed."""

    record: EditedFile
    settings: Change
    backup: tuple[Change, ...] = ()


def _merge(
    file: Path, wanted: Sequence[WantedEntry], record: EditedFile | None, mark: Mark, backup: Path
) -> _Merge:
    present = atomic.read(file)
    text = _NEW_SETTINGS if present is None else _text(file, present)
    # Of a file that is gone only the folders that we made for it still count.
    old = None if present is None else record
    merged, hollows = _with_entries(text, wanted, old, mark)
    settings = Change(file, Role.SETTINGS, present, merged.encode())
    fresh = EditedFile(
        path=file,
        backup=None if present is None else backup,
        before=_sha256(present),
        after=_sha256(settings.after),
        folders=(*atomic.missing_folders(file), *(record.folders if record else ())),
        placed=tuple(Placed(entry.path, entry.identity) for entry in wanted),
        hollows=hollows,
    )
    if old is not None:
        return _Merge(_continued(old, fresh, settings), settings)
    kept = () if present is None else (Change(backup, Role.KEPT, None, present),)
    return _Merge(_adopted(fresh, text, mark), settings, kept)


def _with_entries(
    text: str, wanted: Sequence[WantedEntry], old: EditedFile | None, mark: Mark
) -> tuple[str, tuple[json_text.Hollow, ...]]:
    """The text with what is wanted now and without what no longer is; and all containers that we filled."""
    hollows: dict[KeyPath, json_text.Hollow] = {}
    if old is not None:
        hollows = {hollow.path: hollow for hollow in old.hollows}
        stale = frozenset(one.path for one in old.placed) - {entry.path for entry in wanted}
        # Without an entry of an earlier version to take out, an empty list is not ours to take either.
        text = json_text.remove(text, stale, old.hollows, mark, old.path) if stale else text
    for entry in wanted:
        edited = json_text.insert(text, entry, mark)
        text = edited.text
        hollows |= {hollow.path: hollow for hollow in edited.hollows}
    return text, tuple(hollows.values())


def _continued(old: EditedFile, fresh: EditedFile, settings: Change) -> EditedFile:
    """The record after one more setup: the first backup stays, and counts if nobody else wrote in between."""
    if settings.verb is Verb.UNCHANGED:
        return replace(old, placed=fresh.placed)
    untouched = fresh.before == old.after
    return replace(old, placed=fresh.placed, hollows=fresh.hollows, after=fresh.after if untouched else "")


def _adopted(fresh: EditedFile, text: str, mark: Mark) -> EditedFile:
    """The record of a file in which entries of ours were found that no manifest tells of.

    Its backup holds them too, so it is never put back; lists with nothing else in them are taken for ours.
    """
    paths = [one.path for one in fresh.placed]
    if json_text.remove(text, paths, (), mark, fresh.path) == text:
        return fresh
    known = {hollow.path for hollow in fresh.hollows}
    above = dict.fromkeys(path[:end] for path in paths for end in range(1, len(path) + 1))
    assumed = (json_text.Hollow(path, "") for path in above if path not in known)
    return replace(fresh, after="", hollows=(*fresh.hollows, *assumed))


# ---------------------------------------------------------------- taking out


def _restored(record: EditedFile, mark: Mark) -> bytes | None:
    """The settings file without us: the very bytes of the backup, or what others made of the file since."""
    present = atomic.read(record.path)
    # It is gone, or setup died before it wrote: nothing of ours is in it.
    if present is None or (record.after and _sha256(present) == record.before):
        return present
    if record.backup is not None and _sha256(present) == record.after:
        backup = atomic.read(record.backup)
        if _sha256(backup) == record.before:
            return backup
    paths = [one.path for one in record.placed]
    text = json_text.remove(_text(record.path, present), paths, record.hollows, mark, record.path)
    # A link to an empty file is someone's arrangement by now, and more than what we made.
    ours = record.backup is None and not record.path.is_symlink()
    return None if ours and json_text.holds_nothing(text, record.path) else text.encode()


def _backups(records: Sequence[EditedFile], settings: Sequence[Change]) -> Iterator[tuple[Change, bool]]:
    """Each backup, and whether it can go: only if the file is again what the backup holds."""
    for record, change in zip(records, settings, strict=True):
        content = None if record.backup is None else atomic.read(record.backup)
        if record.backup is not None and content is not None:
            yield Change(record.backup, Role.KEPT, content, None), content == change.after


def _copies(manifest: Manifest) -> Iterator[tuple[Change, bool]]:
    """Each copy, and whether it can go: only if it is as we wrote it."""
    for copy in manifest.copied:
        content = atomic.read(copy.path)
        if content is not None:
            yield Change(copy.path, Role.COPY, content, None), _sha256(content) == copy.sha256


# ---------------------------------------------------------------- both ways


def _mark(home: Path, manifest: Manifest, identities: Collection[str]) -> Mark:
    recorded = [one.identity for record in manifest.edited for one in record.placed]
    return mark_of([*identities, *recorded], hook_path(home))


def _by_file(entries: Iterable[WantedEntry]) -> dict[Path, list[WantedEntry]]:
    grouped: dict[Path, list[WantedEntry]] = {}
    for entry in entries:
        grouped.setdefault(Path(entry.file).absolute(), []).append(entry)
    return grouped


def _backup_path(home: Path, file: Path, now_ms: int) -> Path:
    return home / "backups" / f"{now_ms}-{_sha256(str(file).encode())[:8]}-{file.name}"


def _text(file: Path, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(
            f"`{file}` is not UTF-8 text (byte {error.start + 1})",
            hint="the file was left as it is; mend it there and try again",
        ) from error


def _sha256(content: bytes | None) -> str:
    """The digest of a file's bytes; empty for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _lines(content: bytes | None) -> list[str]:
    return list(io.StringIO((content or b"").decode(errors="replace"), newline="\n"))
