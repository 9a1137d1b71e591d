"""What is asked of a text before a rule reads it never keeps the rule from what it would find.

Each search here is asked again without the question before it, over made-up texts and over every rule.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.redaction import by_name, by_shape, commands, forms, rules, views
from holdfast.core.redaction.by_name import by_foreign_name
from holdfast.core.redaction.prefilter import Rule, TextPage, page_of, prefilters_for, searches_for
from holdfast.core.redaction.spans import Span
from tests.core.redact_texts import FRAGMENTS
from tests.depth import examples

RULES = rules._RULES
QUESTIONS = prefilters_for(searches_for(RULES))
LITERALS = sorted({rule.literal.decode() for rule in RULES})
# What makes rules fire behind their literals, and what stands where two of them touch or overlap.
AROUND = [
    *(
        ": ",
        " = ",
        '="',
        ' "',
        "'",
        "`",
        "(",
        ")",
        " is ",
        " code: ",
        " codes are ",
        "\n",
        "\t",
        "|",
        ",",
        " ",
    ),
    *("123456", "1234-5678", "hunter2Xy9", "Zx9Kq2Lm8Pv4Rt7Wn3Bc6Df1", "me:", "x", "5432", ":db:", "by '"),
    *("kind: ", "log", "sign ", "admin with ", "_", "SECRET", "é", "→", "\\", "[REDACTED:key]"),
]
PIECES = st.sampled_from([*LITERALS, *(literal.upper() for literal in LITERALS), *AROUND]) | FRAGMENTS
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join)


def unasked(page: TextPage) -> list[Span]:
    """What the rules find if every search is made, in order."""
    spans = list(rules._keys(page))
    for search in searches_for(RULES):
        spans += search.spans(page)
    return [*spans, *by_foreign_name(page)]


@settings(max_examples=examples(1_500))
@given(TEXTS)
def test_the_rules_find_the_same_without_any_question(text: str) -> None:
    page = page_of(text)
    assert rules._by_rules(page) == unasked(page)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: repr(rule.literal))
def test_the_question_of_every_rule_is_answered_by_its_literal(rule: Rule) -> None:
    (question,) = (
        question
        for question in QUESTIONS
        if any(one is rule for _, search in question.searches for _, one in search.rules)
    )
    assert question.sign is None or question.sign in rule.literal
    if len(question.searches) == 1:
        assert question.where is question.searches[0][1].where
    else:
        for around in (b"", b"m", b"f:", rule.literal):
            found = question.where.search(around + rule.literal + around)
            assert found
            assert found.start() - question.lead <= len(around)


def test_searches_are_asked_once_and_count_in_their_order() -> None:
    numbered = sorted(
        ((number, search) for each in QUESTIONS for number, search in each.searches), key=lambda each: each[0]
    )
    assert [number for number, _ in numbered] == list(range(len(numbered)))
    assert [search.shared for _, search in numbered] == [search.shared for search in searches_for(RULES)]


SIGNS = [
    '"',
    "'",
    "`",
    "+",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\\",
    "\\\n",
    " . ",
    "..",
    "&",
    "||",
    "<>",
    *"rbfu aZ9=é",
]
SEAMS = st.sampled_from([*SIGNS, "\x1c", "\u2003", "\u00a0", "→", "?"])


@settings(max_examples=examples(2_500))
@given(st.lists(SEAMS, max_size=12).map("".join))
def test_no_seam_is_overlooked_in_bytes(text: str) -> None:
    flat = page_of(text).flat
    if views._SEAM_OF_SIGNS.search(text):
        assert views._PERHAPS_SIGNS.search(flat)
    if views._SEAM_OF_LINES.search(text):
        assert views._PERHAPS_LINES.search(flat)
    points = "' . '" in text or '" . "' in text
    assert points == bool(views._SEAM_OF_POINTS.search(flat))


@pytest.mark.parametrize("word", by_name._ACCENTED)
def test_every_accented_word_is_asked_for(word: str) -> None:
    for around in ("", "x", "é", "?", "密"):
        assert by_name._PERHAPS_ACCENTED.search(page_of(around + word.lower() + around).lower)
    page = page_of(f"{word.upper()}: hunter2Xy9")
    assert [page.text[span.start : span.end] for span in by_foreign_name(page)] == ["hunter2Xy9"]


@pytest.mark.parametrize("send", ["send", "SEND", "Send", "\u017fend", "exp_send", "sendline"])
def test_every_spelling_of_a_dialogue_is_read(send: str) -> None:
    text = f'expect "assword:"\n{send} "hunter2Xy9\\r"'
    found = list(commands._answered(text, 0))
    assert found == [Span(text.index("hunter"), text.index("\\r"), "password", found[0].rank)]


def test_a_run_is_the_same_for_the_pattern_of_names_and_for_the_table() -> None:
    for byte in range(256):
        name = by_shape._NAME.match(bytes([byte]))
        assert name
        in_run = bytes([byte]).translate(by_shape._TOKEN_CHARACTERS) == b"k"
        assert in_run == (name.end() == 1)
        assert bool(name.lastindex) == (chr(byte) in "0123456789")


@pytest.mark.parametrize("mark", forms.MARKS)
def test_every_mark_is_seen(mark: str) -> None:
    assert by_shape._is_marked("a" * 20 + mark + "b" * 20)
    assert not by_shape._is_marked("a" * 50)
