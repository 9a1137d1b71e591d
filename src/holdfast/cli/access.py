"""Access: how a command reaches the home, the store and the daemon.

A command that shows state has what is pending taken in first. The daemon does that, because it alone follows
transcripts; where it cannot, the command shows what is stored and says so. Nothing here sets a damaged store
aside.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from holdfast import config, harnesses, models
from holdfast.cli import running
from holdfast.cli.printing import say, working
from holdfast.config import excluded
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Session
from holdfast.daemon.local import client
from holdfast.engine.engine import Engine
from holdfast.engine.liveness.home import lock_holder, spooled
from holdfast.engine.redaction.forgotten import is_settled
from holdfast.engine.repository import projects
from holdfast.engine.tools.caller import session_around
from holdfast.engine.views import command_views
from holdfast.errors import DaemonAway, HoldfastError, StoreError
from holdfast.stores.base import Store
from holdfast.stores.held import emptied
from holdfast.stores.sqlite import open_in_memory, open_store

home, now, daemon_status = running.home, running.now, running.daemon_status
troubles_of = running.troubles_of
session_named, SESSIONS_SEARCHED = command_views.session_named, command_views.SESSIONS_SEARCHED

FLUSH_TIME = 60.0


def project_at(named: Path | None) -> Project:
    """The project of a directory, or of the one we are in; or the one that goes by an id or a former path.

    One that has moved is followed, and the user is told so, once.
    """
    try:
        with opened_store(home()) as store:
            return _project(store, named)
    except StoreError:
        # Which project it is by its path alone: whoever needs the store says what is wrong with it.
        return _project(open_in_memory(), named)


def project_to_keep(engine: Engine, named: Path | None) -> Project:
    """The same for a command that keeps something: from now on the project is known, wherever it moves."""
    project = _project(engine.store, named)
    config = engine.config(project)
    if config.continuity.enabled and not excluded(config, project.normalized):
        projects.at(engine.store, project.path, now())
    return project


def _project(store: Store, named: Path | None) -> Project:
    if named is not None and not named.is_dir():
        known = projects.by_name(store, str(named))
        if known is None:
            raise HoldfastError(
                f"there is no directory `{named}`, and no project of that name",
                "name the project's directory, or its id: `holdfast project list` shows ids",
            )
        return known
    try:
        found = projects.follow(store, str((named or Path.cwd()).absolute()), now())
    except FileNotFoundError:
        raise HoldfastError("the directory that you are in is gone", "go to another one") from None
    if found.note:
        say(f"note: {found.note}")
    return found.project


def session_around_us() -> str:
    """The key of the session in whose shell this runs, if its harness tells its children; empty otherwise."""
    return session_around(os.environ)


@contextmanager
def opened_desk() -> Generator[Engine]:
    """The engine over the home's store, with what was pending taken in."""
    where = home()
    # First the store: a damaged one is an error here, and must not be met by a daemon that we start.
    with opened_store(where) as store:
        may_be_behind = bool(spooled(where) or store.live_sessions())
    try:
        with working("catching up"):
            catch_up(where, start=may_be_behind)
    except DaemonAway as error:
        say(f"note: {error.message}; this is what was stored before")
    with opened_store(where) as store:
        yield _desk(where, store)


@contextmanager
def stored_desk() -> Generator[Engine]:
    """The engine over what is stored now; what is pending is not waited for."""
    where = home()
    with opened_store(where) as store:
        yield _desk(where, store)


@contextmanager
def writing_desk() -> Generator[Engine]:
    """The engine over the home's store, made where there is none; what is pending is not waited for."""
    where = home()
    store = open_store(where / "store.db", where / "backups", now())
    try:
        _settle(store, where)
        yield _desk(where, store)
    finally:
        store.close()


def _desk(where: Path, store: Store) -> Engine:
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
    """The home's store, or an empty one that is not kept where there is none: looking makes nothing."""
    path = where / "store.db"
    if not path.exists() and not emptied(path):
        yield open_in_memory()
        return
    store = open_store(path, where / "backups", now())
    try:
        _settle(store, where)
        yield store
    finally:
        store.close()


def _settle(store: Store, where: Path) -> None:
    """Have nothing in the store that was forgotten, as after a backup was restored."""
    if is_settled(store, where):
        return
    from holdfast.engine.privacy.forget import settle_if_alone

    try:
        settle_if_alone(store, where, now())
    except HoldfastError as error:
        say(f"note: {error.message}; what was forgotten before may be in the store")


def catch_up(where: Path, *, start: bool) -> None:
    """Have the daemon take in what is pending; where it is away, only if it is to be started for that."""
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


def session_at_work(store: Store, project: Project, key: str) -> Session | None:
    """The session that was named, or that we run in, or the newest of this worktree, a live one first."""
    if key:
        return session_named(store, key)
    around = store.session(session_around_us())
    if around is not None:
        return around
    since = now() - DAY_MS
    found = store.sessions_of_project(project.project_id, since, SESSIONS_SEARCHED)
    here = [session for session in found if session.project.worktree_id == project.worktree_id]
    live = (session for session in here if session.phase is Phase.LIVE)
    return next(live, next(iter(here), None))


def _config(where: Path, project: Project) -> config.Config:
    return config.load(where, Path(project.root), project.project_id, os.environ).config
