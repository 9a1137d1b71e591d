"""Patterns are compiled on first use, and groups repeated possessively match in every Python we support."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast import core
from holdfast.core.text import lazy_patterns
from holdfast.core.text.lazy_patterns import compile_patterns, compiled, without_possessive_groups

SOURCE = Path(holdfast.__file__).parent
POSSESSIVE = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")


@pytest.mark.parametrize(
    ("pattern", "made"),
    [
        (r"(?:a|b)*+c", r"(?:a|b)*c"),
        (r"(?:[a-z]{2}x){0,4}+[a-z]++", r"(?:[a-z]{2}x){0,4}[a-z]++"),
        (r"(?:a)?+(b)++", r"(?:a)?(b)+"),
        (r"\w*+[0-9]{1,4}+", r"\w*+[0-9]{1,4}+"),
    ],
)
def test_only_groups_are_repeated_like_any_other(pattern: str, made: str) -> None:
    assert without_possessive_groups(pattern) == made
    assert without_possessive_groups(pattern.encode()) == made.encode()


def test_what_a_hasty_python_misses_is_found() -> None:
    assert compiled(r"(?:_[a-z]{1,3}){0,3}+_(?P<value>[0-9]{2})").search("_ab_12") is not None


def test_a_pattern_is_compiled_on_first_use_and_then_stays() -> None:
    pattern = compiled(r"(?P<word>[a-z]+)-(\d)", re.IGNORECASE)
    assert "search" not in vars(pattern)
    assert pattern.pattern == r"(?P<word>[a-z]+)-(\d)"
    found = pattern.search("see AB-1")
    assert found is not None
    assert found["word"] == "AB"
    assert vars(pattern)["search"] == pattern.search
    assert (pattern.groups, dict(pattern.groupindex)) == (2, {"word": 1})


def test_every_pattern_of_core_can_be_compiled() -> None:
    names = [name for _, name, _ in pkgutil.walk_packages(core.__path__, "holdfast.core.")]
    modules = [importlib.import_module(name) for name in names]
    for module in modules:
        compile_patterns(module)
    lazy = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, lazy_patterns._LazyPattern)
    ]
    assert len(lazy) > 100
    assert all("search" in vars(pattern) for pattern in lazy)


def repeated(source: str) -> list[int]:
    """Where `re.compile` is given a group that is repeated possessively, by line."""
    return [
        call.lineno
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "re.compile"
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and POSSESSIVE.search(part.value)
    ]


def test_no_such_group_is_compiled_otherwise() -> None:
    others = [path for path in SOURCE.rglob("*.py") if path.name != "patterns.py"]
    assert {path.name: lines for path in others if (lines := repeated(path.read_text("utf-8")))} == {}


def test_one_that_is_would_be_found() -> None:
    assert repeated('import re\nX = re.compile(r"(?:a|b)*+")') == [2]


def test_the_pattern_stays_as_it_is_where_python_is_patient() -> None:
    kept = r"(?:a|b)*+c"
    assert compiled(kept).pattern == (
        without_possessive_groups(kept) if sys.version_info < (3, 11, 5) else kept
    )
