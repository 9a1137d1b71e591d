"""The values that a brief is made from, and the single items that it may contain.

`items` lists the possible items, `select` chooses, `layout` and `compose` write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity_startup import StartupInput
from holdfast.core.documents.ledger_brief import LeadingLedger, RepositoryLedger
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Utterance
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Session
from holdfast.core.work.answer import RejectedSentence
from holdfast.core.work.weights import WEIGHTS
from holdfast.lazy_dataclass import dataclass

LEDGER: Final = "Ledger"
SINCE: Final = "Changed since"
OTHERS: Final = "Other sessions"
MODEL: Final = "Written by a model"
"""The receipt's section for what a model wrote and the brief does not use."""
NO_ANSWER: Final = "The handover that a model was asked for"
QUERIES: Final = "Recall"
"""The receipt's section for the queries in a brief's last line; the brief itself has no such section."""
OVER_BUDGET: Final = "over budget"
"""Why an item that did not fit was omitted."""
GOAL_KIND: Final = "goal"
"""The kind of item that states the current request."""


def title_of_section(section: Section) -> str:
    """The heading of a section."""
    return _TITLES[section]


_TITLES: Final = {section: section.value.capitalize() for section in Section}

GOAL: Final = title_of_section(Section.GOAL)
SECTIONS: Final = (
    LEDGER,
    GOAL,
    SINCE,
    *(title_of_section(section) for section in Section if section is not Section.GOAL),
    OTHERS,
)


class Reason(StrEnum):
    """Why a brief is given; its first line states it."""

    COMPACT = "compact"
    LATE = "late"
    """The context was compacted, but the brief could only be given later."""
    STARTUP = "startup"
    CLEAR = "clear"
    RESUME = "resume"
    FORK = "fork"
    SUMMARY = "summary"
    """The harness is about to write its own summary; the brief lists what that must contain."""
    PARALLEL = "parallel"
    """There is nothing to continue, but another session is live in the project."""
    ASKED = "asked"
    """The agent asked for it, whether or not it was given one before."""
    RECALL = "recall"
    """Not a brief: memories that match a prompt were added to it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a brief may say; items with the same `lead` are listed behind it."""

    section: str
    text: str
    at: int
    source: str = ""
    kind: str = ""
    key: str = ""
    """What it says without labels; used to avoid repetition."""
    lead: str = ""
    path: str = ""
    """The path, for a file in a list; files of one directory are written with a shared prefix."""
    score: float = 0.0
    rendered: bool = False
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class KeptByHarness:
    """What a harness itself restores after a compaction, so that a brief need not repeat it.

    A brief contains the goal and the constraints in any case.
    """

    prompts: bool = False
    """What the user typed."""


NOTHING_KEPT: Final = KeptByHarness()


@dataclass(frozen=True, slots=True)
class BriefInput:
    """What a brief is made from: the continued session, and the current state of files and branch."""

    reason: Reason
    session: Session
    now: int
    words: tuple[Utterance, ...] = ()
    """What the agent or the user wrote down in their own words, newest first."""
    context: Utterance | None = None
    """What the harness said about the session when it announced the compaction."""
    marks: Mapping[str, str] = field(default_factory=lambda: {})
    """What changed, for each file that differs from how the session left it."""
    notices: tuple[str, ...] = ()
    """What else differs from how the session left it: branch, HEAD."""
    neighbours: tuple[str, ...] = ()
    """Other sessions of this project, one line each; a brief never continues them."""
    kept_by_harness: KeptByHarness = NOTHING_KEPT
    suggested_queries: tuple[str, ...] = ()
    """Suggested queries for `recall`; each returns at least one result."""
    leading_ledger: LeadingLedger | None = None
    """The ledger that the brief starts with, if there is one."""
    repository_ledger: RepositoryLedger | None = None
    """A ledger that came with the repository; the brief never starts with it."""
    model_left_out: tuple[RejectedSentence, ...] = ()
    """What a model wrote about the session and is not used, or why it wrote nothing; only for the receipt."""
    startup: StartupInput | None = None
    """The continuity, if the settings say that a starting session is given it."""
    elsewhere: str = ""
    """The name of the continued session's harness, if it is not the current one."""
    machine: str = ""
    """The name of the machine on which the continued session ran, if it is another one."""
    handoffs: tuple[str, ...] = ()
    """Handoffs that wait for the user, one line each."""
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    """What decides how much a statement is worth."""
    may_go_on: bool = False
    """Whether the continued session has only stopped, so that the user may still resume it in its harness."""


def left_out_of(outline: Outline) -> tuple[RejectedSentence, ...]:
    """What a model wrote in vain for a checkpoint with this outline, or why it wrote nothing."""
    return (RejectedSentence(NO_ANSWER, outline.no_answer),) if outline.no_answer else outline.left_out


def left_out_items(brief_input: BriefInput) -> tuple[Item, ...]:
    """What a model wrote and the brief does not use, as items of its receipt."""
    return tuple(
        Item(MODEL, one.text, brief_input.now, "checkpoint", "model", omitted=one.reason)
        for one in brief_input.model_left_out
    )
