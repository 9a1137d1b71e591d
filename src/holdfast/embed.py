"""Embed: sessions for people who write their own agent loop.

A session stores every message in a log that outlives the process, knows how full its window is, asks the
agent in time to write down what must last, and compacts when the window is full:

    store = embed.open_store()
    session = store.load("holdfast:main:main", window=200_000)
    session.ask("Fix the parser.")
    request = session.request("You are a coding agent.")
    response = client.messages.create(system=request.system, messages=request.messages, ...)
    for call in session.answer(response):
        session.returned(call.id, run(call.name, call.arguments))

`docs/your-own-agent.md` is the tutorial. Which model answers, and with what tools, is not known here.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast
from weakref import WeakSet

from holdfast import config, harnesses, models
from holdfast.core.agent_log import records
from holdfast.core.agent_log.context import Turn, turns_of, without_past
from holdfast.core.agent_log.providers import Call, Json, anthropic, calls_of, message_of, openai
from holdfast.core.agent_log.records import Log, Record, path_to, record_id
from holdfast.core.agent_log.summary import Failed, Material, Written
from holdfast.core.events.world import Project
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Process
from holdfast.core.text.strings import shortened
from holdfast.engine.agent_log.append import Owner, append
from holdfast.engine.agent_log.open_session import OpenSession, Summarize
from holdfast.engine.agent_log.transfer import Inherited, bring_in, inherit, own_key
from holdfast.engine.briefing.pressure_warning import Fill
from holdfast.engine.engine import Engine
from holdfast.engine.home_store import open_session_store, read_only_sessions
from holdfast.engine.liveness import start_of
from holdfast.engine.models import Means, is_configured
from holdfast.engine.models import summarize as summarize_by_model
from holdfast.engine.privacy.forget import settle_if_alone
from holdfast.engine.repository import projects
from holdfast.errors import AnswerUnreadable, HoldfastError, NotThere, StoreReadOnly
from holdfast.harnesses.base import FoundLog
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

__all__ = [
    "Call",
    "Failed",
    "Fill",
    "Material",
    "Outline",
    "Record",
    "Request",
    "Session",
    "SessionInfo",
    "SessionStore",
    "Written",
    "anthropic",
    "open_source",
    "open_store",
    "openai",
]

Shape: TypeAlias = Callable[[Sequence[Turn]], list[Json]]
"""How a provider expects turns: `anthropic` or `openai`."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to send to the model, and how full its window will be."""

    system: str
    messages: list[Any]
    fill: Fill


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list; times are milliseconds since 1970."""

    key: str
    updated_at: int
    created_at: int = 0
    model: str = ""
    tokens: int = 0
    compactions: int = 0


class SessionStore(Protocol):
    """Where sessions are stored."""

    def load(self, key: str = "", *, window: int = 0) -> Session:
        """The session with that key, new if there is none; without a key, the one that the settings name.

        `window` is the model's window in tokens, needed if its name is unknown.
        """
        ...

    def save(self, session: Session) -> None:
        """Store a session as it is; one of another program with its whole log, under a key of Holdfast's.

        `agent:main:main` becomes `holdfast:main:main`.
        """
        ...

    def append(self, key: str, *new_records: Record) -> None:
        """Append records to a session's log; records that it already holds change nothing."""
        ...

    def list(self) -> list[SessionInfo]:
        """All sessions, the latest first."""
        ...

    def close(self) -> None:
        """Wait for running work, then close the store."""
        ...


def open_store(
    home: Path | None = None,
    *,
    project: Path | None = None,
    summarize: Summarize | None = None,
    executor: Executor | None = None,
) -> SessionStore:
    """The store in the Holdfast home, created if there is none. Use it from any thread, one at a time.

    `project` is the directory that the agent works in. `summarize` writes summaries instead of the model that
    the settings name, in a thread of `executor`. `session.store` may name another store.
    """
    where = home or config.home(os.environ)
    read_only = read_only_sessions(where)
    if read_only is not None:
        return open_source(read_only if read_only.name else None, "jsonl")
    engine = _engine_for(where, _database(where))
    directory = projects.at(engine.store, str((project or Path.cwd()).absolute()), engine.clock())
    summarizer = summarize or _by_settings(where, engine, directory)
    return _Own(engine, directory, summarizer, executor or ThreadPoolExecutor(1, "holdfast"))


def open_source(source: Path | None = None, log_format: str = "") -> SessionStore:
    """The sessions that another program stores at a path, by default its usual one; they can only be read."""
    reader = harnesses.log_reader()
    if log_format not in ("", *reader.log_formats):
        raise HoldfastError(f"`{log_format}` is not a log format", f"one of: {', '.join(reader.log_formats)}")
    places = (source,) if source else reader.log_sources(Path.home(), os.environ)
    return _Foreign(tuple(log for place in places for log in reader.find_logs(place, log_format)))


