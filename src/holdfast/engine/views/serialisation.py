"""Serialisation: stored values as JSON rows, with the same field names in every interface.

Texts are as stored. They were redacted then; the caller redacts a row again with `given` before it sends it,
because the rules may have changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, TypeAlias, TypeVar, cast

from holdfast.core.brief.compose import Brief, BriefInput, Item, Receipt
from holdfast.core.events.world import Project
from holdfast.core.evidence.kinds import Section
from holdfast.core.memory.memory import Memory, strength
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.pressure import capacity, percent
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Session, is_imported, title_of, work_of
from holdfast.core.sharing.identity import SharedIdentity
from holdfast.core.sharing.provenance import provenance_row
from holdfast.core.text.strings import elapsed
from holdfast.core.work.lines import statement_line, statements_shown
from holdfast.core.work.state import Statement, WorkState
from holdfast.engine.engine import Engine
from holdfast.engine.ids import short_id
from holdfast.engine.memory.recall import RecalledText
from holdfast.engine.repository.shared_identity import shared_identity
from holdfast.engine.shared_sessions import PulledSession, pulled_by_key
from holdfast.stores.base import Lineage, RowKind
from holdfast.stores.codec import to_iso

Row: TypeAlias = dict[str, object]
_T = TypeVar("_T")
UNREDACTED_FIELDS: Final = frozenset({"next"})
"""Fields that are not redacted: a page's end mark is made of ids, and has to come back unchanged."""


TitleLookup: TypeAlias = Callable[[str], str]


def title_lookup(engine: Engine) -> TitleLookup:
    """A function that gives the title of a session by its key, each read once; empty if that is gone."""

    @cache
    def title(key: str) -> str:
        return _title_by_key(engine, key)

    return title


def _title_by_key(engine: Engine, key: str) -> str:
    session = engine.store.session(key) if key else None
    if session is None and (pulled := pulled_by_key(engine, key)):
        session = pulled.session
    return title_of(session) if session else ""


def redacted_value(value: _T, redact: Callable[[str], str]) -> _T:
    """The value with every text in it redacted, at any depth."""
    return cast("_T", _redacted(value, redact))


def project_identity_row(engine: Engine, project: Project) -> Row:
    """By which name other machines and people know a project."""
    return shared_identity_row(project.project_id, shared_identity(engine.store, project))


def shared_identity_row(project_id: str, identity: SharedIdentity) -> Row:
    """The same for an identity that is known already."""
    return {
        "project_id": project_id,
        "shared_name": identity.name or None,
        "former_shared_names": list(identity.former),
        "is_bound": identity.is_bound,
    }


def checkpoint_row(checkpoint: Checkpoint, titles: TitleLookup) -> Row:
    """A checkpoint with the names of its columns, and the title of its session."""
    return {
        "id": checkpoint.id,
        "session_key": checkpoint.session,
        "title": titles(checkpoint.session),
        "harness": checkpoint.harness,
        "project": checkpoint.project,
        "project_normalized": checkpoint.project_normalized,
        "trigger": checkpoint.trigger,
        "digest": checkpoint.digest,
        "prompt_count": checkpoint.prompt_count,
        "memory_queries": list(checkpoint.memory_queries),
        "recent_remembers": list(checkpoint.recent_remembers),
        "created_at": to_iso(checkpoint.created_at),
        "window": checkpoint.window,
        "checkpoint": _outline(checkpoint.outline),
        "handover": handover_row(checkpoint.outline),
    }


def session_row(engine: Engine, session: Session, pulled: PulledSession | None = None) -> Row:
    """A session, the one it continues, how full its window is and, if it is from elsewhere, where from."""
    lineage, flush = engine.store.lineage(session.key), session.flush
    holds = capacity(session.pressure, engine.policy(session.project).models)
    return {
        "session_key": session.key,
        "short_id": short_id(engine.store, RowKind.SESSION, session.key),
        "title": title_of(session),
        "harness": session.harness,
        "project": session.project.path,
        "project_normalized": session.project.normalized,
        "phase": session.phase,
        "imported": is_imported(session),
        "model": session.model,
        "prompt_count": session.prompts_known,
        "windows": session.window + 1,
        "started_at": to_iso(session.started_at),
        "last_event_at": to_iso(session.last_event_at),
        **(_continued_elsewhere(pulled) if pulled else _continues(lineage)),
        **provenance_row(pulled.provenance if pulled else None),
        "tokens": session.pressure.used,
        "capacity": holds,
        "percent": percent(session.pressure.used, holds),
        "flush_asked": list(flush.asked),
        "flush_asked_at": to_iso(flush.asked_at) if flush.asked_at else None,
        "flushActioned": flush.actioned,
    }


def _continued_elsewhere(pulled: PulledSession) -> Row:
    parent = pulled.around.continues or None
    return {"parent": parent, "lineage": "elsewhere" if parent else None}


def session_details_row(engine: Engine, session: Session, pulled: PulledSession | None = None) -> Row:
    """A session with its work state, and what became of asking a model for its handover."""
    asked = last_asked(engine, session)
    return {
        **session_row(engine, session, pulled),
        "work": work_row(work_of(session, pulled.around.words if pulled else ())),
        "handover": handover_row(asked) if asked else None,
    }


