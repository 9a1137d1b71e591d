"""The reception: takes requests from the door to the engine, and the answers back.

It holds the engine, which the worker's thread alone may use.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Collection, Generator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from holdfast import __version__, config, harnesses, hook, models, settings
from holdfast.config import Config, Unreadable
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import NO_LISTS, Lists
from holdfast.core.session.session import Phase, Process, Session
from holdfast.daemon.local import spool, wire
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.engine import Engine, redactor_of
from holdfast.engine.hook_events.protection_notice import notice_once
from holdfast.engine.hook_events.receive import listen, receive_if_settled
from holdfast.engine.hook_events.status_line import show_status
from holdfast.engine.index.index import embed_backlog, index
from holdfast.engine.liveness.home import CHECK_STORE
from holdfast.engine.liveness.processes import start_of
from holdfast.engine.privacy import forget
from holdfast.engine.privacy.rewrite import rewrite
from holdfast.engine.recording.record import CLOCK_SKEW_MS
from holdfast.engine.recording.transcripts import Readable, find, read_on
from holdfast.engine.redaction.redactor import lists_of
from holdfast.engine.repository import projects
from holdfast.engine.upkeep import maintain
from holdfast.errors import (
    HarnessUnknown,
    HoldfastError,
    ModelError,
    ProtectionUnreadable,
    StoreCorrupt,
    StoreError,
)
from holdfast.harnesses.base import Envelope
from holdfast.models.base import Count
from holdfast.stores.base import Store
from holdfast.stores.sqlite import (
    SqliteStore,
    back_up_daily,
    drop_copies,
    drop_set_aside,
    is_daily_backup_due,
    open_store,
    set_aside,
)

if TYPE_CHECKING:
    from holdfast.daemon.work.model_thread import Writing

T = TypeVar("T")

ANSWER_TIME = 0.6
"""How long a letter may read its transcript before it is answered with what is known; the hook waits 1 s."""
SETTLING_TIME = 0.18
"""How long an answer may wait for a record that its transcript is about to show; the hook waits 0.3 s."""
LOOK_AGAIN = 0.03
LARGEST_PID = (1 << 32) - 1
LARGEST_START = (1 << 63) - 1
LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999, behind which no time can be written."""
REFUSALS_MOST = 3
"""A letter that the store refuses so often while it takes others is rejected."""
REFUSALS_AT_ONCE = 5
OUT_OF_RESOURCES = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""What no letter is to blame for."""
HELD_TIME = 15.0
"""After how long it is looked again whether the settings of one project let a spooled letter in."""


class Dispatcher:
    """Answers letters and control requests by giving the worker its jobs."""

    def __init__(
        self, home: Path, worker: Worker, stop: asyncio.Event, log: logging.Logger, note: str
    ) -> None:
        self.home = home
        self._worker = worker
        self._stop = stop
        self._log = log
        self._note = note
        self._desk: Engine | None = None
        self._store: SqliteStore | None = None
        self._backing_up: threading.Thread | None = None
        self._backup_error: HoldfastError | None = None
        self._settings = dict[Project, Config]()
        self._settings_of = 0
        self._writing: Writing | None = None
        self._reported = dict[str, tuple[str, ...]]()
        """What was wrong with the settings of each project when they were last read."""
        self._lists = NO_LISTS
        self._held = dict[str, float]()
        """The spooled letters that settings keep from being read, and when to look at each again."""
        self._stopped = False
        self._stopped_projects = dict[Project, Unreadable]()
        self._opened_at = 0
        self.is_ready = asyncio.Event()
        """Set once the daemon can say everything about itself; hooks are answered before that."""
        self._refusals = dict[str, int]()
        self.troubles = dict[str, str]()
        """What of the housekeeping fails now, and with which error."""
        self.http = ""
        self.link: Callable[[], str] = str
        """Makes an address that lets a browser in; an empty one where there is no HTTP door."""
        self.last_hook_at = time.monotonic()

    def open(self, at: int) -> None:
        """Open the store; one that is corrupt is set aside and a new one begun. Worker's thread."""
        path, backups = self.home / "store.db", self.home / "backups"
        try:
            store = self._opened(at)
        except StoreCorrupt as error:
            aside = set_aside(path, at)
            self._log.error("%s; it was set aside as %s and a new store was begun", error.message, aside)
            store = open_store(path, backups, at)
        (self.home / CHECK_STORE).unlink(missing_ok=True)
        self._settle(store, at)
        self._opened_at, self._store = at, store
        self._desk = Engine(
            store=store,
            harness=harnesses.get,
            config=self._config,
            user_home=Path.home(),
            clock=_now,
            new_id=lambda: str(uuid.uuid4()),
            home=self.home,
            embedder=cache(models.embedder),
            counter=cache(self._counter),
        )

    def _settle(self, store: Store, at: int) -> None:
        """Have nothing in the store that was forgotten; whatever hinders that, hooks must be answered."""
        try:
            forget.settle(store, self.home, at)
        except HoldfastError as error:
            self._log.error("%s; what was forgotten before may be in the store", error.message)

    def _opened(self, at: int) -> SqliteStore:
        """The store, read through before it is used if somebody found it damaged; StoreCorrupt if it is."""
        path = self.home / "store.db"
        store = open_store(path, self.home / "backups", at)
        if (self.home / CHECK_STORE).exists() and (problem := store.check()):
            store.close()
            raise StoreCorrupt(f"the store at `{path}` is damaged: {problem}")
        return store

    def _counter(self) -> Count | None:
        try:
            return models.counter()
        except ModelError as error:
            self._log.warning("%s; what is about to be sent is not counted", error.message)
            return None

    def close(self) -> None:
        """Let go of the store. Worker's thread."""
        if self._desk is not None:
            with contextlib.suppress(StoreError, OSError):  # The home may be gone.
                self._note_held()
            self._desk.store.close()

    @property
    def engine(self) -> Engine:
        """The engine; only the worker's thread may use it."""
        if self._desk is None:
            raise RuntimeError("the store is not open yet")
        return self._desk

    async def answer(self, request: wire.Request) -> bytes:
        """The answer to a request."""
        if request.kind == "control":
            await self.is_ready.wait()
            return json.dumps(await self._control(request)).encode()
        if request.kind == "status":
            harness = request.fields.get("harness", "")
            return await self._worker.do(
                Urgency.LETTER, lambda: show_status(self.engine, harness, request.body)
            )
        self.last_hook_at = time.monotonic()
        until = time.monotonic() + ANSWER_TIME
        envelope = _received_now(envelope_of(request))

        def work() -> bytes | None:
            try:
                return receive_if_settled(
                    self.engine, envelope, request.body, lambda: time.monotonic() < until
                )
            except ProtectionUnreadable as error:
                self._hold(request)
                return notice_once(self.engine, envelope, request.body, error)

        settled_by = time.monotonic() + SETTLING_TIME
        while (answer := await self._worker.do(Urgency.LETTER, work)) is None:
            if time.monotonic() >= settled_by:
                return b""
            await asyncio.sleep(LOOK_AGAIN)
        return answer

    def lists(self) -> Lists:
        """What the user lets pass and what never, in all projects; the last known while it is unreadable."""
        loaded = self._loaded(None)
        if loaded.unreadable is None:
            self._lists = lists_of(loaded)
        return self._lists

    def unreadable(self) -> list[Unreadable]:
        """What stops everything now, or else what stops each project that had something to keep."""
        everywhere = self._loaded(None).unreadable
        if everywhere is not None:
            return [everywhere]
        found = [self._loaded(project).unreadable for project in list(self._stopped_projects)]
        return [each for each in found if each is not None]

    async def look_at_settings(self) -> None:
        """Notice that the settings that protect became unreadable, or readable again."""
        before, self._stopped = self._stopped, self._loaded(None).unreadable is not None
        marker = self.home / hook.STOPPED
        with contextlib.suppress(OSError):  # On a full or read-only disk hooks keep nothing either.
            if self._stopped:
                marker.touch(mode=0o600)
            else:
                marker.unlink(missing_ok=True)
        if before and not self._stopped:
            self._held.clear()
            await self.drain()
            await self.catch_up()

    async def do(self, urgency: Urgency, work: Callable[[], T]) -> T:
        """The result of work that uses the engine."""
        return await self._worker.do(urgency, work)

    async def transcripts_changed(self, paths: Collection[Path]) -> None:
        """Read these transcripts on, each when nothing more urgent is to be done."""
        for session in await self.live_sessions():
            if session.transcript and Path(session.transcript) in paths:
                await self._worker.do(Urgency.TRANSCRIPT, partial(self._read_on, session.key))

    async def drain(self) -> int:
        """Take in the letters that hooks left in the spool; how many."""
        taken, refused = 0, list[tuple[spool.Spooled, Exception]]()
        now = time.monotonic()
        self._held = {name: until for name, until in list(self._held.items()) if until > now}
        for payload in spool.hook_events(self.home, self._held):
            try:
                reason = "not a request" if payload.request is None else await self._take_in(payload.request)
            except ProtectionUnreadable:
                # It stays until the settings can be read, without anybody's words.
                self._held[payload.path.name] = time.monotonic() + HELD_TIME
                spool.strip(payload)
                continue
            except (StoreError, OSError) as error:
                refused.append((payload, error))
                if len(refused) == REFUSALS_AT_ONCE:
                    break
                continue
            if reason:
                self._reject(payload, reason)
            else:
                payload.path.unlink(missing_ok=True)
            taken += 1
        self._refusals = {
            payload.path.name: self._refusals.get(payload.path.name, 0) for payload, _ in refused
        }
        spool.sweep(self.home, _now() - forget.DEAD_AFTER_MS, _now())
        for payload, refusal in refused:
            if taken:  # The store took others, so the letter may be to blame.
                self._refusals[payload.path.name] += 1
            if self._refusals[payload.path.name] < REFUSALS_MOST:
                raise refusal
            self._reject(payload, type(refusal).__name__)
        return taken

    def _reject(self, payload: spool.Spooled, reason: str) -> None:
        spool.reject(self.home, payload, reason)
        self._log.warning("a spooled hook event was rejected: %s", reason)

    async def take_in_all(self) -> dict[str, object]:
        """Take in whatever is pending, for somebody who looks now; how much that was."""
        self._held.clear()
        drained = await self.drain()
        await self.catch_up()
        return {"letters": drained, "checkpoints": await self.flush(0)}

    async def flush(self, waited_ms: int) -> int:
        """Take the checkpoints that have been due that long."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: maintain.flush(self.engine, waited_ms))

    async def finalise_orphans(self) -> list[str]:
        """Close the sessions whose harness is gone."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: maintain.finalise_orphans(self.engine))

    async def prune(self) -> maintain.Pruned:
        """Remove what has served its time; nothing while it cannot be read how long that is."""
        if self._stopped:
            return maintain.Pruned(0, 0)
        return await self._worker.do(Urgency.HOUSEKEEPING, self._prune)

    async def rewrite(self) -> bool:
        """Redact some of what an older redactor wrote; whether there may be more of it."""
        return await self._worker.do(Urgency.HOUSEKEEPING, self._rewrite)

    async def index(self) -> bool:
        """Make findable some of what sessions said; whether there may be more of it."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: index(self.engine))

    async def embed(self) -> bool:
        """Give some documents their vectors, if very many have none; whether there may be more of them."""
        if self._stopped or not self._loaded(None).recall.vectors:
            return False
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: embed_backlog(self.engine))

    async def write_better(self) -> None:
        """Have written what nobody waits for, by a model if one is to, if there is something."""
        # Loaded here, so that the hook which started the daemon need not wait for it.
        from holdfast.daemon.work.model_thread import Writing, is_due

        if await self._worker.do(Urgency.HOUSEKEEPING, lambda: is_due(self.engine)):
            self._writing = self._writing or Writing(self.own_desk, self._log)
            self._writing.begin()

    @contextmanager
    def own_desk(self) -> Generator[Engine]:
        """An engine for another thread than the worker's."""
        path, backups = self.home / "store.db", self.home / "backups"
        with closing(open_store(path, backups, _now())) as store:
            yield replace(self.engine, store=store, config=self._loaded)

    async def prune_records(self) -> bool:
        """Remove some of what sessions said, if it has served its time; whether there may be more of it."""
        if self._stopped:
            return False
        records = self._loaded(None).records
        gone = await self._worker.do(
            Urgency.HOUSEKEEPING, lambda: maintain.prune_records(self.engine, records)
        )
        return gone == maintain.PASSAGES_AT_ONCE

    async def note_held(self) -> None:
        """Note how much is in the store, for the day on which it is empty."""
        await self._worker.do(Urgency.HOUSEKEEPING, self._note_held)

    async def is_store_damaged(self) -> bool:
        """Whether the store is damaged as a whole: all of it is read for that."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: bool(self.engine.store.check()))

    async def back_up(self) -> None:
        """Make the backup of the day, in a thread of its own, if it is due and nobody needs us now.

        Raises what the last one failed with.
        """
        error, self._backup_error = self._backup_error, None
        if error is not None:
            raise error
        path, backups, at = self.home / "store.db", self.home / "backups", _now()
        quiet_for = time.monotonic() - self.last_hook_at
        if not is_daily_backup_due(path, backups, at):
            return
        if quiet_for < self._loaded(None).daemon.backup_quiet_seconds:
            return
        if self._backing_up is None or not self._backing_up.is_alive():
            work = partial(self._back_up, path, backups, at)
            self._backing_up = threading.Thread(target=work, name="backup", daemon=True)
            self._backing_up.start()

    def _back_up(self, path: Path, backups: Path, at: int) -> None:
        try:
            back_up_daily(path, backups, at)
        except HoldfastError as error:
            self._backup_error = error

    async def live_sessions(self) -> list[Session]:
        """The sessions that are not over."""
        return await self._worker.do(Urgency.HOUSEKEEPING, self._live)

    async def catch_up(self) -> None:
        """Read every live session's transcript on."""
        live = await self.live_sessions()
        await self.transcripts_changed({Path(session.transcript) for session in live})

    def idle_exit_minutes(self) -> int:
        """After how long without sessions the daemon ends."""
        return self._loaded(None).daemon.idle_exit_minutes

    def door_settings(self) -> settings.Daemon:
        """Where the HTTP door is wanted, and how."""
        return self._loaded(None).daemon

    async def _control(self, request: wire.Request) -> dict[str, object]:
        match request.fields.get("verb"):
            case "status":
                return {
                    "pid": os.getpid(),
                    "version": __version__,
                    "door": self._note,
                    "http": self.http,
                    "started_at": self._opened_at,
                    "spooled": spool.waiting(self.home),
                    "troubles": self.troubles,
                }
            case "flush":
                return await self.take_in_all()
            case "view":
                # Loaded when the first command asks: no hook needs it.
                from holdfast.daemon.work import viewing

                return await viewing.answer(self, request.body)
            case "forget":
                # What waits is taken in first: of what nobody knows yet nothing could be forgotten.
                await self.drain()
                return await self._worker.do(Urgency.CONTROL, partial(self._forget, request.body))
            case "link":
                return {"url": self.link()}
            case "stop":
                self._stop.set()
                return {"stopping": True}
            case verb:
                return {"error": f"no such request: {verb}"}

    async def _take_in(self, request: wire.Request) -> str:
        """Record a spooled letter; why it cannot be, empty if it was.

        What may keep every letter from being recorded, as a full disk does, is raised: this one can wait.
        """

        def work() -> None:
            listen(self.engine, envelope_of(request), request.body, lambda: True)

        try:
            await self._worker.do(Urgency.SPOOL, work)
        except (StoreError, ProtectionUnreadable):
            raise
        except HarnessUnknown:
            return "no such harness"
        except Exception as error:  # One letter that cannot be taken in must not keep the others waiting.
            if isinstance(error, OSError) and error.errno in OUT_OF_RESOURCES:
                raise
            self._log.exception("a spooled hook event could not be taken in")
            return _place_of(error)
        return ""

    def _hold(self, request: wire.Request) -> None:
        try:
            name = spool.hold(self.home, request)
            self._held[name] = time.monotonic() + HELD_TIME
        except OSError as error:
            self._log.warning("a letter could not be kept in the spool: %s", error)

    def _prune(self) -> maintain.Pruned:
        days = self._loaded(None).continuity.retention_days
        path, now = self.home / "store.db", _now()
        drop_copies(path, self.home / "backups", now - days * DAY_MS)
        drop_set_aside(path, now)
        maintain.redate(self.engine)
        projects.register_known(self.engine.store, _now())
        return maintain.prune(self.engine, days)

    def _note_held(self) -> None:
        if self._store is not None:
            self._store.note_held(_now())

    def _rewrite(self) -> bool:
        loaded = self._loaded(None)
        if loaded.unreadable is not None:
            return False  # Its lists are not known; what would be written by none of them had to be redone.
        engine = self.engine
        redactor = redactor_of(engine.store, lists_of(loaded), engine.new_secret)
        return rewrite(engine.store, self.home, redactor, _now())

    def _forget(self, told: bytes) -> dict[str, object]:
        choice = forget.choice_of(json.loads(told))
        if choice is None:
            return {"error": "it is not clear what to forget"}
        try:
            forgotten = forget.forget(self.engine.store, self.home, choice, _now())
        except HoldfastError as error:
            return {"error": error.message, "hint": error.hint}
        return asdict(forgotten)

    def _live(self) -> list[Session]:
        return self.engine.store.live_sessions()

    def _read_on(self, key: str) -> None:
        """Read a session on, unless it ended while others were read."""
        session = self.engine.store.session(key)
        if session is None or session.phase is not Phase.LIVE or self.engine.is_stopped(session.project):
            return
        path = Path(session.transcript)
        if isinstance(find(str(path), (path.parent,)), Readable):
            read_on(self.engine, key, session.harness, session.project, path, lambda: True)

    def _config(self, project: Project) -> Config:
        """The settings as the job at hand found them: read once for a letter, however often it asks."""
        if self._settings_of != self._worker.begun:
            self._settings, self._settings_of = {}, self._worker.begun
        if project not in self._settings:
            self._settings[project] = self._loaded(project)
        return self._settings[project]

    def _loaded(self, project: Project | None) -> Config:
        """The settings as they are now. What is wrong with them is logged once, until it changes."""
        root = Path(project.root) if project else None
        project_id = project.project_id if project else None
        loaded = config.load(self.home, root, project_id, os.environ)
        unreadable = loaded.config.unreadable
        problems = (*((unreadable.notice,) if unreadable else ()), *loaded.warnings)
        self._report(project.root if project else "", problems)
        if project is not None and unreadable is not None:
            self._stopped_projects[project] = unreadable
        elif project is not None:
            self._stopped_projects.pop(project, None)
        return loaded.config

    def _report(self, key: str, problems: tuple[str, ...]) -> None:
        """Log what is new among the problems with the settings that were read for a project, or for none."""
        before = self._reported.get(key, ())
        if problems == before:
            return
        known = {problem for each in list(self._reported.values()) for problem in each}
        self._reported[key] = problems
        for problem in problems:
            if problem not in known:
                self._log.warning("%s", problem)
        if before and not problems:
            self._log.info("the settings%s can be used again", f" of {key}" if key else "")


