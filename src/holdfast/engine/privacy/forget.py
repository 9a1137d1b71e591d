"""Forget: removes what the user chose everywhere: store, index, vectors, spool, logs, copies of the store.

Files that others own stay: the harness's transcripts, and setup's backups of its settings. The store notes
what is to be forgotten before anything is removed, and then that files are still to be cleared: if the
process is killed, the next one that opens the store finishes the work. `engine.redaction` stores
hashes, so that forgotten texts do not come back.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from holdfast import config
from holdfast.engine.home_store import former_file
from holdfast.engine.liveness import lock_holder, spooled_files
from holdfast.engine.redaction import forgotten
from holdfast.engine.redaction.forgotten import BEGUN
from holdfast.engine.redaction.redactor import lists_of
from holdfast.engine.repository.projects import resolve
from holdfast.engine.upkeep import recover_store
from holdfast.errors import StoreError, StoreLocked
from holdfast.files import continuity, forgotten_record, ledger
from holdfast.files.forgotten_record import ForgottenRecord
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Dropped, Store
from holdfast.stores.sqlite import copies, damaged, is_being_made, rewriting
from holdfast.stores.store_files import drop_note, set_aside_stores

OWED: Final = "owed"
"""The fact that says which files are still to be cleared: `AFTER_FORGETTING` or `AFTER_REWRITING`."""
AFTER_FORGETTING: Final = "forgotten"
AFTER_REWRITING: Final = "rewritten"
DEAD_AFTER_MS: Final = 60_000
"""A hook runs for seconds: a half-written file older than this stays half-written."""


@dataclass(frozen=True, slots=True)
class OneSession:
    key: str


@dataclass(frozen=True, slots=True)
class OneProject:
    project_id: str


@dataclass(frozen=True, slots=True)
class Before:
    """Sessions whose last event is before this time."""

    at: int


@dataclass(frozen=True, slots=True)
class OneMemory:
    id: str


@dataclass(frozen=True, slots=True)
class Everything:
    pass


Choice: TypeAlias = OneSession | OneProject | OneMemory | Before | Everything


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was removed, by kind; `logs` are files that were emptied."""

    sessions: int = 0
    events: int = 0
    checkpoints: int = 0
    receipts: int = 0
    documents: int = 0
    memories: int = 0
    mentions: int = 0
    """Rows that repeated a forgotten memory, and are stored without it."""
    hook_events: int = 0
    copies: int = 0
    """Copies of the store that were removed, because they were damaged or could not be rewritten."""
    rewritten: int = 0
    """Copies of the store that were rewritten."""
    logs: int = 0
    ledgers: int = 0
    """Past versions of ledgers; the files in the worktrees are the user's."""
    continuities: int = 0
    """Projects whose shared continuity was removed, with its past versions and audit log."""
    left: Sequence[str] = ()
    """People's own files outside the home that contain what was forgotten."""


def forget(store: Store, home: Path, choice: Choice, at: int) -> Forgotten:
    """Remove everything in the choice before returning; returns how much it was."""
    path = home / "store.db"
    if choice != Everything() and path.exists() and set_aside_stores(path):
        _recover_first(home, at)
    # If everything is forgotten, an empty store is no sign of damage.
    drop_note(path)
    with store.writing_durably():
        store.put_fact(BEGUN, json.dumps(words_of(choice)))
    hook_events = _hook_events(store, home, choice)
    for payload in hook_events:
        payload.unlink(missing_ok=True)
    folders = _ledgers(store, home, choice)
    versions = _versions(folders)
    projects = _continuities(store, home, choice)
    for folder in (*folders, *chain.from_iterable(map(continuity.continuity_folders, projects))):
        shutil.rmtree(folder, ignore_errors=True)
    with store.writing_durably():
        dropped = _dropped(store, choice, at)
        store.stamp_announcements(at)
        result = _counted(dropped, hook_events, home, choice, at)
        result = replace(result, ledgers=versions, continuities=len(projects))
        store.put_fact(BEGUN, "")
        if _forget_places(store, home, choice) or result != Forgotten():
            store.put_fact(OWED, AFTER_FORGETTING)
            forgotten.publish(store, home)
    try:
        cleared = clear(store, home, at)
    except StoreLocked as error:
        hint = "all of it is gone from the store; the daemon clears the files as soon as it can"
        raise StoreLocked(error.message, hint) from error
    if result == Forgotten():
        return result
    lost = cleared.copies_lost
    return replace(result, copies=result.copies + lost, rewritten=result.rewritten - lost, left=cleared.left)


