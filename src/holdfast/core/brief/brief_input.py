"""Told: what a brief is made from, and the single things it may say.

Only values. What may be said is found by `brief_items`, chosen and written by `brief`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity_startup import Loaded
from holdfast.core.documents.ledger_sentences import Lead
from holdfast.core.documents.repository_ledger import StrangeLedger
from holdfast.core.evidence.trail import Utterance
from holdfast.core.session.session import Session
from holdfast.lazy_dataclass import dataclass

LEDGER: Final = "Ledger"
GOAL: Final = "Goal"
RULES: Final = "Constraints"
WORDS: Final = "In the agent's own words"
STATE: Final = "State"
FILES: Final = "Files in play"
COMMANDS: Final = "Commands"
DECISIONS: Final = "Decisions"
OPEN: Final = "Open questions"
SINCE: Final = "Changed since"
OTHERS: Final = "Other sessions"
OFFERS: Final = "Recall"
"""Under this a receipt accounts for the queries in a brief's last line, which is no section of it."""
OVER: Final = "over budget"
"""Why an item was omitted that had no room."""
IN_USE: Final = "In use"
"""The label of the names that the work is about."""
REPORTED: Final = "Subagents done"
"""The label of the subagents that ran in the background and are done."""
SECTIONS: Final = (LEDGER, GOAL, SINCE, RULES, WORDS, STATE, FILES, COMMANDS, DECISIONS, OPEN, OTHERS)


class Reason(StrEnum):
    """Why a brief is given; said truthfully in its first line."""

    COMPACT = "compact"
    LATE = "late"
    """The context was compacted, and the brief could not be given at once."""
    STARTUP = "startup"
    CLEAR = "clear"
    RESUME = "resume"
    FORK = "fork"
    SUMMARY = "summary"
    """The harness is about to write its own summary, and is told what that must keep."""
    PARALLEL = "parallel"
    """There is nothing to continue, but someone else is at work in the project."""
    ASKED = "asked"
    """The agent asked for it, whatever it was given before."""
    RECALL = "recall"
    """No brief: memories that fit a prompt went with it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a brief may say; items with the same `lead` share a line behind it."""

    section: str
    text: str
    at: int
    source: str = ""
    kind: str = ""
    key: str = ""
    """What it says, bare of labels: nothing is said twice."""
    lead: str = ""
    path: str = ""
    """Where it is a file in a list: the path, of which files in one directory share the beginning."""
    beside: str = ""
    """The path of the file whose line this joins, if that has one."""
    score: float = 0.0
    rendered: bool = False
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class KeptByHarness:
    """What a harness gives its model back by itself after a compaction, and a brief need not repeat.

    The goal and the constraints are told all the same: what a brief is about should stand in it.
    """

    prompts: bool = False
    """What the user typed."""


NOTHING_KEPT: Final = KeptByHarness()


@dataclass(frozen=True, slots=True)
class BriefInput:
    """What a brief is made from: the session that is continued, and the world as it is now."""

    reason: Reason
    session: Session
    now: int
    words: tuple[Utterance, ...] = ()
    """What the agent or a person wrote down in their own words, newest first."""
    marks: Mapping[str, str] = field(default_factory=lambda: {})
    """For each file that is not as it was left: what changed."""
    notices: tuple[str, ...] = ()
    """What else is not as it was left: branch, HEAD."""
    neighbours: tuple[str, ...] = ()
    """Other sessions of this project, each named in one line and never taken over."""
    kept: KeptByHarness = NOTHING_KEPT
    offers: tuple[str, ...] = ()
    """What the agent may want to ask `recall` for, each a query that finds something."""
    lead: Lead | None = None
    """The ledger that leads, where there is one."""
    strange: StrangeLedger | None = None
    """A ledger that came with the repository, which never leads."""
    loaded: Loaded | None = None
    """The continuity, where the user's settings want it given at a start."""
    elsewhere: str = ""
    """The name of the harness that the continued session was in, where that is another one."""
    may_go_on: bool = False
    """Whether the continued session has only stopped, and somebody may go on with it where it is."""
