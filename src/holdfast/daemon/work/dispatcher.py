"""The dispatcher: passes requests from the listeners to the engine, and answers back.

It holds the engine, which only the worker's thread may use.
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
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from holdfast import __version__, config, harnesses, hook, models, settings
from holdfast.config import Config, Unreadable
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import NO_LISTS, Lists
from holdfast.core.session.session import Phase, Process
from holdfast.daemon.local import spool, wire
from holdfast.daemon.work.idle_models import IdleModel, return_memory
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.engine import Engine, redactor_of
from holdfast.engine.home_store import HomeStore, open_file, open_named
from holdfast.engine.hook_events import (
    RecordedHook,
    has_grown,
    notice_once,
    read_further,
    record_hook_event,
    reply_if_settled,
    show_status,
)
from holdfast.engine.index import embed_backlog, index_next
from holdfast.engine.liveness import CHECK_STORE, start_of
from holdfast.engine.privacy import forget
from holdfast.engine.privacy.rewrite import rewrite
from holdfast.engine.recording.imported_work import next_derivation
from holdfast.engine.recording.record import CLOCK_SKEW_MS
from holdfast.engine.recording.transcripts import ReadableTranscript, read_on, transcript_access
from holdfast.engine.redaction.redactor import lists_of
from holdfast.engine.repository import projects
from holdfast.engine.sharing import hubs
from holdfast.engine.upkeep import maintain
from holdfast.engine.upkeep.hook_times import note_hook_times
from holdfast.errors import (
    HarnessUnknown,
    HoldfastError,
    ModelError,
    ProtectionUnreadable,
    StoreCorrupt,
    StoreError,
)
from holdfast.files import machine_id
from holdfast.harnesses.base import Envelope
from holdfast.models.base import Count
from holdfast.settings import StoreSettings
from holdfast.stores.base import Store
from holdfast.stores.sqlite import (
    back_up_daily,
    drop_copies,
    drop_set_aside,
    is_daily_backup_due,
    set_aside,
)

if TYPE_CHECKING:
    from holdfast.daemon.work.model_thread import Writing
    from holdfast.daemon.work.sharing_thread import Sharing

T = TypeVar("T")
_Received: TypeAlias = "tuple[RecordedHook | None, bytes | None]"
"""A hook event as it was recorded, if it was, and its reply; None while that is not settled."""

ANSWER_TIME = 0.6
"""How long a hook event may read its transcript before it is answered anyway; the hook waits 1 s."""
SETTLING_TIME = 0.18
"""How long an answer may wait for a record that its transcript is about to show; the hook waits 0.3 s."""
LOOK_AGAIN = 0.03
EMBEDDER_UNUSED_TIME = 900.0
"""How long the embedder stays loaded while nothing uses it."""
COUNTER_UNUSED_TIME = 60.0
"""The same for the token counter: it takes 44 MB, and one prompt or two of each threshold need it. Loading it
again takes a hook 0.3 s."""
LARGEST_PID = (1 << 32) - 1
LARGEST_START = (1 << 63) - 1
LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999, after which no time can be written."""
REFUSALS_MOST = 3
"""A hook event that the store refuses this often while it accepts others is rejected."""
REFUSALS_AT_ONCE = 5
OUT_OF_RESOURCES = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""Errors that no hook event caused."""
QUIET_TIME = 2.0
"""Seconds without a hook event after which transcripts of imported sessions are read."""
HELD_TIME = 15.0
"""Seconds after which a spooled hook event that a project's settings held back is tried again."""


