"""Forget: what a person chose goes everywhere: store, index, vectors, spool, logs, copies of the store.

What is only in files that others own stays: the harness's transcripts, and what setup keeps of its settings.
The store notes that files are still to be cleared before it lets go of its rows, so that whoever is killed
half-way is finished for by the daemon.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from holdfast.engine.projects import resolve
from holdfast.errors import StoreLocked
from holdfast.files import ledger, project_files
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Dropped, Store
from holdfast.stores.sqlite import copies, damaged

OWED: Final = "owed"
"""The fact that says what is still to be cleared away: `AFTER_FORGETTING` or `AFTER_REWRITING`."""
AFTER_FORGETTING: Final = "forgotten"
AFTER_REWRITING: Final = "rewritten"
DEAD_AFTER_MS: Final = 60_000
"""A hook lives for seconds: what an older one left half-written stays so."""


@dataclass(frozen=True, slots=True)
class OneSession:
    key: str


@dataclass(frozen=True, slots=True)
class OneProject:
    project_id: str


@dataclass(frozen=True, slots=True)
class Before:
    """Sessions whose last event is from before then."""

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
    """How much went, by kind; `copies` are whole copies of the store, `logs` files that were emptied."""

    sessions: int = 0
    events: int = 0
    checkpoints: int = 0
    receipts: int = 0
    documents: int = 0
    memories: int = 0
    letters: int = 0
    copies: int = 0
    logs: int = 0
    ledgers: int = 0
    """Past versions of ledgers; the files in the worktrees are the user's."""
    continuities: int = 0
    """Projects whose shared continuity went, with its past versions and the account of it."""


def forget(store: Store, home: Path, choice: Choice, at: int) -> Forgotten:
    """Have everything of the choice gone when this returns; how much it was."""
    letters = _letters(store, home, choice)
    for letter in letters:
        letter.unlink(missing_ok=True)
    folders = _ledgers(store, home, choice)
    versions = _versions(folders)
    projects = _continuities(store, home, choice)
    for folder in (*folders, *chain.from_iterable(map(project_files.continuity_folders, projects))):
        shutil.rmtree(folder)
    with store.writing_durably():
        dropped = _dropped(store, choice, at)
        found = _counted(dropped, letters, home, choice)
        found = replace(found, ledgers=versions, continuities=len(projects))
        if _forget_places(store, home, choice) or found != Forgotten():
            store.put_fact(OWED, AFTER_FORGETTING)
    try:
        clear(store, home, at)
    except StoreLocked as error:
        hint = "all of it is gone from the store; the daemon clears the files as soon as it can"
        raise StoreLocked(error.message, hint) from error
    return found


def rehearse(store: Store, home: Path, choice: Choice, at: int) -> Forgotten:
    """How much `forget` would have go, by the same rules; nothing is changed."""
    dropped = Dropped()
    with contextlib.suppress(_Undo), store.writing():
        dropped = _dropped(store, choice, at)
        raise _Undo
    found = _counted(dropped, _letters(store, home, choice), home, choice)
    versions = _versions(_ledgers(store, home, choice))
    return replace(found, ledgers=versions, continuities=len(_continuities(store, home, choice)))


def living_on(store: Store, session: str) -> list[str]:
    """Other sessions that hold what was said in this one as their own: its forks, and theirs.

    Some share its records; others were given copies under new names, and only their lineage tells.
    """
    keys = [session, *store.sessions_sharing_records(session)]
    for key in keys:
        forks = [each.child for each in store.continued_by(key) if each.kind == "fork"]
        keys += [fork for fork in forks if fork not in keys]
    return keys[1:]


def clear(store: Store, home: Path, at: int) -> None:
    """Remove from the files what the store has let go of, if anything is still owed."""
    owed = store.fact(OWED)
    if not owed:
        return
    path = home / "store.db"
    # A copy holds what its store held: an older one could hold any of it.
    gone = copies(path, home / "backups")
    if owed == AFTER_FORGETTING:
        gone += [*damaged(path), *_doubtful(home, at)]
        for log in logs(home):
            # The line of a log does not say whose it is. Who has the file open goes on at its new end.
            log.write_bytes(b"")
    for file in gone:
        file.unlink(missing_ok=True)
    store.scrub()
    with store.writing():
        store.put_fact(OWED, "")


def logs(home: Path) -> list[Path]:
    """The home's logs that hold anything."""
    return sorted(log for log in (home / "logs").glob("*") if log.is_file() and log.stat().st_size)


def words_of(choice: Choice) -> dict[str, object]:
    """The choice as it is told to another process."""
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
    """The choice that was told; None if it is not clear what to forget."""
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
    """Where a project is and was is forgotten with it, unless its user has settings for it in the home."""
    if not isinstance(choice, OneProject) or (home / "projects" / choice.project_id / "config.toml").exists():
        return 0
    return store.forget_sites(choice.project_id)


