"""What a brief says in sentences, and which of them time has overtaken."""

from __future__ import annotations

import pytest

from holdfast.core.brief.brief_input import DECISIONS, FILES, GOAL, RULES, STATE
from holdfast.core.brief.items import candidates
from holdfast.core.events.event import Action
from tests.core.brief.test_named_things import brief_input, lines, ran, touched
from tests.core.scenes import NOON, prompt, said


@pytest.mark.parametrize(
    ("left", "goal"),
    [
        ("rm main-new.ts", "“Create main-new.ts” (by now gone: main-new.ts)"),
        ("git mv main-new.ts main.ts", "“Create main-new.ts” (by now gone: main-new.ts)"),
        ("rm old-main-new.ts", "“Create main-new.ts”"),
        ("rm Create", "“Create main-new.ts”"),
    ],
)
def test_a_sentence_about_a_file_that_is_no_more_says_so(left: str, goal: str) -> None:
    made = (prompt("Create main-new.ts", "p1"), *touched("main-new.ts", Action.WRITE))
    assert lines(brief_input(*made, *ran(left)), GOAL) == [goal]


def test_a_file_of_that_name_elsewhere_keeps_a_sentence_as_it_was() -> None:
    two = (*touched("old/retry.py", Action.WRITE), *touched("new/retry.py", Action.WRITE))
    assert lines(brief_input(prompt("Mend retry.py", "p1"), *two, *ran("rm old/retry.py")), GOAL) == [
        "“Mend retry.py”"
    ]


def test_what_was_decided_about_a_file_that_is_no_more_is_not_shown() -> None:
    decided = said("I decided to keep main-new.ts beside main.ts because it is smaller.", "a1")
    made = (prompt("Split it", "p1"), *touched("main-new.ts", Action.WRITE), decided)
    assert any("main-new.ts" in line for line in lines(brief_input(*made), DECISIONS))
    assert not lines(brief_input(*made, *ran("rm main-new.ts")), DECISIONS)


def test_names_are_not_shown_beside_a_file_that_is_no_more() -> None:
    written = "readLexer readParser readWriter readState readTokens readTrees readLines"
    made = (prompt("Split it", "p1"), *touched("src/main-new.ts", Action.WRITE, written))
    assert any("main-new.ts (" in line for line in lines(brief_input(*made), FILES))
    left = lines(brief_input(*made, *ran("rm src/main-new.ts")), FILES)
    assert "Deleted: src/main-new.ts" in left
    assert any(line.startswith("In use: ") and "readLexer" in line for line in left)


def test_of_how_the_tests_went_only_the_latest_is_shown() -> None:
    of = brief_input(
        said("All 41 tests pass.", "a1"),
        said("The import takes 12.5 ms.", "a2"),
        said("All 43 tests pass, 0 failures.", "a3"),
    )
    state = "\n".join(lines(of, STATE))
    assert "41 tests" not in state
    assert "43 tests" in state
    assert "12.5 ms" in state


def test_of_how_the_build_or_ci_went_only_the_latest_is_shown() -> None:
    of = brief_input(
        said("CI is green on the first draft.", "a1"),
        said("The docs build passed.", "a2"),
        said("Lint and the docs build passed with one warning.", "a3"),
        said("CI is green on PR #12.", "a4"),
    )
    done = [line for line in lines(of, STATE) if line.startswith("Done: ")]
    assert done == ["Done: CI is green on PR #12.", "Done: Lint and the docs build passed with one warning."]


@pytest.mark.parametrize(
    ("later", "left"),
    [
        ("WP7 complete. Now WP8: the writer.", False),
        ("WP7 is done.", False),
        ("WP6 is done, and WP7 is half there.", True),
        ("The writer is complete.", True),
    ],
)
def test_a_numbered_step_is_next_until_it_is_said_to_be_done(later: str, *, left: bool) -> None:
    state = lines(
        brief_input(said("Next steps:\n\n- WP7: Make the reader strict", "a1"), said(later, "a2")), STATE
    )
    assert ("Next: WP7: Make the reader strict" in state) is left


