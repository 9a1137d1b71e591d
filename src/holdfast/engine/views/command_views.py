"""Command views: what the listing commands print, as plain JSON values.

The daemon, which has everything loaded, makes them for a command that asks it; if none answers, the command
makes them itself by the same functions. Texts are redacted here.

Not here: how a table looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from holdfast.core.brief.brief_input import Reason
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import redact
from holdfast.core.session.checkpoint import Checkpoint, gist
from holdfast.core.session.session import Session, work_of
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import printable
from holdfast.core.work.lines import LINE_CHARS, SECTION_TITLES, section_lines
from holdfast.core.work.state import TITLE_CHARS
from holdfast.engine.briefing.resume import preview_brief
from holdfast.engine.engine import Engine
from holdfast.engine.memory import recall
from holdfast.engine.memory.recall import Query, RecalledText, note_recalled
from holdfast.engine.tools.caller import session_around
from holdfast.engine.views import serialisation
from holdfast.engine.views.serialisation import Row, redacted_value
from holdfast.errors import HoldfastError, NotThere
from holdfast.stores.base import START, Store, Within

SEARCHED: Final = 100_000
"""More than any store holds: a search filters first and limits afterwards."""
SESSIONS_SEARCHED: Final = 10_000
DIGEST_CHARS: Final = 80
FINDING_CHARS: Final = 110


def sessions(engine: Engine, _: Project | None, *, limit: int) -> list[Row]:
    """The recorded sessions, the one with the latest event first."""
    rows = (serialisation.session_row(engine, each) for each in engine.store.sessions(limit))
    return [{**row, "title": _line(str(row["title"]), TITLE_CHARS)} for row in rows]


def session_details(engine: Engine, project: Project, *, key: str) -> Row:
    """A session with its work state, for a program; the project's latest one if none is named."""
    row = serialisation.session_details_row(engine, _session_to_show(engine, project, key))
    return redacted_value(row, redact)


def session_lines(engine: Engine, project: Project, *, key: str) -> Row:
    """The same for a person: its title, and the lines of each section of its work state."""
    chosen = _session_to_show(engine, project, key)
    state, asked = work_of(chosen), serialisation.last_asked(engine, chosen)
    return {
        "session": chosen.key,
        "harness": chosen.harness,
        "project": chosen.project.path,
        "at": chosen.last_event_at,
        "title": _line(state.title, TITLE_CHARS),
        "sections": [
            [title, [_line(line, LINE_CHARS) for line in section_lines(state, section)]]
            for section, title in SECTION_TITLES.items()
            if state.section(section)
        ],
        "no_answer": _line(asked.no_answer, LINE_CHARS) if asked else "",
    }


def checkpoints(
    engine: Engine, project: Project | None, *, session: str, search: str, limit: int
) -> list[Row]:
    """Checkpoints for a program: of a session, of a project, or all; the newest first."""
    chosen = _checkpoints(engine, project, session, search.split(), limit)
    return [redacted_value(serialisation.checkpoint_row(each), redact) for each in chosen]


def checkpoint_lines(
    engine: Engine, project: Project | None, *, session: str, search: str, limit: int
) -> list[Row]:
    """Checkpoints for a person, one line for each."""
    chosen = _checkpoints(engine, project, session, search.split(), limit)
    return [
        {
            "at": each.created_at,
            "trigger": each.trigger,
            "session": each.session,
            "prompts": each.prompt_count,
            "project": each.project,
            "digest": _line(gist(each.words or each.digest), DIGEST_CHARS),
            "no_answer": _line(each.outline.no_answer, LINE_CHARS),
        }
        for each in chosen
    ]


def brief(engine: Engine, project: Project, *, reason: str, budget: int | None) -> Row:
    """The brief that a start in a project would get now, with the content of its receipt."""
    composed = preview_brief(engine, project, Reason(reason), budget)
    if composed is None:
        return {"brief": "", "receipt": None}
    return serialisation.brief_row(composed.brief_input, composed.brief, composed.budget.brief_most)


def findings(
    engine: Engine, project: Project, *, environment: Mapping[str, str], query: Mapping[str, Any]
) -> list[Row]:
    """Search results for a program, the best first."""
    results = _findings(engine, project, environment, query)
    return [redacted_value(serialisation.finding_row(each, engine.clock()), redact) for each in results]


def finding_lines(
    engine: Engine, project: Project, *, environment: Mapping[str, str], query: Mapping[str, Any]
) -> list[Row]:
    """Search results for a person, one line for each."""
    return [
        {
            "id": each.id,
            "score": each.score,
            "kind": each.kind,
            "at": each.at,
            "source": redact(printable(each.source)),
            "text": _line(gist(each.text), FINDING_CHARS),
            "worded": each.worded,
        }
        for each in _findings(engine, project, environment, query)
    ]


def project_paths(_: Engine, project: Project) -> Row:
    """A project's paths and id, for a command that reads its settings."""
    return {"root": project.root, "project_id": project.project_id}


VIEWS: Final[Mapping[str, Callable[..., object]]] = {
    view.__name__: view
    for view in (
        sessions,
        session_details,
        session_lines,
        checkpoints,
        checkpoint_lines,
        brief,
        findings,
        finding_lines,
        project_paths,
    )
}
"""The views that the daemon can make, by name."""


def session_named(store: Store, key: str) -> Session:
    """The session with that key, or the only one whose key begins with it."""
    exact = store.session(key)
    if exact is not None:
        return exact
    matches = [session for session in store.sessions(SESSIONS_SEARCHED) if session.key.startswith(key)]
    if len(matches) == 1:
        return matches[0]
    problem = "several sessions begin with" if matches else "there is no session"
    raise HoldfastError(f"{problem} `{key}`", "`holdfast sessions` lists them")


def _session_to_show(engine: Engine, project: Project, key: str) -> Session:
    if key:
        return session_named(engine.store, key)
    latest = engine.store.page_of_sessions(project.project_id, START, 1)
    if not latest:
        raise NotThere(f"no session was seen in `{project.path}`", "`holdfast sessions` lists all")
    return latest[0]


def _checkpoints(
    engine: Engine, project: Project | None, session: str, words: Sequence[str], limit: int
) -> list[Checkpoint]:
    store, most = engine.store, SEARCHED if words else limit
    if session:
        chosen = store.checkpoints_of_session(session_named(store, session).key, most)
    elif project is not None:
        chosen = store.checkpoints_of_project(project.project_id, most)
    else:
        chosen = store.checkpoints(most)
    if not words:
        return chosen
    within = Within(tuple({each.project_id for each in chosen}), kinds=("checkpoint", "digest"))
    hits = {hit.id for hit in store.search(words, within, SEARCHED)}
    return [each for each in chosen if each.id in hits][:limit]


def _findings(
    engine: Engine, project: Project, environment: Mapping[str, str], query: Mapping[str, Any]
) -> list[RecalledText]:
    results = recall.recall(engine, project, _query(query))
    session = engine.store.session(session_around(environment))
    note_recalled(engine, session, [finding.id for finding in results])
    return results


def _query(fields: Mapping[str, Any]) -> Query:
    """A query from its fields by name."""
    return Query(
        fields["text"],
        fields["limit"],
        tuple(fields["kinds"]),
        fields["since"],
        fields["all_projects"],
        fields["include_superseded"],
    )


def _line(text: str, limit: int) -> str:
    # Remove hidden characters first: one could be in the middle of a secret.
    return shortened(one_line(redact(printable(text))), limit)
