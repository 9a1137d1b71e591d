"""Two machines of one person, each with a clone of the same repository, and what a puller would store.

There is no hub: `arrives` puts into one machine's store what the other one would send.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from holdfast.core.session.session import Process, Session
from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, SharedKind
from holdfast.engine.shared_sessions import session_body
from holdfast.files import machine_id
from holdfast.stores.shared import ItemKey, StoredVersion
from tests.engine.repository.test_git import commit, repository_in, run_git
from tests.engine.stage import Stage

REMOTE = "git@example.com:acme/shop.git"
NAME = "example.com/acme/shop"
GONE = Process(2**22 - 1, 1)
LAPTOP = Machine("11111111-1111-4111-8111-111111111111", "laptop")


def two_clones(root: Path) -> tuple[Stage, Stage]:
    """A laptop on which a file was committed, and a desk with a clone of that."""
    for name in ("laptop", "desk"):
        (root / name / "holdfast").mkdir(parents=True)
    laptop, desk = Stage(root / "laptop"), Stage(root / "desk")
    app = repository_in(laptop.home / "app")
    (app / "main.c").write_text("int x;")
    run_git(app, "add", "main.c")
    commit(app, "Add the shop")
    run_git(desk.home, "clone", "-q", str(app), str(desk.home / "app"))
    for stage in (laptop, desk):
        run_git(stage.home / "app", "remote", *(_add_or_set(stage)), "origin", REMOTE)
        machine_id.read_or_make(stage.home / "holdfast")
    return laptop, desk


def _add_or_set(stage: Stage) -> tuple[str, ...]:
    return ("set-url",) if run_git(stage.home / "app", "remote") else ("add",)


def work(stage: Stage, session: str, *, ends: bool = True, edits: bool = True) -> Session:
    """A session that was asked something, edited a file, failed a check and ended."""
    stage.payload(session, "start", source="startup", process=GONE)
    task = f"Let the basket of {session} round to cents"
    stage.payload(session, "prompt", text=task, process=GONE)
    edited = str(stage.home / "app" / "main.c")
    if edits:
        Path(edited).write_text("int cents;")
    stage.write(session, ("prompt", task), ("fails", "make check"), ("edits", edited))
    stage.payload(session, "end" if ends else "stop", reason="other", process=GONE)
    return stored_session(stage, session)


def stored_session(stage: Stage, key: str) -> Session:
    session = stage.store.session(key)
    assert session is not None
    return session


def version_of(
    kind: SharedKind,
    id: str,
    body: str,
    *,
    at: int,
    person: str = "ann",
    machine: Machine = LAPTOP,
    is_mine: bool = True,
    project: str = NAME,
    revision: int = 1,
    recipient: str = "",
) -> StoredVersion:
    """What a hub returns of an item."""
    audience = Audience.OWN if is_mine else Audience.TEAM
    return StoredVersion(
        ItemKey("hub", project, kind, id),
        machine,
        person,
        is_mine,
        revision,
        at,
        audience,
        body,
        recipient=recipient,
        sequence=revision,
        received_at=at,
    )


def arrives(stage: Stage, version: StoredVersion) -> None:
    """Store a version as the puller would."""
    with stage.store.writing():
        stage.store.put_version(version, "1")


def session_arrives(there: Stage, here: Stage, key: str, *, revision: int = 1, is_mine: bool = True) -> None:
    """What the session is on one machine now arrives on the other one."""
    session = stored_session(there, key)
    version = version_of(
        SharedKind.SESSION,
        key,
        session_body(there.engine(), session),
        at=there.now,
        revision=revision,
        is_mine=is_mine,
    )
    arrives(here, replace(version, person="ann" if is_mine else "bob"))
