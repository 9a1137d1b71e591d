"""An open session: an agent log while a program uses it, before and after each request.

It holds the path to the session's last record, so that the cost of a request depends on the window and not on
the log. A model is asked in another thread, and its answer is appended before the next request, so that
nothing waits for it. Before each request the window is measured; a full one is compacted, by rule if no model
answers. For one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Final, TypeAlias

from holdfast.core.agent_log.compaction import (
    CheckpointCoverage,
    CompactionPolicy,
    FromCheckpoint,
    FromModel,
    Plan,
    checkpoint_record,
    compaction_record,
    compaction_without_model,
    covered_by,
    improved_compaction_record,
    is_full,
    latest_checkpoint,
    old_checkpoint,
    plan,
)
from holdfast.core.agent_log.context import FLUSH, GAUGE, is_gauge, turns_of, window_of, without_past
from holdfast.core.agent_log.providers import Call, calls_of
from holdfast.core.agent_log.record_bodies import (
    Block,
    BranchSummary,
    Compaction,
    Content,
    CustomMessage,
    Message,
    Reset,
    body,
    text_of,
)
from holdfast.core.agent_log.records import (
    CHECKPOINT,
    COMPACTION,
    CUSTOM,
    CUSTOM_MESSAGE,
    MESSAGE,
    RESET,
    Record,
    header,
    new_record,
    path_to,
)
from holdfast.core.agent_log.summary import ByRule, Failed, Material, Written
from holdfast.core.events.world import Project
from holdfast.core.session import agent_prompts
from holdfast.core.session.agent_prompts import FlushPolicy
from holdfast.core.session.checkpoint import HEAD, digest
from holdfast.core.session.pressure import Threshold, capacity, factor_of, gauge
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Session, Trigger, work_of
from holdfast.core.text.strings import shortened
from holdfast.engine.agent_log.append import Appended, Owner, append, path_at, path_before, path_of, state_of
from holdfast.engine.briefing.pressure_warning import Fill, is_shown
from holdfast.engine.engine import Engine
from holdfast.errors import NotThere
from holdfast.lazy_dataclass import dataclass

COMPACTIONS_AT_ONCE: Final = 3
"""How often to compact at once: the last message alone can fill a window."""
RETRY_MS: Final = 60_000
"""How long a model that failed to summarize is not asked again."""
WHOLE_LOG: Final = 1 << 40
NO_SUMMARY: Final = "holdfast.no_summary"
"""The kind of note that says why a model's summary is missing."""
IMAGE_TOKENS: Final = 1_500
"""About the tokens that a provider counts for an image of the usual size."""
EARLIER_CHARS: Final = 4_000


@dataclass(frozen=True, slots=True)
class _Job:
    """A question to a model, and what to do with its answer."""

    answer: Future[Written | Failed]
    use: Callable[[Written], Appended]


