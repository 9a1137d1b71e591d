"""Rolling checkpoints: taken while the window fills, when all of it is still visible.

When one is due, and its fields, taken from the work state. Taking and storing it is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Thing, Trail
from holdfast.core.text.strings import shortened
from holdfast.core.work.answer import RejectedSentence
from holdfast.core.work.lines import SECTION_TITLES, section_lines
from holdfast.core.work.state import WorkState
from holdfast.lazy_dataclass import dataclass

TOPICS: Final = 8
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
    model: str = ""
    """The model that wrote the checkpoint's words, if one did."""
    left_out: tuple[RejectedSentence, ...] = ()
    """What that model wrote and the check of its answer left out."""
    no_answer: str = ""
    """Why no model wrote the checkpoint's words, if one was asked to."""

    @property
    def was_model_asked(self) -> bool:
        """Whether a model was asked to write the checkpoint's words."""
        return bool(self.model or self.no_answer)

    def mapped(self, change: Callable[[str], str]) -> Outline:
        """The same outline with `change` applied to every text."""
        return replace(
            self,
            summary=change(self.summary),
            topics=tuple(map(change, self.topics)),
            open_questions=tuple(map(change, self.open_questions)),
            key_decisions=tuple(map(change, self.key_decisions)),
            left_out=tuple(RejectedSentence(change(one.text), change(one.reason)) for one in self.left_out),
            no_answer=change(self.no_answer),
        )


def is_checkpoint_due(rolling: Rolling, policy: RollingPolicy, used: int, percent: int, prompts: int) -> bool:
    """Whether the window passed a set share for the first time, or enough prompts came since the last one."""
    if not policy.enabled or used < policy.least_tokens:
        return False
    return bool(_passed(policy, percent) - set(rolling.passed)) or prompts - rolling.prompts >= policy.prompts


def after_checkpoint(rolling: Rolling, policy: RollingPolicy, percent: int, prompts: int) -> Rolling:
    """The state after a checkpoint was taken at this pressure."""
    return Rolling(tuple(sorted(_passed(policy, percent) | set(rolling.passed))), prompts)


def outline_of(state: WorkState, trail: Trail, used: int, messages: int) -> Outline:
    """The fields of a checkpoint of this work."""
    return Outline(
        summary=shortened("\n".join(_summary(state)), SUMMARY_CHARS),
        tokens=used,
        messages=messages,
        topics=topics_of(trail),
        open_questions=section_lines(state, Section.QUESTIONS),
        key_decisions=section_lines(state, Section.DECISIONS),
    )


def _passed(policy: RollingPolicy, percent: int) -> set[int]:
    return {threshold for threshold in policy.percents if threshold <= percent}


def _summary(state: WorkState) -> Iterator[str]:
    """The goal, what is going on and what comes next, a line each."""
    for section in (Section.GOAL, Section.NOW, Section.NEXT):
        if lines := section_lines(state, section):
            yield f"{SECTION_TITLES[section]}: {'; '.join(lines)}"


def topics_of(trail: Trail) -> tuple[str, ...]:
    """The names that the work is about, the most used first; programs and options are no topics."""
    topical = (Thing.NAME, Thing.FILE, Thing.REFERENCE)
    mentions = [mention for mention in trail.mentions if mention.thing in topical]
    mentions.sort(key=lambda mention: (mention.use, mention.step), reverse=True)
    return tuple(mention.shown or mention.name for mention in mentions[:TOPICS])
