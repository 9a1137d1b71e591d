"""An answer of a model: what the session contradicts goes, with its reason; the rest stays as written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action
from holdfast.core.evidence.commands.outcomes import TestSummary as Counts
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import CommandRun, FileTouch, Trail
from holdfast.core.work.answer import (
    DONE_ALREADY,
    LONGEST_ANSWER,
    OVER_BUDGET,
    STILL_OPEN,
    CheckedAnswer,
    Refused,
    RejectedSentence,
    SessionFacts,
    check_answer,
    session_facts,
    split_sentences,
)
from holdfast.core.work.question import ANSWER_CHARS
from holdfast.core.work.state import Statement, WorkState
from holdfast.core.work.written import sections_in

NOON = 1_800_014_400_000
FAILED_RUN = "told as passed, but its last run failed"
PASSED_RUN = "told as failed, but its last run passed"
TRAIL = Trail(
    commands=(
        CommandRun("cd app && pytest -q tests/lexer", NOON, ok=False, exit_status=1, tests=Counts(3, 1)),
        CommandRun("npm run lint", NOON, ok=False, exit_status=1),
        CommandRun("npm run lint", NOON + 9, ok=True),
        CommandRun("make build", NOON + 9, ok=True),
    ),
    files=(FileTouch("/home/you/app/src/lexer.py", Action.EDIT, 1, NOON),),
)
STATE = WorkState(
    "",
    (
        Statement(Section.DONE, "Write the migration for the users table", NOON),
        Statement(Section.DONE, "Rename the token class everywhere", NOON),
        Statement(Section.NEXT, "Add a changelog entry for the lexer", NOON),
        Statement(Section.NEXT, "Rename the token class everywhere", NOON),
    ),
)
SPOKEN = (
    "Please fix ticket ABC-123, and see #45 and https://example.org/a.",
    "from app.lexer import next_token; commit 1a2b3c4d5e6f7a8b; works in /home/you/app",
    "git commit -m 'Mend it' --no-verify; make deploy; docker compose up -d db",
)


def facts() -> SessionFacts:
    return session_facts(STATE, TRAIL, SPOKEN)


def checked(text: str) -> CheckedAnswer:
    result = check_answer(text, facts())
    assert isinstance(result, CheckedAnswer), result
    return result


def reason(section: Section, sentence: str) -> str:
    """Why this sentence is left out beside one that holds; empty if it is not."""
    result = checked(f"## Rules\n- Be kind.\n\n## {section.value.capitalize()}\n- {sentence}")
    return result.left_out[0].reason if result.left_out else ""


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "sentence",
    [
        "The lexer is in `src/lexer.py`.",
        "The lexer is in /home/you/app/src/lexer.py, line 4.",
        "The lexer is in `src/lexer.py:42`.",
        "The lexer is in `/home/you/app/tests/lexer`.",
        "Call `next_token()` of `app.lexer` or app.lexer.next_token.",
        "It is ticket ABC-123, pull request #45, commit 1a2b3c4.",
        "Run `pytest -q tests/lexer`, then `git commit --no-verify`.",
        "Start it with `docker compose up db`.",
        "Call `next_token(lexer)` or `next_token/1`; see `next_*`.",
        "See https://example.org/a.",
        "Plain words that were never said are no names, e.g. Tuesday.",
    ],
)
def test_what_occurred_may_be_named(sentence: str) -> None:
    assert reason(Section.WHERE, sentence) == ""


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("The lexer is in `src/parser.py`.", "src/parser.py"),
        ("The lexer is in lib/lexer.py.", "lib/lexer.py"),
        ("Call `previous_token()`.", "previous_token()"),
        ("It is ticket ABC-12.", "ABC-12"),
        ("It is ticket ABC-1234.", "ABC-1234"),
        ("See #451.", "#451"),
        ("It is in commit 1a2b3cf.", "1a2b3cf"),
        ("Run `make release`.", "make release"),
        ("Run `git commit --amend`.", "git commit --amend"),
        ("Run `docker compose down db`.", "docker compose down db"),
        ("The class is TokenStream.", "TokenStream"),
        ("Call `next_token(parser)`.", "next_token(parser)"),
        ("Call `previous_token/1`.", "previous_token/1"),
    ],
)
def test_a_sentence_with_a_name_that_never_occurred_goes(sentence: str, name: str) -> None:
    assert reason(Section.WHERE, sentence) == f"`{name}` does not occur in the session"


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("`pytest -q tests/lexer` passes.", FAILED_RUN),
        ("`pytest` passed with no failures.", FAILED_RUN),
        ("All tests pass.", FAILED_RUN),
        ("`pytest -q tests/lexer` fails in one of four.", ""),
        ("`pytest -q tests/lexer` should pass.", ""),
        ("`pytest -q tests/lexer` does not pass yet.", ""),
        ("The tests of `next_token` pass.", ""),
        ("`npm run lint` is clean.", ""),
        ("`npm run lint` fails.", PASSED_RUN),
        ("`npm run lint` failed before and was fixed.", ""),
        ("There is a failing test for `npm run lint`.", ""),
        ("`npm run lint` is still failing.", PASSED_RUN),
        ("The build is broken.", PASSED_RUN),
        ("The build passes.", ""),
        ("`make deploy` passed.", ""),
    ],
)
def test_an_outcome_that_is_not_that_of_the_last_run_goes(sentence: str, expected: str) -> None:
    assert reason(Section.NOW, sentence) == expected


@pytest.mark.parametrize("section", [Section.GOAL, Section.RULES, Section.NEXT, Section.QUESTIONS])
def test_what_is_wanted_is_no_outcome(section: Section) -> None:
    assert reason(section, "All tests pass.") == ""


# ---------------------------------------------------------------- finished and open


@pytest.mark.parametrize(
    ("section", "sentence", "expected"),
    [
        (Section.NEXT, "Write the migration for the users table.", DONE_ALREADY),
        (Section.NEXT, "The migration for the users table is to be written.", DONE_ALREADY),
        (Section.NOW, "Writing the migration for the users table.", DONE_ALREADY),
        (Section.DONE, "The migration for the users table is written.", ""),
        (Section.NEXT, "Run the migration of the users table on staging, then look at the logs.", ""),
        (Section.DONE, "A changelog entry for the lexer was added.", STILL_OPEN),
        (Section.NEXT, "Add the changelog entry for the lexer.", ""),
        (Section.DECISIONS, "Write the migration for the users table.", ""),
        (Section.NEXT, "Rename the token class everywhere.", ""),
        (Section.DONE, "Rename the token class everywhere.", ""),
    ],
)
def test_a_finished_item_is_not_told_as_open_nor_an_open_one_as_finished(
    section: Section, sentence: str, expected: str
) -> None:
    assert reason(section, sentence) == expected


# ---------------------------------------------------------------- the whole answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        ("Sorry, I cannot do that.", "the answer has none of the sections"),
        ('{"summary": "The lexer is mended."}', "the answer has none of the sections"),
        ('{"goal": 3}', "the answer has none of the sections"),
        ("## Goal\n" + "x" * LONGEST_ANSWER, "the answer has 6,008 characters, more than 6,000"),
        ("## Goal\n" + "x" * 3_000, f"its only sentence is over {ANSWER_CHARS:,} characters"),
        ("## Done\n- See `nothing.py`.", "no sentence of the answer agrees with the session"),
    ],
)
def test_an_answer_that_is_no_answer_is_refused(text: str, expected: str) -> None:
    assert check_answer(text, facts()) == Refused(expected)


GOOD = "## Goal\n- Fix ticket ABC-123.\n## Next\n- Add a changelog entry for the lexer."


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```markdown\n{GOOD}\n```",
        json.dumps({"goal": ["Fix ticket ABC-123."], "next": ["Add a changelog entry for the lexer."]}),
        "**Next:** Add a changelog entry for the lexer.\n\n**Goal:** Fix ticket ABC-123.",
    ],
)
def test_an_answer_is_written_in_order_in_whatever_form_it_came(text: str) -> None:
    assert (checked(text).text, checked(text).left_out) == (GOOD, ())


def test_of_a_paragraph_only_the_wrong_sentence_goes() -> None:
    result = checked(
        "## Now\n- The lexer skips comments. `nothing.py` is next. Spaces are kept, e.g. Tabs too."
    )
    assert result.of(Section.NOW) == ("The lexer skips comments.", "Spaces are kept, e.g. Tabs too.")
    assert [one.text for one in result.left_out] == ["`nothing.py` is next."]


def test_what_stands_in_no_section_goes() -> None:
    assert checked(f"Here is the handover.\n\n{GOOD}").left_out == (
        RejectedSentence("Here is the handover.", "in none of the sections"),
    )


def test_an_answer_that_is_too_long_loses_whole_sentences_from_the_end_of_its_longest_sections() -> None:
    decisions = [
        f"Decision {number} was taken for a reason that is long enough to matter." for number in range(40)
    ]
    text = "## Goal\n- Fix it.\n## Decisions\n" + "\n".join(f"- {one}" for one in decisions)
    result = checked(text)
    kept = len(result.of(Section.DECISIONS))
    assert result.of(Section.GOAL) == ("Fix it.",)
    assert result.of(Section.DECISIONS) == tuple(decisions[:kept])
    assert len(result.text) <= ANSWER_CHARS < len(result.text) + 80
    assert {one.reason for one in result.left_out} == {OVER_BUDGET}
    assert [one.text for one in result.left_out] == decisions[: kept - 1 : -1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Version 2. 3 of them, i.e. All.", ["Version 2. 3 of them, i.e. All."]),
        ("Run `a. B` now. Then stop.", ["Run `a. B` now.", "Then stop."]),
        ("It is app.lexer. `make` works.", ["It is app.lexer.", "`make` works."]),
        ("完成。继续。", ["完成。", "继续。"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


HEADINGS = st.sampled_from([f"## {section.value}\n" for section in Section] + ["", "- ", "`", "```\n", "{"])


@given(st.lists(st.tuples(HEADINGS, st.text(max_size=300)), max_size=30))
def test_any_answer_is_refused_or_fits_and_says_nothing_that_was_not_in_it(
    pieces: list[tuple[str, str]],
) -> None:
    text = "\n".join(heading + piece for heading, piece in pieces)
    result = check_answer(text, facts())
    if isinstance(result, Refused):
        assert result.reason
        return
    assert len(result.text) <= ANSWER_CHARS
    # A line of a code block is quoted as code.
    bare = "".join(text.split()).replace("`", "")
    assert all("".join(one.text.split()).replace("`", "") in bare for one in result.statements)


@given(st.sets(st.sampled_from(Section), min_size=1), st.integers(1, 5))
def test_what_was_checked_reads_as_the_same_again(sections: set[Section], rows: int) -> None:
    text = "\n".join(
        f"## {section.value}\n"
        + "\n".join(f"- Row {row} is about the {section.value}." for row in range(rows))
        for section in sections
    )
    result = checked(text)
    assert sections_in(result.text) == tuple((one.section, one.text) for one in result.statements)
    assert checked(result.text).text == result.text
