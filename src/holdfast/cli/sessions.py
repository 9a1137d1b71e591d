"""Sessions: those that were seen, the one with the latest event first."""

from __future__ import annotations

from holdfast.cli import access
from holdfast.cli.options import command, json_option, limit_option
from holdfast.cli.printing import give_json, give_table, say
from holdfast.core.session import Session
from holdfast.core.text import elapsed
from holdfast.stores.base import Lineage
from holdfast.stores.codec import to_iso


@command("holdfast sessions", "holdfast sessions --limit 3 --json")
@limit_option(20)
@json_option()
def sessions(*, limit: int, as_json: bool) -> None:
    """List the sessions that were seen."""
    with access.opened_desk() as desk:
        found = [(session, desk.store.lineage(session.key)) for session in desk.store.sessions(limit)]
    if as_json:
        give_json([_row(session, lineage) for session, lineage in found])
    elif found:
        _print(found)
    else:
        say("no session was seen yet; `holdfast setup` connects a harness")


def _row(session: Session, lineage: Lineage | None) -> dict[str, object]:
    return {
        "session_key": session.key,
        "harness": session.harness,
        "project": session.project.path,
        "project_normalized": session.project.normalized,
        "phase": session.phase,
        "model": session.model,
        "prompt_count": session.prompts_told,
        "windows": session.window + 1,
        "started_at": to_iso(session.started_at),
        "last_event_at": to_iso(session.last_event_at),
        "parent": lineage.parent if lineage else None,
        "lineage": lineage.kind if lineage else None,
    }


def _print(found: list[tuple[Session, Lineage | None]]) -> None:
    now = access.now()
    give_table(
        ("session", "harness", "phase", "prompts", "windows", "last event", "continues", "project"),
        [
            (
                session.key,
                session.harness,
                session.phase,
                str(session.prompts_told),
                str(session.window + 1),
                f"{elapsed(now - session.last_event_at)} ago",
                f"{lineage.parent[:8]} ({lineage.kind})" if lineage else "",
                session.project.path,
            )
            for session, lineage in found
        ],
    )
