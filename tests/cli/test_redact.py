"""Redaction of a stream: nothing but secrets changes, and no secret slips through between two groups."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.redact import groups
from tests.cli.conftest import Person

KEY = (
    b"-----BEGIN PRIVATE KEY-----\n"
    + b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4
    + b"-----END PRIVATE KEY-----\n"
)


@given(st.lists(st.one_of(st.none(), st.binary(max_size=40), st.just(b"a\n"), st.just(KEY[:40]))))
def test_groups_lose_and_add_nothing(arriving: list[bytes | None]) -> None:
    assert b"".join(groups(arriving, enough=16)) == b"".join(chunk for chunk in arriving if chunk)


@given(st.data())
def test_a_private_key_is_never_split_wherever_its_parts_arrive(data: st.DataObject) -> None:
    text = b"before\n" + KEY + b"after\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    arriving = [chunk for piece in pieces for chunk in (piece, None)]
    assert any(KEY in group for group in groups(arriving))


def test_lines_go_on_when_nothing_more_comes() -> None:
    arriving = iter([b"one\ntw", None, b"o\n"])
    assert list(groups(arriving)) == [b"one\n", b"two\n"]


def test_an_end_that_never_comes_holds_nothing_back_for_ever() -> None:
    endless = [KEY[:28], *([b"not a key at all\n"] * 3_000), None]
    assert next(groups(endless, enough=1 << 30)).startswith(b"-----BEGIN")


def test_bytes_that_are_no_text_pass_unchanged(person: Person) -> None:
    given = bytes(range(256)) + b"\npassword=correct-horse-battery-9\n\xff\xfe" + KEY
    out = subprocess.run(
        person.command("redact"), input=given, capture_output=True, env=person.environment, check=True
    ).stdout
    assert out.startswith(bytes(range(256)) + b"\npassword=[REDACTED")
    assert b"correct-horse" not in out
    assert b"MIIEvQ" not in out
    assert b"\n\xff\xfe" in out
