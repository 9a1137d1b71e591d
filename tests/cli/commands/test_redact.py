"""`holdfast redact`: nothing but secrets changes, and no secret slips through between two reads."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.commands.redact import decoded
from tests.cli.conftest import Person
from tests.core.made_up import BEGIN, END, HUNTER, PEM_LINES

KEY = "\n".join([BEGIN, *PEM_LINES, END, ""]).encode()


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=6), st.sampled_from(["é", "😀", "ß\n"]).map(str.encode)))
)
def test_bytes_become_text_and_text_the_same_bytes_wherever_they_are_cut(
    arriving: list[bytes | None],
) -> None:
    whole = b"".join(chunk for chunk in arriving if chunk)
    text = "".join(piece for piece in decoded(arriving) if piece)
    assert text == whole.decode("utf-8", "surrogateescape")
    assert text.encode("utf-8", "surrogateescape") == whole


def test_bytes_that_are_no_text_pass_unchanged(person: Person) -> None:
    given = bytes(range(256)) + f"\npassword={HUNTER}\n".encode() + b"\xff\xfe" + KEY
    assert piped(person, given) == (
        bytes(range(256)) + b"\npassword=[REDACTED:password]\n\xff\xfe[REDACTED:private-key]\n"
    )


def test_a_private_passage_goes(person: Person) -> None:
    assert piped(person, b"a <private>b\nc</private> d\n") == b"a [REDACTED:private] d\n"


def test_the_users_lists_count(person: Person) -> None:
    person.home.mkdir(parents=True)
    (person.home / "config.toml").write_text(f'[redact]\nallow = ["{HUNTER}"]\ndeny = ["Nautilus"]\n')
    given = f"password={HUNTER} Nautilus\n".encode()
    assert piped(person, given) == f"password={HUNTER} [REDACTED:denied]\n".encode()


def test_nothing_gives_nothing(person: Person) -> None:
    assert piped(person, b"") == b""


def test_whoever_watches_a_log_sees_a_line_before_the_next_comes(person: Person) -> None:
    with subprocess.Popen(
        person.command("redact"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=person.environment
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"password={HUNTER}\nand m".encode())
        process.stdin.flush()
        assert process.stdout.readline() == b"password=[REDACTED:password]\n"
        process.stdin.write(b"ore")
        process.stdin.close()
        assert process.stdout.read() == b"and more"


def piped(person: Person, given: bytes) -> bytes:
    return subprocess.run(
        person.command("redact"), input=given, capture_output=True, env=person.environment, check=True
    ).stdout
