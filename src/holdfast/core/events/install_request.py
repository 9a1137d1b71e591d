"""Install requests: what a harness's setup asks to have written, as values.

`harnesses` creates them and `files` writes them, so that neither imports the other. Nothing here opens a
file.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import TypeAlias

from holdfast.lazy_dataclass import dataclass

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
KeyPath: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedEntry:
    """One element for the list at `path` in a shared settings file."""

    file: PurePath
    path: KeyPath
    value: Json
    # A string inside `value` by which the entry is recognised later: for a hook, its command.
    identity: str


@dataclass(frozen=True, slots=True)
class WantedMember:
    """One object at `path` in a shared settings file; the last key belongs to Holdfast alone."""

    file: PurePath
    path: KeyPath
    value: dict[str, Json]
    # A string inside `value` by which it is recognised later: for a server, the file that it runs.
    identity: str
    # The key in `value` of a command that wraps an existing one (`wrapped_command`). Any other existing value
    # stays, and this entry is left out.
    wraps: str = ""


@dataclass(frozen=True, slots=True)
class WantedBlock:
    """A block of lines in a shared text file; a file has one such block."""

    file: PurePath
    text: str
    path: KeyPath = ()
    identity: str = "block"


Wanted: TypeAlias = WantedEntry | WantedMember | WantedBlock


@dataclass(frozen=True, slots=True)
class WantedCopy:
    """A whole file that contains only Holdfast's text."""

    file: PurePath
    content: bytes
    # Whether an existing file of that name is left alone without a warning.
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """How Holdfast's entries are recognised."""

    identities: frozenset[str]
    fragment: str

    def owns(self, text: str) -> bool:
        """Whether Holdfast wrote this string, now or in an earlier installation with the same home."""
        return text in self.identities or self.fragment in text


def mark_of(identities: Iterable[str], hook: PurePath) -> Mark:
    """The mark of everything that starts `hook`, also with an unknown interpreter.

    Every command of Holdfast names the file in single quotes. The closing quote is part of the fragment: a
    command with `hook.py.bak` does not match.
    """
    return Mark(frozenset(identities), f"{hook}'")
