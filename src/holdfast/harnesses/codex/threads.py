"""Threads: which other rollouts belong to a session.

A fork's earlier history is in its parent's file, and a subagent writes its own file beside the session's.
Only regular files are read, and no link is followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from holdfast.core.events.event import Skipped
from holdfast.harnesses.codex.records import META, RECORD, Meta, fields_of
from holdfast.harnesses.fields import decoded, mapping, text
from holdfast.harnesses.packed import read_lines
from holdfast.lazy_dataclass import dataclass

ENDINGS = (".jsonl", ".jsonl.zst")
"""Rollouts that were not opened for long may be packed."""
_HEAD = 1 << 16
_GENERATIONS = 8
"""How many forks of forks are followed."""
_MOST_BESIDE = 2_000
_ID = re.compile(r"[0-9A-Za-z_-]{1,100}")


@dataclass(frozen=True, slots=True)
class Base:
    """A file that a fork continues, up to the point of the fork."""

    path: Path
    end_ordinal: int | None
    end_byte: int | None


def bases(path: Path) -> tuple[Base, ...]:
    """The files whose beginnings are part of this session, the oldest first."""
    base_files: list[Base] = []
    visited = {path}
    while len(base_files) < _GENERATIONS:
        base = _base(path)
        if base is None or base.path in visited:
            break
        base_files.append(base)
        visited.add(base.path)
        path = base.path
    return tuple(reversed(base_files))


def subagent_transcripts(path: Path) -> tuple[Path, ...]:
    """The rollouts of subagents that this session started, on its day or the next."""
    own_meta = head(path)
    if own_meta is None or not own_meta.id:
        return ()
    rollouts: list[Path] = []
    for folder in (path.parent, *_next_day(path.parent)):
        for beside in _rollouts(folder):
            # Names begin with the time of a file's creation: a subagent's comes later.
            is_later = beside.name >= path.name or not path.name.startswith("rollout-")
            meta = head(beside) if beside != path and is_later else None
            if meta is not None and is_subagent(meta) and own_meta.id in (parent_of(meta), meta.session):
                rollouts.append(beside)
    return tuple(rollouts)


def session_of(path: Path) -> str:
    """A rollout's thread; empty if another agent started it, or it is not a rollout."""
    meta = _described(path, ("session_meta", ""))
    return (meta.id or "") if meta is not None and not is_subagent(meta) else ""


def head(path: Path) -> Meta | None:
    """What the first line of a rollout says about it; None if it says nothing."""
    return _described(path, ("session_meta",))


def _described(path: Path, kinds: tuple[str, ...]) -> Meta | None:
    """The metadata in a first line of such a kind; in the first generation it has no envelope and no kind."""
    lines = read_lines(path, "", _HEAD).lines
    if not lines:
        return None
    record = decoded(RECORD, lines[0].content)
    if isinstance(record, Skipped) or record.type not in kinds:
        return None
    meta = decoded(META, record.payload if record.type else lines[0].content)
    return None if isinstance(meta, Skipped) else meta


def is_subagent(meta: Meta) -> bool:
    """Whether another agent started this one."""
    return meta.thread_source == "subagent" or bool(meta.parent) or "subagent" in fields_of(meta.source)


def parent_of(meta: Meta) -> str:
    """The thread that started this one."""
    spawned = mapping(mapping(fields_of(meta.source).get("subagent")).get("thread_spawn"))
    return meta.parent or text(spawned, "parent_thread_id")


def _base(path: Path) -> Base | None:
    meta = head(path)
    # A subagent may begin with its parent's history; the parent's own file is read for that.
    if meta is None or is_subagent(meta):
        return None
    base = meta.history_base
    thread = (base and base.thread) or meta.forked_from or ""
    end_ordinal = base.end_ordinal if base and base.end_ordinal is not None else meta.forked_at_ordinal
    end_byte = base.end_byte if base else None
    # Older forks copied what they continue.
    if end_ordinal is None and end_byte is None:
        return None
    parent = _rollout_of(thread, path)
    return Base(parent, end_ordinal, end_byte) if parent else None


def _rollout_of(thread: str, near: Path) -> Path | None:
    """The rollout of this thread beside another, on any day."""
    if not _ID.fullmatch(thread):
        return None
    folder = near.parent
    for entry in _rollouts(folder):
        if _stem(entry).endswith(thread):
            return entry
    if _day(folder) is not None:
        for day in sorted(folder.parent.parent.parent.glob("[0-9]*/[0-9]*/[0-9]*")):
            for entry in _rollouts(day):
                if _stem(entry).endswith(thread):
                    return entry
    for entry in _rollouts(folder):
        meta = head(entry) if entry != near else None
        if meta is not None and meta.id == thread:
            return entry
    return None


def _rollouts(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(ENDINGS))
    except OSError:
        return
    for name in names[-_MOST_BESIDE:]:
        entry = folder / name
        if entry.is_file() and not entry.is_symlink():
            yield entry


def _stem(rollout: Path) -> str:
    """Its name without the ending, packed or not."""
    return rollout.name.partition(".jsonl")[0]


def _day(folder: Path) -> date | None:
    """The day in a folder's path: `sessions/2026/03/01`."""
    try:
        return date.fromisoformat("-".join(folder.parts[-3:]))
    except ValueError:
        return None


def _next_day(folder: Path) -> tuple[Path, ...]:
    day = _day(folder)
    if day is None or day == date.max:
        return ()
    return (folder.parent.parent.parent / f"{day + timedelta(days=1):%Y/%m/%d}",)
