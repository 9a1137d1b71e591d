"""Install: what setup adds to other programs' files, and how unsetup removes it without a trace.

Both are planned first, as file changes that can be printed, and then applied; the manifest in Holdfast's home
records what was done. Each file is edited in its own language, which its ending tells; every byte that is not
Holdfast's stays. Which entries a harness needs is decided elsewhere.
"""

from __future__ import annotations

import difflib
import hashlib
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path, PurePath

import msgspec

from holdfast.core.events.install_request import (
    InstallEntry,
    KeyPath,
    OwnershipMark,
    WantedBlock,
    WantedCopy,
    WantedEntry,
    WantedMember,
    ownership_mark,
)
from holdfast.errors import HoldfastError, ManifestUnreadable, SettingsUnreadable
from holdfast.files import atomic, json_text, markdown_text, toml_text
from holdfast.files.json_text import EditedText, Hollow
from holdfast.files.together import locked
from holdfast.lazy_dataclass import dataclass


class Role(StrEnum):
    """Why a file is in a plan."""

    SETTINGS = "settings"
    """Another program's file, with Holdfast's entries in it."""
    COPY = "copy"
    """A whole file of Holdfast's that a harness starts or loads."""
    RECORD = "kept"
    """The manifest or a backup."""


class Verb(StrEnum):
    """What becomes of a file."""

    CREATED = "created"
    CHANGED = "changed"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class InstallChange:
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
class Copy:
    """One whole file of Holdfast's, and its record; None if another program's file with that name stays."""

    record: CopiedFile | None
    file: InstallChange
    left: bool = False
    """Whether it stays as others made it, which is not what is wanted."""
    behind: bool = False
    """Whether what was wanted when they changed it is no longer what is wanted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, in this order. The folders go last, if they are empty; `left` stays on purpose."""

    changes: tuple[InstallChange, ...]
    folders: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What became of settings and copies. Left are backups that differ by now and copies someone changed."""

    changes: tuple[InstallChange, ...]
    left: tuple[Path, ...]


def setup(entries: Iterable[InstallEntry], copies: Iterable[WantedCopy], home: Path, now_ms: int) -> Report:
    """Install the entries and the copies; doing it twice is the same as once."""
    return apply(plan_setup(entries, copies, home, now_ms))


def unsetup(home: Path) -> Report:
    """Remove everything that setup installed."""
    return apply(plan_unsetup(home, [record.path for record in read_manifest(home).edited]))


def plan_setup(
    entries: Iterable[InstallEntry],
    copies: Iterable[WantedCopy],
    home: Path,
    now_ms: int,
    *,
    project: Path | None = None,
    exclusions: Iterable[Exclusion] = (),
) -> Plan:
    """What setup would do; raises for settings that cannot be read, before anything is written.

    With a project the settings are that project's, and git is told to leave them alone.
    """
    manifest = read_manifest(home)
    unseen = tuple(planned_exclusions(exclusions))
    entries_by_file = _by_file(entries)
    mark = _mark(home, manifest, [entry.identity for group in entries_by_file.values() for entry in group])
    records = {record.path: record for record in manifest.edited}
    merges = [
        _merge(file, group, records.get(file), mark, _backup_path(home, file, now_ms))
        for file, group in entries_by_file.items()
    ]
    requested = tuple(copies)
    copied = plan_copies(requested, home)
    superseded = _superseded(manifest, requested)
    retired = list(filter(_is_unchanged, superseded))
    known_copies = {one.path: one for one in manifest.copied}
    updated = Manifest(
        tuple((records | {one.record.path: replace(one.record, project=project) for one in merges}).values()),
        _without(
            retired, (known_copies | {one.record.path: one.record for one in copied if one.record}).values()
        ),
        (*manifest.excluded, *(line for one in unseen for line in one.lines)),
    )
    # The manifest is written before what it tells of: after a crash it may say too much, never too little.
    records_and_backups = (
        *(change for merge in merges for change in merge.backup),
        _manifest_change(home, updated),
    )
    hidden = (InstallChange(one.file, Role.SETTINGS, one.before, one.after) for one in unseen)
    copies_to_write = (copy.file for copy in copied if not copy.left)
    settings = (merge.settings for merge in merges)
    return Plan(
        (*records_and_backups, *hidden, *copies_to_write, *map(_removal, retired), *settings),
        _folders(retired),
        (
            *(copy.file.path for copy in copied if copy.left),
            *(one.path for one in superseded if one not in retired),
        ),
    )


def command_to_wrap(entry: InstallEntry, home: Path) -> str:
    """The user's command around which setup would put Holdfast's, and has not yet; empty if there is none."""
    content = atomic.read(Path(entry.file)) if isinstance(entry, WantedMember) and entry.wraps else None
    if content is None or not isinstance(entry, WantedMember):
        return ""
    mark = _mark(home, read_manifest(home), [entry.identity])
    return json_text.command_to_wrap(_text(Path(entry.file), content), entry, mark)


def plan_copies(copies: Iterable[WantedCopy], home: Path) -> list[Copy]:
    """What setup would do to each of these files."""
    known = {one.path: one for one in read_manifest(home).copied}
    return [_copy(one, known.get(Path(one.file)), home) for one in copies]


def plan_renewal(entries: Iterable[InstallEntry], copies: Iterable[WantedCopy], home: Path) -> Plan:
    """What a new version changes without being asked: only what setup wrote, where it still is.

    An entry that someone took out stays out, and a file that someone removed is not written again. New
    entries and files are added only where nothing was taken away. A file that this version lacks goes.
    """
    manifest = read_manifest(home)
    by_file, requested = _by_file(entries), tuple(copies)
    mark = _mark(home, manifest, [entry.identity for group in by_file.values() for entry in group])
    merges = [
        merge
        for record in manifest.edited
        if record.path in by_file and (merge := _renewed(record, by_file[record.path], mark))
    ]
    copied = [_copy(one, record, home) for one, record in _renewable(manifest, requested, home)]
    retired = list(filter(_is_unchanged, _superseded(manifest, requested)))
    edited = {record.path: record for record in (*manifest.edited, *(merge.record for merge in merges))}
    files = {one.path: one for one in (*manifest.copied, *(one.record for one in copied if one.record))}
    updated = Manifest(tuple(edited.values()), _without(retired, files.values()), manifest.excluded)
    copies_to_write = (copy.file for copy in copied if not copy.left)
    settings = (merge.settings for merge in merges)
    return Plan(
        (_manifest_change(home, updated), *copies_to_write, *map(_removal, retired), *settings),
        _folders(retired),
    )


def plan_unsetup(home: Path, files: Iterable[Path], exclusions: Collection[Exclusion] = ()) -> Plan:
    """What unsetup would do for these files and exclusions; all else of ours goes with the last settings."""
    manifest = read_manifest(home)
    chosen = frozenset(file.absolute() for file in files)
    undone = [record for record in manifest.edited if record.path in chosen]
    others = tuple(record for record in manifest.edited if record.path not in chosen)
    mark = _mark(home, manifest, ())
    settings = [
        InstallChange(one.path, Role.SETTINGS, atomic.read(one.path), _restored(one, mark)) for one in undone
    ]
    copies = [one for one in manifest.copied if not others or one.path in chosen]
    removals = [*_backups(undone, settings), *_removed(copies)]
    spare = tuple(change for change, can_go in removals if can_go)
    left = tuple(change.path for change, can_go in removals if not can_go)
    emptied = () if others else (hook_path(home).parent, home / "backups")
    lines = tuple(
        line for line in manifest.excluded if not others or Exclusion(line.path, line.pattern) in exclusions
    )
    unexcluded = tuple(_unexcluded(lines))
    remaining = Manifest(
        others,
        tuple(one for one in manifest.copied if one not in copies),
        tuple(line for line in manifest.excluded if line not in lines),
    )
    made = [
        *(record.folders for record in undone),
        *(record.folders for record in copies),
        *(line.folders for line in lines),
    ]
    folders = tuple(folder for group in made for folder in group)
    changes = (*settings, *unexcluded, *spare, _manifest_change(home, remaining))
    return Plan(changes, (*folders, *emptied), left)


def apply(plan: Plan) -> Report:
    """Carry out the plan, unless a file has changed since."""
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
    return Report(tuple(change for change in plan.changes if change.role is not Role.RECORD), plan.left)


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
    """Where the hook is copied to; this path identifies every command that Holdfast installed."""
    return home / "bin" / "hook.py"


# ---------------------------------------------------------------- putting in


@dataclass(frozen=True, slots=True)
class _Merge:
    """One settings file with our entries in it, and its record; `backup` is empty where one is not needed."""

    record: EditedFile
    settings: InstallChange
    backup: tuple[InstallChange, ...] = ()


def _merge(
    file: Path, entries: Sequence[InstallEntry], record: EditedFile | None, mark: OwnershipMark, backup: Path
) -> _Merge:
    present = atomic.read(file)
    text = empty_text(file) if present is None else _text(file, present)
    # Of a file that is gone only the folders that we made for it still count.
    old = None if present is None else record
    merged, hollows = _with_entries(text, entries, old, mark)
    settings = InstallChange(file, Role.SETTINGS, present, merged.encode())
    fresh = EditedFile(
        path=file,
        backup=None if present is None else backup,
        before=sha256(present),
        after=sha256(settings.after),
        folders=(*atomic.missing_folders(file), *(record.folders if record else ())),
        placed=tuple(PlacedEntry(entry.path, entry.identity) for entry in entries),
        hollows=hollows,
    )
    if old is not None:
        return _Merge(_continued(old, fresh, settings), settings)
    backups = () if present is None else (InstallChange(backup, Role.RECORD, None, present),)
    return _Merge(_adopted(fresh, text, mark), settings, backups)


def _copy(copy: WantedCopy, known: CopiedFile | None, home: Path) -> Copy:
    """The file as it is wanted; one outside our home that someone else wrote or changed is left to them."""
    path = Path(copy.file)
    present = atomic.read(path)
    folders = (*atomic.missing_folders(path), *(known.folders if known else ()))
    theirs = present not in (None, copy.content) and not path.is_relative_to(home)
    if theirs and known is None and copy.yields:
        return Copy(None, InstallChange(path, Role.COPY, present, present), left=True)
    if theirs and known is None:
        raise HoldfastError(
            f"`{path}` is there already, and it is not ours", hint="move it away and try again"
        )
    if theirs and known is not None and sha256(present) != known.sha256:
        behind = sha256(copy.content) != known.sha256
        return Copy(known, InstallChange(path, Role.COPY, present, present), left=True, behind=behind)
    record = CopiedFile(path, sha256(copy.content), folders)
    return Copy(record, InstallChange(path, Role.COPY, present, copy.content))


def _with_entries(
    text: str, entries: Sequence[InstallEntry], old: EditedFile | None, mark: OwnershipMark
) -> tuple[str, tuple[Hollow, ...]]:
    """The text with what is wanted now and without what no longer is; and all containers that we filled."""
    hollows: dict[KeyPath, Hollow] = {}
    if old is not None:
        hollows = {hollow.path: hollow for hollow in old.hollows}
        stale = frozenset(one.path for one in old.placed) - {entry.path for entry in entries}
        # Without an entry of an earlier version to take out, an empty list is not ours to take either.
        text = remove(text, stale, old.hollows, mark, old.path) if stale else text
    for entry in entries:
        edited = insert(text, entry, mark)
        text = edited.text
        hollows |= {hollow.path: hollow for hollow in edited.hollows}
    return text, tuple(hollows.values())


def _continued(old: EditedFile, fresh: EditedFile, settings: InstallChange) -> EditedFile:
    """The record after one more setup: the first backup stays, and counts if nobody else wrote in between."""
    if settings.verb is Verb.UNCHANGED:
        return replace(old, placed=fresh.placed)
    untouched = fresh.before == old.after
    return replace(old, placed=fresh.placed, hollows=fresh.hollows, after=fresh.after if untouched else "")


def _adopted(fresh: EditedFile, text: str, mark: OwnershipMark) -> EditedFile:
    """The record of a file in which entries of ours were found that no manifest tells of.

    Its backup holds them too, so it is never put back; lists with nothing else in them are taken for ours.
    """
    paths = [one.path for one in fresh.placed]
    if remove(text, paths, (), mark, fresh.path) == text:
        return fresh
    known = {hollow.path for hollow in fresh.hollows}
    above = dict.fromkeys(path[:end] for path in paths for end in range(1, len(path) + 1))
    assumed = (Hollow(path, "") for path in above if path not in known)
    return replace(fresh, after="", hollows=(*fresh.hollows, *assumed))


# ---------------------------------------------------------------- renewing


def _renewed(record: EditedFile, entries: Sequence[InstallEntry], mark: OwnershipMark) -> _Merge | None:
    """The file with those entries renewed that are still in it, and new ones if none was taken out."""
    present = atomic.read(record.path)
    if present is None:
        return None
    text = _text(record.path, present)
    here = tuple(one for one in record.placed if remove(text, (one.path,), (), mark, record.path) != text)
    taken_out = tuple(one for one in record.placed if one not in here)
    paths_here = {one.path for one in here}
    chosen = [one for one in entries if one.path in paths_here or not taken_out]
    merged, hollows = _with_entries(text, chosen, replace(record, placed=here), mark)
    settings = InstallChange(record.path, Role.SETTINGS, present, merged.encode())
    placed = (*(PlacedEntry(one.path, one.identity) for one in chosen), *taken_out)
    before, after = sha256(present), sha256(settings.after)
    fresh = replace(record, before=before, after=after, placed=placed, hollows=hollows)
    return _Merge(_continued(record, fresh, settings), settings)


def _renewable(
    manifest: Manifest, copies: Sequence[WantedCopy], home: Path
) -> Iterator[tuple[WantedCopy, CopiedFile | None]]:
    """Each file to be renewed or added, with its record; those in our home always are."""
    known = {one.path: one for one in manifest.copied}
    for one in copies:
        path = Path(one.file)
        is_there = atomic.read(path) is not None
        siblings = [file for file in manifest.copied if _is_sibling(file.path, path)]
        is_new = path not in known and not is_there
        may_be_added = is_new and all(file.path.exists() for file in siblings)
        if path.is_relative_to(home) or (path in known and is_there) or may_be_added:
            yield one, known.get(path)


def _superseded(manifest: Manifest, copies: Sequence[WantedCopy]) -> list[CopiedFile]:
    """The files that an earlier version had beside these, and this one has not."""
    paths = {Path(one.file) for one in copies}
    return [
        one
        for one in manifest.copied
        if one.path not in paths and any(_is_sibling(one.path, path) for path in paths)
    ]


def _is_unchanged(file: CopiedFile) -> bool:
    """Whether a file is as setup wrote it, or gone."""
    return sha256(atomic.read(file.path)) in ("", file.sha256)


def _without(retired: Sequence[CopiedFile], files: Iterable[CopiedFile]) -> tuple[CopiedFile, ...]:
    """The other files, which also answer for the folders that were made for the retired ones."""
    paths, made = {one.path for one in retired}, _folders(retired)
    return tuple(
        replace(
            one, folders=tuple(dict.fromkeys((*one.folders, *(f for f in made if f in one.path.parents))))
        )
        for one in files
        if one.path not in paths
    )


def _removal(file: CopiedFile) -> InstallChange:
    return InstallChange(file.path, Role.COPY, atomic.read(file.path), None)


def _folders(files: Iterable[CopiedFile]) -> tuple[Path, ...]:
    """The folders that were made for these files, innermost first as they were recorded."""
    return tuple(folder for one in files for folder in one.folders)


def _is_sibling(path: Path, other: Path) -> bool:
    """Whether two files are of one kind: in one folder, or of one name in two folders side by side."""
    is_beside = path.parent == other.parent
    return is_beside or (path.name == other.name and path.parent.parent == other.parent.parent)


# ---------------------------------------------------------------- taking out


def _restored(record: EditedFile, mark: OwnershipMark) -> bytes | None:
    """The settings file without us: the very bytes of the backup, or what others made of the file since."""
    present = atomic.read(record.path)
    # It is gone, or setup died before it wrote: nothing of ours is in it.
    if present is None or (record.after and sha256(present) == record.before):
        return present
    if record.backup is not None and sha256(present) == record.after:
        backup = atomic.read(record.backup)
        if sha256(backup) == record.before:
            return backup
    paths = [one.path for one in record.placed]
    text = remove(_text(record.path, present), paths, record.hollows, mark, record.path)
    # A link to an empty file is someone's arrangement by now, and more than what we made.
    is_own_file = record.backup is None and not record.path.is_symlink()
    return None if is_own_file and holds_nothing(text, record.path) else text.encode()


def _backups(
    records: Sequence[EditedFile], settings: Sequence[InstallChange]
) -> Iterator[tuple[InstallChange, bool]]:
    """Each backup, and whether it can go: only if the file is again what the backup holds."""
    for record, change in zip(records, settings, strict=True):
        content = None if record.backup is None else atomic.read(record.backup)
        if record.backup is not None and content is not None:
            yield InstallChange(record.backup, Role.RECORD, content, None), content == change.after


def _unexcluded(lines: Iterable[ExcludedLine]) -> Iterator[InstallChange]:
    """Each file with lines of ours for git, without them; a repository that is gone needs nothing."""
    by_file: dict[Path, list[ExcludedLine]] = {}
    for line in lines:
        by_file.setdefault(line.path, []).append(line)
    for path, own_lines in by_file.items():
        before = after = atomic.read(path)
        for line in reversed(own_lines):
            after = without_exclusion(after, line)
        yield InstallChange(path, Role.SETTINGS, before, after)


def _removed(copies: Iterable[CopiedFile]) -> Iterator[tuple[InstallChange, bool]]:
    """Each copy, and whether it can go: only if it is as we wrote it."""
    for copy in copies:
        content = atomic.read(copy.path)
        if content is not None:
            yield InstallChange(copy.path, Role.COPY, content, None), sha256(content) == copy.sha256


# ---------------------------------------------------------------- both ways


def _mark(home: Path, manifest: Manifest, identities: Collection[str]) -> OwnershipMark:
    recorded = [one.identity for record in manifest.edited for one in record.placed]
    return ownership_mark([*identities, *recorded], hook_path(home))


def _manifest_change(home: Path, manifest: Manifest) -> InstallChange:
    """The change that makes this the manifest."""
    path = manifest_path(home)
    return InstallChange(path, Role.RECORD, atomic.read(path), manifest_bytes(manifest))


def _by_file(entries: Iterable[InstallEntry]) -> dict[Path, list[InstallEntry]]:
    grouped: dict[Path, list[InstallEntry]] = {}
    for entry in entries:
        grouped.setdefault(Path(entry.file).absolute(), []).append(entry)
    return grouped


def _backup_path(home: Path, file: Path, now_ms: int) -> Path:
    return home / "backups" / f"{now_ms}-{sha256(str(file).encode())[:8]}-{file.name}"


def _text(file: Path, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(
            f"`{file}` is not UTF-8 text (byte {error.start + 1})",
            hint="the file was left as it is; mend it there and try again",
        ) from error


def _lines(content: bytes | None) -> list[str]:
    return list(io.StringIO((content or b"").decode(errors="replace"), newline="\n"))


_VERSION = 1


@dataclass(frozen=True, slots=True)
class PlacedEntry:
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
    placed: tuple[PlacedEntry, ...]
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
        return msgspec.json.decode(raw, type=Manifest, dec_hook=_decoded_path)
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


def _decoded_path(kind: type, raw: object) -> object:
    if kind is Path and isinstance(raw, str):
        return Path(raw)
    raise TypeError(f"{raw!r} is no path")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A pattern for git to ignore, and the file of exclusions that holds it."""

    file: Path
    pattern: str