class _Undo(Exception):
    """The way out of a transaction that is not to be kept."""


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


def _dropped(store: Store, choice: Choice, at: int) -> Dropped:
    if isinstance(choice, Everything):
        return store.forget_all(at)
    if isinstance(choice, OneMemory):
        known = store.memory(choice.id) is not None
        store.drop_memory(choice.id)
        return Dropped(memories=int(known))
    dropped = store.forget(_keys(store, choice), at)
    if isinstance(choice, OneProject):
        documents = dropped.documents + store.forget_documents(choice.project_id)
        memories = dropped.memories + store.forget_memories(choice.project_id)
        dropped = replace(dropped, documents=documents, memories=memories)
    return dropped


def _counted(dropped: Dropped, letters: list[Path], home: Path, choice: Choice) -> Forgotten:
    """Where nothing was found, copies and logs are left alone."""
    if dropped == Dropped() and not letters and choice != Everything():
        return Forgotten()
    path = home / "store.db"
    every = len(copies(path, home / "backups")) + len(damaged(path))
    return Forgotten(
        dropped.sessions,
        dropped.events,
        dropped.checkpoints,
        dropped.receipts,
        dropped.documents,
        dropped.memories,
        len(letters),
        every,
        len(logs(home)),
    )


# ---------------------------------------------------------------- past versions of ledgers


def _ledgers(store: Store, home: Path, choice: Choice) -> list[Path]:
    """Our folders of the ledgers that hold any of it: what one session wrote, the next one has kept."""
    writers = {ledger.writer(key) for key in _keys(store, choice)}
    return [folder for folder in ledger.folders(home) if _holds(folder, choice, writers)]


def _holds(folder: Path, choice: Choice, writers: set[str]) -> bool:
    match choice:
        case OneProject(project_id=project_id):
            return ledger.project_of(folder) == project_id
        case Everything():
            return True
        case _:
            return any(version.writer in writers for version in ledger.kept(folder))


def _versions(folders: list[Path]) -> int:
    return sum(len(ledger.kept(folder)) for folder in folders)


def _continuities(store: Store, home: Path, choice: Choice) -> list[Path]:
    """Our folders of the projects whose continuity holds any of it."""
    there = project_files.projects(home)
    match choice:
        case OneProject(project_id=project_id):
            return [project for project in there if project.name == project_id]
        case Everything():
            return there
        case _:
            keys = frozenset(_keys(store, choice))
            return [project for project in there if project_files.made_from(project, keys)]


# ---------------------------------------------------------------- letters that wait in the spool


@dataclass(frozen=True, slots=True)
class _Letter:
    """What is to be known of a letter to tell whose it is."""

    at: int
    cwd: str
    names: frozenset[str]


def _letters(store: Store, home: Path, choice: Choice) -> list[Path]:
    keys = frozenset(_keys(store, choice))
    found = [(file, letter) for file, letter in _spooled(home) if letter is not None]
    return [file for file, letter in found if _is_of(store, letter, choice, keys)]


def _doubtful(home: Path, now: int) -> list[Path]:
    """Letters that nobody can read, and what dead hooks left half-written."""
    halves = (home / "spool").glob("*.part")
    left = [half for half in halves if half.stat().st_mtime * 1000 < now - DEAD_AFTER_MS]
    return [*left, *(file for file, letter in _spooled(home) if letter is None)]


def _is_of(store: Store, letter: _Letter, choice: Choice, keys: frozenset[str]) -> bool:
    match choice:
        case OneSession():
            return not keys.isdisjoint(letter.names)
        case OneProject(project_id=project_id):
            return not keys.isdisjoint(letter.names) or _is_in(store, letter, project_id)
        case OneMemory():
            return False
        case Before(at=at):
            return letter.at < at
        case Everything():
            return True


def _is_in(store: Store, letter: _Letter, project_id: str) -> bool:
    return resolve(store, letter.cwd).project.project_id == project_id


def _spooled(home: Path) -> Iterator[tuple[Path, _Letter | None]]:
    for file in sorted((home / "spool").glob("*.letter")):
        with contextlib.suppress(FileNotFoundError):  # the daemon has taken it in
            # Opening a FIFO would wait for ever, and a link may lead anywhere.
            yield file, _read(file.read_bytes()) if stat.S_ISREG(file.lstat().st_mode) else None


def _read(content: bytes) -> _Letter | None:
    head, _, body = content.partition(b"\n\n")
    at = _AT.search(head)
    try:
        fields = msgspec.json.decode(body, type=dict[str, object])
    except (ValueError, RecursionError):
        return None
    names = frozenset(value for value in fields.values() if isinstance(value, str))
    cwd = fields.get("cwd")
    return _Letter(int(at[1]) if at else 0, cwd if isinstance(cwd, str) else "", names)


_AT = re.compile(rb"^at: (\d{1,15})$", re.MULTILINE)
