"""Command views: what the listing commands print, as plain JSON values.

The daemon, which has everything loaded, makes them for a command that asks it; if none answers, the command
makes them itself by the same functions. Texts are redacted here.

Not here: how a table looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from holdfast.core.brief.brief_input import Reason
from holdfast.core.events.world import Project
from holdfast.core.memory.excerpt import matching_sentence
from holdfast.core.memory.ranking import query_words
from holdfast.core.redaction.redact import redact
from holdfast.core.session.checkpoint import Checkpoint, gist
from holdfast.core.session.session import Session
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import printable
from holdfast.core.work.lines import LINE_CHARS
from holdfast.core.work.state import TITLE_CHARS
from holdfast.engine.briefing.no_brief import why_nothing, why_nothing_of
from holdfast.engine.briefing.resume import ComposedBrief, preview_brief, preview_of_session
from holdfast.engine.engine import Engine
from holdfast.engine.ids import session_named, short_id
from holdfast.engine.memory import recall
from holdfast.engine.memory.recall import Query, RecalledText, note_recalled
from holdfast.engine.recording.imported_work import ImportedSession, with_work
from holdfast.engine.shared_sessions import pulled_unless_here
from holdfast.engine.tools.caller import session_around
from holdfast.engine.views import serialisation
from holdfast.engine.views.file_history import file_answer
from holdfast.engine.views.overview import overview
from holdfast.engine.views.serialisation import Row, redacted_value, title_lookup
from holdfast.engine.views.session_lists import SessionChoice, listed_sessions
from holdfast.engine.views.session_page import session_page
from holdfast.errors import NotThere
from holdfast.stores.base import START, RowKind, Within

SEARCHED: Final = 100_000
"""More than any store holds: a search filters first and limits afterwards."""
FROM_ELSEWHERE: Final = "it is from {}; its transcript and checkpoints are there"
DIGEST_CHARS: Final = 80
FINDING_CHARS: Final = 400


def sessions(  # noqa: PLR0913 - each is an option of the command
    engine: Engine,
    project: Project | None,
    *,
    limit: int,
    harness: str = "",
    since: int = 0,
    search: str = "",
    person: str = "",
    machine: str = "",
) -> list[Row]:
    """The sessions of a project or of all, also those of other machines; the latest event first."""
    words = tuple(search.lower().split())
    choice = SessionChoice(project, harness, since, words, person, machine)
    rows = (each.row(engine) for each in listed_sessions(engine, choice, START, limit))
    return [{**row, "title": _line(str(row["title"]), TITLE_CHARS)} for row in rows]


def session_details(engine: Engine, project: Project, *, key: str) -> Row:
    """A session with all that belongs to it; the project's latest one if none is named."""
    pulled = pulled_unless_here(engine, key)
    if pulled is not None:
        page = session_page(engine, pulled.session, pulled)
        return redacted_value({**page, "note": FROM_ELSEWHERE.format(pulled.provenance.label)}, redact)
    shown = _session_to_show(engine, project, key)
    page = session_page(engine, shown.session)
    return redacted_value({**page, "note": shown.note or None}, redact)


def checkpoints(
    engine: Engine, project: Project | None, *, session: str, search: str, limit: int
) -> list[Row]:
    """Checkpoints for a program: of a session, of a project, or all; the newest first."""
    chosen, titles = _checkpoints(engine, project, session, search.split(), limit), title_lookup(engine)
    return [redacted_value(serialisation.checkpoint_row(each, titles), redact) for each in chosen]


def checkpoint_lines(
    engine: Engine, project: Project | None, *, session: str, search: str, limit: int
) -> list[Row]:
    """Checkpoints for a person, one line for each."""
    chosen, titles = _checkpoints(engine, project, session, search.split(), limit), title_lookup(engine)
    return [
        {
            "at": each.created_at,
            "trigger": each.trigger,
            "id": short_id(engine.store, RowKind.CHECKPOINT, each.id),
            "session": short_id(engine.store, RowKind.SESSION, each.session),
            "title": _line(titles(each.session), TITLE_CHARS),
            "prompts": each.prompt_count,
            "project": each.project,
            "digest": _line(gist(each.words or each.digest), DIGEST_CHARS),
            "no_answer": _line(each.outline.no_answer, LINE_CHARS),
        }
        for each in chosen
    ]


