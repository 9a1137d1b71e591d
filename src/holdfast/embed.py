"""Embed: sessions for people who write their own agent loop.

A session keeps every message in a log that outlives the process, knows how full its window is, asks the agent
in time to write down what must last, and makes room when the window is full:

    store = embed.open_store()
    session = store.load("holdfast:main:main", window=200_000)
    session.ask("Fix the parser.")
    request = session.request("You are a coding agent.")
    response = client.messages.create(system=request.system, messages=request.messages, ...)
    for call in session.answer(response):
        session.returned(call.id, run(call.name, call.arguments))

`docs/your-own-agent.md` tells it from the start. Which model answers, and with what tools, is not known here.
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
from holdfast.core.agent_log.provider_answers import Call, calls_of, message_of
from holdfast.core.agent_log.provider_messages import Json, anthropic, openai
from holdfast.core.agent_log.records import Log, Record, path_to, record_id
from holdfast.core.agent_log.summary import Failed, Material, Written
from holdfast.core.events.world import Project
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Process
from holdfast.core.text.strings import shortened
from holdfast.engine.agent_log.append import Owner, append
from holdfast.engine.agent_log.compact import Summarize
from holdfast.engine.agent_log.inherit import Inherited, bring_in, inherit, own_key
from holdfast.engine.agent_log.open_session import OpenSession
from holdfast.engine.briefing.pressure_warning import Fill
from holdfast.engine.engine import Engine
from holdfast.engine.liveness.processes import start_of
from holdfast.engine.models.summarize import Means, is_configured
from holdfast.engine.models.summarize import summarize as summarize_by_model
from holdfast.engine.privacy.forget import settle_if_alone
from holdfast.engine.repository import projects
from holdfast.errors import AnswerUnreadable, HoldfastError, NotThere, StoreReadOnly
from holdfast.harnesses.base import FoundLog
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store as open_database

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
"""How turns look to a provider: `anthropic` or `openai`."""


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
    """Where sessions are kept."""

    def load(self, key: str = "", *, window: int = 0) -> Session:
        """The session of that key, new if there is none; without a key, the one that the settings name.

        `window` is how many tokens the model holds, where its name does not tell.
        """
        ...

    def save(self, session: Session) -> None:
        """Keep a session as it is; one of another program with its whole log, under a key that is ours.

        `agent:main:main` becomes `holdfast:main:main`.
        """
        ...

    def append(self, key: str, *given: Record) -> None:
        """Put records at the end of a session's log; those that it holds already change nothing."""
        ...

    def list(self) -> list[SessionInfo]:
        """All sessions, the latest first."""
        ...

    def close(self) -> None:
        """Wait for what is under way, and let go of the store."""
        ...


def open_store(
    home: Path | None = None,
    *,
    project: Path | None = None,
    summarize: Summarize | None = None,
    executor: Executor | None = None,
) -> SessionStore:
    """The store in the Holdfast home, made where there is none; from any thread, one at a time.

    `project` is the directory that the agent works in. `summarize` is asked for summaries in the place of the
    model that the settings name, in a thread of `executor`.
    """
    where = home or config.home(os.environ)
    engine = _desk(where, _database(where))
    directory = projects.at(engine.store, str((project or Path.cwd()).absolute()), engine.clock())
    asked = summarize or _by_settings(where, engine, directory)
    return _Own(engine, directory, asked, executor or ThreadPoolExecutor(1, "holdfast"))


def open_source(source: Path | None = None, log_format: str = "") -> SessionStore:
    """The sessions that another program keeps at a place, by default in its own; they are only read."""
    reader = harnesses.log_reader()
    if log_format not in ("", *reader.log_formats):
        raise HoldfastError(
            f"`{log_format}` is no format of logs", f"one of: {', '.join(reader.log_formats)}"
        )
    places = (source,) if source else reader.log_sources(Path.home(), os.environ)
    return _Foreign(tuple(log for place in places for log in reader.find_logs(place, log_format)))