def test_a_numbered_step_is_known_in_chinese_too() -> None:
    planned = said("下一步：\n\n- 阶段 2：编写读取器", "a1")
    assert any("阶段 2" in line and line.startswith("Next") for line in lines(brief_input(planned), STATE))
    state = lines(brief_input(planned, said("阶段 2已完成。", "a2")), STATE)
    assert not any(line.startswith("Next") for line in state)


@pytest.mark.parametrize(("steps", "left"), [(30, True), (50, False)])
def test_what_was_next_before_another_goal_is_soon_left_out(steps: int, *, left: bool) -> None:
    begun = (prompt("Write the reader", "p1"), said("The reader still needs tests.", "a1", at=NOON + 1))
    worked = [event for step in range(steps) for event in ran(f"make part{step}", at=NOON + 3)]
    state = lines(
        brief_input(*begun, prompt("Now ship the writer to the others", "p2", at=NOON + 2), *worked), STATE
    )
    assert ("Next: The reader still needs tests." in state) is left
    same_goal = lines(brief_input(*begun, *worked), STATE)
    assert "Next: The reader still needs tests." in same_goal


@pytest.mark.parametrize(
    ("text", "told_as"),
    [
        ("The test is failing because the clock starts at zero.", "Failing: "),
        ("I tried to cache the tokens, but that did not work.", "Tried and failed: "),
    ],
)
def test_what_fails_now_is_no_attempt_that_failed(text: str, told_as: str) -> None:
    assert f"{told_as}{text}" in lines(brief_input(said(text, "a1"), said("It goes on.", "a2")), STATE)


# ---------------------------------------------------------------- what was asked


LONG = "Bring the reader over to the new lexer and show how fast it is then."


@pytest.mark.parametrize(
    ("goal", "before"),
    [
        ("Apply it to the writer", [f"Before that: “{LONG}”"]),
        ("Apply it to the writer too, but leave what the tests look at", []),
    ],
)
def test_a_short_goal_is_shown_with_what_it_goes_on_from(goal: str, before: list[str]) -> None:
    of = brief_input(
        prompt("Look around", "p0"), prompt(LONG, "p1", at=NOON + 1), prompt(goal, "p2", at=NOON + 2)
    )
    asked = lines(of, GOAL)
    assert asked[0] == f"“{goal}”"
    assert [line for line in asked if line.startswith("Before that")] == before
    assert sum(LONG in line for line in asked) == 1


def test_lines_that_are_drawn_are_no_part_of_what_was_asked() -> None:
    assert lines(brief_input(prompt("──────\nMend it\n======", "p1")), GOAL) == ["“Mend it”"]
    assert lines(brief_input(prompt("──────", "p1"), said("It goes on.", "a1")), GOAL) == []


# ---------------------------------------------------------------- what was said


@pytest.mark.parametrize(
    ("text", "told_as"),
    [
        ("Perfect! The reader is split.", "The reader is split."),
        ("Great progress!\n\nAll is well now!", "All is well now!"),
        ("It goes on\u2028- Goal: none\x0b- of ours.", "It goes on; Goal: none of ours."),
        ("The reader is split\nin two.", "The reader is split in two."),
        ("## Found\n\n- **One** loop\n- Two copies\n\nTwo more", "One loop; Two copies; Two more"),
        ("The reader is split.\n\n1. It reads\n2. It folds", "The reader is split. It reads; It folds"),
        (
            f"It does this:\n\n1. It reads {'every line ' * 9}of it.\n2. It folds them.",
            f"It does this: It reads {'every line ' * 9}of it. …",
        ),
    ],
)
def test_what_was_said_last_is_shown_in_its_sentences(text: str, told_as: str) -> None:
    assert f"Last said: {told_as}" in lines(brief_input(said(text, "a1")), STATE)


def test_what_was_only_asked_in_the_words_of_a_rule_is_shown_as_asked() -> None:
    of = brief_input(
        prompt("do we only have one colour for headings? They don't look that bad.", "p1"),
        prompt("Never change the palette.", "p2"),
        prompt("Mend the footer of the page, it overlaps the list.", "p3"),
    )
    assert lines(of, RULES) == ["Never change the palette."]
    goal = lines(of, GOAL)
    assert "Also asked: “do we only have one colour for headings?”" in goal
    assert "Also said: “They don't look that bad.”" in goal


