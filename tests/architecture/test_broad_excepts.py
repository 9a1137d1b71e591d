"""A broad `except` is allowed only at a boundary: where a failure must become an answer, not a crash."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Finding, Source, assert_holds, dotted, findings_in, package

BOUNDARIES = frozenset(
    {
        ("hook.py", "run"),  # a hook must never harm the session that called it
        ("daemon/local/listener.py", "serve"),  # one bad hook event must not end the listener
        ("daemon/http/listener.py", "serve"),  # without HTTP the daemon still serves hooks
        ("daemon/work/housekeeping.py", "attempt"),  # what fails at one beat is tried again later
        ("daemon/work/dispatcher.py", "_take_in"),  # one spooled event that fails must not stop the rest
        ("daemon/mcp/calls.py", "call"),  # one call that fails is answered, and its connection goes on
        ("daemon/work/sharing_thread.py", "_run"),  # sharing that ended unnoticed would be worse
        ("daemon/work/worker.py", "_run"),  # what a job raises is raised where someone waits for it
        ("cli/main.py", "main"),  # a person gets a sentence, the log gets the traceback
    }
)
"""Where a broad `except` may stand: the file, and the function that holds it."""

BROAD = frozenset({"Exception", "BaseException"})


def broad_excepts_at_boundaries(source: Source) -> Iterator[Finding]:
    """Only a boundary catches everything, by `except` or by `suppress`."""
    for function, line in _broad_excepts(source):
        if (source.path, function) not in BOUNDARIES:
            yield Finding(
                source.path,
                line,
                f"a broad except in `{function}`, no boundary; name the errors that can happen here, "
                "and let the rest reach the boundary (a new one goes into BOUNDARIES, with its reason)",
            )


def _broad_excepts(source: Source) -> Iterator[tuple[str, int]]:
    for function, node in _with_function(source.tree):
        if _is_broad(node):
            yield function, getattr(node, "lineno", 1)


def _with_function(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every node of a module, with the name of the innermost function around it."""
    waiting: list[tuple[str, ast.AST]] = [("module", tree)]
    while waiting:
        function, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
            yield name, child
            waiting.append((name, child))


def _is_broad(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return node.type is None or _names_broad(node.type)
    if isinstance(node, ast.Call) and dotted(node.func).rsplit(".", 1)[-1] == "suppress":
        return any(_names_broad(argument) for argument in node.args)
    return False


def _names_broad(node: ast.expr) -> bool:
    caught = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(dotted(name).rsplit(".", 1)[-1] in BROAD for name in caught)


def test_broad_excepts_are_at_boundaries_only() -> None:
    assert_holds(broad_excepts_at_boundaries, package())


def test_every_listed_boundary_is_one() -> None:
    used = {(source.path, function) for source in package() for function, _ in _broad_excepts(source)}
    assert used >= BOUNDARIES, (
        f"no broad except there any more; remove from BOUNDARIES: {sorted(BOUNDARIES - used)}"
    )


@pytest.mark.parametrize(
    "handler",
    ["except Exception:", "except BaseException as error:", "except:", "except (OSError, Exception):"],
)
def test_a_broad_except_inside_is_found(handler: str) -> None:
    text = f"def record():\n    try:\n        act()\n    {handler}\n        pass"
    assert "`record`" in findings_in(broad_excepts_at_boundaries, "engine/recording/record.py", text)
    assert findings_in(broad_excepts_at_boundaries, "hook.py", text.replace("record", "run")) == ""


def test_suppressing_everything_is_found() -> None:
    text = "def record():\n    with contextlib.suppress(Exception):\n        act()"
    assert findings_in(broad_excepts_at_boundaries, "engine/recording/record.py", text)


def test_a_named_error_is_fine() -> None:
    text = "def record():\n    try:\n        act()\n    except (OSError, ValueError):\n        pass"
    assert findings_in(broad_excepts_at_boundaries, "engine/recording/record.py", text) == ""
