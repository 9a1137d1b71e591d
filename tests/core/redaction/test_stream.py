"""A stream is redacted like the whole, wherever it is cut, and gives whole lines when nothing more comes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.redaction.redact import CONTEXT, LONGEST_LINE, SEGMENT, Lists, redact
from holdfast.core.redaction.stream import redact_stream
from tests.core.made_up import BEGIN, END, HEX, HUNTER, PEM_LINES, PLAIN, made_up
from tests.core.redact_texts import TEXTS

PEM = "\n".join([BEGIN, *PEM_LINES, END, ""])
KEY = "gh" + "p_" + made_up(36)


@given(TEXTS, st.data())
def test_any_borders_and_pauses_give_what_the_whole_gives(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    arriving: list[str | None] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        arriving += (text[start:end], *([None] if data.draw(st.booleans()) else []))
    assert "".join(redact_stream(arriving)) == redact(text)


@given(TEXTS)
def test_a_pause_after_every_line_gives_what_the_whole_gives(text: str) -> None:
    arriving = [piece for line in text.splitlines(keepends=True) for piece in (line, None)]
    assert "".join(redact_stream(arriving)) == redact(text)


@given(st.integers(SEGMENT - 400, SEGMENT + 100), st.integers(1, 5000))
def test_a_secret_at_the_border_of_two_segments_goes(before: int, size: int) -> None:
    secrets = f"{PEM}\n- name: DB_PASSWORD\n  value: {HUNTER}\ncurl x \\\n  --user me:{HUNTER}\n{KEY}\n"
    text = "x\n" * (before // 2) + secrets + "y\n" * SEGMENT
    pieces = [text[start : start + size * 40] for start in range(0, len(text), size * 40)]
    given = "".join(redact_stream(pieces))
    assert given == redact(text)
    assert HUNTER not in given
    assert KEY not in given
    assert PEM_LINES[0] not in given


def test_lines_go_on_when_nothing_more_comes() -> None:
    arriving = iter(["one\ntw", None, "o\n", None, "three"])
    assert list(redact_stream(arriving)) == ["one\n", "two\n", "three"]


def test_a_private_key_waits_for_its_end() -> None:
    given = list(redact_stream(["a\n", PEM[:100], None, PEM[100:], "b\n", None]))
    assert given == ["a\n", "[REDACTED:private-key]\nb\n", ""]


def test_an_end_that_never_comes_holds_nothing_back_for_ever() -> None:
    stream = redact_stream([BEGIN + "\n", *["not a key at all\n"] * 3_000, None, "more"])
    assert next(stream).startswith(BEGIN)


def test_a_private_passage_is_not_held_in_memory_and_not_given() -> None:
    def arriving() -> list[str | None]:
        return ["a <private>b\n", None, *["secret words\n"] * 3, None, "c</private> d\n", f"{KEY}\n"]

    assert "".join(redact_stream(arriving())) == "a [REDACTED:private] d\n[REDACTED:github-token]\n"


def test_a_line_without_an_end_goes_on() -> None:
    word = f"{made_up(50, HEX)} {PLAIN} "
    text = word * (LONGEST_LINE // len(word) + 2) + KEY
    pieces = [text[start : start + SEGMENT] for start in range(0, len(text), SEGMENT)]
    stream = redact_stream(pieces)
    assert len(next(stream)) >= LONGEST_LINE - CONTEXT
    assert KEY not in "".join(stream)


def test_lists_count_in_a_stream_too() -> None:
    lists = Lists(allow=(KEY,), deny=("Nautilus",))
    assert "".join(redact_stream([KEY, " Naut", "ilus\n"], lists)) == f"{KEY} [REDACTED:denied]\n"