@dataclass(frozen=True, slots=True)
class ExcludeChange:
    """A file of exclusions before and after the change, and a record of each new line."""

    file: Path
    before: bytes | None
    after: bytes | None
    lines: tuple[ExcludedLine, ...]


def add_exclusion(home: Path, exclude: Path, pattern: str) -> bool:
    """Make git ignore this in all worktrees; returns whether it did not before."""
    with locked(home / "run" / "manifest"):
        after, lines = with_patterns(exclude, atomic.read(exclude), [pattern])
        for line in lines:
            _note_exclusion(home, line)
            atomic.write(exclude, after or b"")
    return bool(lines)


def with_patterns(
    exclude: Path, content: bytes | None, patterns: Iterable[str]
) -> tuple[bytes | None, tuple[ExcludedLine, ...]]:
    """The file with these patterns in it, and a record of each new line."""
    lines: list[ExcludedLine] = []
    for pattern in patterns:
        if content is not None and pattern.encode() in content.splitlines():
            continue
        cut = bool(content) and not (content or b"").endswith(b"\n")
        folders = atomic.missing_folders(exclude) if content is None else ()
        lines.append(ExcludedLine(exclude, pattern, content is None, cut, folders))
        content = (content or b"") + (b"\n" if cut else b"") + pattern.encode() + b"\n"
    return content, tuple(lines)


