"""Models: have a configured model write the handover of a session, and count what it costs.

Tokens and cost are counted by day and model; a day's limit stops further questions. An interim checkpoint
stays as it was taken; the model's text, once it is checked against the session, becomes the words of another
one beside it, and if there is none, the checkpoint by rule says why. Each is tried once, the newest first,
after the turn in which it was taken: during a turn, calls still lack their results. A model is slow, so this
never runs where the user waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from holdfast import models
from holdfast.core.agent_log.context import NO_OUTPUT, AgentTurn, Result, Text, ToolCall, Turn, UserTurn
from holdfast.core.agent_log.records import OWN
from holdfast.core.agent_log.summary import Failed, Material, Written, answer, answer_schema, question
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Compacted,
    Event,
    Prompt,
    Replied,
    ToolCalled,
    ToolReturned,
    texts_of,
)
from holdfast.core.events.world import Project
from holdfast.core.session.checkpoint import Checkpoint, record_id
from holdfast.core.session.session import Phase, Session, Trigger
from holdfast.core.text.strings import one_line, shortened
from holdfast.engine.engine import Engine
from holdfast.engine.index import checkpoint_document
from holdfast.errors import ModelBusy, ModelError
from holdfast.files import atomic
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Address, ModelAnswer, Writer
from holdfast.models.command import CommandWriter
from holdfast.settings import Config, Models
from holdfast.stores.base import Store

COMMAND: Final = "command"
FOLDER: Final = "models"
"""The folder of the home in which commands run; sessions started there are never captured."""
SCHEMA_WORD: Final = "{schema}"
"""The word of a command that is replaced by the path of the answer's schema."""
LONGEST_PAUSE: Final = 30.0
CHARS_PER_TOKEN: Final = 3
"""Fewer than usual: it is better to reach a limit too early."""
_Read = TypeVar("_Read")
_PASSED_ON: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "SHELL")


@dataclass(frozen=True, slots=True)
class Means:
    """What asking needs besides an engine: the environment, which may hold a key, and a way to wait."""

    environment: Mapping[str, str]
    pause: Callable[[float], None]
    report: Callable[[str], object] = str
    """Called for each rejected answer with the reason; another attempt may still succeed."""


def is_configured(config: Config) -> bool:
    """Whether the settings name a model to ask."""
    return bool(config.checkpoint.model)


def summarize(engine: Engine, project: Project, material: Material, means: Means) -> Written | Failed:
    """A model's summary, or why there is none."""
    return ask(
        engine,
        project,
        ModelQuestion(question(material), material.main_model, answer_schema()),
        lambda text, model: answer(text, material, model),
        means,
    )


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """The prompt, the session's own model, and the JSON Schema of the answer."""

    text: str
    main_model: str = ""
    schema: str = ""


def ask(
    engine: Engine,
    project: Project,
    question: ModelQuestion,
    read: Callable[[str, str], _Read | Failed],
    means: Means,
) -> _Read | Failed:
    """The first answer that `read` accepts, or why there is none; `read` also gets the model's name."""
    config = engine.config(project)
    # The conversation may hold a secret that only its own session may know.
    prompt = engine.redactor(project).redacted("", question.text)
    reasons: list[str] = []
    for name in _names(config, question.main_model):
        try:
            writer = _writer(engine, config, name, question.schema, means.environment)
            answer = _answer_of(engine, config, writer, prompt, means.pause)
        except ModelError as error:
            reasons.append(f"{name}: {error.message}")
            continue
        written = read(answer, writer.name)
        if not isinstance(written, Failed):
            return written
        note_rejected(engine.store, engine.clock(), writer.name)
        means.report(f"the answer of {name} was rejected: {written.reason}")
        reasons.append(f"{name}: {written.reason}")
    return Failed("; ".join(reasons) or "no model is set")


def _names(config: Config, main_model: str) -> Iterator[str]:
    """The models to ask, the small one first; the session's own has the same API."""
    chosen = config.checkpoint.model
    if chosen:
        yield chosen
    kind, _, model = chosen.partition("/")
    if config.checkpoint.fallback_to_main and kind in models.APIS and main_model not in ("", model):
        yield f"{kind}/{main_model}"


