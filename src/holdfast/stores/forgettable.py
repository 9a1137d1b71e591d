"""The contract of forgetting: what goes, and what stays known about it so that it does not come back.

Of what was forgotten a store keeps hashes: of names, and of the words of memories. What to forget is decided
by the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Final, Protocol

from holdfast.core.memory.wordings import Fingerprint, Wordings
from holdfast.lazy_dataclass import dataclass

EVERYTHING: Final = "everything"
"""The name under which it is noted that all was forgotten."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """How much was forgotten, by kind."""

    sessions: int = 0
    events: int = 0
    checkpoints: int = 0
    receipts: int = 0
    documents: int = 0
    memories: int = 0
    mentions: int = 0
    """Other rows that said what was forgotten, and are without it now."""

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True)
class ForgottenWording:
    """A wording of a memory that was forgotten, and when; 0 for one that was not remembered again since."""

    fingerprint: Fingerprint
    at: int
    lifted_at: int = 0

    @property
    def holds(self) -> bool:
        """Whether texts must still be without it."""
        return self.at > self.lifted_at

    def merged(self, other: ForgottenWording) -> ForgottenWording:
        """What two stores know together."""
        return ForgottenWording(
            self.fingerprint, max(self.at, other.at), max(self.lifted_at, other.lifted_at)
        )


def memory_name(id: str) -> str:
    """The name under which a forgotten memory is noted."""
    return f"memory/{id}"


def project_name(project_id: str) -> str:
    """The name under which a forgotten project is noted."""
    return f"project/{project_id}"


class Forgettable(Protocol):
    """What can be forgotten, and what is known of it then."""

    def keys(self) -> list[str]:
        """The keys of all sessions of which anything is kept."""
        ...

    def keys_of_project(self, project_id: str) -> list[str]:
        """The same, of one project."""
        ...

    def keys_before(self, before: int) -> list[str]:
        """The same, of those whose last event is from before then."""
        ...

    def forget(self, keys: Sequence[str], at: int) -> Dropped:
        """Drop all that is kept of these sessions, also where others were told of them or it was remembered.

        What their sources say of the time until `at` is not new any more.
        """
        ...

    def forget_project(self, project_id: str, at: int) -> Dropped:
        """Drop a project's memories and all its documents; its sessions are forgotten by their keys."""
        ...

    def forget_memory(self, id: str, at: int) -> Dropped:
        """Drop a memory with its document; what else says the same is `erase`'s work."""
        ...

    def forget_all(self, at: int) -> Dropped:
        """Drop everything, secrets and counts too; of the sources it holds the same."""
        ...

    def erase(self, wordings: Wordings, at: int) -> Dropped:
        """Take these wordings out of every text that is kept; memories that say nothing else are dropped."""
        ...

    def scrub(self) -> None:
        """Leave no trace of what was dropped or changed in the store's own files. In no transaction."""
        ...

    def forgotten_at(self, key: str) -> int:
        """Until when what a session, or anything of that name, told is forgotten; 0 if it never was."""
        ...

    def forgotten_names(self) -> dict[bytes, int]:
        """The hashes of all names that were forgotten, each with its time; sources are not among them."""
        ...

    def note_forgotten(self, names: Mapping[bytes, int]) -> None:
        """Know these hashes as forgotten; of two times the later one holds."""
        ...

    def forgotten_wordings(self) -> list[ForgottenWording]:
        """The wordings that were forgotten, also those that were remembered again."""
        ...

    def put_forgotten_wordings(self, wordings: Iterable[ForgottenWording]) -> None:
        """Know these wordings too; of what is known twice the later times hold."""
        ...

    def memory_wordings(self, id: str) -> list[Fingerprint]:
        """The wordings that a memory had before it was edited."""
        ...

    def add_memory_wordings(self, id: str, wordings: Iterable[Fingerprint]) -> None:
        """Know wordings that a memory has no longer."""
        ...

    def memory_ids(self) -> list[str]:
        """The ids of all memories."""
        ...

    def project_ids(self) -> list[str]:
        """The ids of the projects of which there is a memory or a document."""
        ...