def settle(store: Store, home: Path, at: int) -> None:
    """Remove what was forgotten from a store that was just opened, for instance a restored one."""
    dropped = forgotten.agree(store, home, at)
    if dropped != Dropped() and not store.fact(OWED):
        with store.writing():
            store.put_fact(OWED, AFTER_FORGETTING)
    begun = store.fact(BEGUN)
    choice = choice_of(msgspec.json.decode(begun, type=dict[str, object])) if begun else None
    if choice is not None:
        forget(store, home, choice, at)
    elif dropped != Dropped():
        clear(store, home, at)


def settle_if_alone(store: Store, home: Path, at: int) -> None:
    """Settle, unless a daemon runs: it did so when it opened the store, and may be forgetting right now."""
    if not forgotten.is_settled(store, home) and not lock_holder(home):
        settle(store, home, at)


def _recover_first(home: Path, at: int) -> None:
    """Recover damaged stores first: they cannot be edited, so they are removed whole."""
    lists = lists_of(config.load(home, None, None, os.environ).config)
    recover_store.recover_new(home, lists, at)


def rehearse(store: Store, home: Path, choice: Choice, at: int) -> Forgotten:
    """How much `forget` would remove, by the same rules; nothing is changed."""
    dropped = Dropped()
    with contextlib.suppress(_Undo), store.writing():
        dropped = _dropped(store, choice, at)
        raise _Undo
    forgotten = _counted(dropped, _hook_events(store, home, choice), home, choice, at)
    versions = _versions(_ledgers(store, home, choice))
    return replace(forgotten, ledgers=versions, continuities=len(_continuities(store, home, choice)))


def living_on(store: Store, session: str) -> list[str]:
    """Other sessions that contain this one's conversation: its forks, and theirs.

    Some share its records; others have copies under new names, and only their lineage shows it.
    """
    keys = [session, *store.sessions_sharing_records(session)]
    for key in keys:
        forks = [each.child for each in store.continued_by(key) if each.kind == "fork"]
        keys += [fork for fork in forks if fork not in keys]
    return keys[1:]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What became of the files."""

    copies_lost: int = 0
    """Copies of the store that had to be removed, because they could not be rewritten."""
    left: tuple[str, ...] = ()
    """People's files that still contain what was forgotten."""


def clear(store: Store, home: Path, at: int) -> Cleared:
    """Remove from the files what the store has dropped, if that is still to be done."""
    pending = store.fact(OWED)
    if not pending:
        return Cleared()
    remaining: tuple[str, ...] = ()
    path = home / "store.db"
    every = copies(path, home / "backups")
    if pending == AFTER_FORGETTING:
        wordings = forgotten.forgotten_wordings(store)
        # Heavy to load, and needed only here.
        from holdfast.engine.privacy.erase import erase_files, erase_worktrees  # noqa: PLC0415

        # First, because the home's copies show which parts Holdfast wrote.
        remaining = erase_worktrees(store, home, wordings)
        erase_files(home, wordings)
        record = forgotten_record.read(home)
        removed = [copy for copy in (*every, *former_file(home, at)) if not _rewritten(copy, record, at)]
        for log in logs(home):
            # A log line does not name its session. A process that has the file open goes on at its new end.
            log.write_bytes(b"")
        others = [*damaged(path), *_doubtful(home, at)]
    else:
        # Any older copy could contain what is not to be kept. One that is being made goes by itself.
        removed, others = [copy for copy in every if not is_being_made(copy)], []
    lost = sum(map(_is_whole, removed))
    for file in (*removed, *others):
        file.unlink(missing_ok=True)
    store.scrub()
    with store.writing():
        store.put_fact(OWED, "")
    return Cleared(lost, remaining)


