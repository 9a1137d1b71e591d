"""A checkpoint by hand: of the surrounding session, or of a named one."""

from __future__ import annotations

import sys

import click

from holdfast.cli import access
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, say
from holdfast.core.events.event import DigestGiven, Origin
from holdfast.core.session.session import Phase, Session, is_imported
from holdfast.engine.ids import session_named, short_id
from holdfast.engine.recording.record import Arrival, record
from holdfast.errors import HoldfastError
from holdfast.stores.base import RowKind, Store

SESSIONS_LOOKED_AT = 50


@command(
    "holdfast checkpoints take",
    "holdfast checkpoints take --digest 'Parser done; next: the writer'",
    "git log -3 | holdfast checkpoints take --digest -",
)
@click.option("--digest", metavar="TEXT", help="Its words, kept as they are but for secrets; - reads stdin.")
@click.option("--session", default="", metavar="KEY", help="Of this session, by its key or how that begins.")
@json_option()
def take(*, digest: str | None, session: str, as_json: bool) -> None:
    """Take a checkpoint of a session now.

    It is on the disk when its id is printed. Without --session it is that of the session whose shell runs
    this, or of the newest live one of this directory's project.
    """
    words = _words(digest)
    with access.current_engine() as engine:
        chosen = _chosen(engine.store, session)
        if is_imported(chosen):
            id = short_id(engine.store, RowKind.SESSION, chosen.key)
            raise HoldfastError(
                f"session {id} was imported and is over; its last checkpoint is kept",
                f"`holdfast show {id}` prints where it stood",
            )
        event = DigestGiven(
            session=chosen.key,
            record=f"explicit:{engine.new_id()}",
            at=engine.clock(),
            origin=Origin.HUMAN,
            text=words,
        )
        recorded = record(engine, Arrival(chosen.key, chosen.harness, chosen.project, events=(event,)))
    if as_json:
        ids = [taken.id for taken in recorded.checkpoints]
        give_json({"session_key": chosen.key, "project": chosen.project.path, "checkpoints": ids})
        return
    say(f"a checkpoint of session {chosen.key} in {chosen.project.path} is kept")
    for taken in recorded.checkpoints:
        give(taken.id)


def _words(digest: str | None) -> str:
    if digest is None:
        return ""
    words = sys.stdin.buffer.read().decode("utf-8", "replace") if digest == "-" else digest
    if not words.strip():
        raise HoldfastError("the digest is empty", "leave out `--digest` to have what was seen written down")
    return words.strip()


def _chosen(store: Store, key: str) -> Session:
    """The session that was named, or that this command runs in, or the newest live one here."""
    if wanted_key := key or access.surrounding_session():
        return session_named(store, wanted_key)
    project = access.project_at(None)
    for session in store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT):
        if session.phase is Phase.LIVE:
            return session
    raise HoldfastError(
        f"no session is live in `{project.path}`", "name one with `--session`; `holdfast sessions` lists them"
    )