class OpenSession:
    """The session of an owner, from the start of its present window."""

    def __init__(self, engine: Engine, owner: Owner, summarize: Summarize | None, executor: Executor) -> None:
        """`summarize` is None if no model is to be asked; `executor` runs it."""
        self._engine = engine
        self._owner = owner
        self._summarize = summarize
        self._executor = executor
        self._job: _Job | None = None
        self._tried_at = 0
        self.path: tuple[Record, ...] = path_of(engine.store, owner.key)
        self.state: Session = state_of(engine, owner)

    @property
    def leaf(self) -> str:
        """The id of the record that the next one follows; empty in an empty log."""
        return self.path[-1].id if self.path else ""

    def add(self, kind: str, body: Mapping[str, object]) -> Record:
        """Append a record of that type to the log."""
        record = new_record(kind, self._engine.new_id(), self.leaf, self._engine.clock(), body)
        self.take(record)
        return record

    def take(self, *records: Record) -> None:
        """Append these records to the log unchanged."""
        first = () if self.path else (self._header(),)
        self._extend(append(self._engine, self._owner, (*first, *records)))
        if self.path[-1].type == CHECKPOINT:
            self._ask_for_checkpoint()

    def go_back(self, id: str) -> None:
        """Continue from an earlier record; what came after it stays in the log, on a branch of its own."""
        path = path_at(self._engine.store, self._owner.key, id) if id else ()
        if not path:
            hint = "name one by its `id`; `records` has those of this window"
            raise NotThere(f"the session `{self._owner.key}` has no record `{shortened(id, 80)}`", hint)
        self.path = path

    def called(self, id: str) -> Call | None:
        """The last tool call with that id; None if there is none."""
        for records in (self.path, self._engine.store.log(self._owner.key, "", WHOLE_LOG)):
            calls = (call for record in reversed(records) for call in calls_of(record))
            if call_with_id := next((call for call in calls if call.id == id), None):
                return call_with_id
        return None

    @property
    def is_full(self) -> bool:
        """Whether the next request would use the reserve, so that the window is compacted first."""
        fill = self.fill
        return is_full(fill.used, fill.capacity, policy_of(self._engine, self._owner.project))

    def latest_checkpoint(self) -> Outline | None:
        """The last checkpoint's outline, from an earlier window if this one has none."""
        if outline := latest_checkpoint(self.path):
            return outline
        checkpoints = self._engine.store.checkpoints_of_session(self._owner.key, 1)
        return replace(checkpoints[0].outline, summary=checkpoints[0].digest) if checkpoints else None

    @property
    def fill(self) -> Fill:
        """How full the window will be with the next request."""
        return fill_of(self._engine, self._owner, self.state, self.path)

    def make_ready(self) -> Fill:
        """Do all that is due before a request; how full the window is then."""
        self._collect()
        fill = self.fill
        policy = policy_of(self._engine, self._owner.project)
        for _ in range(COMPACTIONS_AT_ONCE):
            if not self.path or not is_full(fill.used, fill.capacity, policy):
                break
            self.compact()
            fill = self.fill
        self._say_what_is_due(fill)
        self._ask_again()
        return fill

    def system_line(self, fill: Fill) -> str:
        """The line for the system prompt at this fill; mostly empty."""
        return system_line(self._engine, self._owner, fill)

    def compact(self) -> None:
        """Compact the window, however full it is."""
        fill = self.fill
        full = Full(fill.used, fill.capacity)
        id = self._engine.new_id()
        self._extend(compact(self._engine, self._owner, self.path, full, self._asking(), id))

    def settle(self) -> None:
        """Wait for a pending model call, and store its answer."""
        if self._job is not None:
            self._job.answer.exception()
        self._collect()

    def _header(self) -> Record:
        project = self._owner.project
        return header(self._engine.new_id(), self._engine.clock(), project.normalized or project.path)

    def _extend(self, appended: Appended) -> None:
        self.state = appended.session
        self.path = without_past(path_to((*self.path, *appended.records)))

    def _say_what_is_due(self, fill: Fill) -> None:
        threshold = urgent_question(self._engine, self._owner, self.state, self.path, fill)
        id = self._engine.new_id()
        if threshold is not None:
            self._extend(ask_agent(self._engine, self._owner, self.path, threshold, id))
        elif record := gauge_record(self._engine, self._owner, self.path, fill, id):
            self.take(record)

    def _ask_for_checkpoint(self) -> None:
        """Have a model rewrite the rule-based checkpoint that was just taken."""
        if self._summarize is None:
            return
        window = window_of(self.path)
        covered = CheckpointCoverage(self.state.pressure.used, self.state.messages, self.leaf)
        lost = FromModel(window.records, window.summary, "")

        def use(answer: Written) -> Appended:
            id = self._engine.new_id()
            record = checkpoint_record(id, self.path[-1], self._engine.clock(), answer, covered)
            return append(self._engine, self._owner, (record,))

        self._ask_later(material(self.state, lost), use)

    def _ask_again(self) -> None:
        """Have a model write the summary that the last compaction still lacks."""
        compaction = compaction_without_model(self.path)
        if compaction is None or self._engine.clock() - self._tried_at < RETRY_MS:
            return
        self._tried_at = self._engine.clock()

        def use(answer: Written) -> Appended:
            return retell(self._engine, self._owner, self.path, compaction, answer, self._engine.new_id())

        self._ask_later(owed_material(self._engine, self._owner, compaction), use)

    def _ask_later(self, about: Material, use: Callable[[Written], Appended]) -> None:
        if self._summarize is not None and self._job is None:
            self._job = _Job(self._executor.submit(self._summarize, about), use)

    def _asking(self) -> Summarize | None:
        """`summarize` for a caller that waits for the answer."""
        summarize = self._summarize
        if summarize is None:
            return None

        def ask(about: Material) -> Written | Failed:
            self._tried_at = self._engine.clock()
            return _answer(self._executor.submit(summarize, about))

        return ask

    def _collect(self) -> None:
        """Store the answer of a model call that has finished, or why there is none."""
        job = self._job
        if job is None or not job.answer.done():
            return
        self._job = None
        match _answer(job.answer):
            case Written() as answer:
                self._extend(job.use(answer))
            case Failed(reason=reason):
                self.add(CUSTOM, {"customType": NO_SUMMARY, "data": {"reason": reason}})