class Dispatcher:
    """Answers hook events and control requests by giving the worker its jobs."""

    def __init__(
        self, home: Path, worker: Worker, stop: asyncio.Event, log: logging.Logger, note: str
    ) -> None:
        self.home = home
        self._worker = worker
        self._stop = stop
        self._log = log
        self._note = note
        self._engine: Engine | None = None
        self._store: HomeStore | None = None
        self._store_settings = StoreSettings()
        """Where the store is that was opened."""
        self._backing_up: threading.Thread | None = None
        self._backup_error: HoldfastError | None = None
        self._settings = dict[Project, Config]()
        self._settings_of = 0
        self._writing: Writing | None = None
        self._sharing: Sharing | None = None
        self._deriving: Generator[None] | None = None
        """The imported session whose work is being derived."""
        self._reported = dict[str, tuple[str, ...]]()
        """Problems with the settings of each project when they were last read."""
        self._lists = NO_LISTS
        self._held = dict[str, float]()
        """Spooled hook events that unreadable settings hold back, and when to try each again."""
        self._stopped = False
        self._stopped_projects = dict[Project, Unreadable]()
        self._opened_at = 0
        self.is_ready = asyncio.Event()
        """Set once the daemon can say everything about itself; hooks are answered before that."""
        self._refusals = dict[str, int]()
        self.troubles = dict[str, str]()
        """The housekeeping tasks that fail now, each with its error."""
        self.http = ""
        self.link: Callable[[], str] = str
        """Makes a one-time login address for a browser; empty if there is no HTTP listener."""
        self.last_used_at = time.monotonic()
        self._embedder = IdleModel(models.embedder, time.monotonic)
        self._token_counter = IdleModel(self._counter, time.monotonic)
        self._hook_times: list[float] = []
        """Milliseconds until each hook event was answered, since they were last noted."""

    def open(self, at: int) -> None:
        """Open the store; a corrupt one is set aside and a new one begun. Worker's thread."""
        self._store_settings = self._loaded(None).store
        store = open_named(self._store_settings) if self._store_settings.url else self._open_file(at)
        (self.home / CHECK_STORE).unlink(missing_ok=True)
        store.leave_log()
        with contextlib.suppress(HoldfastError, OSError):  # Only what is shared needs it.
            machine_id.read_or_make(self.home)
        self._settle(store, at)
        self._opened_at, self._store = at, store
        self._engine = Engine(
            store=store,
            harness=harnesses.get,
            config=self._config,
            user_home=Path.home(),
            clock=_now,
            new_id=lambda: str(uuid.uuid4()),
            home=self.home,
            embedder=self._embedder,
            counter=self._token_counter,
        )

    def _settle(self, store: Store, at: int) -> None:
        """Remove from the store what was forgotten; a failure is logged, as hooks must be answered."""
        try:
            forget.settle(store, self.home, at)
        except HoldfastError as error:
            self._log.error("%s; what was forgotten before may be in the store", error.message)

    def _open_file(self, at: int) -> HomeStore:
        """The store in the home; a corrupt one is set aside and a new one begun."""
        try:
            return self._open_checked(at)
        except StoreCorrupt as error:
            aside = set_aside(self.home / "store.db", at)
            self._log.error("%s; it was set aside as %s and a new store was begun", error.message, aside)
            return open_file(self.home, at)

    def _open_checked(self, at: int) -> HomeStore:
        """The store, checked as a whole first if damage was reported; StoreCorrupt if it is damaged."""
        path = self.home / "store.db"
        store = open_file(self.home, at)
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
        """Close the store. Worker's thread."""
        if self._engine is not None:
            with contextlib.suppress(StoreError, OSError):  # The home may be gone.
                self._note_held()
            self._engine.store.close()

    @property
    def engine(self) -> Engine:
        """The engine; only the worker's thread may use it."""
        if self._engine is None:
            raise RuntimeError("the store is not open yet")
        return self._engine

    async def answer(self, request: wire.Request) -> bytes:
        """The answer to a request."""
        if request.kind == "control":
            await self.is_ready.wait()
            return json.dumps(await self._control(request)).encode()
        if request.kind == "status":
            harness = request.fields.get("harness", "")
            return await self._worker.do(
                Urgency.HOOK_EVENT, lambda: show_status(self.engine, harness, request.body)
            )
        return await self._answer_hook_event(request)

    async def _answer_hook_event(self, request: wire.Request) -> bytes:
        """Record a hook event, and answer as soon as its transcript shows what the answer depends on."""
        self.last_used_at = began = time.monotonic()
        answer_by, settle_by = began + ANSWER_TIME, began + SETTLING_TIME
        envelope = _received_now(envelope_of(request))

        def in_time() -> bool:
            return time.monotonic() < answer_by

        def receive() -> _Received:
            recorded = record_hook_event(self.engine, envelope, request.body, in_time)
            return recorded, reply_if_settled(self.engine, envelope, recorded) if recorded else b""

        def look_again(before: RecordedHook) -> _Received:
            recorded = read_further(self.engine, envelope, before, in_time)
            return recorded, reply_if_settled(self.engine, envelope, recorded)

        def refuse(error: ProtectionUnreadable) -> bytes:
            self._hold(request)
            return notice_once(self.engine, envelope, request.body, error)

        try:
            recorded, reply = await self._worker.do(Urgency.HOOK_EVENT, receive)
            while recorded and reply is None and time.monotonic() < settle_by:
                await asyncio.sleep(LOOK_AGAIN)
                if has_grown(recorded):
                    recorded, reply = await self._worker.do(Urgency.HOOK_EVENT, partial(look_again, recorded))
        except ProtectionUnreadable as error:
            return await self._worker.do(Urgency.HOOK_EVENT, partial(refuse, error))
        finally:
            self._hook_times.append((time.monotonic() - began) * 1000)
        return reply or b""

    def lists(self) -> Lists:
        """The user's redaction lists for all projects; the last known ones while they are unreadable."""
        loaded = self._loaded(None)
        if loaded.unreadable is None:
            self._lists = lists_of(loaded)
        return self._lists

    def unreadable(self) -> list[Unreadable]:
        """The unreadable settings that stop all capture now, or else those that stop single projects."""
        everywhere = self._loaded(None).unreadable
        if everywhere is not None:
            return [everywhere]
        problems = [self._loaded(project).unreadable for project in list(self._stopped_projects)]
        return [each for each in problems if each is not None]

    async def look_at_settings(self) -> None:
        """Notice that the privacy settings became unreadable, or readable again."""
        before, self._stopped = self._stopped, self._loaded(None).unreadable is not None
        marker = self.home / hook.STOPPED
        with contextlib.suppress(OSError):  # On a full or read-only disk hooks store nothing either.
            if self._stopped:
                marker.touch(mode=0o600)
            else:
                marker.unlink(missing_ok=True)
        if before and not self._stopped:
            self._held.clear()
            await self.drain()
            await self.catch_up()

    def is_store_elsewhere(self) -> bool:
        """Whether the settings name another store than the one that was opened."""
        loaded = self._loaded(None)
        return loaded.unreadable is None and loaded.store != self._store_settings

    async def do(self, urgency: Urgency, work: Callable[[], T]) -> T:
        """The result of work that uses the engine."""
        return await self._worker.do(urgency, work)

    async def transcripts_changed(self, paths: Collection[Path]) -> None:
        """Read what was added to these transcripts, each when nothing more urgent is to be done."""
        for key, transcript in (await self.live_transcripts()).items():
            if transcript and Path(transcript) in paths:
                await self._worker.do(Urgency.TRANSCRIPT, partial(self._read_on, key))

    async def drain(self) -> int:
        """Record the hook events in the spool; how many left it."""
        removed, refused = 0, list[tuple[spool.Spooled, Exception]]()
        now = time.monotonic()
        self._held = {name: until for name, until in list(self._held.items()) if until > now}
        for payload in spool.hook_events(self.home, self._held):
            if self._stop.is_set():
                break  # The next daemon records the rest; thousands would hold up the end of this one.
            try:
                reason = "not a request" if payload.request is None else await self._take_in(payload.request)
            except ProtectionUnreadable:
                # It stays until the settings can be read, without the user's text.
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
            removed += 1
        self._refusals = {
            payload.path.name: self._refusals.get(payload.path.name, 0) for payload, _ in refused
        }
        spool.sweep(self.home, _now() - forget.DEAD_AFTER_MS, _now())
        for payload, refusal in refused:
            if removed:  # The store accepted others, so this hook event may be the cause.
                self._refusals[payload.path.name] += 1
            if self._refusals[payload.path.name] < REFUSALS_MOST:
                raise refusal
            self._reject(payload, type(refusal).__name__)
        return removed

    def _reject(self, payload: spool.Spooled, reason: str) -> None:
        spool.reject(self.home, payload, reason)
        self._log.warning("a spooled hook event was rejected: %s", reason)

    async def take_in_all(self) -> dict[str, object]:
        """Record everything that is pending, for a command that needs the current state; the counts."""
        self._held.clear()
        drained = await self.drain()
        await self.catch_up()
        await self._worker.do(Urgency.HOUSEKEEPING, self._note_hook_times)
        return {"hook_events": drained, "checkpoints": await self.take_due_checkpoints(0)}

    async def take_due_checkpoints(self, waited_ms: int) -> int:
        """Take the checkpoints that have been due for that long."""
        return await self._worker.do(
            Urgency.HOUSEKEEPING, lambda: maintain.take_due_checkpoints(self.engine, waited_ms)
        )

    async def finalise_orphans(self) -> list[str]:
        """Close the sessions whose harness is gone."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: maintain.finalise_orphans(self.engine))

    async def prune(self) -> maintain.Pruned:
        """Remove what is past its retention; nothing while that setting cannot be read."""
        if self._stopped:
            return maintain.Pruned(0, 0)
        return await self._worker.do(Urgency.HOUSEKEEPING, self._prune)

    async def rewrite(self) -> bool:
        """Redact a batch of rows that an older redactor wrote; whether there may be more."""
        return await self._worker.do(Urgency.HOUSEKEEPING, self._rewrite)

    async def index(self) -> bool:
        """Index a batch of session texts for search; whether there may be more."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: index_next(self.engine))

    async def derive_import(self) -> bool:
        """Derive a piece of an imported session's work if the daemon is idle; whether there may be more."""
        if self._stopped or time.monotonic() - self.last_used_at < QUIET_TIME:
            return False
        return await self._worker.do(Urgency.HOUSEKEEPING, self._derive_step)

    async def embed(self) -> bool:
        """Embed a batch of documents if very many have no vector; whether there may be more."""
        if self._stopped or not self._loaded(None).recall.vectors:
            return False
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: embed_backlog(self.engine))

    async def rewrite_checkpoints(self) -> None:
        """Rewrite checkpoints and save continuity in the background, by a model if one is configured."""
        # Loaded here, so that the hook that started the daemon need not wait for it.
        from holdfast.daemon.work.model_thread import Writing, is_due

        if await self._worker.do(Urgency.HOUSEKEEPING, lambda: is_due(self.engine)):
            self._writing = self._writing or Writing(self.own_engine, self._log)
            self._writing.begin()

    async def share(self) -> None:
        """Have a thread of its own exchange with hubs, where one was joined or the settings name one."""
        if self._sharing is None and not hubs.are_used(self.home, os.environ, self._loaded(None)):
            return
        # Loaded by those alone who share something.
        from holdfast.daemon.work.sharing_thread import Sharing, access_of

        self._sharing = self._sharing or Sharing(
            self.own_engine,
            access_of(self.home, os.environ),
            self._log,
            Random(),  # noqa: S311 - it keeps machines from coming back at the same moment
        )
        self._sharing.begin()

    def stop_sharing(self) -> None:
        """Begin no further exchange with a hub."""
        if self._sharing is not None:
            self._sharing.stop()

    @contextmanager
    def own_engine(self) -> Generator[Engine]:
        """An engine for another thread than the worker's."""
        with closing(self._own_store()) as store:
            yield replace(self.engine, store=store, config=self._loaded)

    def _own_store(self) -> HomeStore:
        """Another connection to the store that was opened."""
        settings = self._store_settings
        return open_named(settings) if settings.url else open_file(self.home, _now())

    async def prune_records(self) -> bool:
        """Remove a batch of session texts past their retention; whether there may be more."""
        if self._stopped:
            return False
        records = self._loaded(None).records
        removed = await self._worker.do(
            Urgency.HOUSEKEEPING, lambda: maintain.prune_records(self.engine, records)
        )
        return removed == maintain.PASSAGES_AT_ONCE

    async def move_log(self) -> None:
        """Move the store's log into its file while nobody waits."""
        await self._worker.do(Urgency.HOUSEKEEPING, self._move_log)

    async def note_held(self) -> None:
        """Note how much is in the store, so that an emptied store is noticed."""
        await self._worker.do(Urgency.HOUSEKEEPING, self._note_held)

    async def drop_unused_models(self) -> None:
        """Drop the models that nothing has used for a while, with the memory that they took."""
        await self._worker.do(Urgency.HOUSEKEEPING, self._drop_unused_models)

    async def is_store_damaged(self) -> bool:
        """Whether the store as a whole is damaged; reads all of it."""
        return await self._worker.do(Urgency.HOUSEKEEPING, lambda: bool(self.engine.store.check()))

    async def back_up(self) -> None:
        """Make the daily backup in a thread of its own, if it is due and the daemon is quiet.

        Raises the error of the previous backup.
        """
        error, self._backup_error = self._backup_error, None
        if error is not None:
            raise error
        path, backups, at = self.home / "store.db", self.home / "backups", _now()
        quiet_for = time.monotonic() - self.last_used_at
        if self._store_settings.url or not is_daily_backup_due(path, backups, at):
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

    async def live_transcripts(self) -> dict[str, str]:
        """The transcript of each session that has not ended, by the session's key; empty if it has none."""
        return await self._worker.do(Urgency.HOUSEKEEPING, self._live)

    async def catch_up(self) -> None:
        """Read what was added to every live session's transcript."""
        live = await self.live_transcripts()
        await self.transcripts_changed(set(map(Path, live.values())))

    def idle_exit_minutes(self) -> int:
        """After how many minutes without sessions the daemon stops."""
        return self._loaded(None).daemon.idle_exit_minutes

    def http_settings(self) -> settings.Daemon:
        """The settings of the HTTP listener."""
        return self._loaded(None).daemon

    async def _control(self, request: wire.Request) -> dict[str, object]:
        match request.fields.get("verb"):
            case "status":
                return {
                    "pid": os.getpid(),
                    "version": __version__,
                    "endpoint": self._note,
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
                # The spool is recorded first: what is not in the store yet could not be forgotten.
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
        """Record a spooled hook event; the reason why that is impossible, empty if it was recorded.

        Errors that affect every hook event, such as a full disk, are raised: this one can wait.
        """

        def work() -> None:
            record_hook_event(self.engine, envelope_of(request), request.body, lambda: True)

        try:
            await self._worker.do(Urgency.SPOOL, work)
        except (StoreError, ProtectionUnreadable):
            raise
        except HarnessUnknown:
            return "no such harness"
        except Exception as error:  # One bad hook event must not hold up the others.
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
            self._log.warning("a hook event could not be written to the spool: %s", error)

    def _prune(self) -> maintain.Pruned:
        loaded = self._loaded(None)
        days = loaded.continuity.retention_days
        path, now = self.home / "store.db", _now()
        drop_copies(path, self.home / "backups", now - days * DAY_MS)
        drop_set_aside(path, now)
        maintain.redate(self.engine)
        projects.register_known(self.engine.store, _now())
        return maintain.prune(self.engine, days, loaded.records)

    def _drop_unused_models(self) -> None:
        dropped = (
            self._embedder.drop_unused(EMBEDDER_UNUSED_TIME),
            self._token_counter.drop_unused(COUNTER_UNUSED_TIME),
        )
        if any(dropped):
            return_memory()

    def _derive_step(self) -> bool:
        self._deriving = self._deriving or next_derivation(self.engine)
        if self._deriving is None:
            return False
        try:
            next(self._deriving)
        except StopIteration:
            self._deriving = None
        return True

    def _move_log(self) -> None:
        if self._store is not None:
            self._store.move_log()

    def _note_held(self) -> None:
        if self._store is not None:
            self._store.note_held(_now())
        self._note_hook_times()

    def _note_hook_times(self) -> None:
        if self._hook_times:
            times, self._hook_times = self._hook_times, []
            note_hook_times(self.engine.store, _now(), times)

    def _rewrite(self) -> bool:
        loaded = self._loaded(None)
        if loaded.unreadable is not None:
            return False  # The user's lists are unknown; rows rewritten without them would have to be redone.
        engine = self.engine
        redactor = redactor_of(engine.store, lists_of(loaded), engine.new_secret)
        return rewrite(engine.store, self.home, redactor, _now())

    def _forget(self, body: bytes) -> dict[str, object]:
        choice = forget.choice_of(json.loads(body))
        if choice is None:
            return {"error": "the request does not say what to forget"}
        try:
            forgotten = forget.forget(self.engine.store, self.home, choice, _now())
        except HoldfastError as error:
            return {"error": error.message, "hint": error.hint}
        return asdict(forgotten)

    def _live(self) -> dict[str, str]:
        return self.engine.store.live_transcripts()

    def _read_on(self, key: str) -> None:
        """Read what was added to a session's transcript, unless the session ended meanwhile."""
        session = self.engine.store.session(key)
        if session is None or session.phase is not Phase.LIVE or self.engine.is_stopped(session.project):
            return
        path = Path(session.transcript)
        if isinstance(transcript_access(str(path), (path.parent,)), ReadableTranscript):
            read_on(self.engine, key, session.harness, session.project, path, lambda: True)

    def _config(self, project: Project) -> Config:
        """The settings as of the current job: read once for each job, however often they are needed."""
        if self._settings_of != self._worker.begun:
            self._settings, self._settings_of = {}, self._worker.begun
        if project not in self._settings:
            self._settings[project] = self._loaded(project)
        return self._settings[project]

    def _loaded(self, project: Project | None) -> Config:
        """The settings as they are now. Their problems are logged once, until they change."""
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
        """Log the new problems with the settings of a project (by its root) or of all (empty)."""
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
    """The envelope that the hook put around its payload."""
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
    """An envelope that came directly from a hook; if the hook's clock is off, it gets the daemon's time."""
    now = _now()
    return envelope if abs(envelope.at - now) <= CLOCK_SKEW_MS else replace(envelope, at=now)


def process_of(pid: str, start: str) -> Process | None:
    """The harness's process; if its start time was not sent, it is looked up while the process runs."""
    number = _whole_number(pid, LARGEST_PID)
    if not number:
        return None
    return Process(number, _whole_number(start, LARGEST_START) or start_of(number))


def _whole_number(text: str, most: int) -> int:
    """The text as a number; 0 if it is none, or larger than `most`."""
    # `isdigit` alone is not enough: "²" is a digit but not a number.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return 0
    return int(text) if int(text) <= most else 0


def _place_of(error: Exception) -> str:
    """The error's type and where it was raised, without its message, which may hold the payload's text."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_qualname}" if place else ""
    return f"{type(error).__name__}{where}"


def _now() -> int:
    return time.time_ns() // 1_000_000
