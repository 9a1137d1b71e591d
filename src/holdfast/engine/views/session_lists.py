"""Session lists: those of this machine together with those of others, by person, machine, harness and words.

Commands, the API and the dashboard show sessions in one order, the one with the latest event first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.core.events.world import Project
from holdfast.core.session.session import Session, title_of
from holdfast.engine.engine import Engine
from holdfast.engine.machine import is_here
from holdfast.engine.shared_sessions import PulledSession, pulled_everywhere, pulled_sessions
from holdfast.engine.views import serialisation
from holdfast.engine.views.serialisation import Row
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, START, PageMark

AT_ONCE: Final = 100
"""How many sessions are read at once while some of them are chosen."""
PULLED_MOST: Final = 1_000
"""The most sessions of other machines that a list shows."""
SPARE: Final = 20
"""How many more are read than shown: an old session may have been sent last."""
HITS_READ: Final = 500


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """Which sessions a list shows; an empty field lets all pass."""

    project: Project | None = None
    harness: str = ""
    since: int = 0
    words: tuple[str, ...] = ()
    """All of them in its title, prompts or passages, in lower case."""
    person: str = ""
    machine: str = ""
    """The name of a machine, or the beginning of its id."""


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session, and where it is from if that is another machine."""

    session: Session
    pulled: PulledSession | None = None

    @property
    def mark(self) -> PageMark:
        """Its place in the list."""
        return PageMark(self.session.last_event_at, self.session.key)

    def row(self, engine: Engine) -> Row:
        """The session as a JSON row."""
        return serialisation.session_row(engine, self.session, self.pulled)


def listed_sessions(
    engine: Engine, choice: SessionChoice, behind: PageMark, limit: int
) -> list[ListedSession]:
    """The chosen sessions behind that mark, the one with the latest event first."""
    # Of an unfiltered list's first page, the sessions that arrived last are enough.
    is_first = behind == START and choice == SessionChoice(choice.project)
    most = min(2 * limit + SPARE, PULLED_MOST) if is_first else PULLED_MOST
    elsewhere = [
        ListedSession(each.session, each)
        for each in _pulled(engine, choice, most)
        if _passes_elsewhere(each, choice) and _is_behind(each.session, behind)
    ]
    here = [ListedSession(each) for each in _local(engine, choice, behind, limit)]
    listed = sorted((*here, *elsewhere), key=lambda one: (one.mark.at, one.mark.id), reverse=True)
    return listed[:limit]


def _is_behind(session: Session, mark: PageMark) -> bool:
    return (session.last_event_at, session.key) < (mark.at, mark.id)


# ---------------------------------------------------------------- of this machine


def _local(engine: Engine, choice: SessionChoice, behind: PageMark, limit: int) -> list[Session]:
    if not _is_here(engine, choice):
        return []
    by_text = _sessions_saying(engine, choice.words)
    project_id = choice.project.project_id if choice.project else ""
    chosen: list[Session] = []
    at_once = AT_ONCE if choice.words else limit
    while len(chosen) < limit:
        page = engine.store.page_of_sessions(project_id, behind, at_once, choice.harness, choice.since)
        chosen += [
            each for each in page if not choice.words or each.key in by_text or _says(each, choice.words)
        ]
        if len(page) < at_once:
            break
        behind = PageMark(page[-1].last_event_at, page[-1].key)
    return chosen[:limit]


def _is_here(engine: Engine, choice: SessionChoice) -> bool:
    """Whether the chosen person and machine are those of this home."""
    if not (choice.person or choice.machine):
        return True
    if engine.home is None:
        return False
    config = engine.config(choice.project or Project("", "", "", "", str(engine.home)))
    return is_here(engine.home, config, choice.person, choice.machine)


def _sessions_saying(engine: Engine, words: Sequence[str]) -> set[str]:
    """The sessions with a passage that has all of these words."""
    hits = engine.store.search(words, EVERYWHERE, HITS_READ) if words else []
    documents = engine.store.around([hit.id for hit in hits], 0, EVERYWHERE)
    return {each.session for each in documents if all(word in each.text.lower() for word in words)}


def _says(session: Session, words: Sequence[str]) -> bool:
    texts = (title_of(session), *(prompt.text for prompt in session.trail.prompts))
    whole = " ".join(texts).lower()
    return all(word in whole for word in words)


# ---------------------------------------------------------------- of other machines


def _pulled(engine: Engine, choice: SessionChoice, most: int) -> list[PulledSession]:
    if choice.project is not None:
        return pulled_sessions(engine, choice.project, choice.since, most)
    return pulled_everywhere(engine, most)


def _passes_elsewhere(pulled: PulledSession, choice: SessionChoice) -> bool:
    session, where = pulled.session, pulled.provenance
    return (
        session.last_event_at >= choice.since
        and (not choice.harness or session.harness == choice.harness)
        and (not choice.words or _says(session, choice.words))
        and where.is_of(choice.person, choice.machine)
    )
