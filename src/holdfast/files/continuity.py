"""Continuity files: the two layers of a project's continuity, and their past versions.

`core.documents.continuity` reads the Markdown. Each file is written together with a record of the part that
Holdfast wrote, so that the two never disagree.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.core.documents.continuity import (
    ContinuityDocument,
    ContinuityPart,
    LayerName,
    MergedContinuity,
    Unusable,
    WrittenItems,
    parse,
    render,
)
from holdfast.errors import PathRefused
from holdfast.files import atomic, audit_log
from holdfast.files.together import FileWrite, Target, write_together
from holdfast.lazy_dataclass import dataclass

LOCAL_PATH: Final = ".holdfast/sessions/active.md"
DATED_ENDING: Final = "-session.tmp"
VERSIONS_KEPT: Final = 20
LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Places:
    """Where a project's continuity is stored: Holdfast's folder for it, and the worktree."""

    folder: Path
    root: Path
    worktree_id: str
    dated: str
    """The folder with a file for each day, the newest of which counts; empty where one file stays."""

    @property
    def journal(self) -> Path:
        """The journal, which records changes before they are made."""
        return self.folder / "journal"

    def target(self, layer: LayerName) -> Target:
        """The file that holds a layer now."""
        if layer is LayerName.SHARED:
            return Target(str(self.folder / "project" / "active.md"))
        if not self.dated:
            return Target(LOCAL_PATH, self.root)
        dated_files = list(self._dated())
        return (
            Target(str(max(dated_files, key=lambda path: path.stat().st_mtime_ns)))
            if dated_files
            else self.target_today("")
        )

    def target_today(self, day: str) -> Target:
        """The file that a layer of one day's own is merged into."""
        name = f"{day or 'none'}-{self.worktree_id[:8]}{DATED_ENDING}"
        return Target(str(self._refusing_links() / name))

    def own(self, layer: LayerName) -> Path:
        """The record of the part of a layer that Holdfast wrote."""
        return self.folder / "written" / f"{self._name(layer)}.json"

    def versions(self, layer: LayerName) -> list[Path]:
        """The past versions of a layer, the newest first."""
        folder = self.folder / "history" / self._name(layer)
        return sorted(folder.glob("*.md"), reverse=True) if folder.is_dir() else []

    def version(self, layer: LayerName, at: int) -> Path:
        """Where the version that is replaced at that time is kept."""
        return self.folder / "history" / self._name(layer) / f"{at:015d}.md"

    def _name(self, layer: LayerName) -> str:
        return "shared" if layer is LayerName.SHARED else self.worktree_id

    def _dated(self) -> Sequence[Path]:
        folder = self._refusing_links()
        candidates = folder.glob(f"*{DATED_ENDING}") if folder.is_dir() else ()
        return [path for path in candidates if path.is_file() and not path.is_symlink()]

    def _refusing_links(self) -> Path:
        """The folder of dated files; a link on the way could lead out of the worktree."""
        folder = self.root / self.dated
        for step in (folder.parent, folder):
            if step.is_symlink():
                raise PathRefused(f"`{step}` is refused: it is a link", "take the link away")
        return folder


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer as it was read."""

    name: LayerName
    target: Target
    document: ContinuityDocument
    written: WrittenItems


def read(places: Places, name: LayerName) -> Layer | None:
    """The layer as it is; None if there is none. PathRefused, with the reason, if it cannot be continued."""
    target = places.target(name)
    raw = target.read()
    if raw is None:
        return None
    return Layer(name, target, document(target.whole, raw), _written(atomic.read(places.own(name))))


def write(
    places: Places, layers: Mapping[LayerName, tuple[Target, MergedContinuity]], at: int
) -> tuple[Path, ...]:
    """Write these layers together, and their previous content into their history."""
    changes: list[FileWrite] = []
    for name, (target, merged) in layers.items():
        before = places.target(name).read()
        content = render(merged.document).encode()
        if before is not None and before != content:
            changes.append(FileWrite(Target(str(places.version(name, at))), before))
        changes += (
            FileWrite(target, content),
            FileWrite(Target(str(places.own(name))), _own_text(merged.written)),
        )
    write_together(places.journal, changes)
    for name in layers:
        for path in places.versions(name)[VERSIONS_KEPT:]:
            path.unlink(missing_ok=True)
    return tuple(target.whole for target, _ in layers.values())


def clear(places: Places, names: Sequence[LayerName], at: int) -> tuple[Path, ...]:
    """Delete these layers; each stays in its history."""
    changes: list[FileWrite] = []
    gone: list[Path] = []
    for name in names:
        target = places.target(name)
        before = target.read()
        if before is not None:
            changes += (FileWrite(Target(str(places.version(name, at))), before), FileWrite(target, None))
            gone.append(target.whole)
        if places.own(name).exists():
            changes.append(FileWrite(Target(str(places.own(name))), None))
    write_together(places.journal, changes)
    return tuple(gone)


def document(path: Path, raw: bytes) -> ContinuityDocument:
    """What the bytes of this file say; PathRefused, with the reason, if they cannot be continued."""
    hint = "mend the file, or put it aside and save again"
    if len(raw) > LARGEST:
        raise PathRefused(f"`{path}` is larger than 1 MiB", hint)
    try:
        parsed = parse(raw.decode("utf-8"))
    except UnicodeDecodeError:
        parsed = Unusable("it is not UTF-8")
    if isinstance(parsed, Unusable):
        raise PathRefused(f"`{path}` cannot be continued: {parsed.reason}", hint)
    return parsed


def _own_text(written: WrittenItems) -> bytes:
    items = {part.value: list(rows) for part, rows in written.items.items()}
    return json.dumps({"items": items, "refused": list(written.refused)}, ensure_ascii=False).encode()


def _written(raw: bytes | None) -> WrittenItems:
    """What of a layer is ours; nothing where that is not known, so that every line counts as a person's."""
    try:
        record = json.loads(raw or b"{}")
        items = {
            ContinuityPart(part): tuple(map(str, rows)) for part, rows in record.get("items", {}).items()
        }
        return WrittenItems(items, tuple(map(str, record.get("refused", ()))))
    except (ValueError, AttributeError, TypeError):
        return WrittenItems()


AUDIT_LOG: Final = "session-continuity-log.jsonl"
_FOLDERS: Final = ("continuity", "audit", "dream")


def continuity_folders(project: Path) -> list[Path]:
    """The folders of one project that hold its shared layer, past versions, account and candidates."""
    return [project / name for name in _FOLDERS if (project / name).is_dir()]


def projects_with_continuity(home: Path) -> list[Path]:
    """The folders of all projects of which any of this is kept."""
    return [project for project in sorted((home / "projects").glob("*")) if continuity_folders(project)]


def is_made_from(project: Path, keys: Collection[str]) -> bool:
    """Whether one of these sessions went into it: what one session wrote, the next has merged."""
    entries = audit_log.tail(project / "audit" / AUDIT_LOG)
    return any(str(line.get("sourceSessionId")) in keys for line in entries)