def _rewritten(copy: Path, record: ForgottenRecord, at: int) -> bool:
    """Remove what was forgotten from a copy of the store; returns whether it could be rewritten."""
    if not _is_whole(copy):
        return False
    try:
        with rewriting(copy) as store, store.writing():
            forgotten.learn(store, record, at)
            for fact in (OWED, BEGUN, forgotten.GENERATION):
                store.put_fact(fact, "")
    except StoreError:
        return False
    return True


def _is_whole(copy: Path) -> bool:
    """Whether it is a complete copy, and not one that a killed process left half-written."""
    return copy.suffix == ".db" and copy.stat().st_size > 0


def logs(home: Path) -> list[Path]:
    """The home's logs that are not empty."""
    return sorted(log for log in (home / "logs").glob("*") if log.is_file() and log.stat().st_size)


def words_of(choice: Choice) -> dict[str, object]:
    """The choice as JSON for another process."""
    match choice:
        case OneSession(key=key):
            return {"session": key}
        case OneProject(project_id=project_id):
            return {"project": project_id}
        case OneMemory(id=id):
            return {"memory": id}
        case Before(at=at):
            return {"before": at}
        case Everything():
            return {"all": True}


def choice_of(words: Mapping[str, object]) -> Choice | None:
    """The choice that `words_of` wrote; None if it is not clear what to forget."""
    match dict(words):
        case {"session": str(key), **rest} if key and not rest:
            return OneSession(key)
        case {"project": str(project_id), **rest} if project_id and not rest:
            return OneProject(project_id)
        case {"memory": str(id), **rest} if id and not rest:
            return OneMemory(id)
        case {"before": int(at), **rest} if not rest:
            return Before(at)
        case {"all": True, **rest} if not rest:
            return Everything()
        case _:
            return None


def _forget_places(store: Store, home: Path, choice: Choice) -> int:
    """Forget where a project is and was, unless the user has settings for it in the home."""
    if not isinstance(choice, OneProject) or (home / "projects" / choice.project_id / "config.toml").exists():
        return 0
    return store.forget_sites(choice.project_id)


class _Undo(Exception):
    """Raised to roll back a transaction."""


def _keys(store: Store, choice: Choice) -> list[str]:
    match choice:
        case OneSession(key=key):
            return [key]
        case OneProject(project_id=project_id):
            return store.keys_of_project(project_id)
        case OneMemory():
            return []
        case Before(at=at):
            return store.keys_before(at)
        case Everything():
            return store.keys()


def _keys_with_heirs(store: Store, choice: Choice) -> list[str]:
    """The chosen sessions, and those that inherited their work and may have written it into files."""
    keys = _keys(store, choice)
    return [*keys, *store.heirs(keys)]


def _dropped(store: Store, choice: Choice, at: int) -> Dropped:
    if isinstance(choice, Everything):
        return forgotten.forget_everything(store, at)
    if isinstance(choice, OneMemory):
        return forgotten.forget_memory(store, choice.id, at)
    dropped = store.forget(_keys(store, choice), at)
    if isinstance(choice, OneProject):
        dropped += store.forget_project(choice.project_id, at)
    return dropped


def _counted(dropped: Dropped, hook_events: list[Path], home: Path, choice: Choice, at: int) -> Forgotten:
    """What was removed, by kind; if nothing was, copies and logs are left alone."""
    if dropped == Dropped() and not hook_events and choice != Everything():
        return Forgotten()
    path = home / "store.db"
    whole = [_is_whole(copy) for copy in (*copies(path, home / "backups"), *former_file(home, at))]
    return Forgotten(
        dropped.sessions,
        dropped.events,
        dropped.checkpoints,
        dropped.receipts,
        dropped.documents,
        dropped.memories,
        dropped.mentions,
        hook_events=len(hook_events),
        copies=whole.count(False) + len(damaged(path)),
        rewritten=whole.count(True),
        logs=len(logs(home)),
    )


