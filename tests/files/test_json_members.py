"""A member of an object in JSON settings: ours in and out, every other byte as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.install_request import Json, OwnershipMark, WantedMember, wrapped_command
from holdfast.errors import SettingsUnreadable
from holdfast.files import install, settings_text
from tests.files.settings_texts import LAYOUTS, Members, Tree, rendered, trees, value_of

FILE = Path("/home/you/.some.json")
RELAY = "/home/you/.holdfast/bin/relay.py"
MARK = OwnershipMark(frozenset({RELAY}), "/home/you/.holdfast/bin/hook.py'")
VALUE: dict[str, Json] = {"type": "stdio", "command": "/usr/bin/python3", "args": ["-I", "-S", RELAY, "x"]}
WANTED = WantedMember(FILE, ("servers", "ours"), VALUE, RELAY)

_words = st.text(max_size=6)
_servers = st.lists(st.tuples(_words.filter(lambda word: word != "ours"), trees), max_size=3).map(Members)
_settings = st.lists(
    st.tuples(_words.filter(lambda word: word != "servers"), trees) | st.tuples(st.just("servers"), _servers),
    max_size=4,
).map(Members)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The text of any settings file, with servers of others or none."""
    random = draw(st.randoms(use_true_random=False))
    text = rendered(draw(_settings), draw(st.sampled_from(LAYOUTS)), random)
    return draw(st.sampled_from(("", "\ufeff", "\n"))) + text + draw(st.sampled_from(("", "\n", "\r\n")))


def put(text: str, wanted: WantedMember = WANTED) -> settings_text.Edited:
    return settings_text.insert(text, wanted, MARK)


def taken(text: str, hollows: tuple[settings_text.Hollow, ...] = ()) -> str:
    return settings_text.remove(text, [WANTED.path], hollows, MARK, FILE)


@given(texts())
def test_it_stands_beside_what_is_there(text: str) -> None:
    value: Tree = value_of(text)
    servers = value.setdefault("servers", {})
    servers["ours"] = VALUE
    assert value_of(put(text).text) == value


@given(texts())
def test_taking_it_out_leaves_the_very_text_from_before(text: str) -> None:
    edited = put(text)
    assert taken(edited.text, edited.hollows) == text


@given(texts())
def test_twice_is_once(text: str) -> None:
    once = put(text).text
    assert put(once).text == once


LINE = "python3 -c 'status' '/home/you/.holdfast/bin/hook.py'"
STATUS = WantedMember(FILE, ("statusLine",), {"type": "command", "command": LINE}, LINE, wraps="command")


@st.composite
def texts_with_a_status_line(draw: st.DrawFn) -> tuple[str, str]:
    """The text of settings in every layout, comments too, with a status line of the user; and its command."""
    command = draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20))
    line = Members([("type", "command"), ("command", command), ("padding", 2)])
    others = draw(st.lists(st.tuples(_words.filter(lambda word: word != "statusLine"), trees), max_size=3))
    at = draw(st.integers(0, len(others)))
    settings = Members([*others[:at], ("statusLine", line), *others[at:]])
    random = draw(st.randoms(use_true_random=False))
    return rendered(settings, draw(st.sampled_from(LAYOUTS)), random), command


@given(texts_with_a_status_line())
def test_a_status_line_of_the_user_stays_inside_of_ours_and_is_given_back(
    given_line: tuple[str, str],
) -> None:
    text, command = given_line
    edited = put(text, STATUS)
    ours = value_of(edited.text)["statusLine"]
    assert ours["command"] == wrapped_command(command, LINE)
    assert ours["padding"] == 2
    assert put(edited.text, STATUS).text == edited.text
    # In its own spelling a backup gives it back; without one, what it says.
    left = settings_text.remove(edited.text, [STATUS.path], edited.hollows, MARK, FILE)
    assert value_of(left) == value_of(text)


@given(texts_with_a_status_line())
def test_setup_and_unsetup_leave_a_status_line_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, given_line: tuple[str, str]
) -> None:
    home = tmp_path_factory.mktemp("home")
    file, line = home / "settings.json", f"python3 '{install.hook_path(home / 'ours')}'"
    before = given_line[0].encode()
    file.write_bytes(before)
    wanted = WantedMember(file, STATUS.path, {"type": "command", "command": line}, line, wraps="command")
    install.setup([wanted], [], home / "ours", 1)
    assert file.read_bytes() != before
    install.unsetup(home / "ours")
    assert file.read_bytes() == before


@given(texts_with_a_status_line())
def test_edited_in_between_only_ours_goes_out_of_a_status_line(given_line: tuple[str, str]) -> None:
    text, _ = given_line
    edited = put(text, STATUS)
    later = value_of(edited.text)
    later["statusLine"]["padding"] = 3
    later["model"] = "later"
    rewritten = json.dumps(later, indent=4)
    expected = value_of(text)
    expected["statusLine"]["padding"] = 3
    expected["model"] = "later"
    left = settings_text.remove(rewritten, [STATUS.path], edited.hollows, MARK, FILE)
    assert value_of(left) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n  "a": 1,\n  "servers": {\n    "x": {}\n  }\n}\n',
            '{\n  "a": 1,\n  "servers": {\n    "x": {},\n    "ours": {\n      "type": "t"\n    }\n  }\n}\n',
        ),
        ("{}\n", '{\n  "servers": {\n    "ours": {\n      "type": "t"\n    }\n  }\n}\n'),
        ('{"a":1}', '{"a":1,"servers":{"ours":{"type":"t"}}}'),
        ('{"servers": { }}', '{"servers": {"ours": {"type": "t"}}}'),
    ],
)
def test_it_is_laid_out_like_its_neighbours(before: str, after: str) -> None:
    edited = put(before, WantedMember(FILE, ("servers", "ours"), {"type": "t"}, "t"))
    assert edited.text == after


def test_what_an_earlier_version_wrote_is_renewed_where_it_is() -> None:
    old = put(
        '{"servers": {"a": 1}, "z": 2}', WantedMember(FILE, WANTED.path, {"command": RELAY}, RELAY)
    ).text
    new = put(old).text
    assert list(value_of(new)["servers"]) == ["a", "ours"]
    assert value_of(new)["servers"]["ours"] == VALUE
    assert new.endswith(', "z": 2}')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"servers": {"ours": {"command": "mine"}}}', "`servers.ours` is there already, and it is not ours"),
        ('{"servers": {"ours": 5}}', "`servers.ours` is there already, and it is not ours"),
        ('{"servers": []}', "`servers` should be an object"),
        ("[]", "the whole should be an object"),
        ("{", "the text ends too early"),
    ],
)
def test_what_is_somebody_elses_is_left_alone(text: str, why: str) -> None:
    with pytest.raises(SettingsUnreadable, match=why):
        put(text)
    if why != "the text ends too early":
        assert taken(text) == text


def test_what_others_wrote_in_the_meantime_stays() -> None:
    edited = put("{}")
    value = value_of(edited.text)
    value["servers"]["theirs"] = {"command": "x"}
    value["more"] = True
    rewritten = json.dumps(value, indent=4)
    assert value_of(taken(rewritten, edited.hollows)) == {
        "servers": {"theirs": {"command": "x"}},
        "more": True,
    }


def test_ours_is_taken_out_of_every_place_where_a_key_is_doubled() -> None:
    doubled = json.dumps(VALUE)
    text = (
        f'{{"servers": {{"ours": {doubled}}}, "servers": {{"ours": {doubled}, "ours": {doubled}, "b": 1}}}}'
    )
    assert RELAY not in taken(text)
    assert value_of(taken(text))["servers"] == {"b": 1}