class Session:
    """One conversation. Every method that adds something returns when that is safe from a killed process."""

    def __init__(
        self,
        key: str,
        held: OpenSession | Log,
        lock: AbstractContextManager[bool],
        inherited: Inherited | None = None,
    ) -> None:
        """Made by a store; one that holds a log is only read. `inherited`: what it just began with."""
        self.key = key
        self.inherited = inherited
        self._held = held
        self._lock = lock

    @property
    def records(self) -> tuple[Record, ...]:
        """The way to the last record, from the window on that it stands in; earlier ones are in the log."""
        if isinstance(self._held, Log):
            return without_past(path_to(self._held.records))
        return self._held.path

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
        """What the model is told, as it is; `request` does what is due before."""
        return shape(turns_of(self.records))

    def ask(self, content: str | Sequence[Mapping[str, object]]) -> Record:
        """A person's words: a text, or blocks `{"type": "text", …}` and `{"type": "image", …}`."""
        return self._say({"role": "user", "content": content, "timestamp": _now()})

    def request(self, system: str = "", shape: Shape = anthropic) -> Request:
        """What to send next. Makes room first if the window is full, and says what is due."""
        with self._lock:
            fill = self._open.make_ready()
            line = self._open.system_line(fill)
            return Request("\n\n".join(filter(None, (system, line))), self.messages(shape), fill)

    def answer(self, response: object) -> tuple[Call, ...]:
        """The model's answer, as its SDK or its JSON gives it, with what it took; the tools to call.

        `AnswerUnreadable` if it is no answer, as where a provider returned an error; then nothing is kept.
        """
        message = message_of(_as_mapping(response), _now())
        if isinstance(message, Failed):
            raise AnswerUnreadable(f"that is no answer of a model: {message.reason}", _ANSWERS)
        return calls_of(self._say(message))

    def returned(
        self, call: str, content: str | Sequence[Mapping[str, object]], *, ok: bool = True
    ) -> Record:
        """What a tool that was called returned; `NotThere` if no answer of the session called it."""
        with self._lock:
            called = self._open.called(call)
        if called is None:
            hint = "give the `id` of a call that `answer` returned"
            raise NotThere(f"no answer in the session `{self.key}` made a call `{shortened(call, 80)}`", hint)
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        said = {"role": "toolResult", "toolCallId": call, "toolName": called.name, "content": blocks}
        return self._say({**said, "isError": not ok, "timestamp": _now()})

    def note(self, kind: str, data: object) -> Record:
        """Something that you keep for yourself; the model is not told of it."""
        return self._add(records.CUSTOM, {"customType": kind, "data": data})

    def switch_model(self, provider: str, model: str) -> Record:
        """Another model answers from here on."""
        return self._add(records.MODEL_CHANGE, {"provider": provider, "modelId": model})

    def set_thinking_level(self, level: str) -> Record:
        """The model thinks so hard from here on."""
        return self._add(records.THINKING_LEVEL_CHANGE, {"thinkingLevel": level})

    def start_anew(self) -> Record:
        """The conversation begins again; what came before stays in the log."""
        return self._add(records.RESET, {"reason": "new"})

    def go_back(self, id: str) -> None:
        """Go on from an earlier record; what came behind it stays in the log, on a branch of its own.

        `NotThere` if the session has no such record.
        """
        with self._lock:
            self._open.go_back(id)

    def should_compact(self) -> bool:
        """Whether the window is so full that `request` would make room first."""
        with self._lock:
            return bool(self._open.path) and self._open.is_full

    def latest_checkpoint(self) -> Outline | None:
        """What the last checkpoint says, its summary and its lists; None if there is none yet."""
        with self._lock:
            return self._open.latest_checkpoint()

    def compact(self) -> None:
        """Make room now, however full the window is."""
        with self._lock:
            self._open.compact()

    def settle(self) -> None:
        """Wait for a summary that a model writes behind your back, and keep it."""
        with self._lock:
            self._open.settle()

    def _say(self, message: Mapping[str, object]) -> Record:
        return self._add(records.MESSAGE, {"message": message})

    def _add(self, kind: str, said: Mapping[str, object]) -> Record:
        with self._lock:
            return self._open.add(kind, said)

    @property
    def _open(self) -> OpenSession:
        if isinstance(self._held, Log):
            raise StoreReadOnly(f"the session `{self.key}` belongs to another program", _TAKE_IT)
        return self._held

    def taken_from(self) -> Log | None:
        """The whole log of a session that is only read."""
        return self._held if isinstance(self._held, Log) else None


