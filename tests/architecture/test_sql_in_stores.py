"""Our SQL, and the drivers that run it, are in stores alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import (
    Finding,
    Source,
    assert_holds,
    docstrings,
    findings_in,
    imported,
    package,
)
from tests.tables import every_row

DRIVERS = frozenset({"apsw", "sqlite3", "psycopg"})
STATEMENT = re.compile(
    r"""^\s*(?:
        select\s.+\sfrom\s
      | insert\s+(?:or\s+\w+\s+)?into\s
      | replace\s+into\s
      | update\s+\S+\s+set\s
      | delete\s+from\s
      | with\s+(?:recursive\s+)?\w+(?:\s*\(.*?\))?\s+as\s*\(
      | (?:create|drop|alter)\s+(?:unique\s+|virtual\s+|temp\s+)?(?:table|index|trigger|view)\s
      | pragma\s+\w+\s*(?:=|\(|;|$)
      | begin\s+(?:immediate|exclusive|deferred|transaction)
    )""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def sql_in_stores(source: Source) -> Iterator[Finding]:
    """No SQL outside stores, but for a harness that reads its own database in its `transcript.py`.

    How such a database is opened stands beside them, in `databases.py`.
    """
    if source.package_name == "stores" or _reads_its_harness(source):
        return
    for name, line in imported(source):
        if name.split(".", 1)[0] in DRIVERS:
            yield Finding(
                source.path, line, f"`{name}` belongs in stores; call an operation of `stores/base.py`"
            )
    for line, text in _strings(source):
        if STATEMENT.match(text):
            start = " ".join(text.split())[:40]
            yield Finding(
                source.path,
                line,
                f"this looks like SQL: `{start}`; make it a named operation of `stores/base.py`",
            )


def _reads_its_harness(source: Source) -> bool:
    return re.fullmatch(r"harnesses/(?:\w+/transcript|databases)\.py", source.path) is not None


def _strings(source: Source) -> Iterator[tuple[int, str]]:
    """Every string that is not a docstring; the holes of an f-string read as `?`."""
    prose = docstrings(source)
    for node in source.nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "?" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value


def test_our_sql_is_in_stores() -> None:
    assert_holds(sql_in_stores, package())


@every_row(
    "text",
    [
        "import apsw",
        "def late():\n    from sqlite3 import connect",
        "q = 'select id from sessions'",
        "q = '''\n  SELECT id,\n         at\n    FROM checkpoints\n'''",
        "q = f'select id from {table} where x = 1'",
        "q = 'insert or ignore into events values (?)'",
        "q = 'update sessions set ended = 1'",
        "q = f'update {table} set ended = 1'",
        "q = 'delete from events where id = ?'",
        "q = 'create unique index i on t (a)'",
        "q = 'with recent as (select 1) select * from recent'",
        "q = 'pragma user_version'",
        "q = 'begin immediate'",
    ],
)
def test_sql_elsewhere_is_found(text: str) -> None:
    assert findings_in(sql_in_stores, "engine/recording/record.py", text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("stores/sqlite/store.py", "import apsw\nq = 'select id from sessions'"),
        ("harnesses/alpha/transcript.py", "import sqlite3\nq = 'select id from part'"),
        (
            "engine/recording/record.py",
            '"""Select the newest from all of them."""\nhint = "update the settings, then try again"',
        ),
        ("engine/recording/record.py", "hint = 'begin again with `holdfast up`'"),
    ],
)
def test_stores_and_prose_are_left_alone(path: str, text: str) -> None:
    assert findings_in(sql_in_stores, path, text) == ""