def planned_exclusions(exclusions: Iterable[Exclusion]) -> Iterator[ExcludeChange]:
    """Each file of exclusions, as it is and as it would be."""
    patterns: dict[Path, list[str]] = {}
    for one in exclusions:
        patterns.setdefault(one.file, []).append(one.pattern)
    for file, new_patterns in patterns.items():
        before = atomic.read(file)
        yield ExcludeChange(file, before, *with_patterns(file, before, new_patterns))


def without_exclusion(content: bytes | None, line: ExcludedLine) -> bytes | None:
    """The file as if the line had never been added; None if Holdfast created it for the line."""
    lines = (content or b"").splitlines(keepends=True)
    own_lines = [nth for nth, one in enumerate(lines) if one.rstrip(b"\r\n") == line.pattern.encode()]
    if not own_lines:
        return content
    last = own_lines[0] == len(lines) - 1
    del lines[own_lines[0]]
    left = b"".join(lines)
    if line.cut and last:
        left = left.removesuffix(b"\n")
    return None if line.made and not left else left


def _note_exclusion(home: Path, line: ExcludedLine) -> None:
    manifest = read_manifest(home)
    others = tuple(one for one in manifest.excluded if (one.path, one.pattern) != (line.path, line.pattern))
    noted: Manifest = replace(manifest, excluded=(*others, line))
    atomic.write(manifest_path(home), manifest_bytes(noted) or b"")


