"""Transcript: the records of a Codex session as events.

It reads a rollout from a cursor, first those that the session was forked from, and remembers nothing else
between two reads. `records` has the record types, `messages` the conversation, `tools` what the tools do, and
`threads` says which other files belong to the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from holdfast.core.events.event import (
    MAIN,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Skipped,
    Usage,
)
from holdfast.core.text.strings import one_line, shortened
from holdfast.harnesses.base import Batch
from holdfast.harnesses.codex import messages, tools
from holdfast.harnesses.codex.prompts import summary_of
from holdfast.harnesses.codex.record_context import OWN, RecordContext, parsed, written
from holdfast.harnesses.codex.records import (
    ENDS,
    EVENTS,
    ITEM,
    ITEMS,
    KIND,
    META,
    PASSED_OVER,
    READ_TYPES,
    RECORD,
    SILENT_ITEMS,
    SUMMARY,
    TOKEN_COUNT,
    TURN_CONTEXT,
    Item,
    ItemRecord,
    Metadata,
    Record,
    Report,
    ReportRecord,
    TokenInfo,
    Tokens,
    fields_of,
    is_silent,
    record_in,
)
from holdfast.harnesses.codex.threads import Base, bases, is_subagent
from holdfast.harnesses.fields import count, decoded, mapping, milliseconds, text
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.lines import Line, Stretch
from holdfast.harnesses.packed import read_lines


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records after the cursor as events of this session, whatever session a record itself names."""
    return _read(path, session, parsed(cursor), limit)


