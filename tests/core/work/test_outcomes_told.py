"""What the work state tells of commands, edits and the current request."""

from __future__ import annotations

from holdfast.core.events.event import Action
from holdfast.core.evidence.commands.exit_meaning import REFUSED, STOPPED
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.trail import CommandRun, FileTouch, Note, Trail, Utterance
from holdfast.core.work.compute import work_state

TEST = "npm test"


def told(trail: Trail, section: Section) -> list[str]:
    return [statement.text for statement in work_state(trail).section(section)]


def test_a_check_that_was_refused_or_stopped_did_not_pass() -> None:
    for reason in (REFUSED, STOPPED):
        trail = Trail(commands=(CommandRun(TEST, 1, ok=False, reason=reason),))
        assert told(trail, Section.DONE) == []
        assert told(trail, Section.FAILURES) == []


def test_what_the_user_refused_is_a_rule_once() -> None:
    refused = (CommandRun(TEST, 1, ok=False, reason=REFUSED),)
    assert told(Trail(commands=refused), Section.RULES) == ["Refused by the user: `npm test`"]
    words = Note(NoteKind.CONSTRAINT, "take pnpm (said on refusing `npm test`)", 1, "r1", by_user=True)
    assert told(Trail(commands=refused, notes=(words,)), Section.RULES) == [words.text]


def test_a_request_that_is_worded_as_a_rule_is_the_goal_too() -> None:
    text = "Mend the sums, never touch legacy.c"
    rule = Note(NoteKind.CONSTRAINT, text, 1, "p1", by_user=True)
    trail = Trail(goal=Utterance(text, 1, "p1"), notes=(rule,))
    assert (told(trail, Section.GOAL), told(trail, Section.RULES)) == ([text], [text])


def test_a_request_to_go_on_is_no_goal() -> None:
    assert told(Trail(goal=Utterance("Go on with what is open.", 1, "p1")), Section.GOAL) == []


def test_the_files_of_subagents_and_what_was_deleted_are_told() -> None:
    trail = Trail(
        files=(FileTouch("a.py", Action.WRITE, 1, 1, 1), FileTouch("old.py", Action.DELETE, 1, 2, 2)),
        subagent_files=(FileTouch("a.py", Action.EDIT, 1, 1, 1), FileTouch("b.py", Action.WRITE, 1, 1, 1)),
    )
    assert sorted(told(trail, Section.WHERE)) == ["a.py", "b.py"]
    assert told(trail, Section.DONE) == ["Deleted old.py"]
