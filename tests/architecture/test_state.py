"""No module keeps state that changes, and `async` stays in the daemon."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from tests.architecture.source import (
    Check,
    Finding,
    Source,
    assert_holds,
    dotted,
    findings_in,
    imported,
    package,
)

MUTABLE_LITERALS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MUTABLE_CALLS = frozenset(
    {"list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict"}
)
CONSTANT_NAME = re.compile(r"_?[A-Z][A-Z0-9_]*|__all__")
ASYNC_NODES = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
ASYNC_MODULES = frozenset({"asyncio", "anyio", "trio"})


def no_module_state(source: Source) -> Iterator[Finding]:
    """A module-level list, dict or set is a constant that says so; nothing is rebound with `global`."""
    for node in source.nodes:
        if isinstance(node, ast.Global):
            names = ", ".join(node.names)
            yield Finding(
                source.path, node.lineno, f"`global {names}`; make it in `daemon/main.py` and pass it"
            )
    for statement in _module_level(source.tree.body):
        for name, annotation, value in _bindings(statement):
            if _is_mutable(value) and not _is_constant(name, annotation):
                yield Finding(
                    source.path,
                    statement.lineno,
                    f"`{name}` could change; use a tuple, a frozenset or a function, "
                    "or name it in capitals and annotate it `Final`",
                )


def async_in_daemon(source: Source) -> Iterator[Finding]:
    """Synchronous inside: only the daemon waits for many things at once."""
    if source.package_name == "daemon":
        return
    lines = [getattr(node, "lineno", 1) for node in source.nodes if isinstance(node, ASYNC_NODES)]
    lines += [line for name, line in imported(source) if name.split(".", 1)[0] in ASYNC_MODULES]
    for line in sorted(lines):
        yield Finding(source.path, line, "`async` is for `daemon/` only; make it a plain function")


def _module_level(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """The statements that run on import, also those under an `if`, `try` or `with`; not those of a script."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not _is_script(
            node
        ):
            yield from _module_level(ast.iter_child_nodes(node))


def _is_script(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, str, ast.expr]]:
    if isinstance(statement, ast.AnnAssign) and statement.value:
        yield dotted(statement.target), ast.unparse(statement.annotation), statement.value
    elif isinstance(statement, ast.Assign):
        yield from ((dotted(target), "", statement.value) for target in statement.targets)


def _is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return dotted(value.func).rsplit(".", 1)[-1] in MUTABLE_CALLS
    return isinstance(value, MUTABLE_LITERALS)


def _is_constant(name: str, annotation: str) -> bool:
    if name == "__all__":
        return True
    return CONSTANT_NAME.fullmatch(name) is not None and annotation.removeprefix("typing.").startswith(
        "Final"
    )


@pytest.mark.parametrize("check", [no_module_state, async_in_daemon])
def test_the_package_keeps_no_state_and_no_async_inside(check: Check) -> None:
    assert_holds(check, package())


@pytest.mark.parametrize(
    "text",
    [
        "seen = []",
        "seen: dict[str, int] = {}",
        "SEEN = {}",
        "seen: Final = {}",
        "import collections\nseen = collections.defaultdict(list)",
        "seen = {n for n in range(3)}",
        "try:\n    seen = set()\nfinally:\n    pass",
        "try:\n    pass\nexcept OSError:\n    seen = {}",
        "count = 0\ndef bump():\n    global count\n    count += 1",
    ],
)
def test_state_that_could_change_is_found(text: str) -> None:
    assert findings_in(no_module_state, "engine/recording/record.py", text)


@pytest.mark.parametrize(
    "text",
    [
        "KINDS: Final = {'a': 1}",
        "_KINDS: Final[dict[str, int]] = {'a': 1}",
        "KINDS = ('a', 'b')",
        "KINDS = frozenset({'a'})",
        "__all__ = ['record']",
        "if __name__ == '__main__':\n    names = []",
        "def fresh():\n    seen = []\n    return seen",
        "class Box:\n    __slots__ = ['a']",
    ],
)
def test_constants_and_locals_are_fine(text: str) -> None:
    assert findings_in(no_module_state, "engine/recording/record.py", text) == ""


@pytest.mark.parametrize(
    "text",
    ["async def f(): ...", "import asyncio", "def late():\n    from anyio import run"],
)
def test_async_outside_the_daemon_is_found(text: str) -> None:
    assert findings_in(async_in_daemon, "engine/recording/record.py", text)
    assert findings_in(async_in_daemon, "daemon/local/listener.py", text) == ""
