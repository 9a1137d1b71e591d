"""The fourth part of a store's contract: the logs of sessions that are stored only here.

A harness stores the log of any other session, and only its events are stored here. What a record means, and
what a model sees of a log, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.core.agent_log.records import Record
from holdfast.core.session.session import Session
from holdfast.stores.findable import NOBODY


class Logged(Protocol):
    """Logs, each a list of records in order of arrival."""

    def add_to_log(self, session: str, records: Sequence[Record], redactor: str = NOBODY) -> int:
        """Append records to a session's log unchanged; returns how many were new.

        A record is identified by its id: the first one stays, a repeated one changes nothing.
        """
        ...

    def log(self, session: str, before: str, limit: int) -> list[Record]:
        """The last records of a session's log before that one (empty: of the whole log), oldest first."""
        ...

    def log_from(self, session: str, record: str, limit: int) -> list[Record]:
        """The records of a session's log in order, from that one on; if it is not there, from the first."""
        ...

    def logged_sessions(self, limit: int) -> list[Session]:
        """The sessions that have a log here, the one with the latest record first."""
        ...