class Session:
    """One conversation. A method that adds something returns once a killed process can no longer lose it."""

    def __init__(
        self,
        key: str,
        log: OpenSession | Log,
        lock: AbstractContextManager[bool],
        inherited: Inherited | None = None,
    ) -> None:
        """Created by a store; with a `Log` it can only be read. `inherited`: what it just took over."""
        self.key = key
        self.inherited = inherited
        self._log = log
        self._lock = lock

    @property
    def records(self) -> tuple[Record, ...]:
        """The records of the current window up to the last one; earlier ones are in the log."""
        if isinstance(self._log, Log):
            return without_past(path_to(self._log.records))
        return self._log.path

    @property
    def fill(self) -> Fill:
        """How full the window will be with the next request."""
        with self._lock:
            return self._open.fill

    @property
    def flush_actioned(self) -> bool:
        """Whether the agent wrote something down since it was last asked to."""
        return self._open.state.flush.actioned

    def messages(self, shape: Shape = anthropic) -> list[Any]:
        """The messages for the model as they are now; `request` compacts and adds reminders first."""
        return shape(turns_of(self.records))

    def ask(self, content: str | Sequence[Mapping[str, object]]) -> Record:
        """Add the user's message: a text, or blocks `{"type": "text", …}` and `{"type": "image", …}`."""
        return self._say({"role": "user", "content": content, "timestamp": _now()})

    def request(self, system: str = "", shape: Shape = anthropic) -> Request:
        """What to send next. Compacts first if the window is full, and adds reminders that are due."""
        with self._lock:
            fill = self._open.make_ready()
            line = self._open.system_line(fill)
            return Request("\n\n".join(filter(None, (system, line))), self.messages(shape), fill)

    def answer(self, response: object) -> tuple[Call, ...]:
        """Add the model's answer, from its SDK or as JSON, with its token usage; returns the tools to call.

        `AnswerUnreadable` if it is not an answer, such as a provider's error; then nothing is stored.
        """
        message = message_of(_as_mapping(response), _now())
        if isinstance(message, Failed):
            raise AnswerUnreadable(f"this is not a model's answer: {message.reason}", _ANSWERS)
        return calls_of(self._say(message))

    def returned(
        self, call: str, content: str | Sequence[Mapping[str, object]], *, ok: bool = True
    ) -> Record:
        """Add a tool's result; `NotThere` if no answer in the session made that call."""
        with self._lock:
            tool_call = self._open.called(call)
        if tool_call is None:
            hint = "pass the `id` of a call that `answer` returned"
            raise NotThere(f"no answer in the session `{self.key}` made a call `{shortened(call, 80)}`", hint)
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        message = {"role": "toolResult", "toolCallId": call, "toolName": tool_call.name, "content": blocks}
        return self._say({**message, "isError": not ok, "timestamp": _now()})

    def note(self, kind: str, data: object) -> Record:
        """Store something for yourself; the model does not see it."""
        return self._add(records.CUSTOM, {"customType": kind, "data": data})

    def switch_model(self, provider: str, model: str) -> Record:
        """Another model answers from here on."""
        return self._add(records.MODEL_CHANGE, {"provider": provider, "modelId": model})

    def set_thinking_level(self, level: str) -> Record:
        """The model uses this thinking level from here on."""
        return self._add(records.THINKING_LEVEL_CHANGE, {"thinkingLevel": level})

    def start_anew(self) -> Record:
        """The conversation begins again; what came before stays in the log."""
        return self._add(records.RESET, {"reason": "new"})

    def go_back(self, id: str) -> None:
        """Continue from an earlier record; the records after it stay in the log, on their own branch.

        `NotThere` if the session has no such record.
        """
        with self._lock:
            self._open.go_back(id)

    def should_compact(self) -> bool:
        """Whether the window is so full that `request` would compact first."""
        with self._lock:
            return bool(self._open.path) and self._open.is_full

    def latest_checkpoint(self) -> Outline | None:
        """The last checkpoint's summary and lists; None if there is none yet."""
        with self._lock:
            return self._open.latest_checkpoint()

    def compact(self) -> None:
        """Compact now, however full the window is."""
        with self._lock:
            self._open.compact()

    def settle(self) -> None:
        """Wait for a summary that a model is writing in the background, and store it."""
        with self._lock:
            self._open.settle()

    def _say(self, message: Mapping[str, object]) -> Record:
        return self._add(records.MESSAGE, {"message": message})

    def _add(self, kind: str, fields: Mapping[str, object]) -> Record:
        with self._lock:
            return self._open.add(kind, fields)

    @property
    def _open(self) -> OpenSession:
        if isinstance(self._log, Log):
            raise StoreReadOnly(f"the session `{self.key}` belongs to another program", _TAKE_IT)
        return self._log

    def taken_from(self) -> Log | None:
        """The whole log of a read-only session; None for any other."""
        return self._log if isinstance(self._log, Log) else None