def brief(engine: Engine, project: Project, *, reason: str, budget: int | None, session: str = "") -> Row:
    """The brief that a start in a project would get now, or one that continued the named session."""
    if session:
        pulled = pulled_unless_here(engine, session)
        chosen = pulled.session if pulled else with_work(engine, session_named(engine.store, session)).session
        composed = preview_of_session(engine, chosen, Reason(reason), budget, pulled)
        why = "" if composed.brief.text else why_nothing_of(engine, chosen)
        return {**_brief_row(composed), "why": why}
    preview = preview_brief(engine, project, Reason(reason), budget)
    if preview is None or not preview.brief.text:
        return {"brief": "", "receipt": None, "why": why_nothing(engine, project)}
    return {**_brief_row(preview), "why": ""}


def _brief_row(composed: ComposedBrief) -> Row:
    return serialisation.brief_row(composed.brief_input, composed.brief, composed.budget.brief_most)


def briefs_given(engine: Engine, _: Project | None, *, session: str) -> Row:
    """The briefs that a session was given, the newest first."""
    chosen, titles = session_named(engine.store, session), title_lookup(engine)
    receipts = engine.store.receipts(chosen.key, SEARCHED)
    row: Row = {
        "session_key": chosen.key,
        "title": titles(chosen.key),
        "briefs": [serialisation.receipt_row(receipt, titles) for receipt in receipts],
    }
    return redacted_value(row, redact)


def findings(
    engine: Engine, project: Project, *, environment: Mapping[str, str], query: Mapping[str, Any]
) -> list[Row]:
    """Search results for a program, the best first."""
    results, titles = _findings(engine, project, environment, query), title_lookup(engine)
    return [
        redacted_value(serialisation.finding_row(each, engine.clock(), titles), redact) for each in results
    ]


def finding_lines(
    engine: Engine, project: Project, *, environment: Mapping[str, str], query: Mapping[str, Any]
) -> list[Row]:
    """Search results for a person: the sentence of each that has most of the words."""
    words, titles = query_words(query["text"]), title_lookup(engine)
    return [
        {
            "id": each.id,
            "score": each.score,
            "kind": each.kind,
            "at": each.at,
            "source": redact(printable(each.source)),
            "title": _line(titles(each.session), TITLE_CHARS),
            "text": _line(matching_sentence(each.text, words), FINDING_CHARS),
            "worded": each.worded,
        }
        for each in _findings(engine, project, environment, query)
    ]


def why(engine: Engine, project: Project, *, path: str, line: int) -> Row:
    """The history of a file: which sessions changed it, what was asked, and why."""
    return redacted_value(asdict(file_answer(engine, project, path, line)), redact)


def project_paths(_: Engine, project: Project) -> Row:
    """A project's paths and id, for a command that reads its settings."""
    return {"root": project.root, "project_id": project.project_id}


VIEWS: Final[Mapping[str, Callable[..., object]]] = {
    view.__name__: view
    for view in (
        sessions,
        session_details,
        checkpoints,
        checkpoint_lines,
        brief,
        briefs_given,
        findings,
        finding_lines,
        why,
        project_paths,
        overview,
    )
}
"""The views that the daemon can make, by name."""


def _session_to_show(engine: Engine, project: Project, key: str) -> ImportedSession:
    """The session with its work state; an imported one's is derived now if need be."""
    return with_work(engine, _session_by_name(engine, project, key))


def _session_by_name(engine: Engine, project: Project, key: str) -> Session:
    if key:
        return session_named(engine.store, key)
    latest = engine.store.page_of_sessions(project.project_id, START, 1)
    if not latest:
        raise NotThere(f"no session was seen in `{project.path}`", _where_sessions_are(engine))
    return latest[0]


def _where_sessions_are(engine: Engine) -> str:
    """What somebody can do in whose project no session was seen."""
    if engine.store.counts().sessions:
        return "`holdfast sessions` lists those of all projects"
    return "`holdfast setup` connects a harness, `holdfast import` brings in earlier sessions"


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
        fields["harness"],
        fields.get("person", ""),
        fields.get("machine", ""),
    )


def _line(text: str, limit: int) -> str:
    # Remove hidden characters first: one could be in the middle of a secret.
    return shortened(one_line(redact(printable(text))), limit)
