"""Access: how a command reaches the home, the store and the daemon.

A command that shows state has the daemon record what is pending first, because only the daemon follows
transcripts. If the daemon cannot, the command shows what is stored and says so. Nothing here sets a damaged
store aside.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from holdfast import config, harnesses, models
from holdfast.cli import daemon_requests
from holdfast.cli.printing import say, working
from holdfast.config import excluded
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Session
from holdfast.daemon.local import client
from holdfast.engine.engine import Engine
from holdfast.engine.home_store import open_home_store, there_is_one
from holdfast.engine.ids import session_named
from holdfast.engine.liveness import lock_holder, spooled_hook_events
from holdfast.engine.redaction.forgotten import is_settled
from holdfast.engine.repository import projects
from holdfast.engine.tools.caller import session_around
from holdfast.errors import DaemonAway, HoldfastError, StoreError
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_in_memory

home, now, daemon_status = daemon_requests.home, daemon_requests.now, daemon_requests.daemon_status

FLUSH_TIME = 60.0
SESSIONS_SEARCHED = 10_000


def project_at(path_or_id: Path | None) -> Project:
    """The project of a directory (the current one for None), or the one with that id or former path.

    A project that has moved is followed, and the user is told so, once.
    """
    try:
        with opened_store(home()) as store:
            return _project(store, path_or_id)
    except StoreError:
        # The project by its path alone: the command that needs the store reports what is wrong with it.
        return _project(open_in_memory(), path_or_id)


def register_project(engine: Engine, path_or_id: Path | None) -> Project:
    """The same for a command that stores something: the project is registered, so that it may move."""
    project = _project(engine.store, path_or_id)
    config = engine.config(project)
    if config.continuity.enabled and not excluded(config, project.normalized):
        projects.at(engine.store, project.path, now())
    return project


def _project(store: Store, path_or_id: Path | None) -> Project:
    if path_or_id is not None and not path_or_id.is_dir():
        known = projects.by_name(store, str(path_or_id))
        if known is None:
            raise HoldfastError(
                f"there is no directory `{path_or_id}`, and no project of that name",
                "name the project's directory, or its id: `holdfast project list` shows ids",
            )
        return known
    try:
        resolved = projects.follow(store, str((path_or_id or Path.cwd()).absolute()), now())
    except FileNotFoundError:
        raise HoldfastError("the directory that you are in is gone", "go to another one") from None
    if resolved.note:
        say(f"note: {resolved.note}")
    return resolved.project


def surrounding_session() -> str:
    """The key of the session in whose shell this runs, if the harness sets it; empty otherwise."""
    return session_around(os.environ)


@contextmanager
def current_engine() -> Generator[Engine]:
    """The engine over the home's store, after the daemon recorded what was pending."""
    where = home()
    # First the store: a damaged one is an error here, and no daemon must be started on it.
    with opened_store(where) as store:
        may_be_behind = bool(spooled_hook_events(where) or store.live_sessions())
    try:
        with working("catching up"):
            catch_up(where, start=may_be_behind)
    except DaemonAway as error:
        say(f"note: {error.message}; this is what was stored before")
    with opened_store(where) as store:
        yield _engine(where, store)


@contextmanager
def stored_engine() -> Generator[Engine]:
    """The engine over what is stored now; it does not wait for what is pending."""
    where = home()
    with opened_store(where) as store:
        yield _engine(where, store)


@contextmanager
def writable_engine() -> Generator[Engine]:
    """The engine over the home's store, made if there is none; it does not wait for what is pending."""
    where = home()
    store = open_home_store(where, now())
    try:
        _settle(store, where)
        yield _engine(where, store)
    finally:
        store.close()


def _engine(where: Path, store: Store) -> Engine:
    return Engine(
        store=store,
        harness=harnesses.get,
        config=lambda project: _config(where, project),
        user_home=Path.home(),
        clock=now,
        new_id=lambda: str(uuid.uuid4()),
        home=where,
        embedder=cache(models.embedder),
    )


@contextmanager
def opened_store(where: Path) -> Generator[Store]:
    """The home's store; if there is none, an empty one in memory, so that reading creates no file."""
    if not there_is_one(where):
        yield open_in_memory()
        return
    store = open_home_store(where, now())
    try:
        _settle(store, where)
        yield store
    finally:
        store.close()


def _settle(store: Store, where: Path) -> None:
    """Remove from the store what was forgotten, as is needed after a backup was restored."""
    if is_settled(store, where):
        return
    from holdfast.engine.privacy.forget import settle_if_alone

    try:
        settle_if_alone(store, where, now())
    except HoldfastError as error:
        say(f"note: {error.message}; what was forgotten before may be in the store")


def catch_up(where: Path, *, start: bool) -> None:
    """Have the daemon record what is pending; `start` says whether to start it for that."""
    if daemon_status(where) is None:
        if holder := lock_holder(where):
            raise DaemonAway(f"the daemon (process {holder}) does not answer")
        if not start:
            return
        client.start(where)
    client.ask(where, "flush", timeout=FLUSH_TIME)


def daemon_answering(where: Path) -> int:
    """The process of the daemon that answers; 0 if none does."""
    status = daemon_status(where)
    return int(status["pid"]) if status else 0


def pick_session(store: Store, project: Project, key: str) -> Session | None:
    """The named session, or the surrounding one, or the newest of this worktree, a live one first."""
    if key:
        return session_named(store, key)
    around = store.session(surrounding_session())
    if around is not None:
        return around
    since = now() - DAY_MS
    sessions = store.sessions_of_project(project.project_id, since, SESSIONS_SEARCHED)
    here = [session for session in sessions if session.project.worktree_id == project.worktree_id]
    live = (session for session in here if session.phase is Phase.LIVE)
    return next(live, next(iter(here), None))


def _config(where: Path, project: Project) -> config.Config:
    return config.load(where, Path(project.root), project.project_id, os.environ).config