_TAKE_IT: Final = "`save` it in your own store, and continue with the session that this store loads"
_ANSWERS: Final = "pass what the SDK of Anthropic or OpenAI returns, or the JSON of its API"
_MOST_SESSIONS: Final = 100_000


class _Own:
    """Sessions in the store of a Holdfast home."""

    def __init__(
        self, engine: Engine, project: Project, summarize: Summarize | None, executor: Executor
    ) -> None:
        self._engine = engine
        self._project = project
        self._summarize = summarize
        self._executor = executor
        self._lock = threading.RLock()
        self._opened = WeakSet[OpenSession]()

    def load(self, key: str = "", *, window: int = 0) -> Session:
        with self._lock:
            default_key = self._engine.config(self._project).session.default_key
            owner = self._owner(key or own_key(default_key), window)
            inherited = inherit(self._engine, owner, os.environ)
            open_session = OpenSession(self._engine, owner, self._summarize, self._executor)
            self._opened.add(open_session)
            return Session(owner.key, open_session, self._lock, inherited)

    def save(self, session: Session) -> None:
        with self._lock:
            log = session.taken_from()
            if log is None:
                session.settle()
            elif log.records:
                bring_in(self._engine, self._owner(own_key(session.key)), log)

    def append(self, key: str, *new_records: Record) -> None:
        with self._lock:
            append(self._engine, self._owner(key), new_records)

    def list(self) -> list[SessionInfo]:
        with self._lock:
            sessions = self._engine.store.logged_sessions(_MOST_SESSIONS)
        return [
            SessionInfo(
                session.key,
                session.last_event_at,
                session.started_at,
                session.model,
                session.pressure.used,
                session.window,
            )
            for session in sessions
        ]

    def close(self) -> None:
        with self._lock:
            for open_session in tuple(self._opened):
                open_session.settle()
            self._executor.shutdown()
            self._engine.store.close()

    def _owner(self, key: str, window: int = 0) -> Owner:
        return Owner(key, self._project, Process(os.getpid(), start_of(os.getpid())), window)


class _Foreign:
    """Sessions of another program."""

    def __init__(self, logs: tuple[FoundLog, ...]) -> None:
        self._logs = logs

    def load(self, key: str = "", *, window: int = 0) -> Session:  # noqa: ARG002 - a read-only session has no window
        log_source = next((log for log in self._logs if key in ("", log.key, log.session)), None)
        if log_source is None:
            raise HoldfastError(f"there is no session `{key}`", f"there are {len(self._logs)} others")
        log = harnesses.log_reader().read_log(log_source)
        return Session(log_source.key, log, threading.RLock())

    def save(self, session: Session) -> None:
        raise StoreReadOnly(f"the session `{session.key}` cannot be stored there", _TAKE_IT)

    def append(self, key: str, *new_records: Record) -> None:  # noqa: ARG002 - the same for all
        raise StoreReadOnly(f"the session `{key}` belongs to another program", _TAKE_IT)

    def list(self) -> list[SessionInfo]:
        return [SessionInfo(log.key, log.updated_at) for log in self._logs]

    def close(self) -> None:
        """There is nothing to close."""


def _by_settings(where: Path, engine: Engine, project: Project) -> Summarize | None:
    """The model that the settings name for summaries; None if they name none."""
    if not is_configured(engine.config(project)):
        return None

    def ask(about: Material) -> Written | Failed:
        # This runs in another thread, so it needs its own connection.
        with closing(_database(where)) as store:
            return summarize_by_model(
                _engine_for(where, store), project, about, Means(os.environ, time.sleep)
            )

    return ask


def _database(where: Path) -> Store:
    store = open_session_store(where, _now())
    with ExitStack() as undo:
        undo.callback(store.close)
        settle_if_alone(store, where, _now())
        undo.pop_all()
    return store


def _engine_for(where: Path, store: Store) -> Engine:
    return Engine(
        store=store,
        harness=harnesses.get,
        config=partial(_config, where),
        user_home=Path.home(),
        clock=_now,
        new_id=lambda: record_id(_now(), secrets.token_bytes(4)),
        counter=cache(models.counter),
        home=where,
    )


def _as_mapping(response: object) -> Mapping[str, object]:
    """An answer as JSON fields, whichever SDK returned it."""
    if isinstance(response, Mapping):
        return cast("Mapping[str, object]", response)
    for name in ("to_dict", "model_dump"):
        if callable(give := getattr(response, name, None)):
            return cast("Mapping[str, object]", give())
    raise AnswerUnreadable(
        f"this is not a model's answer but a value of type `{type(response).__name__}`", _ANSWERS
    )


def _config(home: Path, project: Project) -> config.Config:
    return config.load(home, Path(project.root), project.project_id, os.environ).config


def _now() -> int:
    return time.time_ns() // 1_000_000
