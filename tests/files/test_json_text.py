"""JSON settings are edited as text: entries and members go in and out, every other byte stays."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.install_request import (
    Json,
    OwnershipMark,
    WantedEntry,
    WantedMember,
    ownership_mark,
    wrapped_command,
)
from holdfast.core.text.json_spans import BrokenJson, scan
from holdfast.errors import SettingsUnreadable
from holdfast.files import install, json_text
from holdfast.files.json_text import Hollow
from tests.files.settings_texts import (
    COMMAND,
    EVENTS,
    FILE,
    HOOK,
    LAYOUTS,
    MARK,
    OLD_COMMAND,
    PATHS,
    STRICT,
    WANTED,
    Members,
    Tree,
    commands,
    entry,
    groups,
    merged,
    rendered,
    settings_texts,
    tree_of,
    trees,
    value_of,
)
from tests.tables import every_row


def inserted(text: str) -> tuple[str, list[Hollow]]:
    hollows: list[Hollow] = []
    for one in WANTED:
        edited = json_text.insert(text, one, MARK)
        text = edited.text
        hollows += edited.hollows
    return text, hollows


def removed(text: str, hollows: list[Hollow]) -> str:
    return json_text.remove(text, PATHS, hollows, MARK, FILE)


@given(settings_texts())
def test_the_entries_are_merged_with_what_is_there(text: str) -> None:
    assert value_of(inserted(text)[0]) == merged(value_of(text))


@given(settings_texts())
def test_taking_out_leaves_the_very_text_from_before(text: str) -> None:
    assert removed(*inserted(text)) == text


@given(settings_texts())
def test_putting_in_twice_is_the_same_as_once(text: str) -> None:
    once, _ = inserted(text)
    assert inserted(once) == (once, [])


@given(settings_texts())
def test_taking_out_what_was_never_put_in_changes_nothing(text: str) -> None:
    assert removed(text, []) == text


# ---------------------------------------------------------------- a user who edits around our entries

OURS = {"type": "command", "command": COMMAND, "timeout": 5}


@st.composite
def _edited_around(draw: st.DrawFn, tree: Tree) -> Tree:
    """The tree with keys and groups added before and behind ours, and commands beside ours in our group."""
    members = []
    for key, value in tree:
        if key == "hooks" and isinstance(value, Members):
            value = Members([(event, draw(_around(found))) for event, found in value])  # noqa: PLW2901
            value = Members(draw(_spread(value, st.tuples(st.just("Notification"), st.lists(groups)))))  # noqa: PLW2901
        members.append((key, value))
    return Members(draw(_spread(members, st.tuples(st.text("xyz", min_size=1), trees))))


def _spread(items: Tree, more: st.SearchStrategy[Tree]) -> st.SearchStrategy[list[Tree]]:
    few = st.lists(more, max_size=2)
    return st.tuples(few, few).map(lambda ends: [*ends[0], *items, *ends[1]])


@st.composite
def _around(draw: st.DrawFn, found: Tree) -> Tree:
    if not isinstance(found, list):
        return found
    grown = []
    for group in found:
        if (
            isinstance(group, Members)
            and COMMAND in json.dumps(group, ensure_ascii=False)
            and draw(st.booleans())
        ):
            beside = draw(_spread(dict(group)["hooks"], commands))
            grown.append(Members([("matcher", "mine"), ("hooks", beside)]))
        else:
            grown.append(group)
    return draw(_spread(grown, groups))


def _without_ours(value: Tree) -> Tree:
    """The reference: the same on values, with our containers gone where nothing is left in them."""
    if not isinstance(value.get("hooks"), dict):
        return value
    for event in EVENTS:
        kept = []
        for group in value["hooks"].get(event, []):
            if isinstance(group, dict) and OURS in group.get("hooks", []):
                group["hooks"] = [one for one in group["hooks"] if one != OURS]
                if not group["hooks"]:
                    continue
            kept.append(group)
        value["hooks"][event] = kept
    return value


def _without_empties(value: Tree) -> Tree:
    hooks = {event: found for event, found in value.get("hooks", {}).items() if found != []}
    rest = {key: found for key, found in value.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest


@given(st.data())
def test_what_a_user_did_around_our_entries_stays(data: st.DataObject) -> None:
    text, hollows = inserted(data.draw(settings_texts()))
    tree = data.draw(_edited_around(tree_of(text)))
    layout = data.draw(st.sampled_from(LAYOUTS))
    theirs = rendered(tree, layout, data.draw(st.randoms(use_true_random=False)))
    left = removed(theirs, hollows)
    assert COMMAND not in json.dumps(tree_of(left), ensure_ascii=False)
    assert _without_empties(value_of(left)) == _without_empties(_without_ours(value_of(theirs)))


@given(settings_texts(), st.sampled_from(STRICT))
def test_a_container_that_we_made_goes_only_when_it_is_empty(text: str, layout: str) -> None:
    put, hollows = inserted(text)
    again = rendered(tree_of(put), layout, Random(0))
    assert value_of(removed(again, hollows)) == value_of(text)


@pytest.mark.parametrize(
    ("ours", "edit"),
    [
        ("{}", ('"hooks": {', '"model": "m",\n  "hooks": {')),
        ('{"a": 1}\n', ('{"a": 1', '{"z": [ ], "a": 1')),
        ('{\n\t"a": 1\n}', ("\n}", ',\n\t"b" : 2\n}')),
        ('{"hooks": {"Stop": [{"matcher": "x"}]}}', ('{"matcher": "x"}', '{"matcher": "y"}, 3')),
        ('{"hooks": {"Stop": []}, "b": 1}', ('"b": 1', '"b":   1.0e5')),
    ],
)
def test_an_edit_elsewhere_keeps_its_bytes(ours: str, edit: tuple[str, str]) -> None:
    put, hollows = inserted(ours)
    assert edit[0] in put
    left = removed(put.replace(*edit), hollows)
    assert left == (ours.replace(*edit) if ours != "{}" else '{\n  "model": "m"\n}')


# ---------------------------------------------------------------- whose is it


def with_command(command: str, seconds: int = 5) -> str:
    leaf = json.dumps({"type": "command", "command": command, "timeout": seconds}, ensure_ascii=False)
    return '{"hooks": {"Stop": [{"matcher": "mine", "hooks": [{"command": "theirs"}, ' + leaf + "]}]}}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (with_command(COMMAND), with_command(COMMAND)),
        (with_command(OLD_COMMAND), with_command(COMMAND)),
        (with_command(f"nice -n 5 {COMMAND}"), with_command(COMMAND)),
        (with_command(COMMAND, seconds=60), with_command(COMMAND)),
    ],
    ids=["the same", "an earlier interpreter", "wrapped by the user", "another timeout"],
)
def test_an_entry_of_ours_is_renewed_where_it_is(before: str, after: str) -> None:
    assert json_text.insert(before, entry("Stop"), MARK).text == after


@pytest.mark.parametrize(
    "command",
    [
        "other-tool hook",
        "python /home/you/.holdfast/bin/hook.py.bak'",
        "p='/srv/other/.holdfast/bin/hook.py'",
    ],
)
def test_what_is_not_ours_stays_beside_ours(command: str) -> None:
    before = with_command(command)
    edited = json_text.insert(before, entry("Stop"), MARK)
    theirs, ours = value_of(edited.text)["hooks"]["Stop"]
    assert [theirs] == value_of(before)["hooks"]["Stop"]
    assert ours == WANTED[1].value
    assert removed(edited.text, [*edited.hollows]) == before


@pytest.mark.parametrize(
    "leaf",
    ['{"do": "x", "timeout": 1}', '{\n    "do": "x",\n    "timeout": 1\n  }'],
    ids=["on one line", "on several"],
)
def test_an_entry_is_renewed_in_the_layout_it_has(leaf: str) -> None:
    text = '{\n  "do": [1, LEAF],\n  "a": 1\n}'
    wanted = WantedEntry(FILE, ("do",), {"do": "x", "timeout": 5}, "x")
    renewed = json_text.insert(text.replace("LEAF", leaf), wanted, ownership_mark(["x"], HOOK)).text
    assert renewed == text.replace("LEAF", leaf.replace("1", "5"))


def test_several_of_ours_become_one() -> None:
    old = json.dumps(entry("Stop", OLD_COMMAND).value)
    text = '{"hooks": {"Stop": [1, ' + old + ", 2, " + old + ", " + old + ", 3]}}"
    after = json_text.insert(text, entry("Stop"), MARK).text
    assert value_of(after)["hooks"]["Stop"] == [1, WANTED[1].value, 2, 3]


def test_only_our_command_leaves_a_group_that_the_user_shares_with_it() -> None:
    left = '{"hooks": {"Stop": [{"matcher": "mine", "hooks": [{"command": "theirs"}]}]}}'
    assert removed(with_command(COMMAND), []) == left


def test_a_string_can_be_an_entry_too() -> None:
    text = '{"plugin": ["a", ' + json.dumps(COMMAND) + ', "b"]}'
    assert json_text.remove(text, [("plugin",)], [], MARK, FILE) == '{"plugin": ["a", "b"]}'


# ---------------------------------------------------------------- how it looks


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "hooks": {\n    "Stop": [\n      {\n        "do": "x"\n      }\n    ]\n  }\n}'),
        ('{"a":1}', '{"a":1,"hooks":{"Stop":[{"do":"x"}]}}'),
        ('{ "hooks": { "Stop": [ 1 ] } }', '{ "hooks": { "Stop": [ 1, {"do": "x"} ] } }'),
        (
            '{\r\n\t"hooks": {"Stop": []}\r\n}',
            '{\r\n\t"hooks": {"Stop": [\r\n\t\t{\r\n\t\t\t"do": "x"\r\n\t\t}\r\n\t]}\r\n}',
        ),
        (
            '{\n    "hooks": {"Stop": [1], "Other": []}\n}\n',
            '{\n    "hooks": {"Stop": [1, {"do": "x"}], "Other": []}\n}\n',
        ),
    ],
    ids=["new", "minified", "one line", "tabs and CRLF", "one line inside many"],
)
def test_an_entry_is_laid_out_like_its_neighbours(before: str, after: str) -> None:
    wanted = WantedEntry(FILE, ("hooks", "Stop"), {"do": "x"}, "x")
    mark = ownership_mark(["x"], HOOK)
    assert json_text.insert(before, wanted, mark).text == after
    assert json_text.insert(after, wanted, mark).text == after


# ---------------------------------------------------------------- what is refused


@every_row(
    ("text", "where", "why"),
    [
        ("", "line 1, column 1", "the file is empty"),
        (" \n", "line 2, column 1", "the file is empty"),
        ('{\n  /* mine\n  "a": 1\n}', "line 2, column 3", "a comment"),
        ('{\n  "a": 1, # mine\n}', "line 2, column 11", "a comment"),
        ('{"a": 1,,}', "line 1, column 9", "unexpected ','"),
        ('{"a": }', "line 1, column 7", "a comma too many"),
        ('{"a": [1, 2', "line 1, column 12", "ends too early"),
        ('{"a": 1} x', "line 1, column 10", "unexpected 'x'"),
        ("{'a: 1}", "line 1, column 2", "not closed"),
        ('{"a" 1}', "line 1, column 6", "unexpected '1'"),
        ('{"a": None}', "line 1, column 7", "unexpected 'N'"),
        ('{"a": 01}', "line 1, column 8", "unexpected '1'"),
        ('{"a": "\t"}', "line 1, column 7", "a string"),
        ('{"a": "\\x"}', "line 1, column 7", "wrong escape"),
        ("[" * 5000, "line 1, column 102", "nested more than 100"),
        ("[]", "line 1, column 1", "the whole should be an object"),
        ("3", "line 1, column 1", "the whole should be an object"),
        ('{"hooks": []}', "line 1, column 11", "`hooks` should be an object"),
        ('{"hooks": {"Stop": null}}', "line 1, column 20", "`hooks.Stop` should be a list"),
    ],
)
def test_a_text_that_cannot_be_merged_is_refused_with_the_place(text: str, where: str, why: str) -> None:
    with pytest.raises(SettingsUnreadable) as refused:
        json_text.insert(text, entry("Stop"), MARK)
    assert f"`{FILE}`, {where}: " in refused.value.message
    assert why in refused.value.message
    assert "left as it is" in refused.value.hint


_FRAGMENTS = (
    "{",
    "}",
    "[",
    "]",
    '"',
    '"a"',
    ":",
    ",",
    "0",
    "1",
    "-",
    ".",
    "e",
    "\\",
    "u00e9",
    "true",
    "null",
    " ",
    "\n",
    "/",
    "*",
    "'",
    "a",
)


@given(st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join))
def test_all_that_is_json_is_read_and_means_the_same(text: str) -> None:
    try:
        meant = json.loads(text)
    except ValueError:
        return
    assert value_of(text) == meant


@given(st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join))
def test_no_text_is_half_read(text: str) -> None:
    root = scan(text)
    assert isinstance(root, BrokenJson) or scan(f"{text} // the end") == root


@pytest.mark.parametrize(
    ("before", "with_ours"),
    [
        ("{ // mine\n}", '{\n  "servers": [\n    "ours"\n  ] // mine\n}'),
        ('{\n  "a": 1, // one\n}', '{\n  "a": 1,\n  "servers": [\n    "ours"\n  ], // one\n}'),
        ("{servers: [ /* none */ ]}", '{servers: ["ours" /* none */ ]}'),
        ("{servers: ['a',]}", "{servers: ['a', \"ours\",]}"),
    ],
)
def test_comments_stay_where_ours_come_and_go(before: str, with_ours: str) -> None:
    wanted = WantedEntry(FILE, ("servers",), "ours", "ours")
    mark = ownership_mark(["ours"], HOOK)
    edited = json_text.insert(before, wanted, mark)
    assert edited.text == with_ours
    assert json_text.remove(edited.text, [("servers",)], edited.hollows, mark, FILE) == before


@pytest.mark.parametrize(
    ("edited", "left"),
    [
        ('["ours", // then\n "b"]', '[ // then\n "b"]'),
        ('["a", // first\n "ours"]', '["a" // first\n ]'),
        ('[ // all\n "ours", ]', "[ // all\n  ]"),
        ('["ours" /* gone? */]', "[ /* gone? */]"),
    ],
)
def test_what_somebody_noted_beside_ours_stays(edited: str, left: str) -> None:
    mark = ownership_mark(["ours"], HOOK)
    hollows = [Hollow(("x",), "[]")]
    assert json_text.remove(f'{{"x": {edited}}}', [("x",)], hollows, mark, FILE) == f'{{"x": {left}}}'


MEMBER_FILE = Path("/home/you/.some.json")
RELAY = "/home/you/.holdfast/bin/relay.py"
MEMBER_MARK = OwnershipMark(frozenset({RELAY}), "/home/you/.holdfast/bin/hook.py'")
VALUE: dict[str, Json] = {"type": "stdio", "command": "/usr/bin/python3", "args": ["-I", "-S", RELAY, "x"]}
WANTED_MEMBER = WantedMember(MEMBER_FILE, ("servers", "ours"), VALUE, RELAY)

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


def put(text: str, wanted: WantedMember = WANTED_MEMBER) -> install.EditedText:
    return install.insert(text, wanted, MEMBER_MARK)


def taken(text: str, hollows: tuple[install.Hollow, ...] = ()) -> str:
    return install.remove(text, [WANTED_MEMBER.path], hollows, MEMBER_MARK, MEMBER_FILE)


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
STATUS = WantedMember(
    MEMBER_FILE, ("statusLine",), {"type": "command", "command": LINE}, LINE, wraps="command"
)


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
    left = install.remove(edited.text, [STATUS.path], edited.hollows, MEMBER_MARK, MEMBER_FILE)
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
    left = install.remove(rewritten, [STATUS.path], edited.hollows, MEMBER_MARK, MEMBER_FILE)
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
    edited = put(before, WantedMember(MEMBER_FILE, ("servers", "ours"), {"type": "t"}, "t"))
    assert edited.text == after


def test_what_an_earlier_version_wrote_is_renewed_where_it_is() -> None:
    old = put(
        '{"servers": {"a": 1}, "z": 2}',
        WantedMember(MEMBER_FILE, WANTED_MEMBER.path, {"command": RELAY}, RELAY),
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
