"""Lines: which statements of the work state are shown, and each as one line; the same for every document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.state import Statement, WorkState

LINE_CHARS: Final = 300
SECTION_TITLES: Final[Mapping[Section, str]] = {
    Section.GOAL: "Goal",
    Section.RULES: "Rules",
    Section.DONE: "Done",
    Section.NOW: "Now",
    Section.NEXT: "Next",
    Section.DECISIONS: "Decisions",
    Section.FAILURES: "Failures",
    Section.QUESTIONS: "Questions",
    Section.WHERE: "Where",
}
STATEMENTS_SHOWN: Final[Mapping[Section, int]] = {
    Section.GOAL: 3,
    Section.RULES: 12,
    Section.DONE: 12,
    Section.NOW: 4,
    Section.NEXT: 12,
    Section.DECISIONS: 12,
    Section.FAILURES: 8,
    Section.QUESTIONS: 6,
    Section.WHERE: 12,
}
_LABELS: Final[Mapping[NoteKind | None, str]] = {
    NoteKind.UNTRIED: "Not tried yet",
    NoteKind.MEASURED: "Measured",
    NoteKind.NEED: "Needs",
}
"""What the section alone does not say about a statement."""


def statements_shown(state: WorkState, section: Section) -> tuple[Statement, ...]:
    """The statements of a section that are worth most, oldest first."""
    return state.best(section, STATEMENTS_SHOWN[section])


def statement_line(statement: Statement, limit: int = LINE_CHARS) -> str:
    """A statement in one line, with its label if its kind has one."""
    text, label = one_line(statement.text), _LABELS.get(statement.kind, "")
    is_labelled = not label or text.lower().startswith(label.lower())
    return shortened(text if is_labelled else f"{label}: {text}", limit)


def section_lines(state: WorkState, section: Section) -> tuple[str, ...]:
    """The statements of a section that are worth most as lines, oldest first, each once.

    A session whose request is all rules has no statement of its goal; then its title says what it is about.
    """
    lines = tuple(dict.fromkeys(map(statement_line, statements_shown(state, section))))
    return lines or ((state.title,) if section is Section.GOAL and state.title else ())
