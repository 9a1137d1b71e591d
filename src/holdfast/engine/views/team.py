"""Team: what the user's other machines and teammates shared with this one, as programs and pages show it.

Everything is read from the local store, which the hub's changes were applied to; a hub returns to each person
only what that person may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.core.events.world import Project
from holdfast.core.sharing.bodies import decode_memory
from holdfast.core.sharing.items import SharedKind
from holdfast.core.sharing.provenance import Provenance, provenance_row
from holdfast.core.text.strings import shortened
from holdfast.engine.documents.handoff import HandoffFile, received_handoffs
from holdfast.engine.engine import Engine
from holdfast.engine.repository.projects import known_projects
from holdfast.engine.shared_sessions import (
    PulledSession,
    provenance_of,
    pulled_everywhere,
    pulled_sessions,
    shared_items_of,
)
from holdfast.engine.views.serialisation import Row, session_row
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import to_iso

SESSIONS_SHOWN: Final = 40
SESSIONS_READ: Final = 200
HANDOFFS_SHOWN: Final = 40
MEMORIES_SHOWN: Final = 100
TEXT_CHARS: Final = 400
"""How much of a memory is shown; `recall` has all of it."""


@dataclass(frozen=True, slots=True)
class TeamChoice:
    """Whose and which machine's items are shown; an empty field lets all pass."""

    person: str = ""
    machine: str = ""
    """The id of a machine."""
    project: Project | None = None


def team_view(engine: Engine, choice: TeamChoice) -> Row:
    """What others shared: sessions, handoffs and memories, and whom and which machines they are of."""
    projects = [choice.project] if choice.project else known_projects(engine.store)
    sessions = _sessions(engine, choice.project)
    handoffs = [(project, each) for project in projects for each in received_handoffs(engine, project)]
    memories = [each for project in projects for each in _memories(engine, project)]
    authors = [
        *(each.provenance for each in sessions),
        *(each.provenance for _, each in handoffs if each.provenance),
        *(author for author, _ in memories),
    ]
    return {
        "people": sorted({author.person for author in authors}, key=str.casefold),
        "machines": [{"id": id, "name": name} for id, name in _machines(authors)],
        "sessions": [
            session_row(engine, each.session, each) for each in sessions if _passes(each.provenance, choice)
        ][:SESSIONS_SHOWN],
        "handoffs": [
            _handoff_row(project, each)
            for project, each in sorted(handoffs, key=lambda one: one[1].head.created, reverse=True)
            if each.provenance and _passes(each.provenance, choice)
        ][:HANDOFFS_SHOWN],
        "memories": [row for author, row in memories if _passes(author, choice)][:MEMORIES_SHOWN],
    }


def _sessions(engine: Engine, project: Project | None) -> list[PulledSession]:
    if project is not None:
        return pulled_sessions(engine, project, 0, SESSIONS_READ)
    return pulled_everywhere(engine, SESSIONS_READ)


def _machines(authors: Iterable[Provenance]) -> list[tuple[str, str]]:
    names = {author.machine.id: author.machine_name for author in authors}
    return sorted(names.items(), key=lambda each: (each[1].casefold(), each[0]))


def _passes(author: Provenance, choice: TeamChoice) -> bool:
    return choice.person in ("", author.person) and choice.machine in ("", author.machine.id)


def _memories(engine: Engine, project: Project) -> Iterator[tuple[Provenance, Row]]:
    """The memories that others gave the team; the user's own are among the memories of this machine."""
    for item in shared_items_of(engine, project, SharedKind.MEMORY, MEMORIES_SHOWN):
        body = decode_memory(item.body)
        if item.is_mine or isinstance(body, Skipped):
            continue
        author = provenance_of(item)
        yield (
            author,
            {
                "id": item.key.id,
                "text": shortened(body.text, TEXT_CHARS),
                "kind": body.kind,
                "tags": list(body.tags),
                "created_at": to_iso(body.created_at or item.at),
                "project": project.path,
                "project_id": project.project_id,
                **provenance_row(author),
            },
        )


def _handoff_row(project: Project, received: HandoffFile) -> Row:
    head = received.head
    return {
        "name": received.name.removesuffix(".md"),
        "file": received.name,
        "purpose": head.purpose,
        "created": head.created,
        "is_open": head.is_open,
        "waits": received.waits_for_user,
        "to": head.to or None,
        "project": project.path,
        "project_id": project.project_id,
        **provenance_row(received.provenance),
    }
