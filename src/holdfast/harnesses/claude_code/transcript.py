"""Transcript: the records of a Claude Code session as events.

It reads a file from a cursor and remembers nothing else between two reads. `records` has the record types,
`tools` says what the tools do, `records` finds the user's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    Titled,
    Usage,
)
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import has_injected_text, without_injected_text
from holdfast.harnesses.base import Batch
from holdfast.harnesses.claude_code import tools
from holdfast.harnesses.claude_code.records import (
    PASSED_OVER,
    PASSED_OVER_UNREAD,
    READ_TYPES,
    RECORD,
    Attachment,
    Kind,
    Message,
    Record,
    Tokens,
    summary_of,
    typed_text,
)
from holdfast.harnesses.fields import count, decoded, milliseconds, text_of
from holdfast.harnesses.record_events import Frame
from holdfast.harnesses.transcript_files import Line, files_below, read_lines

_SUBAGENT = "agent-"
_SUMMARISER = "agent-acompact-"
"""How the file name of the agent that writes a compaction's summary begins: that agent does no work."""
_HEAD = 1 << 16
_AWAITED_KEPT = 16


class _Reached(msgspec.Struct, frozen=True):
    """What a record may take over from earlier ones: the time, and its turn.

    Also the calls that ask the user or change the task list: any tool's result may look like theirs.
    """

    at: int = 0
    turn: str = ""
    awaited: tuple[str, ...] = ()


_FIELDS = _Reached.__struct_fields__


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records after the cursor as events of this session, whatever session a record itself names."""
    file_agent = path.stem.removeprefix(_SUBAGENT) if path.parent.name == "subagents" else MAIN
    return _read(path, session, cursor, limit, lambda record: _agent(record, file_agent))


def read_subagent(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The same for a subagent's transcript, with that subagent as the main agent."""
    return _read(path, session, cursor, limit, lambda _: MAIN)


def _read(path: Path, session: str, cursor: str, limit: int, agent_of: Callable[[Record], str]) -> Batch:
    place, reached = _parsed(cursor)
    stretch = read_lines(path, place, limit)
    if stretch.restarted:
        reached = _Reached()
    events: list[Event] = []
    cwd = ""
    skipped = list(stretch.skipped)
    for line in stretch.lines:
        record = _record(line)
        if isinstance(record, Skipped):
            skipped.append(record)
        elif record is not None:
            reached = _after(reached, record)
            # The first says where the session began; later ones follow every `cd` of the agent.
            cwd = cwd or record.cwd or ""
            events += _events_of(record, _frame(record, line, session, agent_of(record), reached), reached)
    new_cursor = msgspec.json.encode((stretch.cursor, reached.at, reached.turn, reached.awaited)).decode()
    return Batch(tuple(events), tuple(skipped), new_cursor, stretch.done, cwd)


def transcripts(folder: Path) -> Iterator[Path]:
    """The files that may be a session's. Older versions stored those of subagents beside them."""
    return (path for path in files_below(folder) if not path.name.startswith(_SUBAGENT))


def session_of(path: Path) -> str:
    """The session's key, which is the file's name; empty if the file does not begin with such records."""
    records = map(_record, read_lines(path, "", _HEAD).lines)
    return path.stem if any(isinstance(record, Record) and record.uuid for record in records) else ""


def subagent_transcripts(path: Path) -> tuple[Path, ...]:
    """The regular files with the work of a session's subagents."""
    folder = path.parent / path.stem / "subagents"
    try:
        entries = [
            entry
            for entry in folder.glob(f"{_SUBAGENT}*.jsonl")
            if entry.is_file() and not entry.is_symlink()
        ]
    except OSError:
        return ()
    return tuple(entry for entry in sorted(entries) if not entry.name.startswith(_SUMMARISER))


def _parsed(cursor: str) -> tuple[str, _Reached]:
    try:
        place, *rest = msgspec.json.decode(cursor)
        # Old cursors hold no calls.
        return msgspec.convert(place, str), msgspec.convert(dict(zip(_FIELDS, rest, strict=False)), _Reached)
    except (ValueError, TypeError):
        return "", _Reached()


def _record(line: Line) -> Record | Skipped | None:
    """The record on this line, if it may say something about the work."""
    if line.content.startswith(PASSED_OVER_UNREAD):
        return None
    record = decoded(RECORD, line.content)
    if isinstance(record, Skipped):
        return Skipped(record.reason, line.where)
    if record.type in READ_TYPES:
        return record
    if record.type in PASSED_OVER:
        return None
    kind = shortened(one_line(record.type), 40)
    return Skipped(f"unknown record {kind}" if kind else "record without a type", line.where)


def _after(reached: _Reached, record: Record) -> _Reached:
    at = milliseconds(record.timestamp) if record.timestamp else 0
    awaited = reached.awaited
    if record.type == "assistant" and (new_calls := tools.awaited(record.message)):
        awaited = (*awaited, *new_calls)[-_AWAITED_KEPT:]
    return _Reached(at or reached.at, record.turn or reached.turn, awaited)


def _agent(record: Record, file_agent: str) -> str:
    """Which agent a record belongs to, in a file named after that agent or after the session."""
    if not record.sidechain and file_agent == MAIN:
        return MAIN
    return record.agent or (file_agent if file_agent != MAIN else "sidechain")


def _frame(record: Record, line: Line, session: str, agent: str, reached: _Reached) -> Frame:
    # Every record has an id; if one ever lacks it, its position serves as well.
    record_id = record.uuid or f"@{line.at}"
    return Frame(session, record_id, reached.at, agent, record.parent or "", reached.turn)


