"""An open session: an agent log while a program uses it, before and after each request.

It holds the path to the session's last record, so that the cost of a request depends on the window and not on
the log. A model is asked in another thread, and its answer is appended before the next request, so that
nothing waits for it. For one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Final

from holdfast.core.agent_log.compaction import (
    CheckpointCoverage,
    FromModel,
    checkpoint_record,
    compaction_without_model,
    is_full,
    latest_checkpoint,
)
from holdfast.core.agent_log.context import window_of, without_past
from holdfast.core.agent_log.providers import Call, calls_of
from holdfast.core.agent_log.records import CHECKPOINT, CUSTOM, Record, header, new_record, path_to
from holdfast.core.agent_log.summary import Failed, Material, Written
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Session
from holdfast.core.text.strings import shortened
from holdfast.engine.agent_log import turn
from holdfast.engine.agent_log.append import Appended, Owner, append, path_at, path_of, state_of
from holdfast.engine.agent_log.compact import (
    Full,
    Summarize,
    compact,
    material,
    owed_material,
    policy_of,
    retell,
)
from holdfast.engine.briefing.pressure_warning import Fill
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
        return turn.fill_of(self._engine, self._owner, self.state, self.path)

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
        return turn.system_line(self._engine, self._owner, fill)

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
        threshold = turn.urgent(self._engine, self._owner, self.state, self.path, fill)
        id = self._engine.new_id()
        if threshold is not None:
            self._extend(turn.ask(self._engine, self._owner, self.path, threshold, id))
        elif record := turn.gauge_record(self._engine, self._owner, self.path, fill, id):
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
        owed = compaction_without_model(self.path)
        if owed is None or self._engine.clock() - self._tried_at < RETRY_MS:
            return
        self._tried_at = self._engine.clock()

        def use(answer: Written) -> Appended:
            return retell(self._engine, self._owner, self.path, owed, answer, self._engine.new_id())

        self._ask_later(owed_material(self._engine, self._owner, owed), use)

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
