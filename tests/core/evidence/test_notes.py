"""Notes: what a newer statement leaves of an older one."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.notes import Notes, after_statement, rules_in_prompt
from holdfast.core.evidence.prose import reader
from tests.core.scenes import said

FAILING = """
The parser test is failing because the fixture has no header.
The build still fails on Windows.
The migration fails with a duplicate key.
Only one test is still failing: `test_rotation`.
`git fetch` is currently failing because the remote has no name.
重启之后还是报错。
"""
ATTEMPTS = """
Raising the limit didn't work because the proxy caps it too.
Clearing the cache doesn't help.
I tried the async driver, but it still fails on Windows.
I reverted the index because it breaks the import.
The focused test failed because two of them ran at once.
试过重启，还是报错。
"""


def spoken(*texts: str) -> Notes:
    notes: Notes = ()
    for step, text in enumerate(texts):
        notes = after_statement(notes, said(text, f"a{step}"), step)
    return notes


def failed(*texts: str) -> list[str]:
    return [note.text for note in spoken(*texts) if note.kind is NoteKind.FAILED]


@pytest.mark.parametrize("sentence", FAILING.strip().splitlines())
def test_what_fails_at_this_moment_may_be_mended(sentence: str) -> None:
    assert reader.is_failing(sentence)


@pytest.mark.parametrize("sentence", ATTEMPTS.strip().splitlines())
def test_what_was_tried_and_failed_stays_so(sentence: str) -> None:
    assert not reader.is_failing(sentence)


@pytest.mark.parametrize(
    ("failing", "mended"),
    [
        ("The parser test is failing because the fixture has no header.", "All 12 tests pass."),
        ("The build is failing because a type is not exported.", "Good, the build passes."),
        ("Two tests are failing because of the mock.", "Only one test is still failing: `test_rotation`."),
        ("The import of old ledgers fails with a duplicate key.", "The import of old ledgers works now."),
        ("构建还是失败了，缺少头文件。", "构建成功。"),
    ],
)
def test_a_failure_of_the_moment_is_over_when_it_is_said_to_be_mended(failing: str, mended: str) -> None:
    assert failing in failed(failing)
    assert failing not in failed(failing, mended)


@pytest.mark.parametrize(
    ("failing", "other"),
    [
        ("The parser test is failing because the fixture has no header.", "Lint is clean."),
        ("The parser test is failing because the fixture has no header.", "The parser reads it twice."),
        ("I tried a second fixture, but the parser test failed again.", "All 12 tests pass."),
    ],
)
def test_a_failure_outlives_what_says_nothing_of_it_and_an_attempt_outlives_all(
    failing: str, other: str
) -> None:
    assert failed(failing, other) == [failing]


MANUAL = "The tool runs in an environment of its own, which is only cached for speed.\n\n" * 30
ORDER = "Never write below vendor/."


def test_what_is_worded_like_a_rule_in_a_pasted_page_is_none() -> None:
    prompt = (
        f"I only see the old page, mend that.\n\n{MANUAL}{ORDER}\n\n{MANUAL}It has only one column instead."
    )
    assert rules_in_prompt(prompt) == (
        ORDER,
        "I only see the old page, mend that.",
        "It has only one column instead.",
    )


def test_a_list_in_a_long_prompt_may_well_hold_rules() -> None:
    listed = "Files:\n- Writing: only below `out/`\n1. Reading: only below `data/`"
    prompt = f"Build the site.\n\n{MANUAL}{listed}\n\n{MANUAL}Thanks!"
    assert rules_in_prompt(prompt) == ("Writing: only below `out/`", "Reading: only below `data/`")


def test_of_a_prompt_that_was_typed_every_paragraph_counts() -> None:
    prompt = "Mend the page.\n\nIt has only one column.\n\nThanks!"
    assert rules_in_prompt(prompt) == ("It has only one column.",)


def test_a_page_that_a_prompt_announces_binds_nobody() -> None:
    prompt = (
        "Change the default, but never touch the old flag.\n\nMan page:\n\ntool view [flags]\n\n"
        "With --web, open the page in a browser instead.\n\nThe folder must be writable.\n\n"
        "Please don't print the help twice."
    )
    assert rules_in_prompt(prompt) == (
        "Change the default, but never touch the old flag.",
        "Please don't print the help twice.",
    )


def test_a_list_of_rules_below_a_heading_that_is_no_paste_still_binds() -> None:
    assert rules_in_prompt("Output:\n- must be JSON in one line\n- never has a null") == (
        "must be JSON in one line",
        "never has a null",
    )


def decided(*texts: str) -> list[str]:
    return [note.text for note in spoken(*texts) if note.kind is NoteKind.DECISION]


def test_a_decision_takes_the_place_of_an_older_one_about_the_same_things() -> None:
    first = "I'll change `render_page` to take the link of the index instead of building it."
    again = "I should just change `render_page` to take the index link instead of copying the loop."
    other = "I'll use two tables rather than one because the vendor limits rows."
    assert decided(first, other, again) == [other, again]
    assert decided("Let's go with SQLite.", "Let's go with two tables.") == [
        "Let's go with SQLite.",
        "Let's go with two tables.",
    ]
