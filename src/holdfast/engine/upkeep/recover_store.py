"""Recover store: copies what can still be read in a damaged store into the one in use.

Memories first, then sessions, checkpoints, documents and events. Everything goes through the current redactor
before it is added; what was forgotten stays forgotten, and nothing newer is overwritten. A recovery that was
interrupted can be repeated: it adds what is missing. The store reads and writes the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_bytes
from typing import Final, TypeAlias

from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory, contradicts, mark_superseded
from holdfast.core.redaction.redact import Lists
from holdfast.core.session.session import Phase, Session
from holdfast.engine.engine import redactor_of
from holdfast.engine.index import checkpoint_document
from holdfast.engine.liveness import is_alive
from holdfast.engine.recording.memorize import make_findable
from holdfast.engine.redaction.redactor import SECRET_BYTES, Redactor
from holdfast.harnesses import names as harness_names
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, Store
from holdfast.stores.sqlite import newest_backup, open_store
from holdfast.stores.sqlite.recovery.merge import LostSession, StoreMerge
from holdfast.stores.sqlite.recovery.salvage import TABLES, open_salvaged, salvage
from holdfast.stores.store_files import RowCounts, SetAside, files_of, files_set_aside, held, set_aside_stores

Progress: TypeAlias = Callable[[str, float], None]
"""Called with the current step and how far it is, from 0 to 1."""

ALL: Final = 1 << 31
REDACTED_AT_ONCE: Final = (1_000, 4 << 20)
"""Rows and characters that one step redacts."""
UNKNOWN: Final = "unknown"
"""The project of a session of which only events are left. Not empty: empty means every project."""


@dataclass(frozen=True, slots=True)
class Table:
    """What became of the rows of one table."""

    name: str
    readable: int
    added: int
    """The others are in the store already, were forgotten, or belong to nothing that is left."""
    lost: int | None = None
    """How many could not be read; None if the original number is unknown."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What came back out of one database file."""

    file: Path
    tables: tuple[Table, ...]
    unreadable: int
    """Rows that are there but cannot be read."""

    @property
    def added(self) -> int:
        return sum(table.added for table in self.tables)


def recover(home: Path, lists: Lists, at: int, progress: Progress) -> list[Recovery]:
    """Recover from the damaged stores that were set aside, the newest first.

    Then recover what only the last backup before them still has.
    """
    path = home / "store.db"
    aside = set_aside_stores(path)[::-1]
    recoveries = [_recovered(home, one, lists, at, progress) for one in aside]
    newest = next((one.at for one in aside if one.at), None)
    until = int(newest.timestamp() * 1000) + 1000 if newest else at
    backup = newest_backup(path, home / "backups", until) if aside else None
    if backup is not None:
        recovery = recover_file(home, backup, lists, at, progress)
        recoveries += [recovery] if recovery.added else []
    return recoveries


def recover_new(home: Path, lists: Lists, at: int) -> None:
    """Recover from those that were not recovered before."""
    for one in reversed(set_aside_stores(home / "store.db")):
        if not one.recovery_mark.exists():
            _recovered(home, one, lists, at, lambda _stage, _part: None)


def _recovered(home: Path, one: SetAside, lists: Lists, at: int, progress: Progress) -> Recovery:
    recovery = recover_file(home, one.path, lists, at, progress)
    one.recovery_mark.touch(0o600)
    return recovery


def recover_file(home: Path, file: Path, lists: Lists, at: int, progress: Progress) -> Recovery:
    """Recover what can be read in one database file, which stays unchanged."""
    path = home / "store.db"
    with closing(open_store(path, home / "backups", at)) as store, _draft(path, file) as draft:
        salvaged = salvage(file, draft, partial(progress, "reading"))
        redactor = redactor_of(store, lists, partial(token_bytes, SECRET_BYTES))
        with closing(open_salvaged(draft)) as source:
            _redact(source, redactor, progress)
            _forget_inherited(source, store)
            with closing(StoreMerge(path, draft)) as merge:
                merged = _merge(store, source, merge, redactor, progress)
                tables = tuple(_with_loss(table, held(file)) for table in merged)
        return Recovery(file, tables, salvaged.unreadable)


def remove(one: SetAside) -> None:
    """Remove a damaged store with all that stands beside it."""
    for file in files_of(one):
        file.unlink(missing_ok=True)