def _events_of(record: Record, frame: Frame, reached: _Reached) -> Iterable[Event]:
    match record:
        case Record(type="assistant", message=Message() as message):
            # A failed request is reported in the assistant's role, but the model did not say it.
            return () if record.is_api_error or message.model == "<synthetic>" else _assistant(message, frame)
        case Record(type="user", message=Message() as message):
            return _user(record, message, frame, reached)
        case Record(type="attachment", attachment=Attachment() as attachment):
            return _attached(attachment, frame)
        case Record(type="system", subtype="compact_boundary") if frame.is_main:
            return (_boundary(record, frame),)
        case Record(type="summary" | "ai-title" | "custom-title") if frame.is_main:
            return _title(record, frame)
        case _:
            return ()


def _title(record: Record, frame: Frame) -> Iterator[Event]:
    """The session's title. Before the first record of a file, summaries are those of other sessions."""
    by_user = text_of(record.custom_title)
    if by_user is not None:
        yield Titled(**frame.common(Origin.HUMAN), text=by_user, by_user=True)
    elif text := text_of(record.ai_title) or (text_of(record.summary) if frame.at else ""):
        yield Titled(**frame.common(Origin.HARNESS), text=text)


def _assistant(message: Message, frame: Frame) -> Iterator[Event]:
    content = message.content
    if isinstance(content, str):
        yield from _assistant_text(content, frame)
        content = None
    for number, block in enumerate(content or ()):
        if block.type == "text":
            yield from _assistant_text(block.text or "", frame.block(number))
        elif block.type == "tool_use":
            yield from tools.events_of_call(block, frame.block(number))
    if message.usage is not None:
        yield _usage(message.usage, message, frame)


def _assistant_text(text: str, frame: Frame) -> Iterator[Event]:
    text = without_injected_text(text).strip()
    if text:
        yield AssistantText(**frame.common(Origin.ASSISTANT), text=text)


def _usage(tokens: Tokens, message: Message, frame: Frame) -> Usage:
    """The tokens of one request: each of its records has them, later ones with more output."""
    output = count(tokens.output_tokens)
    return Usage(
        **frame.common(Origin.HARNESS, f"usage:{message.id or frame.record}"),
        revision=output,
        input=count(tokens.input_tokens),
        output=output,
        cache_read=count(tokens.cache_read_input_tokens),
        cache_written=count(tokens.cache_creation_input_tokens),
        model=message.model or "",
    )


def _user(record: Record, message: Message, frame: Frame, reached: _Reached) -> Iterator[Event]:
    content = message.content
    if isinstance(content, str):
        yield from _spoken(record, content, frame)
        return
    texts: dict[int, str] = {}
    for number, block in enumerate(content or ()):
        if block.type == "tool_result":
            awaited = block.tool_use_id in reached.awaited
            yield from tools.events_of_result(block, record, frame.block(number), awaited=awaited)
        elif block.type == "text" and block.text:
            texts[number] = block.text
    if texts:
        # A message of the user may come in several blocks; it has the id of the first.
        yield from _spoken(record, "\n".join(texts.values()), frame.block(min(texts)))


def _spoken(record: Record, text: str, frame: Frame) -> Iterator[Event]:
    if record.is_summary:
        yield from _summary(text, frame)
    elif text.startswith(tools.NOTIFICATION):
        yield from tools.events_of_notification(text, frame)
    elif record.meta:
        yield from _brief(text, frame)
    elif record.prompt_source != "system" and _by_person(record.origin):
        yield from _prompt(text, record.turn or "", frame)


def _prompt(text: str, turn: str, frame: Frame) -> Iterator[Event]:
    # A subagent's task was written by the agent that started it.
    text = typed_text(text)
    if text and frame.is_main:
        yield Prompt(**frame.common(Origin.HUMAN), text=text, turn=turn)


def _attached(attachment: Attachment, frame: Frame) -> Iterator[Event]:
    match attachment.type:
        case "hook_additional_context" | "hook_success":
            # A hook that answers in JSON leaves both records, and the success then has no content.
            yield from _brief(tools.content_text(attachment.content), frame)
        case "queued_command":
            yield from _queued(attachment, frame)
        case "model" if frame.is_main and attachment.identity and attachment.identity.model:
            yield ModelChanged(**frame.common(Origin.HARNESS), model=attachment.identity.model)
        case _:
            return


def _queued(attachment: Attachment, frame: Frame) -> Iterator[Event]:
    """What was sent into a running turn; it does not name the turn, so the last one named is used."""
    text = tools.content_text(attachment.prompt)
    if text.startswith(tools.NOTIFICATION):
        yield from tools.events_of_notification(text, frame)
    elif attachment.mode in (None, "prompt") and not attachment.is_meta and _by_person(attachment.origin):
        yield from _prompt(text, frame.turn, frame)


def _brief(text: str, frame: Frame) -> Iterator[Event]:
    if frame.is_main and has_injected_text(text):
        yield BriefSeen(**frame.common(Origin.HOLDFAST), text=text)


def _summary(text: str, frame: Frame) -> Iterator[Event]:
    # A subagent's window may be compacted too; the session's window is not affected.
    if frame.is_main:
        yield Compacted(**frame.common(Origin.HARNESS), sign=CompactionSign.SUMMARY, summary=summary_of(text))


def _boundary(record: Record, frame: Frame) -> Compacted:
    tokens = record.compression
    return Compacted(
        **frame.common(Origin.HARNESS),
        sign=CompactionSign.BOUNDARY,
        tokens_before=count(tokens.before if tokens else None),
        tokens_after=count(tokens.after if tokens else None),
        trigger=(tokens.trigger or "") if tokens else "",
    )


def _by_person(origin: Kind | None) -> bool:
    """Whether a text came from the user, if the record says from whom; older records do not say."""
    return origin is None or origin.kind in (None, "human")
