"""What was only asked or told in the words of a rule is no rule, wherever rules are told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.core.brief.brief_input import BriefInput, Reason, title_of_section
from holdfast.core.brief.compose import compose
from holdfast.core.documents.continuity import ContinuityPart, LayerName
from holdfast.core.documents.continuity_summary import generated
from holdfast.core.documents.handoff import HandoffHead
from holdfast.core.documents.handoff_content import HandoffWords, fill_handoff
from holdfast.core.documents.ledger_content import SessionContent, fill_ledger
from holdfast.core.evidence.kinds import Section
from holdfast.core.session.checkpoint import take
from holdfast.core.session.session import Session, Trigger
from holdfast.core.work.compute import work_state
from holdfast.core.work.lines import SECTION_TITLES
from tests.core.scenes import NOON, after, prompt, session

RULE = "Never touch the ledger table."
REMARKS = (
    "wait, do we only have a single colour?",
    "That's the only page that loaded.",
    "`RestoreLogs` uses `paths.project_dir(root)` — only works for one harness",
    "`post-commit` hook sees no trailer; the data is never condensed",
    "till.State is now an alias of session.State (no more converters)",
    "continue, the network should be better now",
)


def in_the_brief(of: Session) -> list[str]:
    return [
        item.text
        for item in compose(brief_input(of), 6_000).items
        if item.section == title_of_section(Section.RULES)
    ]


def in_the_ledger(of: Session) -> list[str]:
    return [entry.text for entry in fill_ledger(content(of)).constraints]


def in_the_handoff(of: Session) -> list[str]:
    request = fill_handoff(content(of), (), HandoffHead("go on"), HandoffWords()).sections[0]
    return [line.removeprefix("Rule: ") for line in request if line.startswith("Rule: ")]


def content(of: Session) -> SessionContent:
    return SessionContent(of, work_state(of.trail))


def in_the_checkpoint(of: Session) -> list[str]:
    _, taken = take(of, Trigger.PERIODIC, "", "c1", NOON)
    _, _, rules = taken.digest.partition(f"### {SECTION_TITLES[Section.RULES]}\n")
    return [line.removeprefix("- ") for line in rules.partition("\n\n")[0].splitlines()]


def in_continuity(of: Session) -> list[str]:
    return list(generated(of).layers[LayerName.SHARED].of(ContinuityPart.NOTES))


def brief_input(of: Session) -> BriefInput:
    return BriefInput(Reason.CLEAR, of, NOON)


@pytest.mark.parametrize(
    "rules", [in_the_brief, in_the_ledger, in_the_handoff, in_the_checkpoint, in_continuity]
)
def test_a_question_and_a_remark_are_not_reported_as_rules(rules: Callable[[Session], list[str]]) -> None:
    asked = [prompt(text, f"p{place}") for place, text in enumerate((REMARKS[0], RULE, *REMARKS[1:]))]
    assert rules(after(session(), *asked)) == [RULE]
