"""Compact: make room in the window of an agent log, and lose nothing that matters.

If a checkpoint covers enough of what is removed, it is the summary, and no model is asked. Otherwise a model
is. If none can answer, the old checkpoint and the rule-based digest are used, and the model is asked again
later. What is removed from the window stays in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from holdfast.core.agent_log.compaction import (
    CompactionPolicy,
    FromCheckpoint,
    FromModel,
    Plan,
    compaction_record,
    covered_by,
    improved_compaction_record,
    old_checkpoint,
    plan,
)
from holdfast.core.agent_log.context import turns_of
from holdfast.core.agent_log.records import Record
from holdfast.core.agent_log.summary import ByRule, Failed, Material, Written
from holdfast.core.events.world import Project
from holdfast.core.session.checkpoint import HEAD, digest
from holdfast.core.session.rolling import outline_of
from holdfast.core.session.session import Session, Trigger
from holdfast.core.text.strings import shortened
from holdfast.engine.agent_log.append import Appended, Owner, append, path_before, state_of
from holdfast.engine.engine import Engine
from holdfast.lazy_dataclass import dataclass

EARLIER_CHARS: Final = 4_000

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


def owed_material(engine: Engine, owner: Owner, owed: Record) -> Material:
    """The material for a compaction that still lacks a model's summary."""
    lost = covered_by(owed, path_before(engine.store, owner.key, owed))
    return material(state_of(engine, owner), lost)


def retell(
    engine: Engine, owner: Owner, path: Sequence[Record], owed: Record, answer: Written, id: str
) -> Appended:
    """Append a late summary to a path; it replaces the rule-based one."""
    return append(engine, owner, (improved_compaction_record(id, path[-1], engine.clock(), owed, answer),))


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
    outline = outline_of(session.trail, session.pressure.used, session.messages)
    parts = [digest(session, Trigger.PRE_COMPACTION, "", at), outline.summary]
    written = old_checkpoint(path) or lost.earlier
    if written and not written.startswith(HEAD):
        parts.append(f"### Earlier\n{shortened(written, EARLIER_CHARS)}")
    return "\n\n".join(part for part in parts if part)
