"""A checkpoint by hand: of the session one is in, or of one that is named."""

from __future__ import annotations

import os
import uuid

import click

from holdfast import harnesses
from holdfast.cli import access
from holdfast.cli.printing import say
from holdfast.core.events import DigestGiven, Origin
from holdfast.core.session import Phase, Session
from holdfast.engine.record import Arrival, record
from holdfast.errors import HoldfastError
from holdfast.stores.base import Store

SESSIONS_LOOKED_AT = 50


@click.command()
@click.option("--digest", metavar="TEXT", help="Its words, kept as they are but for secrets; `-` reads stdin.")
@click.option("--session", default="", metavar="KEY", help="Of this session; else the one this shell runs in.")
def checkpoint(digest: str | None, session: str) -> None:
    """Take a checkpoint of a session now.

    It is on the disk when its id is printed. Without --session it is that of the harness that runs this command, or
    the newest live one of this directory's project.

    \b
    Examples:
      holdfast checkpoint
      holdfast checkpoint --digest "Parser done; next: the writer, tests first."
      git log -3 | holdfast checkpoint --digest -
    """
    words = _words(digest)
    id = str(uuid.uuid4())
    with access.opened_desk(new_id=id) as desk:
        chosen = _chosen(desk.store, session)
        given = DigestGiven(
            session=chosen.key, record=f"explicit:{id}", at=access.now(), origin=Origin.HUMAN, text=words
        )
        record(desk, Arrival(chosen.key, chosen.harness, chosen.project, events=(given,)))
    say(f"a checkpoint of session {chosen.key} in {chosen.project.path} is kept")
    click.echo(id)


def _words(digest: str | None) -> str:
    if digest is None:
        return ""
    words = click.get_text_stream("stdin", errors="replace").read() if digest == "-" else digest
    if not words.strip():
        raise HoldfastError("the digest is empty", "leave out `--digest` to have what was seen written down")
    return words.strip()


def _chosen(store: Store, key: str) -> Session:
    """The session that was named, or that this command runs in, or the newest live one here."""
    if key:
        return access.session_named(store, key)
    if around := _around_us():
        return access.session_named(store, around)
    project = access.project_at(None)
    for session in store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT):
        if session.phase is Phase.LIVE:
            return session
    raise HoldfastError(
        f"no session is live in `{project.path}`", "name one with `--session`; `holdfast sessions` lists them"
    )


def _around_us() -> str:
    """The session in whose shell this runs, if a harness tells its children; empty otherwise."""
    for name in harnesses.names():
        for variable in harnesses.get(name).carried:
            if variable.endswith("SESSION_ID") and os.environ.get(variable):
                return os.environ[variable]
    return ""
