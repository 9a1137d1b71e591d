"""An agent's digest leads the work state, and what happened since follows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Utterance
from holdfast.core.work.compute import work_state
from holdfast.core.work.digest import DIGEST_WORTH, STATEMENT_CHARS, with_digest
from holdfast.core.work.state import Statement, StatementSource, WorkState
from holdfast.core.work.wording import says_the_same, wording_of
from tests.core.scenes import NOON, after, prompt, said, session

AT = 1_000
BEFORE, SINCE = AT - 1, AT + 1


def told(
    section: Section, text: str, at: int = BEFORE, source: str = "r1", *, by_user: bool = False
) -> Statement:
    return Statement(section, text, at, source, by_user=by_user, worth=0.5)


WRITTEN = StatementSource.DIGEST


def digest(text: str) -> Utterance:
    return Utterance(text, AT, "d")


def texts(state: WorkState, section: Section) -> list[str]:
    return [statement.text for statement in state.section(section)]


def test_its_sentences_stand_in_their_sections() -> None:
    state = with_digest(
        WorkState(), digest("Goal: exact totals\nNext:\n- port report.py\nDecisions:\n- Decimal over float")
    )
    assert state.title == "exact totals"
    assert state.statements == (
        Statement(Section.GOAL, "exact totals", AT, "d", worth=DIGEST_WORTH, origin=WRITTEN),
        Statement(Section.NEXT, "port report.py", AT, "d", worth=DIGEST_WORTH, origin=WRITTEN),
        Statement(Section.DECISIONS, "Decimal over float", AT, "d", worth=DIGEST_WORTH, origin=WRITTEN),
    )


def test_words_without_a_heading_say_what_is_going_on() -> None:
    state = with_digest(WorkState("totals"), digest("Rounding is half done.\n\nWhat I saw:\n- it drifts"))
    assert texts(state, Section.NOW) == ["Rounding is half done.", "it drifts"]
    assert state.title == "totals"


def test_what_rules_found_before_gives_way_where_the_digest_says_something() -> None:
    older = (
        told(Section.DONE, "Wrote a.py", source="r1"),
        told(Section.NEXT, "look at b.py", source="r2"),
        told(Section.NEXT, "look at c.py", AT, source="r3"),
    )
    state = with_digest(WorkState("", older), digest("Next: port report.py"))
    assert texts(state, Section.DONE) == ["Wrote a.py"]
    assert texts(state, Section.NEXT) == ["port report.py"]
    assert state.section(Section.NEXT)[0].supersedes == ("r2", "r3")


def test_what_came_since_stays_and_follows() -> None:
    since = told(Section.NEXT, "mend the importer", SINCE)
    state = with_digest(WorkState("", (since,)), digest("Next: port report.py"))
    assert texts(state, Section.NEXT) == ["port report.py", "mend the importer"]
    assert state.section(Section.NEXT)[1] is since


def test_the_users_rules_and_answers_stay() -> None:
    rule = told(Section.RULES, "Never touch legacy.py.", by_user=True)
    answer = told(Section.DECISIONS, "The user answered “half up” to “Which one?”", by_user=True)
    state = with_digest(
        WorkState("", (rule, answer)), digest("Rules: short names\nDecisions: Decimal over float")
    )
    assert texts(state, Section.RULES) == ["Never touch legacy.py.", "short names"]
    assert texts(state, Section.DECISIONS) == [answer.text, "Decimal over float"]


@pytest.mark.parametrize(
    ("said", "repeated"),
    [
        ("Never touch legacy.py.", "never touch `legacy.py`"),
        ("Never touch legacy.py.", "The user said: never touch legacy.py."),
        ("Use Decimal for money", "Using decimals for the money"),
        ("别动 legacy.py", "别动 legacy.py。"),
    ],
)
def test_a_rule_that_the_digest_repeats_is_the_users_still(said: str, repeated: str) -> None:
    rule = told(Section.RULES, said, source="r7", by_user=True)
    (only,) = with_digest(WorkState("", (rule,)), digest(f"## Rules\n- {repeated}")).section(Section.RULES)
    assert (only.text, only.by_user, only.supersedes) == (repeated, True, ("r7",))


@pytest.mark.parametrize(
    ("said", "otherwise"),
    [
        ("Never touch legacy.py.", "legacy.py may be touched"),
        ("Use tabs", "Do not use tabs"),
        ("Use tabs", "Use tabs in Makefiles and nowhere else"),
        ("Touch no tests", "Touch no tests of version 2 or 3 in this folder"),
        ("It must run on 3.11", "It must run on 3.12"),
    ],
)
def test_a_rule_that_the_digest_does_not_repeat_stays_in_the_users_words(said: str, otherwise: str) -> None:
    rule = told(Section.RULES, said, by_user=True)
    state = with_digest(WorkState("", (rule,)), digest(f"## Rules\n- {otherwise}"))
    assert texts(state, Section.RULES) == [said, otherwise]


@pytest.mark.parametrize(
    ("section", "open_statement", "done"),
    [
        ("Next", "port report.py to the new totals", "Ported report.py to the new totals"),
        ("Next", "port report.py to the new totals", "report.py is ported to the new totals, 14 tests pass"),
        ("Next", "Plan the migration of PAY-7", "The migration of PAY-7 is planned."),
        (
            "Now",
            "Editing checkout.py: wire in the rounding",
            "Wired the rounding into checkout.py, edited twice",
        ),
        ("Questions", "Which rounding do the rules ask for?", "The rules ask for half-up rounding"),
        (
            "Failures",
            "`pytest tests/test_cart.py` fails",
            "`pytest tests/test_cart.py` passed, it failed before",
        ),
    ],
)
def test_what_was_finished_since_is_not_told_as_open(section: str, open_statement: str, done: str) -> None:
    since = told(Section.DONE, done, SINCE)
    state = with_digest(WorkState("", (since,)), digest(f"## {section}\n- {open_statement}"))
    assert state.statements == (since,)


@pytest.mark.parametrize(
    ("step", "report", "at"),
    [
        ("port report.py to the new totals", "Ported export.py to the new totals", SINCE),
        ("port report.py to the new totals", "All tests pass", SINCE),
        ("port report.py to the new totals", "Ported report.py to the new totals", BEFORE),
        ("run the tests", "All tests pass on PAY-9", SINCE),
        ("port PAY-7 to the new totals", "Ported PAY-8 to the new totals", SINCE),
    ],
)
def test_a_step_stays_open_that_no_later_report_is_about(step: str, report: str, at: int) -> None:
    state = with_digest(WorkState("", (told(Section.DONE, report, at),)), digest(f"Next: {step}"))
    assert texts(state, Section.NEXT) == [step]


def test_a_question_that_the_user_has_answered_is_closed() -> None:
    question = "Which rounding do the rules ask for?"
    text = f"The user answered “half up” to “{question}”"
    answer = told(Section.DECISIONS, text, SINCE, by_user=True)
    guess = told(Section.DECISIONS, text, SINCE)
    assert (
        texts(with_digest(WorkState("", (answer,)), digest(f"Questions: {question}")), Section.QUESTIONS)
        == []
    )
    assert texts(with_digest(WorkState("", (guess,)), digest(f"Questions: {question}")), Section.QUESTIONS)


def test_what_a_later_statement_repeats_is_told_once_as_the_later_one() -> None:
    since = told(Section.FAILURES, "`make check` fails: 41 != 42", SINCE)
    state = with_digest(WorkState("", (since,)), digest("Failures: `make check` fails: 41 != 42"))
    assert state.statements == (since,)


def test_the_branch_has_no_time_and_stays() -> None:
    branch = told(Section.WHERE, "Branch: main", 0, "git")
    state = with_digest(WorkState("", (branch,)), digest("Where: totals.py"))
    assert texts(state, Section.WHERE) == ["Branch: main", "totals.py"]


def test_a_newer_digest_takes_the_place_of_an_older_one() -> None:
    first = with_digest(WorkState(), Utterance("Next: a b\nGoal: c d", AT - 5, "d1"))
    state = with_digest(first, digest("Next: e f"))
    assert texts(state, Section.NEXT) == ["e f"]
    assert texts(state, Section.GOAL) == ["c d"]
    assert state.section(Section.NEXT)[0].supersedes == ("d1",)


def test_a_long_paragraph_is_split_between_sentences_and_nowhere_else() -> None:
    sentences = [
        f"Sentence {number} names src/a.{number}.py, e.g. Foo, {'and more ' * 8}ends." for number in range(5)
    ]
    text = " ".join(sentences)
    assert len(text) > STATEMENT_CHARS
    assert texts(with_digest(WorkState(), digest(f"## Done\n{text}")), Section.DONE) == sentences
    short = "Done. It works."
    assert texts(with_digest(WorkState(), digest(f"## Done\n{short}")), Section.DONE) == [short]


def test_over_the_evidence_of_a_session() -> None:
    story = after(
        session(),
        prompt("Fix the cart totals for PAY-7. Never touch legacy.py.", "p1", NOON),
        said("Decision: round per line, because it is simple. Next: look at tax.py.", "a1", NOON + 1),
        said("Verified: report.py is ported to the new totals, and it works now.", "a2", NOON + 5),
    )
    words = (
        "Goal: exact totals\nNext:\n- port report.py to the new totals\n- wire it in\nDecisions: round once"
    )
    state = with_digest(work_state(story.trail), Utterance(words, NOON + 2, "d"))
    assert texts(state, Section.NEXT) == ["wire it in"]
    assert texts(state, Section.DECISIONS) == ["round once"]
    assert "exact totals" in texts(state, Section.GOAL)
    assert any("PAY-7" in text for text in texts(state, Section.GOAL))
    assert any("legacy.py" in text for text in texts(state, Section.RULES))


WORDS = st.lists(
    st.sampled_from("port report.py totals PAY-7 never touch use half up the rounding 41 不要".split()),
    min_size=1,
    max_size=5,
).map(" ".join)
STATEMENTS = st.builds(
    Statement,
    st.sampled_from(Section),
    WORDS,
    st.integers(0, 2 * AT),
    st.sampled_from(["", "r1", "r2"]),
    by_user=st.booleans(),
    worth=st.floats(0, 1),
)
STATES = st.builds(WorkState, WORDS, st.lists(STATEMENTS, max_size=12).map(tuple))
DIGESTS = st.lists(
    st.tuples(st.sampled_from(["", *(section.value for section in Section)]), WORDS), max_size=8
).map(lambda rows: digest("\n".join(f"{name}: {text}" if name else text for name, text in rows)))


@given(STATES, DIGESTS)
def test_nothing_that_came_since_is_lost_or_changed(state: WorkState, given_digest: Utterance) -> None:
    after = with_digest(state, given_digest)
    since = [one for one in state.statements if one.at > AT]
    assert sorted(map(repr, since)) == sorted(repr(one) for one in after.statements if one.at > AT)


@given(STATES, DIGESTS)
def test_a_section_that_the_digest_leaves_out_is_as_it_was(state: WorkState, given_digest: Utterance) -> None:
    after = with_digest(state, given_digest)
    filled = {one.section for one in with_digest(WorkState(), given_digest).statements}
    for section in set(Section) - filled:
        assert sorted(map(repr, after.section(section))) == sorted(map(repr, state.section(section)))


@given(STATES, DIGESTS)
def test_of_what_the_user_said_nothing_goes_that_the_digest_does_not_say(
    state: WorkState, given_digest: Utterance
) -> None:
    after = with_digest(state, given_digest)
    written = with_digest(WorkState(), given_digest).statements
    for one in state.statements:
        if one.by_user and one not in after.statements:
            same = [wording_of(other.text) for other in written if other.section is one.section]
            assert any(says_the_same(other, wording_of(one.text)) for other in same)


@given(STATES, DIGESTS)
def test_statements_are_in_order_and_the_same_digest_twice_changes_nothing(
    state: WorkState, given_digest: Utterance
) -> None:
    after = with_digest(state, given_digest)
    order = list(Section)
    keys = [(order.index(one.section), one.at) for one in after.statements]
    assert keys == sorted(keys)
    assert with_digest(after, given_digest) == after


@given(STATES, st.text())
def test_any_text_may_be_a_digest(state: WorkState, text: str) -> None:
    after = with_digest(state, digest(text))
    assert all(one.worth == DIGEST_WORTH for one in after.statements if one.source == "d")
