"""Export: an agent log as a whole, in a format that other programs read.

Every record is written as it is; other readers skip types that they do not know, such as a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from holdfast.config import require_protection
from holdfast.core.agent_log.records import SESSION, header, portable
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError
from holdfast.stores.base import Store

_ALL: Final = 1 << 40
_NAMED: Final = 5


def export(engine: Engine, key: str) -> Iterator[str]:
    """The lines of a session's log, its header first. HoldfastError if no log with that key is stored."""
    records = engine.store.log(key, "", _ALL)
    if not records:
        raise HoldfastError(f"no log of a session `{key}` is kept here", _hint(engine.store))
    session = engine.store.session(key)
    if session is not None:
        require_protection(engine.config(session.project))
    if records[0].type != SESSION:
        at = records[0].at or engine.clock()
        yield header(engine.new_id(), at, session.project.normalized if session else "").line
    yield from map(portable, records)


def _hint(store: Store) -> str:
    """A hint that lists the stored logs."""
    keys = [session.key for session in store.logged_sessions(_NAMED)]
    if not keys:
        return "only sessions of your own agents, by `holdfast.embed`, have one"
    return f"these have one: {', '.join(keys)}"
