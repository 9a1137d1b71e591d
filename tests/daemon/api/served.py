"""A daemon with something to tell, and a caller that asks it over HTTP."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Final, TypedDict
from urllib.parse import quote, urlencode

from holdfast.core.events.event import (
    Action,
    Compacted,
    CompactionSign,
    Event,
    Origin,
    Todo,
    ToolCalled,
    ToolReturned,
    Usage,
)
from holdfast.core.events.world import Project
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.trail import Note, Trail, Utterance
from holdfast.core.redaction.redact import NO_LISTS
from holdfast.core.session.score import SessionScore, Start
from holdfast.core.session.session import Process
from holdfast.engine.liveness import start_of
from holdfast.engine.redaction.redactor import mark_of
from holdfast.engine.repository.git import identity
from holdfast.engine.views.measurements import Evaluation, store_evaluation
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import LIMIT_S, Lodging
from tests.stores.contract import MINUTE, checkpoint, document, ended, memory, prompt, receipt, session

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6"
"""What the store holds as if the rules of the day had let it pass."""
NEWEST: Final = mark_of(NO_LISTS)
"""The mark of rows that nobody redacts again."""


@dataclass(frozen=True)
class Answer:
    """A status, the headers in lower case, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever was answered
        return json.loads(self.body)


class Caller:
    """Asks a lodging's daemon as a program does."""

    def __init__(self, lodging: Lodging, scope: str = "token") -> None:
        self._lodging = lodging
        self._scope = scope

    @property
    def port(self) -> int:
        return int((self._lodging.home / "http" / "port").read_text().split()[1])

    @property
    def token(self) -> str:
        return (self._lodging.home / "http" / self._scope).read_text().strip()

    def ask(self, path: str, method: str = "GET", body: object = None, **headers: str) -> Answer:
        """What is answered; `path` may hold anything that a URL may."""
        with self.open(path, method, body, **headers) as answer:
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, told, answer.read())

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401
        """The document at that path, which must be there."""
        asked = f"{quote(path)}?{urlencode(query, doseq=True)}" if query else quote(path)
        answer = self.ask(asked)
        assert answer.status == 200, answer
        return answer.json

    @contextmanager
    def open(
        self, path: str, method: str = "GET", body: object = None, **headers: str
    ) -> Iterator[HTTPResponse]:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        usual = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=3 * LIMIT_S)) as connection:
            connection.request(method, path, raw, usual | headers)
            yield connection.getresponse()


@dataclass(frozen=True)
class Furnished:
    """A lodging whose store has a bit of everything: the project, and when its story began."""

    lodging: Lodging
    project: Project
    at: int

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store, beside the daemon that has it open."""
        home = self.lodging.home
        with closing(open_store(home / "store.db", home / "backups", self.at)) as store:
            yield store


def furnish(lodging: Lodging) -> Furnished:
    """A story that began an hour ago, in a directory that is there; older ones have served their time."""
    root = lodging.root / "shop"
    root.mkdir()
    found = Furnished(lodging, identity(str(root)), time.time_ns() // 1_000_000 - 60 * MINUTE)
    with found.store() as store, store.writing():
        _put_rows(store, found)
        _put_other(store, found)
        for event in _story(found.at):
            store.add_event(event, NEWEST)
        store.put_score(
            SessionScore("s1", "claude-code", found.project.project_id, found.at, Start.RECOVERED, 9, 8, 6)
        )
    with found.store() as store:
        store_evaluation(store, Evaluation("survival", found.at, {"budget": 2_000, "survival": 0.5}))
    return found


def _put_rows(store: Store, furnished: Furnished) -> None:
    project = furnished.project
    for number in range(5):
        at = furnished.at + number * MINUTE
        key = f"s{number}" if number else "odd/key:1"
        store.put_session(ended(key, project=project, last_event_at=at, ended_at=at), NEWEST)
        taken = checkpoint(f"c{number}", created_at=at, digest=f"## Step {number}\nwith {SECRET}")
        store.add_checkpoint(
            replace(
                taken,
                project_id=project.project_id,
                project=project.path,
                project_normalized=project.normalized,
            ),
            NEWEST,
        )
        store.add_receipt(receipt(f"b{number}", window=number, created_at=at), NEWEST)
        said = memory(f"memory-{number}", text=f"Fact {number}.", created_at=at)
        store.put_memory(replace(said, project_id=project.project_id), NEWEST)
        found = document(said.id, said.text, kind="memory", at=at, project_id=project.project_id)
        store.add_document(found, NEWEST)


def _trail(at: int) -> Trail:
    """What is known of the work in `s-other`: a bit of every section."""
    goal = Utterance(
        "Mend the sums of the cart in the shop, for orders with vouchers and for those without", at
    )
    notes = (
        Note(NoteKind.CONSTRAINT, "Never touch the ledger table.", at, "r1"),
        Note(NoteKind.DECISION, f"I decided to round per line, see {SECRET}.", at + 1, "r2"),
        Note(NoteKind.CONFIRMED, "The cart adds up in `cart.py`.", at + 2, "r3"),
        Note(NoteKind.NEXT, "Next: describe the rounding.", at + 3, "r4"),
        Note(NoteKind.UNTRIED, "Decimals instead of cents might do.", at + 3, "r4"),
        Note(NoteKind.QUESTION, "Should vouchers be rounded too?", at + 3, "r4"),
        Note(NoteKind.NEED, "The tests need Redis on port 6380.", at + 3, "r4"),
        Note(NoteKind.FAILED, "Rounding the whole sum failed for vouchers.", at + 3, "r4"),
    )
    todos = (Todo("Write the test", "completed"), Todo("Round in the invoice", "in_progress"))
    return Trail(first_prompt=goal, goal=goal, prompts=(goal,), notes=notes, todos=todos, planned_at=at)


def _put_other(store: Store, furnished: Furnished) -> None:
    """A live session of another project: this very process is its harness."""
    other = Project("/elsewhere", "/elsewhere", "other", "other", "/elsewhere")
    us = Process(os.getpid(), start_of(os.getpid()))
    at = furnished.at
    live = session("s-other", project=other, last_event_at=at, process=us, trail=_trail(at))
    store.put_session(live, NEWEST)
    store.add_checkpoint(
        checkpoint("c-other", session="s-other", project_id="other", created_at=furnished.at), NEWEST
    )


def _story(at: int) -> Iterator[Event]:
    common: Common = {"session": "s1", "origin": Origin.TOOL}
    yield prompt("r1", at=at, text=f"Use {SECRET} here")
    yield ToolCalled(record="r2", at=at + 1, call="t", tool="Bash", action=Action.RUN, subject="ls", **common)
    yield ToolReturned(record="r3", at=at + 2, call="t", ok=False, text="no", **common)
    for number in range(3):
        yield Usage(record=f"u{number}", at=at + 3 + number, input=40_000 * (number + 1), output=0, **common)
    yield Compacted(record="r4", at=at + 9, sign=CompactionSign.BOUNDARY, summary="What was", **common)


class Common(TypedDict):
    """What the events of the story have in common."""

    session: str
    origin: Origin


def write_continuity(home: Path, project: Project, text: str) -> Path:
    """A shared layer of a project's continuity, as a person may have left it."""
    path = home / "projects" / project.project_id / "continuity" / "project" / "active.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def pages(caller: Caller, path: str, **query: object) -> list[Any]:
    """All items, gone through page by page."""
    found: list[Any] = []
    cursor = ""
    while True:
        page = caller.get(path, **query, cursor=cursor)
        assert len(page["items"]) <= 2
        found += page["items"]
        cursor = page["next"]
        if not cursor:
            return found
