"""The fourth part of a store's contract: the logs of sessions that live here and nowhere else.

Of another session a harness keeps the log, and only what it tells is kept here. What a record says, and what
a model is told of a log, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.core.agent_log.records import Record
from holdfast.core.session.session import Session
from holdfast.stores.findable import NOBODY


class Logged(Protocol):
    """Logs, each a row of records in the order in which they came."""

    def add_to_log(self, session: str, records: Sequence[Record], redactor: str = NOBODY) -> int:
        """Keep records at the end of a session's log, each as it is; how many it did not hold yet.

        A record is known by its id: the first stands, and the same once more changes nothing.
        """
        ...

    def log(self, session: str, before: str, limit: int) -> list[Record]:
        """The last records of a session's log that stand before that one, oldest first; empty: the last."""
        ...

    def log_from(self, session: str, record: str, limit: int) -> list[Record]:
        """The records of a session's log in their order, from that one on; else from the first."""
        ...

    def logged_sessions(self, limit: int) -> list[Session]:
        """The sessions that have a log here, the one with the latest record first."""
        ...
