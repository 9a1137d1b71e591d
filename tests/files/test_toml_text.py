"""The editor of TOML text: our table in and out, every other byte as it was."""

import tomllib
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.errors import SettingsUnreadable
from holdfast.files import toml_text
from tests.files.toml_texts import FILE, MARK, OURS, RELAY, toml_texts

NEWER = replace(OURS, value={"command": "/opt/new/python", "args": ["-I", RELAY, "x"], "extra": 3})
TABLE = f"""\
[servers.ours]
command = "/usr/bin/python3.12"
args = ["-I", "{RELAY}", "some-harness"]
required = false
"""


def value_of(text: str) -> dict[str, object]:
    return tomllib.loads(text.removeprefix("\ufeff"))


def inserted(text: str) -> str:
    return toml_text.insert(text, OURS, MARK)


def removed(text: str) -> str:
    return toml_text.remove(text, [OURS.path], MARK, FILE)


def readable(text: str) -> str:
    """The text, where it is TOML to which a table can be added."""
    try:
        value_of(text)
        value_of(f"{text}\n[servers.ours]\n")
    except tomllib.TOMLDecodeError:
        assume(False)  # noqa: FBT003 - hypothesis's own way to say so
    return text


texts = toml_texts().map(readable)


@given(texts)
def test_the_table_is_added_to_what_is_there(text: str) -> None:
    expected = value_of(text)
    servers = expected.setdefault("servers", {})
    assert isinstance(servers, dict)
    servers["ours"] = OURS.value
    assert value_of(inserted(text)) == expected
    assert inserted(text).startswith(text)


@given(texts)
def test_taking_out_leaves_the_very_text_from_before(text: str) -> None:
    assert removed(inserted(text)) == text


@given(texts)
def test_putting_in_twice_is_the_same_as_once(text: str) -> None:
    assert inserted(inserted(text)) == inserted(text)


@given(texts)
def test_taking_out_what_was_never_put_in_changes_nothing(text: str) -> None:
    assert removed(text) == text


@given(texts)
def test_a_newer_table_takes_the_place_of_the_older_and_goes_like_it(text: str) -> None:
    renewed = toml_text.insert(inserted(text), NEWER, MARK)
    servers = value_of(renewed)["servers"]
    assert isinstance(servers, dict)
    assert servers["ours"] == {**OURS.value, **NEWER.value}
    assert removed(renewed) == text


LATER = st.sampled_from(
    (
        '\n[later]\ntrusted = "yes"\n',
        "\n# a note\n[[later]]\n",
        '\n[servers.ours.tools.recall]\nmode = "auto"\n\n[later]\n\n[later.state."/a:0:0"]\nhash = "c"\n',
    )
)


@given(texts, LATER)
def test_what_others_wrote_behind_it_stays(text: str, later: str) -> None:
    whole = removed(inserted(text) + later)
    expected = value_of(text + later)
    servers = expected.get("servers")
    if isinstance(servers, dict):
        servers.pop("ours", None)
    got = value_of(whole)
    for value in (expected, got):
        if value.get("servers") == {}:
            del value["servers"]
    assert got == expected
    assert whole.startswith(text)


@given(texts, st.sampled_from(("mine = 1\n", "mine = 1 # why\n\n", "# only a note\n")))
def test_what_others_wrote_before_it_stays(text: str, earlier: str) -> None:
    readable(earlier + text)
    assume(not text.startswith("\ufeff"))
    # Of a file that was empty before us nobody knows whether its new last line had an end.
    expected = earlier + text if text else earlier.removesuffix("\n")
    assert removed(earlier + inserted(text)) == expected


@pytest.mark.parametrize(
    ("text", "grown"),
    [
        ("", TABLE),
        ("a = 1", f"a = 1\n{TABLE}"),
        ("a = 1\n", f"a = 1\n\n{TABLE}"),
        ("[servers.other]\r\ncommand = 'x'\r\n", f"[servers.other]\ncommand = 'x'\n\n{TABLE}"),
        ("servers.other.command = 'x'\n", f"servers.other.command = 'x'\n\n{TABLE}"),
    ],
)
def test_it_stands_at_the_end_an_empty_line_below(text: str, grown: str) -> None:
    newline = "\r\n" if "\r\n" in text else "\n"
    assert inserted(text) == grown.replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    [
        f'[servers]\nours = {{ command = "x", args = ["{RELAY}"] }} # moved\nother.command = "y"\n',
        f'[servers]\nours.command = "x"\nours.args = [\n  "{RELAY}", # here\n]\nother.command = "y"\n',
        f'[servers.ours]\nargs = ["{RELAY}"]\n[servers]\nother.command = "y"\n',
    ],
)
def test_it_goes_in_whatever_way_someone_wrote_it(text: str) -> None:
    assert value_of(removed(text)) == {"servers": {"other": {"command": "y"}}}


def test_what_a_person_set_in_our_table_stays_when_it_is_renewed() -> None:
    text = inserted("").replace("required", 'startup = 30  # slow\n"required"').replace("args =", "args=")
    text = text.replace('"some-harness"]', '"some-harness"] # ours')
    renewed = toml_text.insert(text, NEWER, MARK)
    assert renewed == (
        '[servers.ours]\nextra = 3\ncommand = "/opt/new/python"\n'
        f'args= ["-I", "{RELAY}", "x"] # ours\nstartup = 30  # slow\n"required" = false\n'
    )


def test_a_table_of_the_same_name_that_is_not_ours_is_neither_touched_nor_removed() -> None:
    theirs = '[servers.ours]\ncommand = "theirs"\n'
    with pytest.raises(SettingsUnreadable, match=r"`servers\.ours` is there already, and it is not ours"):
        inserted(theirs)
    assert removed(theirs) == theirs


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = \n", "at line 1"),
        ("servers = { other = { command = 'x' } }\n", "`servers` is written so that nothing can be added"),
        ("servers = 1\n", "nothing can be added to it"),
        ("a = 1\na = 2\n", "Cannot overwrite a value"),
        (f"[servers]\nours = {{ args = ['{RELAY}'] }}\n", "cannot be renewed"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(SettingsUnreadable, match=why) as refused:
        inserted(text)
    assert str(FILE) in refused.value.message


def test_a_table_inside_another_value_is_refused_when_it_is_to_go() -> None:
    with pytest.raises(SettingsUnreadable, match="stands inside another value"):
        removed(f"servers = {{ ours = {{ args = ['{RELAY}'] }} }}\n")


@pytest.mark.parametrize(("text", "empty"), [("", True), ("\ufeff \n\n", True), ("# note\n", False)])
def test_a_text_without_a_word_holds_nothing(text: str, *, empty: bool) -> None:
    assert toml_text.holds_nothing(text) is empty