def read_subagent(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The same for a subagent's rollout, with that subagent as the main agent."""
    reached = parsed(cursor)
    reached.alone = True
    return _read(path, session, reached, limit)


def _read(path: Path, session: str, reached: RecordContext, limit: int) -> Batch:
    before = bases(path) if reached.stage != OWN else ()
    if 0 <= reached.stage < len(before):
        return _read_base(before[reached.stage], session, reached, limit)
    stretch = read_lines(path, reached.place, limit)
    if stretch.restarted and reached.stage == OWN:
        # The file was replaced: the files it was forked from, if any, are read again.
        return _read(path, session, RecordContext(alone=reached.alone), limit)
    if stretch.lines or stretch.skipped:
        reached.stage = OWN
    return _batch(stretch, stretch.lines, session, reached)


def _read_base(base: Base, session: str, reached: RecordContext, limit: int) -> Batch:
    """A part of a file that the session was forked from; its end is never the session's end."""
    stretch = read_lines(base.path, reached.place, limit)
    lines = [line for line in stretch.lines if not _is_behind(line, base)]
    batch = _batch(stretch, lines, session, reached)
    if stretch.done or len(lines) < len(stretch.lines):
        reached.stage += 1
        reached.place = ""
    return Batch(batch.events, batch.skipped, written(reached), done=False, cwd=batch.cwd)


def _is_behind(line: Line, base: Base) -> bool:
    """Whether this line was written after the fork."""
    record = decoded(RECORD, line.content)
    ordinal = None if isinstance(record, Skipped) else record.ordinal
    if ordinal is not None and base.end_ordinal is not None:
        return ordinal >= base.end_ordinal
    return base.end_byte is not None and line.at >= base.end_byte


def _batch(stretch: Stretch, lines: Iterable[Line], session: str, reached: RecordContext) -> Batch:
    events: list[Event] = []
    skipped = list(stretch.skipped)
    for line in lines:
        if is_silent(line.content):
            continue
        record = record_in(line.content)
        results = (record,) if isinstance(record, Skipped) else _events_of(record, line, session, reached)
        for result in results:
            if isinstance(result, Skipped):
                skipped.append(Skipped(result.reason, line.where))
            else:
                events.append(result)
    reached.place = stretch.cursor
    return Batch(tuple(events), tuple(skipped), written(reached), stretch.done, reached.cwd)


def _events_of(
    record: ItemRecord | ReportRecord | Record, line: Line, session: str, reached: RecordContext
) -> Iterable[Event | Skipped]:
    reached.at = (milliseconds(record.timestamp) if record.timestamp else 0) or reached.at
    frame = Frame(session, _place(line, reached), reached.at, reached.agent)
    if isinstance(record, ItemRecord):
        return _item(record.payload, record.metadata, frame, reached)
    if isinstance(record, ReportRecord):
        return _report(record.payload, frame, reached)
    return _events_of_undecoded(record, line, frame, reached)


def _events_of_undecoded(
    record: Record, line: Line, frame: Frame, reached: RecordContext
) -> Iterable[Event | Skipped]:
    """The events of a record whose payload is not decoded yet."""
    match record.type:
        case "response_item":
            return _decoded_item(record, record.payload, frame, reached)
        case "event_msg":
            return _event(record.payload, frame, reached)
        case "turn_context":
            return _turn(record.payload, frame, reached)
        case "session_meta":
            return _met(record.payload, reached)
        case "compacted":
            return _compacted(record.payload, frame, reached)
        case kind if kind in ITEMS:
            return _decoded_item(record, line.content, frame, reached)
        case "":
            return _unnamed(line, reached)
        case kind if kind not in PASSED_OVER and kind not in SILENT_ITEMS and kind not in READ_TYPES:
            return (Skipped(f"unknown record {shortened(one_line(kind), 40)}"),)
        case _:
            return ()


def _place(line: Line, reached: RecordContext) -> str:
    """A record's position, unique among all files of a session."""
    if reached.stage != OWN:
        return f"{reached.stage}@{line.at}"
    return f"@{line.at}" if reached.agent == MAIN else f"{reached.agent}@{line.at}"


def _unnamed(line: Line, reached: RecordContext) -> Iterator[Skipped]:
    """The first line of the first generation, or a state marker; anything else is unknown."""
    fields = decoded(META, line.content)
    if isinstance(fields, Skipped):
        yield fields
    elif fields.id and not reached.thread:
        reached.thread = fields.id
        reached.cwd = fields.cwd or reached.cwd
    elif b'"record_type"' not in line.content:
        yield Skipped("record without a type")


def _met(payload: msgspec.Raw, reached: RecordContext) -> Iterator[Skipped]:
    meta = decoded(META, payload)
    if isinstance(meta, Skipped):
        yield meta
        return
    reached.cwd = meta.cwd or reached.cwd
    # An older fork copies its parent's history with the parent's first line, which is not this session's.
    if reached.stage == OWN and not reached.thread and meta.id:
        reached.thread = meta.id
        if is_subagent(meta) and not reached.alone:
            reached.agent = meta.id


def _turn(payload: msgspec.Raw, frame: Frame, reached: RecordContext) -> Iterator[Event | Skipped]:
    turn = decoded(TURN_CONTEXT, payload)
    if isinstance(turn, Skipped):
        yield turn
        return
    reached.turn = turn.turn or reached.turn
    reached.cwd = turn.cwd or reached.cwd
    if turn.model and turn.model != reached.model:
        reached.model = turn.model
        if reached.is_main:
            yield ModelChanged(**frame.common(Origin.HARNESS), model=turn.model)


def _decoded_item(
    record: Record, payload: bytes | msgspec.Raw, frame: Frame, reached: RecordContext
) -> Iterable[Event | Skipped]:
    item = decoded(ITEM, payload)
    return (item,) if isinstance(item, Skipped) else _item(item, record.metadata, frame, reached)


def _item(item: Item, metadata: Metadata | None, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    if item.type == "message":
        # A summary has the assistant's role; the compaction that follows repeats it.
        is_summary = metadata is not None and metadata.is_compaction_output
        return () if is_summary else messages.message(item, frame, reached)
    if item.type in ITEMS:
        acted = tools.returned if item.type.endswith("_output") else tools.called
        return acted(item, frame, reached)
    return ()


def _report(report: Report, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    if report.type == "token_count":
        return _token_count(report.info, frame, reached)
    return _reported(report.type, {"message": report.message, "turn_id": report.turn}, frame, reached)


def _event(payload: msgspec.Raw, frame: Frame, reached: RecordContext) -> Iterable[Event | Skipped]:
    kind = decoded(KIND, payload)
    if isinstance(kind, Skipped):
        return (kind,)
    if kind.type == "token_count":
        counted = decoded(TOKEN_COUNT, payload)
        return (counted,) if isinstance(counted, Skipped) else _token_count(counted.info, frame, reached)
    return _reported(kind.type, fields_of(payload), frame, reached) if kind.type in EVENTS else ()


def _reported(
    kind: str, fields: Mapping[str, object], frame: Frame, reached: RecordContext
) -> Iterable[Event]:
    turn = text(fields, "turn_id") or reached.turn
    match kind:
        case "task_started" | "turn_started":
            reached.turn = turn
            return ()
        case "user_message":
            words = text(fields, "message")
            return messages.prompted("event", "", turn, [(words, "")], frame, reached)
        case "agent_message":
            return messages.said("event", "", text(fields, "message"), frame, reached)
        case "item_completed":
            # A completed item looks like an event, one level down.
            item = mapping(fields.get("item"))
            return _reported(text(item, "type"), {**item, "turn_id": turn}, frame, reached)
        case "UserMessage" | "AgentMessage":
            return messages.completed(fields, turn, frame, reached)
        case "context_compacted" | "ContextCompaction":
            return _boundary("event", "", frame, reached)
        case _ if kind in ENDS:
            return tools.reported(kind, fields, frame, reached)
        case _:
            return ()


def _compacted(payload: msgspec.Raw, frame: Frame, reached: RecordContext) -> Iterator[Event | Skipped]:
    summary = decoded(SUMMARY, payload)
    if isinstance(summary, Skipped):
        yield summary
    else:
        yield from _boundary("record", summary_of(summary.message or ""), frame, reached)


def _boundary(way: str, summary: str, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    # A subagent's window may be compacted too; the session's window is not affected.
    if reached.is_new_boundary(way) and reached.is_main:
        yield Compacted(**frame.common(Origin.HARNESS), sign=CompactionSign.BOUNDARY, summary=summary)


def _token_count(info: TokenInfo | None, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    if info is None or info.last is None:
        return ()
    seen = (count(info.total.total_tokens if info.total else None), count(info.last.total_tokens))
    # The same count is repeated whenever a limit is reported.
    if seen == reached.tokens:
        return ()
    reached.tokens = seen
    return (_usage(info.last, count(info.window), reached.model, frame),)


def _usage(tokens: Tokens, window: int, model: str, frame: Frame) -> Usage:
    """The tokens of one request: Codex counts what came from the cache as input."""
    cached, stored = count(tokens.cached_input_tokens), count(tokens.cache_write_input_tokens)
    output = count(tokens.output_tokens)
    # After a compaction there is only an estimate of the total.
    whole = count(tokens.input_tokens) or max(0, count(tokens.total_tokens) - output)
    return Usage(
        **frame.common(Origin.HARNESS),
        input=max(0, whole - cached - stored),
        output=output,
        cache_read=cached,
        cache_written=stored,
        window=window,
        model=model,
    )
