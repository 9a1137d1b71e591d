"""Wanted: what a harness's setup asks to have written, as values.

`harnesses` names them and `files` writes them, so that neither knows the other. Nothing here opens a file.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import TypeAlias

from holdfast.lazy_dataclass import dataclass

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
KeyPath: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedEntry:
    """One element for the list at `path` in a settings file that others edit too."""

    file: PurePath
    path: KeyPath
    value: Json
    # The string somewhere inside `value` by which the entry is known again: for a hook, its command.
    identity: str


@dataclass(frozen=True, slots=True)
class WantedMember:
    """One object of ours at `path` in a settings file that others edit too; the last key is ours alone."""

    file: PurePath
    path: KeyPath
    value: dict[str, Json]
    # The string somewhere inside `value` by which it is known again: for a server, the file that it runs.
    identity: str
    # The key in `value` of a command that wraps the one which stands there already (`wrapped_command`).
    # Anything else that stands there stays, and this entry is left out.
    wraps: str = ""


@dataclass(frozen=True, slots=True)
class WantedBlock:
    """Some lines of ours in a text that others write too; there is one such block in a file."""

    file: PurePath
    text: str
    path: KeyPath = ()
    identity: str = "block"


Wanted: TypeAlias = WantedEntry | WantedMember | WantedBlock


@dataclass(frozen=True, slots=True)
class WantedCopy:
    """A whole file of ours: nobody else's text is in it."""

    file: PurePath
    content: bytes
    # Whether somebody else's file of that name is left alone without a word of reproach.
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """How an entry of ours is told from everyone else's."""

    identities: frozenset[str]
    fragment: str

    def owns(self, text: str) -> bool:
        """Whether we wrote this string, now or in an earlier installation with the same home."""
        return text in self.identities or self.fragment in text


def mark_of(identities: Iterable[str], hook: PurePath) -> Mark:
    """The mark of everything that starts `hook`, also by an interpreter that nobody recorded.

    Every command of ours names the file in single quotes. The closing quote is part of the fragment: a
    command about `hook.py.bak` is not ours.
    """
    return Mark(frozenset(identities), f"{hook}'")