__all__ = ["EditedText", "Hollow", "empty_text", "holds_nothing", "insert", "remove"]


def empty_text(file: PurePath) -> str:
    """What stands in a settings file that says nothing."""
    return "" if _is_toml(file) or _is_markdown(file) else "{}\n"


def insert(text: str, entry: InstallEntry, mark: OwnershipMark) -> EditedText:
    """The text with what is wanted at its place exactly once; ours that is there is renewed in place."""
    match entry:
        case WantedEntry():
            return json_text.insert(text, entry, mark)
        case WantedMember() if _is_toml(entry.file):
            return EditedText(toml_text.insert(text, entry, mark), ())
        case WantedBlock():
            return EditedText(markdown_text.insert_block(text, entry), ())
        case WantedMember():
            return json_text.insert_member(text, entry, mark)


def remove(
    text: str, paths: Iterable[KeyPath], hollows: Iterable[Hollow], mark: OwnershipMark, file: PurePath
) -> str:
    """The text without what is ours at `paths`; containers empty by then are as before us."""
    if _is_toml(file):
        return toml_text.remove(text, paths, mark, file)
    if _is_markdown(file):
        return markdown_text.remove_block(text, file)
    paths = tuple(paths)
    return json_text.remove(json_text.remove_member(text, paths, mark, file), paths, hollows, mark, file)


def holds_nothing(text: str, file: PurePath) -> bool:
    """Whether the text says nothing."""
    if _is_markdown(file):
        return markdown_text.is_blank_text(text)
    return toml_text.holds_nothing(text) if _is_toml(file) else json_text.holds_nothing(text, file)


def _is_toml(file: PurePath) -> bool:
    return file.suffix == ".toml"


def _is_markdown(file: PurePath) -> bool:
    return file.suffix == ".md"