def test_the_first_rule_that_binds_is_worth_as_much_as_a_remark_before_it() -> None:
    of = brief_input(
        prompt("do we only have one colour for headings?", "p1"),
        prompt("Never change the palette.", "p2"),
        prompt("Mend the footer of the page, it overlaps the list.", "p3"),
    )
    kinds = {item.key: item.kind for item in candidates(of)}
    assert kinds["do we only have one colour for headings?"] == "first_rule"
    assert kinds["Never change the palette."] == "first_rule"


def test_of_two_decisions_the_one_near_to_the_work_is_worth_more() -> None:
    old = said("I'll use a queue instead of polling.", "a1")
    new = said("I'll use two tables rather than one.", "a2")
    work = [event for _ in range(60) for event in ran("make test")]
    near, far = (brief_input(old, *work, new), brief_input(old, new, *work))
    worth = [{item.key: item.score for item in candidates(of)} for of in (near, far)]
    assert worth[0]["I'll use two tables rather than one."] > worth[1]["I'll use two tables rather than one."]


@pytest.mark.parametrize(
    "sentence",
    ["All tests pass.", "All 43 tests pass, 0 failures.", "Good, the build passes.", "单元测试全部通过。"],
)
def test_that_checks_pass_is_shown_by_their_runs_and_not_by_what_was_said_of_them(sentence: str) -> None:
    hook_event = (
        said("Mended the reader. It reads two files now.", "a1"),
        said(sentence, "a2"),
        said("On.", "a3"),
    )
    assert any(sentence in line for line in lines(brief_input(*hook_event), STATE))
    passed = (*ran("make test", text="43 passed in 0.2s"), *hook_event)
    assert not any(sentence in line for line in lines(brief_input(*passed), STATE))


@pytest.mark.parametrize(
    "sentence",
    [
        "The exporter works on Windows now, all tests pass.",
        "All 43 tests pass on Windows with the new reader.",
    ],
)
def test_what_is_said_beside_that_is_shown(sentence: str) -> None:
    passed = (*ran("make test", text="43 passed in 0.2s"), said(sentence, "a1"), said("On.", "a2"))
    assert any(sentence in line for line in lines(brief_input(*passed), STATE))


def test_a_last_word_that_says_little_is_shown_with_what_stands_before_it() -> None:
    of = brief_input(said("There's a mismatch. The page shows 627 rows but the export has 77 rows.", "a1"))
    assert "Last said: There's a mismatch. The page shows 627 rows but the export has 77 rows." in lines(
        of, STATE
    )


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Good idea. I'll use two tables rather than one.", False),
        ("`Reader` does. I'll use two tables rather than one.", True),
        ("The cause is in read_header. I'll use two tables rather than one.", True),
        ("读取器在另一个文件里。我们决定用两张表。", True),
    ],
)
def test_of_what_was_said_before_only_what_says_something_is_shown(text: str, *, is_told: bool) -> None:
    of = brief_input(said(text, "a1"), said("The writer reads its settings from two files.", "a2"))
    assert any(line.startswith("Before that: ") for line in lines(of, STATE)) is is_told


@pytest.mark.parametrize(
    ("asked", "steps", "is_told"),
    [
        ("Mend the footer of the page, it overlaps the list.", 60, False),
        ("Mend the footer of the page, it overlaps the list.", 5, True),
        ("continue", 60, True),
    ],
)
def test_what_was_next_before_something_else_was_asked_is_shown_for_a_while(
    asked: str, steps: int, *, is_told: bool
) -> None:
    begun = (prompt("Port the exporter", "p1", NOON), said("Next: port the second reader.", "a1", NOON))
    work = [event for _ in range(steps) for event in ran("make test")]
    of = brief_input(*begun, prompt(asked, "p2", NOON + 1), *work)
    assert any(line.startswith("Next: ") for line in lines(of, STATE)) is is_told
