"""Settings files as people have them: any content, any layout, doubled keys; and our entries for them."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st

from holdfast.core.events.install_request import Json, KeyPath, WantedEntry, ownership_mark
from holdfast.core.text import json_spans
from holdfast.core.text.json_spans import JsonNode, JsonShape

# Whatever JSON can say. The checker cannot follow it, and a test that mistakes it fails.
Tree: TypeAlias = Any

HOOK = Path("/home/you/.holdfast/bin/hook.py")
COMMAND = f"/usr/bin/python3.12 -I -S -c \"import os;p='{HOOK}';…\" some-harness"
OLD_COMMAND = f"/opt/old/bin/python -I -S -c \"p='{HOOK}'\" some-harness"
FILE = Path("/home/you/.some/settings.json")
MARK = ownership_mark([COMMAND], HOOK)
EVENTS = ("SessionStart", "Stop", "PreCompact")


def entry(event: str, command: str = COMMAND, file: Path = FILE) -> WantedEntry:
    value: Json = {"hooks": [{"type": "command", "command": command, "timeout": 5}]}
    return WantedEntry(file, ("hooks", event), value, command)


WANTED = tuple(entry(event) for event in EVENTS)
PATHS: tuple[KeyPath, ...] = tuple(one.path for one in WANTED)


def merged(value: Tree) -> Tree:
    """What the settings should say with our entries in them."""
    value = copy.deepcopy(value)
    for one in WANTED:
        value.setdefault("hooks", {}).setdefault(one.path[1], []).append(one.value)
    return value


class Members(tuple[tuple[str, Any], ...]):
    """An object as it is written: in order, and with a key twice if it is there twice."""

    __slots__ = ()


def rendered(tree: Tree, layout: str, random: Random) -> str:
    """The tree as text.

    `chaos` puts any blanks anywhere and escapes keys that need no escaping; `relaxed` has comments, bare
    keys, single quotes and a comma behind the last item.
    """
    if layout == "chaos":
        return _chaos(tree, random)
    if layout == "relaxed":
        return _relaxed(tree, random, "")
    unit = {"two": "  ", "four": "    ", "tab": "\t", "crlf": "  ", "minified": ""}[layout]
    text = _laid_out(tree, unit, "")
    return text.replace("\n", "\r\n") if layout == "crlf" else text


STRICT = ("two", "four", "tab", "crlf", "minified", "chaos")
LAYOUTS = (*STRICT, "relaxed")


def _laid_out(tree: Tree, unit: str, indent: str) -> str:
    inner = indent + unit
    gap = " " if unit else ""
    if isinstance(tree, Members):
        parts = [f"{json.dumps(key)}:{gap}{_laid_out(value, unit, inner)}" for key, value in tree]
        brackets = "{}"
    elif isinstance(tree, list):
        parts = [_laid_out(value, unit, inner) for value in tree]
        brackets = "[]"
    else:
        return json.dumps(tree, ensure_ascii=False)
    if not parts or not unit:
        return brackets[0] + ",".join(parts) + brackets[1]
    return f"{brackets[0]}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{brackets[1]}"


def _chaos(tree: Tree, random: Random) -> str:
    def blank() -> str:
        return "".join(random.choices(" \t\n\r", k=random.choice((0, 0, 1, 3))))

    def key(name: str) -> str:
        if name.isascii() and name.isalpha() and random.random() < 0.3:
            return '"' + "".join(f"\\u{ord(character):04x}" for character in name) + '"'
        return json.dumps(name)

    if isinstance(tree, Members):
        parts = [f"{key(name)}{blank()}:{blank()}{_chaos(value, random)}" for name, value in tree]
        brackets = "{}"
    elif isinstance(tree, list):
        parts = [_chaos(value, random) for value in tree]
        brackets = "[]"
    else:
        return json.dumps(tree, ensure_ascii=random.random() < 0.5)
    return brackets[0] + blank() + ",".join(f"{blank()}{part}{blank()}" for part in parts) + brackets[1]


def _relaxed(tree: Tree, random: Random, indent: str) -> str:
    def note() -> str:
        return random.choice(
            ("", "", "", " /* a, note */", " // {a: [note], }\n", f"\n{indent}  // it's mine\n")
        )

    if isinstance(tree, Members):
        items = [
            f"{_key(name, random)}:{note()} {_relaxed(value, random, indent + '  ')}" for name, value in tree
        ]
        brackets = "{}"
    elif isinstance(tree, list):
        items = [_relaxed(value, random, indent + "  ") for value in tree]
        brackets = "[]"
    else:
        return json.dumps(tree, ensure_ascii=False)
    parts = [f"\n{indent}  {item}{note()}" for item in items]
    comma = random.choice(("", ",")) if parts else ""
    return f"{brackets[0]}{note()}{','.join(parts)}{comma}{note()}\n{indent}{brackets[1]}"


def _key(name: str, random: Random) -> str:
    if name.isascii() and name.isalpha() and random.random() < 0.5:
        return random.choice((name, f"'{name}'"))
    return json.dumps(name)


_words = st.text(max_size=8)
_plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _words


def _members(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Members]:
    return st.lists(st.tuples(_words, children), max_size=3).map(Members)


trees = st.recursive(_plain, lambda inner: st.lists(inner, max_size=3) | _members(inner), max_leaves=5)
commands = _words.map(lambda word: Members([("type", "command"), ("command", word)]))
groups = st.tuples(_words, st.lists(commands, max_size=2)).map(
    lambda pair: Members([("matcher", pair[0]), ("hooks", pair[1])])
)
_events = st.sampled_from((*EVENTS, "PreToolUse"))
_hooks = st.lists(st.tuples(_events, st.lists(groups | trees, max_size=2)), max_size=4).map(Members)
_settings = st.lists(
    st.tuples(_words.filter(lambda word: word != "hooks"), trees) | st.tuples(st.just("hooks"), _hooks),
    max_size=4,
).map(Members)


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    """The text of any settings file without anything of ours."""
    random = draw(st.randoms(use_true_random=False))
    text = rendered(draw(_settings), draw(st.sampled_from(LAYOUTS)), random)
    before = draw(st.sampled_from(("", "", "\ufeff", "\n", "\ufeff  ")))
    return before + text + draw(st.sampled_from(("", "\n", "\r\n", " \n\n")))


def value_of(text: str) -> Tree:
    return json_spans.read(text)


def tree_of(text: str) -> Tree:
    root = json_spans.scan(text)
    assert isinstance(root, JsonNode)
    return _tree(text, root)


def _tree(text: str, node: JsonNode) -> Tree:
    match node.shape:
        case JsonShape.OBJECT:
            return Members((item.key, _tree(text, item.value)) for item in node.items)
        case JsonShape.ARRAY:
            return [_tree(text, item.value) for item in node.items]
        case JsonShape.PLAIN:
            return json_spans.value_of(text, node)
