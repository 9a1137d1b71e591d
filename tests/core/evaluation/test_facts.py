"""Facts, rules and form: what a text holds, whoever wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evaluation.facts import (
    constraints_in,
    facts_in,
    facts_in_command,
    form_of,
    holds,
    quoted_commands,
)
from tests.tables import every_row


@every_row(
    ("text", "facts"),
    [
        ("see /home/you/app/src/retry.py:12 for it", {"retry.py", "src/"}),
        ("see src/retry.py.", {"retry.py", "src/"}),
        ("retry.py and lib/web/index.ts", {"retry.py", "web/index.ts", "web/"}),
        ("under ./docs/ and ~/notes", {"docs/", "notes/"}),
        ("read and/or write", set()),
        ("2>/dev/null", set()),
        ("maxRetries, MAX_TRIES, next_delay() and BackoffClock", {"maxRetries", "MAX_TRIES", "next_delay", "BackoffClock"}),  # noqa: E501
        ("RetryError: ENOENT, TS2345", {"RetryError", "ENOENT", "TS2345"}),
        ("#12, v1.4.0, 3.11.7, --dry-run, ABC-42", {"#12", "v1.4.0", "3.11.7", "--dry-run", "ABC-42"}),
        ("at https://example.org/a/b/.", {"https://example.org/a/b"}),
        ("commit 8a7bc3def012345678 is in", {"8a7bc3def012"}),
        ("run `git push` or `pytest -x tests/a.py`", {"git push", "pytest", "a.py", "tests/"}),
        ("then git rebase, then go test; go home", {"git rebase", "go test"}),
        ("`some words` in code are no command", set()),
        (r"<b>so</b></div> \nOverwriting \bTRACE_LEVEL\b", {"TRACE_LEVEL"}),
        ("<br/> and <Sheet.Title /> after console.log(x), testing.M and tree.Diff", set()),
        ("Nothing to see here, only plain words.", set()),
    ],
)  # fmt: skip
def test_a_text_names_its_facts(text: str, facts: set[str]) -> None:
    assert facts_in(text) == facts


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("cd /srv/app && DEBUG=1 go test ./... | head -5", {"go test"}),
        ("python -m pytest tests", {"python -m pytest"}),
        ("./gradlew build; ./run.sh", {"gradlew build", "run.sh"}),
        ("mytool --verbose", {"mytool"}),
        ("git commit -m 'fix\nuse less'", {"git commit"}),
        ("cat > a.py <<'EOF'\nimport things\nEOF\nmake all", {"make all"}),
    ],
)
def test_a_command_line_names_its_programs(line: str, commands: set[str]) -> None:
    assert commands <= facts_in_command(line)
    assert not {"head", "cd", "use less", "import things"} & facts_in_command(line)


def test_a_command_that_only_the_session_knows_is_found_in_code() -> None:
    assert "bd show" in quoted_commands("Last: `bd show x-12`")
    assert "bd show" not in facts_in("Last: `bd show x-12`")


@given(st.text())
def test_any_text_has_facts_and_a_form(text: str) -> None:
    assert all(facts_in(text))
    assert 0 <= form_of(text).readable <= 1
    assert 0 <= form_of(text).plain <= 1


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Fix it. Never touch the vendored client! Thanks.", ("Never touch the vendored client!",)),
        ("You must\nuse tabs instead of spaces here", ("use tabs instead of spaces here",)),
        ("please don’t push to main", ("please don’t push to main",)),
        ("```\nyou must never see this code\n```\nplain text", ()),
        ("~~~~\n~~~\nyou must never see this code\n~~~~\nplain text", ()),
        ("only this", ()),
        ("It is always so. It is always so.", ("It is always so.",)),
    ],
)
def test_rules_are_sentences_with_a_word_that_binds(text: str, rules: tuple[str, ...]) -> None:
    assert constraints_in([text]) == rules


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("- Rule: “Never touch the vendored client, please”", True),
        ("The vendored client is never changed.", True),
        ("The client was read.", False),
        ("", False),
    ],
)
def test_a_text_holds_a_sentence_with_most_of_its_content(text: str, held: bool) -> None:  # noqa: FBT001
    assert holds(text, "Never touch the vendored client!") is held


READABLE = """<holdfast-recall>
## Session Recovery Context
The context window was just compacted, and this is what was recorded of it.

### Goal
- “Make the retry test pass without touching the client”

### State
- Next: start the backoff at one, then run the tests again.

### Last commands
- Failed: `pytest tests/test_retry.py`: gave up after three tries
</holdfast-recall>"""


def test_a_readable_brief_keeps_the_form() -> None:
    assert form_of(READABLE).is_readable


@pytest.mark.parametrize(
    ("brief", "part"),
    [
        ("retry.py client.py git_push MAX_TRIES #12 " * 20, "plain"),
        (READABLE.replace("### ", "More about the "), "sections"),
        (READABLE + "\n- Next: start the backoff at one, then run the tests again.", "repeated"),
        (READABLE + "\n### Files\n" + "- src/a_b.py src/c_d.py src/e_f.py\n" * 1 + "x_y " * 300, "readable"),
    ],
)
def test_what_nobody_can_read_breaks_the_form(brief: str, part: str) -> None:
    form, good = form_of(brief), form_of(READABLE)
    assert not form.is_readable
    assert getattr(form, part) != getattr(good, part)


def test_the_mark_of_a_list_counts_as_a_word_and_what_a_heading_says_does_not() -> None:
    assert form_of("<holdfast-recall>\n### Files in play\n- Read: `a.py` and `b.py`").plain == 2 / 5
