"""Rolling checkpoints: taken while the window fills, when all of it can still be seen.

When one is due, and what it says in fields, by rule. Taking and keeping it is not done here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from holdfast.core.evidence.trail import NoteKind, Thing, Trail
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

TOPICS: Final = 8
NOTES: Final = 12
NOTE_CHARS: Final = 300
SUMMARY_CHARS: Final = 1_200


@dataclass(frozen=True, slots=True)
class RollingPolicy:
    """What the user's settings say about checkpoints on the way."""

    enabled: bool = True
    percents: tuple[int, ...] = (25, 50, 75)
    prompts: int = 15
    least_tokens: int = 10_000


@dataclass(frozen=True, slots=True)
class Rolling:
    """Which were taken in this window. All of it is durable."""

    passed: tuple[int, ...] = ()
    prompts: int = 0
    """How many prompts there were at the last one, or when the window began."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a checkpoint says in fields: what it is about, what was decided and what is open, and how far."""

    summary: str = ""
    tokens: int = 0
    messages: int = 0
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()

    def mapped(self, change: Callable[[str], str]) -> Outline:
        """The same with every text changed."""
        return replace(
            self,
            summary=change(self.summary),
            topics=tuple(map(change, self.topics)),
            open_questions=tuple(map(change, self.open_questions)),
            key_decisions=tuple(map(change, self.key_decisions)),
        )


def due(rolling: Rolling, policy: RollingPolicy, used: int, percent: int, prompts: int) -> bool:
    """Whether a share of the window was passed for the first time, or so many prompts since the last one."""
    if not policy.enabled or used < policy.least_tokens:
        return False
    return bool(_passed(policy, percent) - set(rolling.passed)) or prompts - rolling.prompts >= policy.prompts


def taken(rolling: Rolling, policy: RollingPolicy, percent: int, prompts: int) -> Rolling:
    """After one was taken at this pressure."""
    return Rolling(tuple(sorted(_passed(policy, percent) | set(rolling.passed))), prompts)


def outlined(trail: Trail, used: int, messages: int) -> Outline:
    """The fields of a checkpoint of this trail."""
    return Outline(
        summary=shortened("\n".join(_summary(trail)), SUMMARY_CHARS),
        tokens=used,
        messages=messages,
        topics=_topics(trail),
        open_questions=_notes(trail, NoteKind.QUESTION),
        key_decisions=_notes(trail, NoteKind.DECISION),
    )


def _passed(policy: RollingPolicy, percent: int) -> set[int]:
    return {one for one in policy.percents if one <= percent}


def _summary(trail: Trail) -> list[str]:
    """What was asked for and where it stands, in the words of those who said it."""
    lines: list[str] = []
    if trail.goal is not None:
        lines.append(f"Goal: {_line(trail.goal.text)}")
    if trail.statements:
        lines.append(f"Last said: {_line(trail.statements[-1].text)}")
    if steps := _notes(trail, NoteKind.NEXT):
        lines.append(f"Next: {'; '.join(steps)}")
    return lines


def _topics(trail: Trail) -> tuple[str, ...]:
    """The names that the work is about, the most used first; programs and options are nobody's topic."""
    telling = [one for one in trail.mentions if one.thing in (Thing.NAME, Thing.FILE, Thing.REFERENCE)]
    telling.sort(key=lambda one: (one.use, one.step), reverse=True)
    return tuple(one.shown or one.name for one in telling[:TOPICS])


def _notes(trail: Trail, kind: NoteKind) -> tuple[str, ...]:
    return tuple(_line(note.text) for note in trail.noted(kind)[-NOTES:])


def _line(text: str) -> str:
    return shortened(one_line(text), NOTE_CHARS)