def last_asked(engine: Engine, session: Session) -> Outline | None:
    """The outline of the latest checkpoint that a model was asked to write; None if none was asked."""
    checkpoints = engine.store.checkpoints_of_session(session.key, CHECKPOINTS_LOOKED_AT)
    return next((each.outline for each in checkpoints if each.outline.was_model_asked), None)


CHECKPOINTS_LOOKED_AT: Final = 50


def work_row(state: WorkState) -> dict[str, list[Row]]:
    """The statements of a work state that are worth most, by section."""
    return {
        section.value: [_statement_row(statement) for statement in statements_shown(state, section)]
        for section in Section
    }


def _statement_row(statement: Statement) -> Row:
    return {
        "text": statement_line(statement),
        "at": to_iso(statement.at) if statement.at else None,
        "source": statement.source,
        "kind": statement.kind,
        "by_user": statement.by_user,
        "worth": round(statement.worth, 4),
        "supersedes": list(statement.supersedes),
    }


def memory_row(memory: Memory, now: int) -> Row:
    """A memory, and how strong it is now."""
    return {
        "id": memory.id,
        "text": memory.text,
        "kind": memory.kind,
        "scope": memory.scope,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "pinned": memory.pinned,
        "strength": round(strength(memory, now), 4),
        "labels": list(memory.labels),
        "source": memory.source,
        "session_key": memory.session,
        "created_at": to_iso(memory.created_at),
        "times_said": memory.seen,
        "times_recalled": memory.found,
        "last_recalled_at": to_iso(memory.found_at) if memory.found_at else None,
        "superseded_by": memory.superseded_by or None,
    }


def finding_row(finding: RecalledText, now: int, titles: TitleLookup) -> Row:
    """A search result, how old it is, and the title of the session that it is from."""
    return {
        "id": finding.id,
        "kind": finding.kind,
        "score": round(finding.score, 4),
        "text": finding.text,
        "at": to_iso(finding.at) if finding.at else None,
        "age": elapsed(now - finding.at) if finding.at else None,
        "source": finding.source,
        **provenance_row(finding.provenance),
        "session_key": finding.session or None,
        "title": titles(finding.session),
        "worded": finding.worded,
    }


def text_row(finding: RecalledText, now: int) -> Row:
    """A text that is not the result of a search, so without a score."""
    row = finding_row(finding, now, lambda _: "")
    return {name: value for name, value in row.items() if name not in {"score", "worded", "title"}}


def receipt_row(receipt: Receipt, titles: TitleLookup) -> Row:
    """A receipt with its brief."""
    return {
        "id": receipt.id,
        "session_key": receipt.session,
        "window": receipt.window,
        "reason": receipt.reason,
        "predecessor": receipt.predecessor or None,
        "title": titles(receipt.session),
        "predecessor_title": titles(receipt.predecessor),
        "created_at": to_iso(receipt.created_at),
        "budget": receipt.budget,
        "size": len(receipt.text),
        "text": receipt.text,
        "items": [item_row(item) for item in receipt.items],
    }


def brief_row(brief_input: BriefInput, brief: Brief, budget: int) -> Row:
    """A preview of a brief, with what its receipt would contain."""
    receipt = {
        "reason": brief_input.reason,
        "predecessor": brief_input.session.key,
        "title": title_of(brief_input.session),
        "harness": brief_input.session.harness,
        "machine": brief_input.machine or None,
        "project": brief_input.session.project.path,
        "created_at": to_iso(brief_input.now),
        "age_ms": brief_input.now - brief_input.session.changed_at,
        "budget": budget,
        "size": len(brief.text),
        "items": [item_row(item) for item in brief.items],
    }
    return {"brief": brief.text, "receipt": receipt}


def item_row(item: Item) -> Row:
    """One item of a brief, and why it was left out if it was."""
    return {
        "section": item.section,
        "text": item.text,
        "at": to_iso(item.at) if item.at else None,
        "source": item.source,
        "score": round(item.score, 4),
        "rendered": item.rendered,
        "omitted": item.omitted,
    }


def _outline(outline: Outline) -> Row:
    """A checkpoint's fields, named as in an agent log."""
    return {
        "summary": outline.summary,
        "tokensAtCheckpoint": outline.tokens,
        "messageCountAtCheckpoint": outline.messages,
        "topics": list(outline.topics),
        "openQuestions": list(outline.open_questions),
        "keyDecisions": list(outline.key_decisions),
    }


def handover_row(outline: Outline) -> Row | None:
    """The model that wrote a checkpoint's words and what was left out of them, or why there is no answer.

    None if no model was asked.
    """
    if not outline.was_model_asked:
        return None
    return {
        "written_by": outline.model or None,
        "no_answer": outline.no_answer or None,
        "left_out": [{"text": each.text, "reason": each.reason} for each in outline.left_out],
    }


def _continues(lineage: Lineage | None) -> Row:
    return {"parent": lineage.parent if lineage else None, "lineage": lineage.kind if lineage else None}


def _redacted(value: object, redact: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return {
            name: each if name in UNREDACTED_FIELDS else _redacted(each, redact)
            for name, each in fields.items()
        }
    if isinstance(value, list | tuple):
        return [_redacted(each, redact) for each in cast("list[object]", value)]
    return value
