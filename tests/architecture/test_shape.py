"""Files and functions fit in a reader's head, and every module says in its first line what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Finding, Source, assert_holds, everything, findings_in, package

FILE_LINES = 800
FUNCTION_LINES = 60


def sizes(source: Source) -> Iterator[Finding]:
    """A file has one subject; a function fits on a screen."""
    lines = source.text.count("\n")
    if lines > FILE_LINES:
        yield Finding(source.path, 1, f"{lines} lines; split it by subject (at most {FILE_LINES})")
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield Finding(
                    source.path,
                    node.lineno,
                    f"`{node.name}` has {length} lines; name its steps (at most {FUNCTION_LINES})",
                )


def says_what_it_is(source: Source) -> Iterator[Finding]:
    """The first line of a module is a sentence that says what one finds there."""
    if source.path.rsplit("/", 1)[-1].startswith("_") and not source.path.endswith(
        ("__init__.py", "__main__.py")
    ):
        return
    first = (ast.get_docstring(source.tree) or "").split("\n", 1)[0].strip()
    if not first:
        yield Finding(
            source.path, 1, "no docstring; say in one sentence what this module is, then what it is not"
        )
    elif not first.endswith(".") or first[0].islower() or " " not in first:
        yield Finding(
            source.path,
            1,
            f"the first line is no sentence: `{first}`; say what one finds here, with a full stop",
        )


def test_files_and_functions_are_small() -> None:
    assert_holds(sizes, everything())


def test_every_module_says_what_it_is() -> None:
    assert_holds(says_what_it_is, package())


def test_a_long_file_and_a_long_function_are_found() -> None:
    assert "split it" in findings_in(sizes, "core/session/session.py", "x = 1\n" * (FILE_LINES + 1))
    body = "    x = 1\n" * FUNCTION_LINES
    assert "`long` has 61 lines" in findings_in(sizes, "core/session/session.py", f"def long():\n{body}")


def test_the_largest_allowed_sizes_are_fine() -> None:
    assert findings_in(sizes, "core/session/session.py", "x = 1\n" * FILE_LINES) == ""
    body = "    x = 1\n" * (FUNCTION_LINES - 1)
    assert findings_in(sizes, "core/session/session.py", f"def long():\n{body}") == ""


@pytest.mark.parametrize(
    "text",
    ["", "x = 1", '"""Checkpoint utilities"""', '"""checkpoints and more."""', '"""Checkpoints."""'],
)
def test_a_module_that_does_not_say_what_it_is_is_found(text: str) -> None:
    assert findings_in(says_what_it_is, "core/session/checkpoint.py", text)
    assert findings_in(says_what_it_is, "core/__init__.py", text)


def test_a_module_that_says_what_it_is_is_fine() -> None:
    assert (
        findings_in(
            says_what_it_is,
            "core/session/checkpoint.py",
            '"""The durable picture of a session at one moment."""',
        )
        == ""
    )