def _answer(future: Future[Written | Failed]) -> Written | Failed:
    """The answer of a call; an exception of the user's own `summarize` counts as a failure."""
    error = future.exception()
    return future.result() if error is None else Failed(f"{type(error).__name__}: {error}")


def fill_of(engine: Engine, owner: Owner, session: Session, path: Sequence[Record]) -> Fill:
    """How full the window is: the last count of this window, and an estimate for what came since."""
    models = engine.policy(owner.project).models
    used, since = _counted(path)
    texts = [text for record in since for text in _texts(record)]
    if not used:
        texts.append(window_of(path).summary)
    count = engine.counter()
    # Without a counter, four characters a token is the usual estimate.
    counted = count(texts) if count else sum(map(len, texts)) // 4
    images = IMAGE_TOKENS * sum(map(_images, since))
    sent = int(counted * factor_of(session.pressure.model, models)) + images
    return Fill(used + sent, owner.window or capacity(session.pressure, models))


def system_line(engine: Engine, owner: Owner, fill: Fill) -> str:
    """The line for the system prompt at this fill; mostly empty."""
    asking = engine.policy(owner.project).flush
    if not asking.enabled or not asking.show_in_system_prompt:
        return ""
    return next((one.text for one in reversed(_passed(asking, fill)) if not one.is_urgent), "")


def gauge_record(engine: Engine, owner: Owner, path: Sequence[Record], fill: Fill, id: str) -> Record | None:
    """The line after a prompt that tells the model how full its window is, if it is due.

    It is a record of the log: a system prompt that changes with every request would defeat the providers'
    caches. After a compaction it is repeated, because the earlier one is not sent any more.
    """
    if not path or not (_is_prompt(path[-1]) or (_compacts(path[-1]) and any(map(is_gauge, path)))):
        return None
    if not is_shown(fill, engine.config(owner.project).pressure):
        return None
    fields = {"customType": GAUGE, "content": gauge(fill.used, fill.capacity), "display": False}
    return new_record(CUSTOM_MESSAGE, id, path[-1].id, engine.clock(), fields)


def urgent_question(
    engine: Engine, owner: Owner, session: Session, path: Sequence[Record], fill: Fill
) -> Threshold | None:
    """What to ask the agent now, if it was not asked yet: once in a window, or once with every prompt."""
    asking = engine.policy(owner.project).flush
    due = [one for one in _passed(asking, fill) if one.is_urgent] if asking.enabled else []
    if not due:
        return None
    was_asked = due[-1].percent in session.flush.asked
    again = not asking.once_per_window and bool(path) and _is_prompt(path[-1])
    return due[-1] if not was_asked or again else None


def ask_agent(
    engine: Engine, owner: Owner, path: Sequence[Record], threshold: Threshold, id: str
) -> Appended:
    """Ask the agent, not in the user's name, and note that it was asked."""
    at = engine.clock()
    fields = {"customType": FLUSH, "content": threshold.text, "display": False}
    appended = append(
        engine, owner, (new_record(CUSTOM_MESSAGE, id, path[-1].id if path else "", at, fields),)
    )
    policy = engine.policy(owner.project).flush
    with engine.store.writing():
        session = engine.store.session(owner.key) or appended.session
        session = replace(session, flush=agent_prompts.after_asking(session.flush, policy, threshold, at))
        engine.store.put_session(session)
    return Appended(session, appended.records)


def _passed(policy: FlushPolicy, fill: Fill) -> list[Threshold]:
    """The thresholds that are passed at this fill, the most urgent last."""
    passed = [one for one in policy.thresholds if one.percent <= fill.percent]
    return sorted(passed, key=lambda one: one.percent)


