"""Summarize: have a model summarize a part of a session, and count what models cost.

Tokens and cost are counted by day and model; a day's limit stops further questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from holdfast import models
from holdfast.core.agent_log.summary import Failed, Material, Written, answer, answer_schema, question
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.engine.engine import Engine
from holdfast.errors import ModelBusy, ModelError
from holdfast.files import atomic
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Address, Answer, Writer
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


def note_use(store: Store, at: int, model: str, answer: Answer | None, prices: Models) -> None:
    """Add an answer's use to its day; None for a question that was not answered."""
    with store.writing():
        day = day_of(store, at)
        before = day.models.get(model, ModelUse())
        sent, received = (answer.sent, answer.given) if answer else (0, 0)
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
