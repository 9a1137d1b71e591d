"""PostgresDatabase: one connection, its transactions and the one place where statements run.

Every transaction sets what it needs for itself, so that PgBouncer may lend a connection for single
transactions, and nothing is prepared on the server. Values are quoted on this side, so that a query and what
it needs are one message and one answer.

One transaction writes at a time, as with SQLite: it holds a lock until it ends, so that what it read stays
valid and rows get their numbers in the order in which they become visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import Final, cast

import psycopg
from psycopg.types.string import TextLoader

from holdfast.errors import StoreAway, StoreError, StoreLocked
from holdfast.stores.codec import clean
from holdfast.stores.postgres.connection import (
    Connection,
    PostgresAddress,
    PostgresProblem,
    ProblemKind,
    connect,
    translated,
)
from holdfast.stores.postgres.dialect import DriverStatement, restored, translated_statement
from holdfast.stores.sql.database import Bindings, Row

STATEMENT_MS: Final = 30_000
LOCK_MS: Final = 5_000
IDLE_MS: Final = 60_000
"""How long a transaction may wait for its next statement."""
AWAY_SECONDS: Final = 2.0
"""After a connection failed, nobody waits for another attempt for so long."""


class PostgresDatabase:
    """A connection to a store's schema. Used by one thread at a time; it raises only StoreError."""

    def __init__(
        self, address: PostgresAddress, schema: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._address = address
        self.schema = schema
        self._clock = clock
        self._connection: Connection | None = None
        self._is_writing = False
        self._failure: tuple[float, StoreAway] | None = None
        """Until when no other attempt to connect is made, and why."""
        self._statements: dict[str, DriverStatement] = {}
        self._path = quoted_name(schema)

    @property
    def place(self) -> str:
        """Server, database and schema for a message."""
        return f"{self._address.place}, schema {self.schema}"

    def search_also(self, schema: str) -> None:
        """Look for types and operators in that schema too: an extension's."""
        self._path = f"{quoted_name(self.schema)}, {quoted_name(schema)}"

    @contextmanager
    def writing(self) -> Generator[None]:
        """One transaction; it waits for other writers at its start and nowhere else.

        As durable as the server's settings say, which by default is on its disk. A server may crash while the
        transcript that could be read again is on a disk that is thrown away.
        """
        with self._transaction(""):
            yield

    @contextmanager
    def writing_durably(self) -> Generator[None]:
        """One transaction that is on the server's disk when it ends, with all that was written before."""
        with self._transaction("set local synchronous_commit = on;"):
            yield

    def rows(self, sql: str, bindings: Bindings | None = None) -> list[Row]:
        """Everything a query finds."""
        return _all_rows(self._answer(sql, bindings or {}))

    def row(self, sql: str, bindings: Bindings | None = None) -> Row | None:
        """The first row a query finds."""
        rows = self.rows(sql, bindings)
        return rows[0] if rows else None

    def write(self, sql: str, bindings: Bindings) -> int:
        """Change something; how many rows the last statement changed."""
        if not self._is_writing:
            raise RuntimeError("a write stands outside `writing`")
        return self._answer(sql, bindings).rowcount

    def script(self, text: str) -> None:
        """Run several statements without values, inside a transaction."""
        with self._in_our_words():
            self._opened().execute(text.encode())

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is open that may still be rolled back."""
        return self._is_writing

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _transaction(self, settings: str) -> Generator[None]:
        if self._is_writing:
            raise RuntimeError("a transaction is open already")
        begin = (
            f"begin; {self._settings()} {settings}"
            f" set local idle_in_transaction_session_timeout = {IDLE_MS};"
            f" select pg_advisory_xact_lock({_lock_of(self.schema)})"
        )
        try:
            self._send_first(begin, {})
            self._is_writing = True
            yield
            self._commit()
        finally:
            self._is_writing = False
            self._roll_back()

    def _commit(self) -> None:
        with self._in_our_words():
            answer = self._opened().execute(b"commit")
        if answer.statusmessage != "COMMIT":
            raise StoreError(
                f"the store at `{self.place}` undid a change: one of its statements had failed",
                hint="nothing of it was stored; try again",
            )

    def _roll_back(self) -> None:
        connection = self._connection
        if connection is None:
            return
        # Whatever state it is in: what is not idle now is not used again.
        if not connection.closed and connection.info.transaction_status:
            with suppress(StoreError), self._in_our_words():
                connection.execute(b"rollback")
        if connection.closed or connection.info.transaction_status:
            self.close()

    def _answer(self, sql: str, bindings: Bindings) -> psycopg.Cursor[Row]:
        statement = self._statements.get(sql)
        if statement is None:
            statement = self._statements[sql] = translated_statement(sql)
        values = statement.values(bindings)
        if self._is_writing:
            return self._send(statement.text, values)
        return self._send_first(f"{self._settings()} {statement.text}", values)

    def _settings(self) -> str:
        return (
            f"set local search_path = {self._path}; set local statement_timeout = {STATEMENT_MS};"
            f" set local lock_timeout = {LOCK_MS};"
        )

    def _send_first(self, text: str, values: dict[str, object]) -> psycopg.Cursor[Row]:
        """Send what begins something: on a connection that was lost meanwhile, once more on a new one."""
        is_new = self._connection is None
        try:
            return self._send(text, values)
        except StoreAway:
            if is_new or self._connection is not None:
                raise
        return self._send(text, values)

    def _send(self, text: str, values: dict[str, object]) -> psycopg.Cursor[Row]:
        """The last answer to these statements."""
        with self._in_our_words():
            cursor = self._opened().cursor()
            try:
                cursor.execute(text.encode(), values or None)
            except UnicodeEncodeError:
                cursor.execute(text.encode(), {name: _cleaned(value) for name, value in values.items()})
            while cursor.nextset():
                pass
            return cursor

    def _opened(self) -> Connection:
        if self._connection is None:
            if self._is_writing:
                raise self._lost()
            if self._failure is not None and self._clock() < self._failure[0]:
                raise self._failure[1]
            self._connection = self._connected()
        return self._connection

    def _connected(self) -> Connection:
        self._failure = None
        try:
            connection = connect(self._address)
        except PostgresProblem as problem:
            if problem.kind is ProblemKind.AWAY:
                self._failure = self._clock() + AWAY_SECONDS, StoreAway(problem.message, problem.hint)
            raise
        connection.cursor_factory = psycopg.ClientCursor
        connection.adapters.register_loader("text", StoredTextLoader)
        return connection

    def _lost(self) -> StoreAway:
        return StoreAway(
            f"the connection to the store at `{self.place}` was lost", "what was acknowledged before is kept"
        )

    @contextmanager
    def _in_our_words(self) -> Generator[None]:
        """Turn what went wrong into a StoreError; a connection that is of no use any more is dropped."""
        try:
            with translated(self.place):
                yield
        except PostgresProblem as problem:
            if self._connection is not None and self._connection.closed:
                self.close()
            raise _store_error(problem) from problem


class StoredTextLoader(TextLoader):
    """Reads a text as it was before it was stored."""

    def load(self, data: bytes | bytearray | memoryview) -> bytes | str:
        text = super().load(data)
        return restored(text) if isinstance(text, str) else text


def _store_error(problem: PostgresProblem) -> StoreError:
    match problem.kind:
        case ProblemKind.AWAY:
            return StoreAway(problem.message, problem.hint)
        case ProblemKind.BUSY:
            return StoreLocked(problem.message, problem.hint)
        case _:
            return StoreError(problem.message, problem.hint)


def _all_rows(cursor: psycopg.Cursor[Row]) -> list[Row]:
    return cursor.fetchall() if cursor.description is not None else []


def _cleaned(value: object) -> object:
    if isinstance(value, list):
        return [clean(item) for item in cast("list[object]", value)]
    return clean(value)


def quoted_name(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _lock_of(schema: str) -> int:
    """The number of the lock that whoever writes into a schema holds."""
    return int.from_bytes(blake2b(schema.encode(), key=b"holdfast", digest_size=8).digest(), signed=True)
