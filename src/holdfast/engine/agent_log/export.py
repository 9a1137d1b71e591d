"""Export: the whole log of a session of ours, in the format in which other programs keep theirs.

Whatever stands in the log is written as it is; what other readers do not know, such as a checkpoint, they
pass over.
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
    """The lines of a session's log, its header first. HoldfastError if no log of that key is kept here."""
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
    """Whose logs there are."""
    keys = [session.key for session in store.logged_sessions(_NAMED)]
    if not keys:
        return "only sessions of your own agents, by `holdfast.embed`, have one"
    return f"these have one: {', '.join(keys)}"
