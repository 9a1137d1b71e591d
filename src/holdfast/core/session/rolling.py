"""Rolling checkpoints: taken while the window fills, when all of it is still visible.

When one is due, and its fields, derived by rule. Taking and storing it is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from holdfast.core.evidence.kinds import KINDS, KindTable, Section
from holdfast.core.evidence.trail import Thing, Trail
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

TOPICS: Final = 8
NOTES: Final = 12
NOTE_CHARS: Final = 300
SUMMARY_CHARS: Final = 1_200


@dataclass(frozen=True, slots=True)
class RollingPolicy:
    """The user's settings for rolling checkpoints."""

    enabled: bool = True
    percents: tuple[int, ...] = (25, 50, 75)
    prompts: int = 15
    least_tokens: int = 10_000


@dataclass(frozen=True, slots=True)
class Rolling:
    """Which rolling checkpoints were taken in this window. All fields are stored."""

    passed: tuple[int, ...] = ()
    prompts: int = 0
    """The number of prompts at the last one, or at the start of the window."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A checkpoint's content in fields: topics, decisions and open questions, and how far the session was."""

    summary: str = ""
    tokens: int = 0
    messages: int = 0
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()

    def mapped(self, change: Callable[[str], str]) -> Outline:
        """The same outline with `change` applied to every text."""
        return replace(
            self,
            summary=change(self.summary),
            topics=tuple(map(change, self.topics)),
            open_questions=tuple(map(change, self.open_questions)),
            key_decisions=tuple(map(change, self.key_decisions)),
        )


def is_checkpoint_due(rolling: Rolling, policy: RollingPolicy, used: int, percent: int, prompts: int) -> bool:
    """Whether the window passed a set share for the first time, or enough prompts came since the last one."""
    if not policy.enabled or used < policy.least_tokens:
        return False
    return bool(_passed(policy, percent) - set(rolling.passed)) or prompts - rolling.prompts >= policy.prompts


def after_checkpoint(rolling: Rolling, policy: RollingPolicy, percent: int, prompts: int) -> Rolling:
    """The state after a checkpoint was taken at this pressure."""
    return Rolling(tuple(sorted(_passed(policy, percent) | set(rolling.passed))), prompts)


def outline_of(trail: Trail, used: int, messages: int, kinds: KindTable = KINDS) -> Outline:
    """The fields of a checkpoint of this trail."""
    return Outline(
        summary=shortened("\n".join(_summary(trail, kinds)), SUMMARY_CHARS),
        tokens=used,
        messages=messages,
        topics=_topics(trail),
        open_questions=_notes(trail, Section.QUESTIONS, kinds),
        key_decisions=_notes(trail, Section.DECISIONS, kinds),
    )


def _passed(policy: RollingPolicy, percent: int) -> set[int]:
    return {threshold for threshold in policy.percents if threshold <= percent}


def _summary(trail: Trail, kinds: KindTable) -> list[str]:
    """The goal, the last statement and the next steps, in their original words."""
    lines: list[str] = []
    if trail.goal is not None:
        lines.append(f"Goal: {_line(trail.goal.text)}")
    if trail.statements:
        lines.append(f"Last said: {_line(trail.statements[-1].text)}")
    if steps := _notes(trail, Section.NEXT, kinds):
        lines.append(f"Next: {'; '.join(steps)}")
    return lines


def _topics(trail: Trail) -> tuple[str, ...]:
    """The names that the work is about, the most used first; programs and options are no topics."""
    topical = (Thing.NAME, Thing.FILE, Thing.REFERENCE)
    mentions = [mention for mention in trail.mentions if mention.thing in topical]
    mentions.sort(key=lambda mention: (mention.use, mention.step), reverse=True)
    return tuple(mention.shown or mention.name for mention in mentions[:TOPICS])


def _notes(trail: Trail, section: Section, kinds: KindTable) -> tuple[str, ...]:
    """The notes of a section, of the kinds that a digest shows."""
    shown = [row.kind for row in kinds.values() if row.section is section and row.heading]
    return tuple(_line(note.text) for kind in shown for note in trail.noted(kind)[-NOTES:])


def _line(text: str) -> str:
    return shortened(one_line(text), NOTE_CHARS)