def envelope_of(request: wire.Request) -> Envelope:
    """What the hook said about its letter."""
    fields = request.fields
    at, (pid, _, start) = fields.get("at", ""), fields.get("process", "").partition(" ")
    return Envelope(
        id=fields.get("id", ""),
        harness=fields.get("harness", ""),
        at=_whole_number(at, LATEST) or _now(),
        process=process_of(pid, start),
        previous=fields.get("previous", ""),
        environment={name[4:]: value for name, value in fields.items() if name.startswith("env.")},
    )


def _received_now(envelope: Envelope) -> Envelope:
    """An envelope that came straight from its hook: one whose clock is off is dated by ours."""
    now = _now()
    return envelope if abs(envelope.at - now) <= CLOCK_SKEW_MS else replace(envelope, at=now)


def process_of(pid: str, start: str) -> Process | None:
    """The harness's process; where it was not told when it started, we ask while it still lives."""
    number = _whole_number(pid, LARGEST_PID)
    if not number:
        return None
    return Process(number, _whole_number(start, LARGEST_START) or start_of(number))


def _whole_number(text: str, most: int) -> int:
    """The number that is written there; 0 if it is none, or larger than that."""
    # Not by `isdigit` alone: "²" is a digit, and no number.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return 0
    return int(text) if int(text) <= most else 0


def _place_of(error: Exception) -> str:
    """Which error it is and where it was raised; its message may hold text of the letter."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_qualname}" if place else ""
    return f"{type(error).__name__}{where}"


def _now() -> int:
    return time.time_ns() // 1_000_000