# ---------------------------------------------------------------- past versions of ledgers


def _ledgers(store: Store, home: Path, choice: Choice) -> list[Path]:
    """The home's folders of ledgers that contain any of it: each session's entries are kept by the next."""
    writers = {ledger.writer(key) for key in _keys_with_heirs(store, choice)}
    return [folder for folder in ledger.folders(home) if _holds(folder, choice, writers)]


def _holds(folder: Path, choice: Choice, writers: set[str]) -> bool:
    match choice:
        case OneProject(project_id=project_id):
            return ledger.project_of(folder) == project_id
        case Everything():
            return True
        case _:
            return any(version.writer in writers for version in ledger.versions_in(folder))


def _versions(folders: list[Path]) -> int:
    return sum(len(ledger.versions_in(folder)) for folder in folders)


def _continuities(store: Store, home: Path, choice: Choice) -> list[Path]:
    """The home's folders of projects whose continuity contains any of it."""
    there = continuity.projects_with_continuity(home)
    match choice:
        case OneProject(project_id=project_id):
            return [project for project in there if project.name == project_id]
        case Everything():
            return there
        case _:
            keys = frozenset(_keys_with_heirs(store, choice))
            return [project for project in there if continuity.is_made_from(project, keys)]


# ---------------------------------------------------------------- hook events in the spool


@dataclass(frozen=True, slots=True)
class _Payload:
    """The parts of a hook event that say which session it belongs to."""

    at: int
    cwd: str
    names: frozenset[str]


def _hook_events(store: Store, home: Path, choice: Choice) -> list[Path]:
    keys = frozenset(_keys(store, choice))
    readable = [(file, payload) for file, payload in _spooled(home) if payload is not None]
    return [file for file, payload in readable if _is_of(store, payload, choice, keys)]


def _doubtful(home: Path, now: int) -> list[Path]:
    """Hook events that cannot be read, and files that dead hooks left half-written."""
    halves = (home / "spool").glob("*.part")
    half_written = [half for half in halves if half.stat().st_mtime * 1000 < now - DEAD_AFTER_MS]
    return [*half_written, *(file for file, payload in _spooled(home) if payload is None)]


def _is_of(store: Store, payload: _Payload, choice: Choice, keys: frozenset[str]) -> bool:
    match choice:
        case OneSession():
            return not keys.isdisjoint(payload.names)
        case OneProject(project_id=project_id):
            return not keys.isdisjoint(payload.names) or _is_in(store, payload, project_id)
        case OneMemory():
            return False
        case Before(at=at):
            return payload.at < at
        case Everything():
            return True


def _is_in(store: Store, payload: _Payload, project_id: str) -> bool:
    return resolve(store, payload.cwd).project.project_id == project_id


def _spooled(home: Path) -> Iterator[tuple[Path, _Payload | None]]:
    for file in spooled_files(home):
        with contextlib.suppress(FileNotFoundError):  # the daemon has processed it
            # Opening a FIFO would block for ever, and a link may lead anywhere.
            yield file, _read(file.read_bytes()) if stat.S_ISREG(file.lstat().st_mode) else None


def _read(content: bytes) -> _Payload | None:
    head, _, body = content.partition(b"\n\n")
    at = _AT.search(head)
    try:
        fields = msgspec.json.decode(body, type=dict[str, object])
    except (ValueError, RecursionError):
        return None
    names = frozenset(value for value in fields.values() if isinstance(value, str))
    cwd = fields.get("cwd")
    return _Payload(int(at[1]) if at else 0, cwd if isinstance(cwd, str) else "", names)


_AT = re.compile(rb"^at: (\d{1,15})$", re.MULTILINE)