def _writer(engine: Engine, config: Config, name: str, schema: str, environment: Mapping[str, str]) -> Writer:
    settings = config.models
    if name == COMMAND:
        return _command(engine, config, schema, environment)
    kind, _, model = name.partition("/")
    key = settings.key or environment.get(settings.key_variable, "")
    if not key and not settings.base_url:
        hint = f"set `models.key`, or the variable {settings.key_variable}"
        raise ModelError("there is no key to it", hint)
    return models.writer(kind, model, Address(key, settings.base_url, float(settings.timeout_seconds)))


def _command(engine: Engine, config: Config, schema: str, environment: Mapping[str, str]) -> CommandWriter:
    settings = config.models
    if not settings.command:
        raise ModelError("there is no command", "set `models.command`")
    if engine.home is None:
        raise ModelError("there is no directory to run a command in")
    directory = Path(engine.home) / FOLDER
    atomic.make_folder(directory)
    # A file for each: two sessions may be asked about at once.
    shape = directory / f"schema-{blake2s(schema.encode(), digest_size=4).hexdigest()}.json"
    if SCHEMA_WORD in settings.command:
        atomic.write(shape, schema.encode())
    words = [str(shape) if word == SCHEMA_WORD else word for word in settings.command]
    names = (*_PASSED_ON, settings.key_variable)
    passed_on = {name: environment[name] for name in names if name in environment}
    # Holdfast's hooks in a harness that it starts stay silent.
    passed_on["HOLDFAST_INTERNAL"] = "1"
    return CommandWriter(words, directory, passed_on, float(settings.timeout_seconds))


def _answer_of(
    engine: Engine, config: Config, writer: Writer, prompt: str, pause: Callable[[float], None]
) -> str:
    """A model's answer, with retries while it is busy; ModelError if there is none."""
    settings = config.models
    tokens = len(prompt) // CHARS_PER_TOKEN + settings.answer_tokens
    tries = 0
    while True:
        if limit := limit_reached(day_of(engine.store, engine.clock()), settings, tokens):
            raise ModelError(limit)
        try:
            answer = writer.write(prompt, settings.answer_tokens)
        except ModelError as error:
            note_use(engine.store, engine.clock(), writer.name, None, settings)
            if not isinstance(error, ModelBusy) or tries == settings.retries:
                raise
            pause(min(error.after or 2.0**tries, LONGEST_PAUSE))
            tries += 1
            continue
        note_use(engine.store, engine.clock(), writer.name, answer, settings)
        if answer.trouble:
            raise ModelError(answer.trouble)
        return answer.text


_NAME: Final = "models/{}"
_MILLION: Final = 1_000_000


class ModelUse(msgspec.Struct, frozen=True):
    """One model's use on one day; the price is in cents for a million tokens, times tokens."""

    asked: int = 0
    failed: int = 0
    sent: int = 0
    given: int = 0
    price: int = 0

    @property
    def tokens(self) -> int:
        return self.sent + self.given

    @property
    def cents(self) -> float:
        return self.price / _MILLION


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """The use of models on one day, by their names."""

    date: str
    models: dict[str, ModelUse]

    @property
    def tokens(self) -> int:
        return sum(spent.tokens for spent in self.models.values())

    @property
    def cents(self) -> float:
        return sum(spent.cents for spent in self.models.values())


def day_of(store: Store, at: int) -> DayOfUse:
    """The use on the day of that time."""
    date = _date(at)
    noted = store.fact(_NAME.format(date))
    return DayOfUse(date, msgspec.json.decode(noted, type=dict[str, ModelUse]) if noted else {})


def days_until(store: Store, at: int, count: int) -> list[DayOfUse]:
    """The last so many days with any use up to that time, the latest first."""
    days = (day_of(store, at - number * DAY_MS) for number in range(count))
    return [day for day in days if day.models]


def note_use(store: Store, at: int, model: str, answer: ModelAnswer | None, prices: Models) -> None:
    """Add an answer's use to its day; None for a question that was not answered."""
    with store.writing():
        day = day_of(store, at)
        before = day.models.get(model, ModelUse())
        sent, received = (answer.sent, answer.received) if answer else (0, 0)
        useless = answer is None or bool(answer.trouble)
        after = ModelUse(
            before.asked + 1,
            before.failed + useless,
            before.sent + sent,
            before.given + received,
            before.price + sent * prices.sent_cents + received * prices.given_cents,
        )
        noted = msgspec.json.encode({**day.models, model: after}).decode()
        store.put_fact(_NAME.format(day.date), noted)


