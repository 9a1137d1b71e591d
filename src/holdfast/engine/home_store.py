"""The store of a home: a file in it, or a database of PostgreSQL that the settings name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from holdfast import config
from holdfast.errors import ConfigError, HoldfastError, StoreError
from holdfast.home import at_home
from holdfast.settings import StoreSettings
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store
from holdfast.stores.store_files import emptied

NAME = "store.db"
BACKUPS = "backups"


class HomeStore(Store, Protocol):
    """A store with what a daemon does for it between the hooks."""

    def leave_log(self) -> None:
        """Leave it to `move_log` to tidy up behind commits."""
        ...

    def move_log(self) -> None:
        """Tidy up behind commits, while nobody waits."""
        ...

    def note_held(self, at: int) -> None:
        """Note beside the store how much is in it, where it could be lost without a trace."""
        ...


def open_home_store(home: Path, at: int, environment: Mapping[str, str] = os.environ) -> HomeStore:
    """The store of this home, made if there is none. Close it."""
    settings = store_settings(home, environment)
    return _on_server(settings, environment) if settings.url else open_file(home, at)


def open_file(home: Path, at: int) -> HomeStore:
    """The store in the home's own file, whatever the settings name."""
    return open_store(home / NAME, home / BACKUPS, at)


def open_named(settings: StoreSettings, environment: Mapping[str, str] = os.environ) -> HomeStore:
    """The store in the database that these settings name."""
    return _on_server(settings, environment)


def open_session_store(home: Path, at: int, environment: Mapping[str, str] = os.environ) -> HomeStore:
    """The store for the sessions of the library, which may have one of their own."""
    loaded = config.load(home, None, None, environment).config
    path, user = loaded.session.path, environment.get("HOME") or str(Path.home())
    match loaded.session.store:
        case "sqlite" if path:
            file = Path(at_home(path, user)).absolute()
            return open_store(file, file.parent / BACKUPS, at)
        case "sqlite":
            return open_file(home, at)
        case "postgres" if path or loaded.store.url:
            return _on_server(replace(loaded.store, url=path or loaded.store.url), environment)
        case "postgres":
            raise ConfigError(
                "`session.store` is `postgres`, and no database is named",
                "set `session.path`, or `store.url`, to `postgresql://USER@HOST:PORT/DATABASE`",
            )
        case _:
            return open_home_store(home, at, environment)


def read_only_sessions(home: Path, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where the logs are that the library only reads, as the settings say; an empty path: the usual place."""
    session = config.load(home, None, None, environment).config.session
    user = environment.get("HOME") or str(Path.home())
    return Path(at_home(session.path, user)) if session.store == "jsonl" else None


def store_settings(home: Path, environment: Mapping[str, str] = os.environ) -> StoreSettings:
    """Where the settings say that the store is."""
    return config.load(home, None, None, environment).config.store


def is_on_server(home: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the store is no file of the home."""
    return bool(store_settings(home, environment).url)


def there_is_one(home: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a store, or was one that is lost; a database is asked when it is opened."""
    path = home / NAME
    return path.exists() or is_on_server(home, environment) or bool(emptied(path))


def lost(home: Path, environment: Mapping[str, str] = os.environ) -> str:
    """How the home's file was lost; empty if it was not, or the store is on a server."""
    return "" if is_on_server(home, environment) else emptied(home / NAME)


def _on_server(settings: StoreSettings, environment: Mapping[str, str]) -> HomeStore:
    # An extra of the package, and slow to load.
    from holdfast.stores.postgres.connection import (  # noqa: PLC0415
        PostgresAddress,
        PostgresProblem,
        TlsLevel,
        require_driver,
    )

    try:
        require_driver()
    except PostgresProblem as problem:
        raise StoreError(problem.message, problem.hint) from problem
    from holdfast.stores.postgres.store import open_postgres  # noqa: PLC0415

    user = environment.get("HOME") or str(Path.home())
    password_file = at_home(settings.password_file, user)
    address = PostgresAddress(
        settings.url, password_file, TlsLevel(settings.tls), connect_seconds=CONNECT_SECONDS
    )
    return open_postgres(address, settings.schema)


CONNECT_SECONDS = 3
"""A hook event waits behind an attempt to connect, and is spooled after a second."""


def former_file(home: Path, at: int) -> list[Path]:
    """The home's own file where the settings name a database instead: a copy like any other, in one file."""
    path = home / NAME
    if not (is_on_server(home) and path.exists()):
        return []
    # Whoever closes it last leaves no log beside it.
    with suppress(StoreError):
        open_file(home, at).close()
    return [path]


def refuse_server(home: Path, consequence: str, hint: str) -> None:
    """Raise HoldfastError if the store is on a server, where this cannot be done."""
    if is_on_server(home):
        raise HoldfastError(f"the store is a database of PostgreSQL, and {consequence}", hint)