def _counted(path: Sequence[Record]) -> tuple[int, Sequence[Record]]:
    """The model's last token count in this window, and the records since; other models' do not count."""
    for place in range(len(path) - 1, -1, -1):
        fields = body(path[place]) if path[place].type in (MESSAGE, COMPACTION, RESET) else None
        if isinstance(fields, Message) and fields.message.usage is not None and fields.message.usage.total:
            return fields.message.usage.total, path[place + 1 :]
        if isinstance(fields, Reset) or (isinstance(fields, Compaction) and not fields.note.retells):
            break
    return 0, window_of(path).records


def _compacts(record: Record) -> bool:
    """Whether a record is a compaction; one that only has a better summary is not."""
    fields = body(record) if record.type == COMPACTION else None
    return isinstance(fields, Compaction) and not fields.note.retells


def _is_prompt(record: Record) -> bool:
    fields = body(record)
    return isinstance(fields, Message) and fields.message.role == "user"


def _texts(record: Record) -> Iterator[str]:
    """The texts of a record that a model is sent."""
    match body(record):
        case Message(message=message):
            yield text_of(message.content)
            yield message.output or ""
            for block in _blocks(message.content):
                yield block.thinking or ""
                if block.type == "toolCall":
                    yield f"{block.name} {bytes(block.arguments).decode()}"
        case CustomMessage(content=content):
            yield text_of(content)
        case BranchSummary(summary=summary):
            yield summary or ""
        case _:
            pass


def _images(record: Record) -> int:
    fields = body(record)
    content = fields.message.content if isinstance(fields, Message) else None
    return sum(block.type == "image" for block in _blocks(content))


def _blocks(content: Content) -> Iterable[Block]:
    return content if isinstance(content, list) else ()


Summarize: TypeAlias = Callable[[Material], Written | Failed]
"""Summarizes a part of a log, or says why not."""


@dataclass(frozen=True, slots=True)
class Full:
    """A window to compact: how many tokens it has, and how many it can hold."""

    total: int
    window: int


def policy_of(engine: Engine, project: Project) -> CompactionPolicy:
    """The project's settings for compaction."""
    settings = engine.config(project).compaction
    return CompactionPolicy(
        settings.reserve_tokens, settings.prefer_checkpoint, settings.keep_percent, settings.keep_messages
    )


def compact(
    engine: Engine, owner: Owner, path: Sequence[Record], full: Full, summarize: Summarize | None, id: str
) -> Appended:
    """Append a compaction with that id to a path; without `summarize` no model is asked."""
    chosen = plan(path, full.total, full.window, policy_of(engine, owner.project))
    summary = _summary(engine, owner, path, chosen, summarize)
    record = compaction_record(id, path[-1], engine.clock(), chosen.first_kept, summary, full.total)
    return append(engine, owner, (record,))


def owed_material(engine: Engine, owner: Owner, compaction: Record) -> Material:
    """The material for a compaction that still lacks a model's summary."""
    lost = covered_by(compaction, path_before(engine.store, owner.key, compaction))
    return material(state_of(engine, owner), lost)


def retell(
    engine: Engine, owner: Owner, path: Sequence[Record], compaction: Record, answer: Written, id: str
) -> Appended:
    """Append a late summary to a path; it replaces the rule-based one."""
    return append(
        engine, owner, (improved_compaction_record(id, path[-1], engine.clock(), compaction, answer),)
    )


def material(session: Session, lost: FromModel) -> Material:
    """The part of a window to summarize."""
    return Material(lost.earlier, turns_of(lost.covered), session.trail, session.model)


def _summary(
    engine: Engine, owner: Owner, path: Sequence[Record], chosen: Plan, summarize: Summarize | None
) -> Written | ByRule:
    if isinstance(chosen, FromCheckpoint):
        return ByRule(chosen.summary)
    session = state_of(engine, owner)
    answer = summarize(material(session, chosen)) if summarize else None
    if isinstance(answer, Written):
        return answer
    return ByRule(_by_rule(session, path, chosen, engine.clock()), answer.reason if answer else "")


def _by_rule(session: Session, path: Sequence[Record], lost: FromModel, at: int) -> str:
    """The summary without a model: the session's digest, and what a model wrote earlier."""
    parts = [digest(session, work_of(session), Trigger.PRE_COMPACTION, "", at)]
    written = old_checkpoint(path) or lost.earlier
    if written and not written.startswith(HEAD):
        parts.append(f"### Earlier\n{shortened(written, EARLIER_CHARS)}")
    return "\n\n".join(part for part in parts if part)
