"""Transcript: the records of a Codex session as events, and which rollouts belong to a session.

It reads a rollout from a cursor, first those that the session was forked from, and remembers nothing else
between two reads. `records` has the record types, `tools` what the tools do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from itertools import zip_longest
from pathlib import Path

import msgspec

from holdfast.core.events.event import (
    MAIN,
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Skipped,
    SubagentStopped,
    Titled,
    Usage,
)
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import has_injected_text, without_injected_text
from holdfast.harnesses.base import Batch
from holdfast.harnesses.codex import tools
from holdfast.harnesses.codex.records import (
    ENDS,
    EVENTS,
    ITEM,
    ITEMS,
    KIND,
    META,
    OWN,
    PASSED_OVER,
    READ_TYPES,
    RECORD,
    SILENT_ITEMS,
    SUMMARY,
    TOKEN_COUNT,
    TURN_CONTEXT,
    Item,
    ItemRecord,
    Meta,
    Metadata,
    Record,
    RecordContext,
    Report,
    ReportRecord,
    TokenInfo,
    Tokens,
    fields_of,
    is_silent,
    object_in,
    parse_cursor,
    record_in,
    render_cursor,
    summary_of,
    texts,
    typed_text,
)
from holdfast.harnesses.fields import capped, count, decoded, mapping, milliseconds, text
from holdfast.harnesses.record_events import Frame
from holdfast.harnesses.transcript_files import Line, Stretch, files_below, read_lines
from holdfast.lazy_dataclass import dataclass


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records after the cursor as events of this session, whatever session a record itself names."""
    return _read(path, session, parse_cursor(cursor), limit)


