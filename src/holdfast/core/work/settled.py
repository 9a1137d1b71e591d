"""Settled: nothing in a work state is both done and open.

Evidence from several sources may name the same thing twice: a to-do as finished, a sentence as the next step.
The latest statement holds; of two that were made at once, the one that says that it is done.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.prose.cues import REMEMBERED
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line
from holdfast.core.work.state import Statement, WorkState

OUTCOMES: Final = (Section.DONE, Section.FAILURES, Section.NOW, Section.NEXT, Section.QUESTIONS)
"""The sections of which the same thing can be in only one."""
KEY_CHARS: Final = 200
"""Texts that begin alike are the same: documents show no more of them."""


def settled(state: WorkState) -> WorkState:
    """The work state with each thing in one of the outcome sections."""
    keys = [
        statement_key(statement.text) if statement.section in OUTCOMES else ""
        for statement in state.statements
    ]
    latest: dict[str, Statement] = {}
    for key, statement in zip(keys, state.statements, strict=True):
        if statement.section in OUTCOMES:
            before = latest.get(key)
            latest[key] = max(before, statement, key=_rank) if before else statement
    remaining = (
        statement
        for key, statement in zip(keys, state.statements, strict=True)
        if statement.section not in OUTCOMES or latest[key].section is statement.section
    )
    return replace(state, statements=tuple(remaining))


@lru_cache(REMEMBERED)  # a work state is computed at every checkpoint
def statement_key(text: str) -> str:
    """What two statements have in common that are about the same thing.

    That is the command if they say how one ended, or else the text without its label, case and punctuation.
    """
    line = one_line(text)
    if outcome := _OUTCOME.match(line):
        return outcome[1] or outcome[2]
    return _LABEL.sub("", line).casefold().strip(_EDGES)[:KEY_CHARS].strip(_EDGES)


_OUTCOME: Final = compiled(
    r"(?:Passed|Failed)[^:`]*: `([^`]+)`|`([^`]+)`[^`]*?\b(?:pass(?:e[sd])?|fail(?:s|ed|ing)?)\b"
)
_EDGES: Final = " .;:!-–—*"
_LABEL: Final = compiled(
    r"(?:\W*(?:next(?: steps?)?|to ?do|remaining|still open|pending|not tried yet|done|completed|finished"
    r"|measured|waits for the user|question)\s*:\W*)+",
    re.IGNORECASE,
)


def _rank(statement: Statement) -> tuple[int, int]:
    return statement.at, -OUTCOMES.index(statement.section)
