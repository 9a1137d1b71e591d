"""No pattern of redaction can be made to backtrack for long, whatever the text says.

Read from the patterns themselves, so that no clock is needed: a repetition over a text has an end or never
gives back; one inside of another never gives back. What judges a single value sees 2,000 characters at most.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from holdfast.core.redaction import (
    assignments,
    blocks,
    by_name,
    by_place,
    by_shape,
    names,
    rules,
    sentences,
    spans,
    views,
)
from holdfast.core.redaction import commands as redact_commands
from holdfast.core.redaction import forms as redact_forms
from tests.tables import every_row

# There is no other way to read a pattern; these modules have been there under this name since 3.11.
from re import _constants as signs, _parser as parser  # type: ignore[attr-defined]  # isort: skip

MODULES = [
    *(assignments, blocks, by_name, by_place, by_shape, names),
    *(redact_commands, redact_forms, sentences, spans, views),
]
BACKTRACKING = (signs.MAX_REPEAT, signs.MIN_REPEAT)
LONGEST = 20_000
ON_SHORT_TEXTS = frozenset({"_TRAILING"})
"""Patterns that judge what another one has measured: two hundred characters."""


def patterns(module: ModuleType) -> Iterator[tuple[str, str, int]]:
    for name, value in vars(module).items():
        found = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
        for one in found:
            for pattern in one if isinstance(one, tuple) else [one]:
                if isinstance(pattern, re.Pattern) and name not in ON_SHORT_TEXTS:
                    text = pattern.pattern
                    plain = text.decode("latin-1") if isinstance(text, bytes) else text
                    yield f"{module.__name__}.{name}", plain, pattern.flags


def shapes() -> Iterator[tuple[str, str, int]]:
    forms = {form for of in redact_forms.BY_BEGINNING.values() for form in of}
    for kind, form in [*sorted(forms), *redact_forms.MARKED_FORMS, *redact_forms.LED, *redact_forms.SIGNED]:
        yield kind, form, int(re.ASCII)


def patterns_of_rules() -> Iterator[tuple[str, str, int]]:
    """What every rule looks at after its literal, and the values that a command's flags take."""
    for each in rules._RULES:
        yield each.literal.decode(), each.then.decode("latin-1"), int(re.VERBOSE | re.DOTALL)
    for flags, value, commands in redact_commands._FLAGS:
        yield from ((flags, value, 0), (flags, commands, 0))


ALL = [*(one for module in MODULES for one in patterns(module)), *shapes(), *patterns_of_rules()]


def problems(pattern: str, flags: int) -> Iterator[str]:
    yield from _problems(parser.parse(pattern, flags & ~re.LOCALE))


def _problems(tree: Any) -> Iterator[str]:  # noqa: ANN401 - the parser has no types
    for sign, value in tree:
        if sign in BACKTRACKING:
            _, most, body = value
            if most is signs.MAXREPEAT or most > LONGEST:
                yield "a repetition without an end may be given back"
            elif most > 1 and _varies(body):
                yield "a repetition of repetitions may be given back"
        for part in _parts(value):
            yield from _problems(part)


def _varies(tree: Any) -> bool:  # noqa: ANN401
    return any(
        (sign in BACKTRACKING and value[0] != value[1]) or any(map(_varies, _parts(value)))
        for sign, value in tree
    )


def _parts(value: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _parts(part)


@pytest.mark.skipif(sys.version_info < (3, 11, 5), reason="this Python cannot repeat groups possessively")
@every_row(("name", "pattern", "flags"), ALL)
def test_no_repetition_can_be_given_back_for_long(name: str, pattern: str, flags: int) -> None:
    assert list(problems(pattern, flags)) == []


def test_the_patterns_were_found() -> None:
    assert len(ALL) > 150


@pytest.mark.parametrize("pattern", ["a*b", "a+?b", "(?:a{1,3}b?){1,9}c", "a{0,90000}b", "(?:a|b{2,})c"])
def test_what_could_backtrack_for_long_is_found(pattern: str) -> None:
    assert list(problems(pattern, 0))


@pytest.mark.parametrize(
    "pattern", ["a*+b", "a{1,40}b", "(?:a{1,3}+b?+){1,9}c", "(?:a{1,3}b?){1,9}+c", "(?:ab){3}"]
)
def test_what_has_an_end_is_fine(pattern: str) -> None:
    assert list(problems(pattern, 0)) == []
