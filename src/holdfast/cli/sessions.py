"""Sessions: those that were seen, the one with the latest event first."""

from __future__ import annotations

import click

from holdfast.cli import access
from holdfast.cli.options import command, json_option, limit_option
from holdfast.cli.printing import give_json, give_table, say, working
from holdfast.cli.scores import give_scores, give_scores_as_json
from holdfast.core.pressure import capacity, percent
from holdfast.core.session import IMPORTED, Session, is_imported
from holdfast.core.text import elapsed
from holdfast.engine.desk import Desk
from holdfast.engine.rows import session_row
from holdfast.engine.scoring import scored
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Lineage


@command("holdfast sessions", "holdfast sessions --limit 3 --json", "holdfast sessions --scores --limit 100")
@limit_option(20)
@click.option("--scores", "with_scores", is_flag=True, help="How each went on from what was before it.")
@json_option()
def sessions(*, limit: int, with_scores: bool, as_json: bool) -> None:
    """List the sessions that were seen.

    With `--scores`: how much of its brief each session used; what it rediscovered, because a tool or a person
    had to bring back what was known before; how much was new; and how often it used what it recalled. Below,
    sessions that were given a brief beside those that were not.
    """
    with access.opened_desk() as desk:
        if with_scores:
            with working("scoring"):
                scores = list(scored(desk, desk.store.sessions(limit)))
            (give_scores_as_json if as_json else give_scores)(scores)
            return
        listed = desk.store.sessions(limit)
        found = [Row(each, desk.store.lineage(each.key), _capacity(desk, each)) for each in listed]
        rows = [session_row(desk, each) for each in listed] if as_json else []
    if as_json:
        give_json(rows)
    elif found:
        _print(found)
    else:
        say("no session was seen yet; `holdfast setup` connects a harness")


@dataclass(frozen=True, slots=True)
class Row:
    """A session, which one it continues, and how many tokens its window holds."""

    session: Session
    lineage: Lineage | None
    capacity: int


def _capacity(desk: Desk, session: Session) -> int:
    return capacity(session.pressure, desk.policy(session.project).models)


def _print(found: list[Row]) -> None:
    now = access.now()
    give_table(
        ("session", "harness", "phase", "prompts", "windows", "full", "last event", "continues", "project"),
        [
            (
                session.key,
                session.harness,
                IMPORTED if is_imported(session) else session.phase,
                str(session.prompts_told),
                str(session.window + 1),
                f"{percent(session.pressure.used, row.capacity)}%" if session.pressure.used else "",
                f"{elapsed(now - session.last_event_at)} ago",
                f"{lineage.parent[:8]} ({lineage.kind})" if lineage else "",
                session.project.path,
            )
            for row in found
            for session, lineage in ((row.session, row.lineage),)
        ],
    )