_TAKE_IT: Final = "`save` it in a store of yours, and go on with what that loads"
_ANSWERS: Final = "give what the SDK of Anthropic or OpenAI returns, or the JSON of its API"
_MOST_SESSIONS: Final = 100_000


class _Own:
    """Sessions in the store of a Holdfast home."""

    def __init__(
        self, engine: Engine, project: Project, summarize: Summarize | None, executor: Executor
    ) -> None:
        self._desk = engine
        self._project = project
        self._summarize = summarize
        self._executor = executor
        self._lock = threading.RLock()
        self._opened = WeakSet[OpenSession]()

    def load(self, key: str = "", *, window: int = 0) -> Session:
        with self._lock:
            owner = self._owner(key or own_key(self._desk.config(self._project).session.default_key), window)
            inherited = inherit(self._desk, owner, os.environ)
            held = OpenSession(self._desk, owner, self._summarize, self._executor)
            self._opened.add(held)
            return Session(owner.key, held, self._lock, inherited)

    def save(self, session: Session) -> None:
        with self._lock:
            log = session.taken_from()
            if log is None:
                session.settle()
            elif log.records:
                bring_in(self._desk, self._owner(own_key(session.key)), log)

    def append(self, key: str, *given: Record) -> None:
        with self._lock:
            append(self._desk, self._owner(key), given)

    def list(self) -> list[SessionInfo]:
        with self._lock:
            found = self._desk.store.logged_sessions(_MOST_SESSIONS)
        return [
            SessionInfo(
                each.key, each.last_event_at, each.started_at, each.model, each.pressure.used, each.window
            )
            for each in found
        ]

    def close(self) -> None:
        with self._lock:
            for held in tuple(self._opened):
                held.settle()
            self._executor.shutdown()
            self._desk.store.close()

    def _owner(self, key: str, window: int = 0) -> Owner:
        return Owner(key, self._project, Process(os.getpid(), start_of(os.getpid())), window)


class _Foreign:
    """Sessions of another program."""

    def __init__(self, logs: tuple[FoundLog, ...]) -> None:
        self._logs = logs

    def load(self, key: str = "", *, window: int = 0) -> Session:  # noqa: ARG002 - nothing is asked of what is only read
        found = next((log for log in self._logs if key in ("", log.key, log.session)), None)
        if found is None:
            raise HoldfastError(f"there is no session `{key}`", f"there are {len(self._logs)} others")
        log = harnesses.log_reader().read_log(found)
        return Session(found.key, log, threading.RLock())

    def save(self, session: Session) -> None:
        raise StoreReadOnly(f"the session `{session.key}` cannot be kept there", _TAKE_IT)

    def append(self, key: str, *given: Record) -> None:  # noqa: ARG002 - the same for all
        raise StoreReadOnly(f"the session `{key}` belongs to another program", _TAKE_IT)

    def list(self) -> list[SessionInfo]:
        return [SessionInfo(log.key, log.updated_at) for log in self._logs]

    def close(self) -> None:
        """Nothing is held."""


def _by_settings(where: Path, engine: Engine, project: Project) -> Summarize | None:
    """Whoever the settings say is asked for summaries; None if they name nobody."""
    if not is_configured(engine.config(project)):
        return None

    def ask(about: Material) -> Written | Failed:
        # In another thread, and so through a connection of its own.
        with closing(_database(where)) as store:
            return summarize_by_model(_desk(where, store), project, about, Means(os.environ, time.sleep))

    return ask


def _database(where: Path) -> Store:
    store = open_database(where / "store.db", where / "backups", _now())
    with ExitStack() as undo:
        undo.callback(store.close)
        settle_if_alone(store, where, _now())
        undo.pop_all()
    return store


def _desk(where: Path, store: Store) -> Engine:
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
    """An answer as JSON has it, whichever SDK gave it."""
    if isinstance(response, Mapping):
        return cast("Mapping[str, object]", response)
    for name in ("to_dict", "model_dump"):
        if callable(give := getattr(response, name, None)):
            return cast("Mapping[str, object]", give())
    raise AnswerUnreadable(f"that is no answer of a model, but of type `{type(response).__name__}`", _ANSWERS)


def _config(home: Path, project: Project) -> config.Config:
    return config.load(home, Path(project.root), project.project_id, os.environ).config


def _now() -> int:
    return time.time_ns() // 1_000_000
