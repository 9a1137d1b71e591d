"""Markdown text: Holdfast's block of instructions put in and taken out, every other byte as it was."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from holdfast.core.events.install_request import WantedBlock
from holdfast.errors import SettingsUnreadable

_BEGIN: Final = "<!-- holdfast:begin -->"
_END: Final = "<!-- holdfast:end -->"
_BLOCK: Final = re.compile(
    rf"^{re.escape(_BEGIN)}[ \t]*\r?\n(?:.*?\r?\n)??{re.escape(_END)}[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)


def insert_block(text: str, entry: WantedBlock) -> str:
    """The text with the block in it exactly once; one that is there is renewed in place."""
    # Behind a line that ends in CR alone, LF would make one end of line of both.
    newline = "\r\n" if "\r\n" in text or text.endswith("\r") else "\n"
    block = f"{_BEGIN}\n{entry.text.strip()}\n{_END}\n".replace("\n", newline)
    block_match = _BLOCK.search(text)
    if block_match:
        rest = _BLOCK.sub("", text[block_match.end() :])
        return text[: block_match.start()] + block + rest
    if _BEGIN in text:
        raise _refusal(entry.file)
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