def note_rejected(store: Store, at: int, model: str) -> None:
    """Count an answer that was noted already as failed, because it could not be used."""
    with store.writing():
        day = day_of(store, at)
        before = day.models.get(model, ModelUse())
        after = msgspec.structs.replace(before, failed=before.failed + 1)
        store.put_fact(_NAME.format(day.date), msgspec.json.encode({**day.models, model: after}).decode())
        store.count_skipped("an answer of a model was rejected", 1)


def limit_reached(day: DayOfUse, limits: Models, wanted_tokens: int) -> str:
    """Which daily limit so many more tokens would exceed; empty if none."""
    if day.tokens + wanted_tokens > limits.daily_tokens:
        return f"the day's limit of {limits.daily_tokens:,} tokens is reached"
    dearest = max(limits.sent_cents, limits.given_cents)
    if dearest and day.cents + wanted_tokens * dearest / _MILLION > limits.daily_cents:
        return f"the day's limit of {limits.daily_cents:,} cents is reached"
    return ""


def _date(at: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).date().isoformat()


LOOKED_AT: Final = 20
EVENTS: Final = 1_000_000
QUIET_MS: Final = 120_000
FILE_CHARS: Final = 300
"""How much a model is shown of what was read from a file or written to it."""
_OF_FILES: Final = frozenset((Action.READ, Action.EDIT, Action.WRITE))
NOT_RECORDED: Final = "No result of this call is recorded."
NEWS_MS: Final = 900_000
"""Checkpoints of sessions that were idle for longer are not rewritten."""
REASON_CHARS: Final = 300
UNTIL: Final = "written_until"
"""The fact in which the store notes which checkpoints a model was asked for."""


def due(engine: Engine) -> Checkpoint | None:
    """The newest checkpoint that a model is to rewrite now, if there is one."""
    progress = _progress(engine)
    pending = list(_pending(engine, progress))
    ready = next((one for one in pending if _is_between_turns(engine, one.session)), None)
    waiting = tuple(one.id for one in pending)
    if ready is None and waiting != progress.waiting:
        with engine.store.writing():
            _put_progress(engine, replace(progress, waiting=waiting))
    return ready


def write(engine: Engine, checkpoint: Checkpoint, means: Means) -> Written | Failed:
    """Ask a model, and store its text as another checkpoint; returns the reason if there is none."""
    with engine.store.writing():
        _note_asked(engine, checkpoint, checkpoint.created_at)
    session = engine.store.session(checkpoint.session)
    if session is None:
        return Failed("the session is gone")
    asked_at = engine.clock()
    answer = summarize(engine, session.project, _material(engine, session), means)
    match answer:
        case Written():
            _keep(engine, checkpoint, session, answer, asked_at)
        case Failed(reason=reason):
            _note_no_answer(engine, checkpoint, session, reason)
    return answer


@dataclass(frozen=True, slots=True)
class _Progress:
    """Up to which time checkpoints were handled, and which earlier ones wait for their turn to end."""

    until: int = 0
    waiting: tuple[str, ...] = ()


def _progress(engine: Engine) -> _Progress:
    noted = engine.store.fact(UNTIL)
    try:
        return msgspec.json.decode(noted, type=_Progress) if noted else _Progress()
    except msgspec.ValidationError:
        return _Progress(int(noted))  # as earlier versions wrote it


def _put_progress(engine: Engine, progress: _Progress) -> None:
    engine.store.put_fact(UNTIL, msgspec.json.encode(progress).decode())


def _pending(engine: Engine, progress: _Progress) -> Iterator[Checkpoint]:
    """The checkpoints that no model was asked about yet, the newest first."""
    news_since = engine.clock() - NEWS_MS
    for checkpoint in engine.store.checkpoints(LOOKED_AT):
        # For an agent log, the program that holds the session does this.
        if checkpoint.trigger is not Trigger.THRESHOLD or checkpoint.harness == OWN:
            continue
        waits = checkpoint.id in progress.waiting
        if not waits and checkpoint.created_at <= max(progress.until, news_since):
            continue
        session = engine.store.session(checkpoint.session)
        if session is None or engine.is_stopped(session.project):
            continue
        if not is_configured(engine.config(session.project)):
            continue
        if max(checkpoint.created_at, session.last_event_at) > news_since:
            yield checkpoint


