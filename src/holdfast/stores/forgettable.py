"""The contract of forgetting: what is deleted, and what stays known so that it does not come back.

A store holds hashes of what was forgotten: of names, and of the words of memories. The caller decides what to
forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Final, Protocol

from holdfast.core.memory.wordings import Fingerprint, Wordings
from holdfast.lazy_dataclass import dataclass

EVERYTHING: Final = "everything"
"""The name under which "everything was forgotten" is noted."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """How much was forgotten, by kind."""

    sessions: int = 0
    events: int = 0
    checkpoints: int = 0
    receipts: int = 0
    documents: int = 0
    memories: int = 0
    edits: int = 0
    """File edits."""
    mentions: int = 0
    """Other rows from which the forgotten text was removed."""

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True)
class ForgottenWording:
    """A forgotten wording of a memory, and when; `lifted_at` is 0 unless it was remembered again since."""

    fingerprint: Fingerprint
    at: int
    lifted_at: int = 0

    @property
    def holds(self) -> bool:
        """Whether it must still be removed from texts."""
        return self.at > self.lifted_at

    def merged(self, other: ForgottenWording) -> ForgottenWording:
        """The combined knowledge of two stores."""
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
        """The keys of all sessions of which anything is stored."""
        ...

    def keys_of_project(self, project_id: str) -> list[str]:
        """The same, of one project."""
        ...

    def keys_before(self, before: int) -> list[str]:
        """The same, of those whose last event is older than that time."""
        ...

    def heirs(self, keys: Sequence[str]) -> list[str]:
        """The sessions that inherited work from one of these."""
        ...

    def forget(self, keys: Sequence[str], at: int) -> Dropped:
        """Delete all that is stored of these sessions, and what others have of them: work, briefs, memories.

        Their sources' records up to `at` no longer count as new.
        """
        ...

    def forget_project(self, project_id: str, at: int) -> Dropped:
        """Delete a project's memories and all its documents; its sessions are forgotten by their keys."""
        ...

    def forget_memory(self, id: str, at: int) -> Dropped:
        """Delete a memory with its document; `erase` removes other texts that say the same."""
        ...

    def forget_all(self, at: int) -> Dropped:
        """Delete everything, including secrets and counts; for sources the same holds as for `forget`."""
        ...

    def erase(self, wordings: Wordings, at: int) -> Dropped:
        """Remove these wordings from every stored text; memories that say nothing else are deleted."""
        ...

    def scrub(self) -> None:
        """Remove all traces of deleted or changed rows from the store's files. Not inside a transaction."""
        ...

    def forgotten_at(self, key: str) -> int:
        """Up to when a session, or anything with that name, is forgotten; 0 if it never was."""
        ...

    def forgotten_names(self) -> dict[bytes, int]:
        """The hashes of all forgotten names, each with its time, without sources."""
        ...

    def note_forgotten(self, names: Mapping[bytes, int]) -> None:
        """Store these hashes as forgotten; of two times the later one counts."""
        ...

    def forgotten_wordings(self) -> list[ForgottenWording]:
        """The forgotten wordings, including those that were remembered again."""
        ...

    def put_forgotten_wordings(self, wordings: Iterable[ForgottenWording]) -> None:
        """Store these forgotten wordings; for known ones the later times count."""
        ...

    def memory_wordings(self, id: str) -> list[Fingerprint]:
        """The wordings that a memory had before it was edited."""
        ...

    def add_memory_wordings(self, id: str, wordings: Iterable[Fingerprint]) -> None:
        """Store wordings that a memory no longer has."""
        ...

    def memory_ids(self) -> list[str]:
        """The ids of all memories."""
        ...

    def project_ids(self) -> list[str]:
        """The ids of the projects of which there is a memory or a document."""
        ...
