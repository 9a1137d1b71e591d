"""Settings as text: each file is edited in its own language, which its ending tells.

What is ours goes in and comes out; every other byte stays. No file is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from holdfast.core.events.install_request import (
    KeyPath,
    OwnershipMark,
    Wanted,
    WantedBlock,
    WantedEntry,
    WantedMember,
)
from holdfast.errors import SettingsUnreadable
from holdfast.files import json_text, toml_text
from holdfast.files.json_text import EditedText, Hollow

__all__ = ["EditedText", "Hollow", "empty_text", "holds_nothing", "insert", "remove"]


def empty_text(file: PurePath) -> str:
    """What stands in a settings file that says nothing."""
    return "" if _is_toml(file) or _is_markdown(file) else "{}\n"


def insert(text: str, wanted: Wanted, mark: OwnershipMark) -> EditedText:
    """The text with what is wanted at its place exactly once; ours that is there is renewed in place."""
    match wanted:
        case WantedEntry():
            return json_text.insert(text, wanted, mark)
        case WantedMember() if _is_toml(wanted.file):
            return EditedText(toml_text.insert(text, wanted, mark), ())
        case WantedBlock():
            return EditedText(insert_block(text, wanted), ())
        case WantedMember():
            return json_text.insert_member(text, wanted, mark)


def remove(
    text: str, paths: Iterable[KeyPath], hollows: Iterable[Hollow], mark: OwnershipMark, file: PurePath
) -> str:
    """The text without what is ours at `paths`; containers empty by then are as before us."""
    if _is_toml(file):
        return toml_text.remove(text, paths, mark, file)
    if _is_markdown(file):
        return remove_block(text, file)
    paths = tuple(paths)
    return json_text.remove(json_text.remove_member(text, paths, mark, file), paths, hollows, mark, file)


def holds_nothing(text: str, file: PurePath) -> bool:
    """Whether the text says nothing."""
    if _is_markdown(file):
        return is_blank_text(text)
    return toml_text.holds_nothing(text) if _is_toml(file) else json_text.holds_nothing(text, file)


def _is_toml(file: PurePath) -> bool:
    return file.suffix == ".toml"


def _is_markdown(file: PurePath) -> bool:
    return file.suffix == ".md"


_BEGIN = "<!-- holdfast:begin -->"
_END = "<!-- holdfast:end -->"
_BLOCK = re.compile(
    rf"^{re.escape(_BEGIN)}[ \t]*\r?\n(?:.*?\r?\n)??{re.escape(_END)}[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)


def insert_block(text: str, wanted: WantedBlock) -> str:
    """The text with the block in it exactly once; one that is there is renewed in place."""
    # Behind a line that ends in CR alone, LF would make one end of line of both.
    newline = "\r\n" if "\r\n" in text or text.endswith("\r") else "\n"
    block = f"{_BEGIN}\n{wanted.text.strip()}\n{_END}\n".replace("\n", newline)
    block_match = _BLOCK.search(text)
    if block_match:
        rest = _BLOCK.sub("", text[block_match.end() :])
        return text[: block_match.start()] + block + rest
    if _BEGIN in text:
        raise _refusal(wanted.file)
    # Where the last line had no end, it gets one and no empty line: by this it is known that it had none.
    return text + (newline if text else "") + block


def remove_block(text: str, file: PurePath) -> str:
    """The text without our block, and without the empty line that was put before it."""
    while block_match := _BLOCK.search(text):
        before, behind = text[: block_match.start()], text[block_match.end() :]
        newline = "\r\n" if before.endswith("\r\n") else "\n"
        is_below_an_empty_line = before == newline or before.endswith(("\n\n", "\n\r\n"))
        if is_below_an_empty_line or (not behind and before.endswith("\n")):
            before = before[: -len(newline)]
        text = before + behind
    if _BEGIN in text:
        raise _refusal(file)
    return text


def is_blank_text(text: str) -> bool:
    """Whether there is not a word in the text."""
    return not text.strip()


def _refusal(file: PurePath) -> SettingsUnreadable:
    return SettingsUnreadable(
        f"`{file}`: `{_BEGIN}` stands there without `{_END}` on a line of its own",
        hint="the file was left as it is; mend it there and try again",
    )
