"""Settings as text: each file is edited by who knows its language, and told by its ending.

What is ours goes in and comes out; every other byte stays. No file is opened here.
"""

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
from holdfast.files import json_members, json_text, markdown_text, toml_text
from holdfast.files.json_text import Edited, Hollow

__all__ = ["Edited", "Hollow", "holds_nothing", "insert", "new", "remove"]


def new(file: PurePath) -> str:
    """What stands in a settings file that says nothing."""
    return "" if _is_toml(file) or _is_markdown(file) else "{}\n"


def insert(text: str, wanted: Wanted, mark: OwnershipMark) -> Edited:
    """The text with what is wanted at its place exactly once; ours that is there is renewed in place."""
    match wanted:
        case WantedEntry():
            return json_text.insert(text, wanted, mark)
        case WantedMember() if _is_toml(wanted.file):
            return Edited(toml_text.insert(text, wanted, mark), ())
        case WantedBlock():
            return Edited(markdown_text.insert(text, wanted), ())
        case WantedMember():
            return json_members.insert(text, wanted, mark)


def remove(
    text: str, paths: Iterable[KeyPath], hollows: Iterable[Hollow], mark: OwnershipMark, file: PurePath
) -> str:
    """The text without what is ours at `paths`; containers empty by then are as before us."""
    if _is_toml(file):
        return toml_text.remove(text, paths, mark, file)
    if _is_markdown(file):
        return markdown_text.remove(text, file)
    paths = tuple(paths)
    return json_text.remove(json_members.remove(text, paths, mark, file), paths, hollows, mark, file)


def holds_nothing(text: str, file: PurePath) -> bool:
    """Whether the text says nothing."""
    if _is_markdown(file):
        return markdown_text.holds_nothing(text)
    return toml_text.holds_nothing(text) if _is_toml(file) else json_text.holds_nothing(text, file)


def _is_toml(file: PurePath) -> bool:
    return file.suffix == ".toml"


def _is_markdown(file: PurePath) -> bool:
    return file.suffix == ".md"