def read_subagent(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The same for a subagent's rollout, with that subagent as the main agent."""
    reached = parse_cursor(cursor)
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
    return Batch(batch.events, batch.skipped, render_cursor(reached), done=False, cwd=batch.cwd)


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
    return Batch(tuple(events), tuple(skipped), render_cursor(reached), stretch.done, reached.cwd)


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
        return () if is_summary else message(item, frame, reached)
    if item.type in ITEMS:
        acted = tools.events_of_result if item.type.endswith("_output") else tools.events_of_call
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
            return user_prompted("event", "", turn, [(words, "")], frame, reached)
        case "agent_message":
            return agent_said("event", "", text(fields, "message"), frame, reached)
        case "item_completed":
            # A completed item looks like an event, one level down.
            item = mapping(fields.get("item"))
            return _reported(text(item, "type"), {**item, "turn_id": turn}, frame, reached)
        case "UserMessage" | "AgentMessage":
            return turn_completed(fields, turn, frame, reached)
        case "context_compacted" | "ContextCompaction":
            return _boundary("event", "", frame, reached)
        case "thread_name_updated" if reached.is_main:
            # Only the user names a thread.
            name = text(fields, "thread_name")
            return (Titled(**frame.common(Origin.HUMAN), text=name, by_user=True),)
        case _ if kind in ENDS:
            return tools.events_of_report(kind, fields, frame, reached)
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


_NOTIFICATION = re.compile(
    r"\s*<subagent_notification>(?P<told>.*)</subagent_notification>\s*\Z", re.DOTALL | re.IGNORECASE
)


def message(item: Item, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    """The events of an item that has a role."""
    blocks, record = texts(item.content), item.id or ""
    words = "\n".join(blocks)
    match item.role:
        case "assistant":
            return agent_said("item", record, words, frame, reached)
        case "user":
            turn = (item.passthrough and item.passthrough.turn) or reached.turn
            typed_here = user_prompted("item", record, turn, _with_kinds(blocks, item), frame, reached)
            return (*_notified(words, record, frame), *typed_here)
        case _:
            return _brief(words, record, frame, reached)


def user_prompted(
    way: str, record: str, turn: str, blocks: Iterable[tuple[str, str]], frame: Frame, reached: RecordContext
) -> Iterable[Event]:
    """What the user typed; a subagent's task was written by the agent that started it."""
    words = typed_text(blocks)
    if words and reached.is_main and reached.is_news(way, "user", words):
        return (Prompt(**frame.common(Origin.HUMAN, record), text=words, turn=turn),)
    return ()


def agent_said(way: str, record: str, words: str, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    """What the agent said."""
    words = without_injected_text(words).strip()
    if words and reached.is_news(way, "assistant", words):
        return (AssistantText(**frame.common(Origin.ASSISTANT, record), text=words),)
    return ()


def turn_completed(
    fields: Mapping[str, object], turn: str, frame: Frame, reached: RecordContext
) -> Iterable[Event]:
    """What an event says about a message that is now complete."""
    blocks, record = texts(fields.get("content")), text(fields, "id")
    if fields.get("type") == "UserMessage":
        return user_prompted("completed", record, turn, [(block, "") for block in blocks], frame, reached)
    return agent_said("completed", record, "\n".join(blocks), frame, reached)


def _with_kinds(blocks: list[str], item: Item) -> Iterator[tuple[str, str]]:
    """Each block with its kind; older messages do not say it."""
    kinds = (item.passthrough and item.passthrough.kinds) or ()
    for block, kind in zip_longest(blocks, kinds[: len(blocks)]):
        yield block, kind or ""


def _brief(words: str, record: str, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    if reached.is_main and has_injected_text(words):
        yield BriefSeen(**frame.common(Origin.HOLDFAST, record), text=words)


def _notified(words: str, record: str, frame: Frame) -> Iterator[Event]:
    """How a subagent ended."""
    notification = _NOTIFICATION.match(words)
    if notification is None:
        return
    fields = object_in(notification["told"])
    agent = text(fields, "agent_path", "agent_id")
    status = fields.get("status")
    last_words = text(mapping(status), "completed", "errored") or (status if isinstance(status, str) else "")
    if agent and last_words not in ("running", "pending_init"):
        yield SubagentStopped(
            **frame.common(Origin.TOOL, record),
            subagent=agent,
            text=capped(without_injected_text(last_words)),
        )


ENDINGS = (".jsonl", ".jsonl.zst")
"""Rollouts that were not opened for long may be packed."""
_HEAD = 1 << 16
_GENERATIONS = 8
"""How many forks of forks are followed."""
_MOST_BESIDE = 2_000
_ID = re.compile(r"[0-9A-Za-z_-]{1,100}")


@dataclass(frozen=True, slots=True)
class Base:
    """A file that a fork continues, up to the point of the fork."""

    path: Path
    end_ordinal: int | None
    end_byte: int | None


def bases(path: Path) -> tuple[Base, ...]:
    """The files whose beginnings are part of this session, the oldest first."""
    base_files: list[Base] = []
    visited = {path}
    while len(base_files) < _GENERATIONS:
        base = _base(path)
        if base is None or base.path in visited:
            break
        base_files.append(base)
        visited.add(base.path)
        path = base.path
    return tuple(reversed(base_files))


def transcripts(folder: Path) -> Iterator[Path]:
    """The rollouts below a folder."""
    return files_below(folder, *ENDINGS)


def earlier_transcripts(path: Path) -> tuple[Path, ...]:
    """The rollouts that the session at this path was forked from."""
    return tuple(base.path for base in bases(path))


def subagent_transcripts(path: Path) -> tuple[Path, ...]:
    """The rollouts of subagents that this session started, on its day or the next."""
    own_meta = head(path)
    if own_meta is None or not own_meta.id:
        return ()
    rollouts: list[Path] = []
    for folder in (path.parent, *_next_day(path.parent)):
        for beside in _rollouts(folder):
            # Names begin with the time of a file's creation: a subagent's comes later.
            is_later = beside.name >= path.name or not path.name.startswith("rollout-")
            meta = head(beside) if beside != path and is_later else None
            if meta is not None and is_subagent(meta) and own_meta.id in (parent_of(meta), meta.session):
                rollouts.append(beside)
    return tuple(rollouts)


def session_of(path: Path) -> str:
    """A rollout's thread; empty if another agent started it, or it is not a rollout."""
    meta = _described(path, ("session_meta", ""))
    return (meta.id or "") if meta is not None and not is_subagent(meta) else ""


def head(path: Path) -> Meta | None:
    """What the first line of a rollout says about it; None if it says nothing."""
    return _described(path, ("session_meta",))


def _described(path: Path, kinds: tuple[str, ...]) -> Meta | None:
    """The metadata in a first line of such a kind; in the first generation it has no envelope and no kind."""
    lines = read_lines(path, "", _HEAD).lines
    if not lines:
        return None
    record = decoded(RECORD, lines[0].content)
    if isinstance(record, Skipped) or record.type not in kinds:
        return None
    meta = decoded(META, record.payload if record.type else lines[0].content)
    return None if isinstance(meta, Skipped) else meta


def is_subagent(meta: Meta) -> bool:
    """Whether another agent started this one."""
    return meta.thread_source == "subagent" or bool(meta.parent) or "subagent" in fields_of(meta.source)


def parent_of(meta: Meta) -> str:
    """The thread that started this one."""
    spawned = mapping(mapping(fields_of(meta.source).get("subagent")).get("thread_spawn"))
    return meta.parent or text(spawned, "parent_thread_id")


def _base(path: Path) -> Base | None:
    meta = head(path)
    # A subagent may begin with its parent's history; the parent's own file is read for that.
    if meta is None or is_subagent(meta):
        return None
    base = meta.history_base
    thread = (base and base.thread) or meta.forked_from or ""
    end_ordinal = base.end_ordinal if base and base.end_ordinal is not None else meta.forked_at_ordinal
    end_byte = base.end_byte if base else None
    # Older forks copied what they continue.
    if end_ordinal is None and end_byte is None:
        return None
    parent = _rollout_of(thread, path)
    return Base(parent, end_ordinal, end_byte) if parent else None


def _rollout_of(thread: str, near: Path) -> Path | None:
    """The rollout of this thread beside another, on any day."""
    if not _ID.fullmatch(thread):
        return None
    folder = near.parent
    for entry in _rollouts(folder):
        if _stem(entry).endswith(thread):
            return entry
    if _day(folder) is not None:
        for day in sorted(folder.parent.parent.parent.glob("[0-9]*/[0-9]*/[0-9]*")):
            for entry in _rollouts(day):
                if _stem(entry).endswith(thread):
                    return entry
    for entry in _rollouts(folder):
        meta = head(entry) if entry != near else None
        if meta is not None and meta.id == thread:
            return entry
    return None


def _rollouts(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(ENDINGS))
    except OSError:
        return
    for name in names[-_MOST_BESIDE:]:
        entry = folder / name
        if entry.is_file() and not entry.is_symlink():
            yield entry


def _stem(rollout: Path) -> str:
    """Its name without the ending, packed or not."""
    return rollout.name.partition(".jsonl")[0]


def _day(folder: Path) -> date | None:
    """The day in a folder's path: `sessions/2026/03/01`."""
    try:
        return date.fromisoformat("-".join(folder.parts[-3:]))
    except ValueError:
        return None


def _next_day(folder: Path) -> tuple[Path, ...]:
    day = _day(folder)
    if day is None or day == date.max:
        return ()
    return (folder.parent.parent.parent / f"{day + timedelta(days=1):%Y/%m/%d}",)
