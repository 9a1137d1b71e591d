"""The work state: what someone who takes over the work must know, in nine sections.

It is computed here and nowhere else. Brief, checkpoint digest, continuity, ledger, handoff, titles and
dashboard show parts of it; none of them selects from the evidence on its own, so they cannot disagree about
what is done and what is open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from typing import Final

from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.lazy_dataclass import dataclass

TITLE_CHARS: Final = 60


class StatementSource(StrEnum):
    """Who or what a statement comes from."""

    PROMPT = "prompt"
    PLAN = "plan"
    REPLY = "reply"
    MESSAGE = "message"
    CLOSING = "closing"
    SUMMARY = "summary"
    SUBAGENT = "subagent"
    COMMIT = "commit"
    COMMAND = "command"
    TRACKER = "tracker"
    TODO = "todo"
    ITEM = "item"
    """An item of the list that the user asked to work through."""
    CHECK = "check"
    EDIT = "edit"
    READ = "read"
    """A file that was read lately, and not changed."""
    RUNNING = "running"
    GIT = "git"
    DIGEST = "digest"
    """The agent's own handover, or a model's."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that still holds, with its source."""

    section: Section
    text: str
    at: int
    source: str = ""
    """The id of the record that it comes from; of a command, its call."""
    kind: NoteKind | None = None
    """What kind of sentence it is, for documents that distinguish more than the sections."""
    by_user: bool = False
    """Whether the user said it or agreed to it."""
    worth: float = 0.0
    """How likely the one who takes over needs it, from 0 to 1."""
    supersedes: tuple[str, ...] = ()
    """The records of earlier statements that it replaces."""
    origin: StatementSource = StatementSource.MESSAGE
    step: int = 0
    turn: int = 0
    place: int = 0
    """Its place in the message or list that it comes from."""
    heading: str = ""
    is_last: bool = False
    """Whether it ends its message."""


@dataclass(frozen=True, slots=True)
class WorkState:
    """The sections; each has the oldest statement first, as the work went."""

    title: str = ""
    statements: tuple[Statement, ...] = field(default=())

    def section(self, section: Section) -> tuple[Statement, ...]:
        """The statements of one section, oldest first."""
        return tuple(statement for statement in self.statements if statement.section is section)

    def best(self, section: Section, count: int) -> tuple[Statement, ...]:
        """The statements of one section that are worth most, oldest first."""
        return best_of(self.section(section), count)


def best_of(statements: Iterable[Statement], count: int) -> tuple[Statement, ...]:
    """The statements that are worth most, in the order in which they are given."""
    listed = tuple(statements)
    chosen = sorted(range(len(listed)), key=lambda place: (-listed[place].worth, -place))[:count]
    return tuple(listed[place] for place in sorted(chosen))
