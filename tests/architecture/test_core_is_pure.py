"""Core cannot look: no clock, randomness, environment, file, socket or log; time and ids are arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Finding, Source, assert_holds, dotted, findings_in, imported, package
from tests.tables import every_row

PURE_MODULES = frozenset(
    {
        "__future__",
        "abc",
        "base64",
        "binascii",
        "bisect",
        "collections",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "holdfast",
        "html",
        "itertools",
        "json",
        "keyword",
        "math",
        "msgspec",
        "numbers",
        "operator",
        "re",
        "shlex",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "types",
        "typing",
        "unicodedata",
        "zlib",
    }
)
PURE_NAMES = frozenset(
    {"pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath", "urllib.parse"}
)
IMPURE_CALLS = frozenset({"open", "print", "input", "eval", "exec", "compile", "__import__", "breakpoint"})
CLOCKS = frozenset({"now", "utcnow", "today"})


def pure(source: Source) -> Iterator[Finding]:
    """Nothing in core imports or calls what depends on the world outside its arguments."""
    if source.package_name != "core":
        return
    for name, line in imported(source):
        if not _is_pure(name):
            yield Finding(
                source.path,
                line,
                f"core may not import `{name}`; take what it would give as an argument "
                "(if it cannot look at the world, add it to PURE_MODULES)",
            )
    for node in source.nodes:
        called = dotted(node.func) if isinstance(node, ast.Call) else ""
        if called in IMPURE_CALLS:
            yield Finding(
                source.path, _line(node), f"core may not call `{called}`; return a value and let engine act"
            )
        elif "." in called and called.rsplit(".", 1)[1] in CLOCKS:
            yield Finding(
                source.path, _line(node), f"core may not ask `{called}`; take the time as an argument"
            )


def _is_pure(name: str) -> bool:
    if any(name == pure or name.startswith(f"{pure}.") for pure in PURE_NAMES):
        return True
    return name.startswith(".") or name.split(".", 1)[0] in PURE_MODULES


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def test_core_is_pure() -> None:
    assert_holds(pure, package())


@every_row(
    "text",
    [
        "import os",
        "import io",
        "import time",
        "import random",
        "import uuid",
        "import socket",
        "import subprocess",
        "import logging",
        "import pathlib",
        "from pathlib import Path",
        "from urllib.request import urlopen",
        "def late():\n    import os.path",
        "from datetime import datetime\nat = datetime.now()",
        "import datetime\nat = datetime.datetime.now(datetime.UTC)",
        "import datetime\nday = datetime.date.today()",
        "text = open('x').read()",
        "print('x')",
    ],
)
def test_a_look_at_the_world_is_found(text: str) -> None:
    assert findings_in(pure, "core/session/session.py", text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "core/session/session.py",
            "import re\nfrom dataclasses import dataclass\nfrom pathlib import PurePosixPath",
        ),
        (
            "core/session/session.py",
            "from datetime import UTC, datetime\nat = datetime.fromtimestamp(0, UTC)",
        ),
        ("engine/recording/record.py", "import os, time\nprint(time.time())"),
    ],
)
def test_pure_code_and_other_packages_are_left_alone(path: str, text: str) -> None:
    assert findings_in(pure, path, text) == ""