def _with_loss(table: Table, counts: RowCounts | None) -> Table:
    there = counts.rows.get(table.name.removeprefix("session_")) if counts else None
    return table if there is None else replace(table, lost=max(0, there - table.readable))


@contextmanager
def _draft(path: Path, file: Path) -> Generator[Path]:
    """A temporary database for rows before they are redacted; replaces one that a killed recovery left."""
    for leftover in files_set_aside(path):
        name, _, pid = leftover.name.rpartition(_DRAFT)
        if name and pid.isdigit() and not is_alive(int(pid), 0):
            leftover.unlink(missing_ok=True)
    stem = file.name if file.parent == path.parent else f"{path.stem}.corrupt-{file.name}"
    draft = path.with_name(f"{stem}{_DRAFT}{os.getpid()}")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


_DRAFT: Final = ".salvage-"


def _forget_inherited(source: Store, store: Store) -> None:
    """Remove from salvaged rows what sessions inherited from one that the store in use has forgotten."""
    with source.writing():
        for key in source.keys():  # noqa: SIM118 (a store, not a dict)
            at, session = store.forgotten_at(key), source.session(key)
            has_newer = session is not None and session.last_event_at > at
            if at and not has_newer and source.heirs([key]):
                source.forget([key], at)


def _redact(source: Store, redactor: Redactor, progress: Progress) -> None:
    total = source.redaction(redactor.mark).stale
    done, rows = 0, 1
    while rows:
        with source.writing():
            rows = source.rewrite(redactor.mark, redactor.redacted, *REDACTED_AT_ONCE).rows
        done += rows
        progress("redacting", done / total if total else 1.0)


def _merge(
    store: Store, source: Store, merge: StoreMerge, redactor: Redactor, progress: Progress
) -> Generator[Table]:
    total = sum(map(merge.rows, TABLES)) or 1
    done = 0
    for name in TABLES:
        rows_seen = added = 0
        if name == "memories":
            every = [*source.memories(EVERYWHERE, ALL), *source.superseded_memories(EVERYWHERE, ALL)]
            for memory in every:
                added += _add_memory(store, merge, memory, redactor.mark)
            rows_seen = len(every)
        else:
            for looked_at, rows_added in merge.add(name):
                rows_seen, added = rows_seen + looked_at, added + rows_added
                progress("adding", (done + rows_seen) / total)
        if name == "sessions":
            lost = merge.lost_sessions()
            _add_lost_sessions(store, lost, redactor.mark)
        done += rows_seen
        progress("adding", done / total)
        yield Table(name, rows_seen, added)
    _add_documents(store, source, merge, redactor.mark)
    merge.keep_passages()


def _add_memory(store: Store, merge: StoreMerge, memory: Memory, mark: str) -> bool:
    """Add a memory unless it is stored already, was stored anew, or forgotten; a newer one supersedes it."""
    names = [memory.id, memory.session] if memory.session else [memory.id]
    if any(merge.is_forgotten(name, memory.created_at) for name in names):
        return False
    with store.writing():
        if store.memory(memory.id) is not None or store.memory_like(memory) is not None:
            return False
        for other in store.memories_about(memory):
            if other.created_at > memory.created_at and contradicts(other.text, memory.text):
                memory = mark_superseded(memory, other.id)
                break
        store.put_memory(memory, mark)
        make_findable(store, memory, mark)
    return True


def _add_lost_sessions(store: Store, lost: list[LostSession], mark: str) -> None:
    """Add sessions for events that have none; they are over, and belong to an unknown project."""
    for one in lost:
        root = one.normalized or one.project or UNKNOWN
        project = Project(
            one.project or root, root, one.project_id or UNKNOWN, one.worktree_id or UNKNOWN, root
        )
        harness = one.harness or harness_names()[0]
        session = Session(one.key, harness, project, one.first_at, one.last_at, phase=Phase.ORPHANED)
        with store.writing():
            if store.session(one.key) is None:
                store.put_session(session, mark)


def _add_documents(store: Store, source: Store, merge: StoreMerge, mark: str) -> None:
    """Make checkpoints searchable whose documents were lost."""
    lost = set(merge.checkpoints_to_find())
    for checkpoint in source.checkpoints(ALL) if lost else ():
        if checkpoint.id in lost:
            with store.writing():
                store.add_document(checkpoint_document(checkpoint), mark)