def _is_between_turns(engine: Engine, key: str) -> bool:
    """Whether the agent's turn is over; if no end was recorded, whether it has been idle for long."""
    session = engine.store.session(key)
    if session is None or session.phase is not Phase.LIVE or not session.turn_open:
        return True
    return not session.trail.open_calls and engine.clock() - session.last_event_at >= QUIET_MS


def _note_asked(engine: Engine, checkpoint: Checkpoint, until: int) -> None:
    """Never ask about this checkpoint or older ones of its session again; others still wait."""
    progress = _progress(engine)
    waiting = tuple(
        one.id
        for one in _pending(engine, progress)
        if one.created_at <= until
        and (one.session != checkpoint.session or one.created_at > checkpoint.created_at)
    )
    _put_progress(engine, _Progress(max(progress.until, until), waiting))


def _material(engine: Engine, session: Session) -> Material:
    return material_of(session, engine.store.events(session.key, EVENTS))


def material_of(session: Session, events: Sequence[Event]) -> Material:
    """What a model is asked about a session with these events, and the harness's last summary of it."""
    compactions = (event for event in reversed(events) if isinstance(event, Compacted))
    return Material(
        next((event.summary for event in compactions if event.summary), ""),
        tuple(conversation_turns(events)),
        session.trail,
        session.model,
        session.git,
        tuple(text for event in events for text in texts_of(event)),
    )


def conversation_turns(events: Sequence[Event]) -> Iterator[Turn]:
    """The conversation in these events, each call with its result; subagents are left out."""
    returned = {event.call: event for event in events if isinstance(event, ToolReturned)}
    for event in events:
        match event:
            case Prompt(agent=agent, text=text) | Replied(agent=agent, text=text) if agent == MAIN:
                yield UserTurn((Text(text),))
            case AssistantText(agent=agent, text=text) if agent == MAIN:
                yield AgentTurn((Text(text),))
            case ToolCalled(agent=agent) if agent == MAIN:
                yield _called(event, returned.get(event.call))
            case _:
                pass


def _called(called: ToolCalled, returned: ToolReturned | None) -> AgentTurn:
    detail, text = called.detail, (returned.text or NO_OUTPUT) if returned else NOT_RECORDED
    # What is in a file can be looked up again; reports, tickets and the output of checks cannot.
    if called.action in _OF_FILES:
        detail, text = shortened(detail, FILE_CHARS), shortened(text, FILE_CHARS)
    arguments = msgspec.json.encode({"on": called.subject, "with": detail}).decode()
    result = Result(called.call, (Text(text),), ok=returned is not None and returned.ok)
    return AgentTurn((ToolCall(called.call, called.tool, arguments),), (result,))


def _note_no_answer(engine: Engine, checkpoint: Checkpoint, session: Session, reason: str) -> None:
    """Note with the checkpoint by rule why no model wrote it."""
    redact = engine.redactor(session.project).of_session(session.key)
    outline = replace(checkpoint.outline, no_answer=redact(shortened(one_line(reason), REASON_CHARS)))
    with engine.store.writing():
        engine.store.put_outline(checkpoint.id, outline)


def _keep(engine: Engine, checkpoint: Checkpoint, session: Session, answer: Written, asked_at: int) -> None:
    """Store a model's words as a checkpoint of the moment in which it was asked; later events are news."""
    redactor = engine.redactor(session.project)
    redact = redactor.of_session(session.key)
    outline = replace(
        checkpoint.outline,
        summary=answer.text,
        topics=answer.topics,
        open_questions=answer.open_questions,
        key_decisions=answer.key_decisions,
        model=answer.model,
        left_out=answer.left_out,
        no_answer="",
    ).mapped(redact)
    written = replace(
        checkpoint,
        id=record_id(asked_at, engine.new_id()),
        digest=outline.summary,
        words=outline.summary,
        outline=outline,
        created_at=asked_at,
    )
    with engine.store.writing():
        # The model's own checkpoint needs no rewriting.
        _note_asked(engine, checkpoint, asked_at)
        engine.store.add_checkpoint(written, redactor.mark)
        engine.store.add_document(checkpoint_document(written), redactor.mark)
