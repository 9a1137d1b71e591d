"""Bodies: what a machine sends of a memory, handoff, continuity, checkpoint or session, as JSON, and back.

A body has a version. Fields that a reader does not know are ignored, and a part that it cannot read is left
out; only a body of a later version, or one that is none, is skipped as a whole. A body is at most
`MOST_BYTES` long, and names no path of the machine it comes from: see `local_paths`. Redaction happens
before, in the engine. What arrives may have been written by anyone, so decoding never raises, and a file that
it names is always one below the project's root.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from holdfast.core.documents.handoff import HandoffHead, head_of
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import Skipped
from holdfast.core.events.world import GitState, Project
from holdfast.core.evidence.trail import FileTouch, Trail, Utterance, fast_replace
from holdfast.core.memory.memory import USUAL, Memory, MemoryKind, MemoryScope
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Phase, Session, SessionTitle, Trigger, begin
from holdfast.core.sharing.items import SharedKind
from holdfast.core.sharing.local_paths import LocalPaths
from holdfast.core.text.strings import shortened
from holdfast.lazy_dataclass import dataclass, replace

VERSION: Final = 1
MOST_BYTES: Final = 256 * 1024
MOST_READ: Final = 4 * MOST_BYTES
"""A longer body is skipped unread; no version of Holdfast writes one."""
LATEST: Final = 253_402_300_799_000
"""The end of the year 9999: a later time can neither be shown nor stored."""
EARLIEST: Final = -30 * DAY_MS
"""No time is earlier, and no clock is further behind."""
_VERSION: Final = "version"
_KIND: Final = "shared"


@dataclass(frozen=True, slots=True)
class MemoryBody:
    """A memory, without what depends on the machine that remembers it."""

    text: str
    kind: MemoryKind = MemoryKind.FACT
    scope: MemoryScope = MemoryScope.PROJECT
    created_at: int = 0
    tags: tuple[str, ...] = ()
    importance: float = USUAL
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class HandoffBody:
    """A handoff document, and the name of its file."""

    name: str
    text: str

    @property
    def head(self) -> HandoffHead:
        """What its first lines say: purpose, session, branch, commit."""
        return head_of(self.text) or HandoffHead("")


@dataclass(frozen=True, slots=True)
class ContinuityBody:
    """The shared layer of a project's continuity, as Markdown."""

    text: str
    updated_at: int = 0


@dataclass(frozen=True, slots=True)
class CheckpointBody:
    """A checkpoint, without the project that it is of: that is whose change it arrives with."""

    session: str
    harness: str
    digest: str
    created_at: int = 0
    trigger: Trigger = Trigger.PERIODIC
    words: str = ""
    window: int = 0
    prompt_count: int = 0
    outline: Outline = Outline()


@dataclass(frozen=True, slots=True)
class FilePrint:
    """By what a machine recognises that a file is as the session left it on another one."""

    path: str
    """Named from the project's root."""
    content: str
    """A hash of what is in it; empty if it was not there."""


@dataclass(frozen=True, slots=True)
class AroundSession:
    """What is not in a session's own state, and belongs to it on another machine."""

    words: tuple[Utterance, ...] = ()
    """The latest digest in the words of its agent, its user or a model."""
    continues: str = ""
    """The key of the session that it continues."""
    commits: tuple[str, ...] = ()
    """The commit that was checked out, and those before it, the newest first, as far as they are known."""
    prints: tuple[FilePrint, ...] = ()
    """The files that it changed."""
    clock_ahead: int = 0
    """How far the machine's clock is ahead of the hub's, in milliseconds; 0 if unknown."""


@dataclass(frozen=True)  # without slots, to be renewed
class SessionBody:
    """The state of a session's work: everything that a brief on another machine is made from."""

    key: str
    harness: str
    started_at: int = 0
    last_event_at: int = 0
    changed_at: int = 0
    phase: Phase = Phase.ENDED
    ended_at: int = 0
    end_reason: str = ""
    turn_open: bool = False
    model: str = ""
    prompt_count: int = 0
    window: int = 0
    title: SessionTitle | None = None
    git: GitState | None = None
    trail: Trail = Trail()
    """Its files are named from the project's root."""
    around: AroundSession = AroundSession()


Body: TypeAlias = MemoryBody | HandoffBody | ContinuityBody | CheckpointBody | SessionBody
_T = TypeVar("_T")
# A type that is only known when the program runs, and what it is compared with.
_Hint: TypeAlias = Any
_Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None


# ---------------------------------------------------------------- encoding


def encode_memory(memory: Memory, paths: LocalPaths) -> str:
    """A memory's body."""
    body = MemoryBody(
        memory.text,
        memory.kind,
        memory.scope,
        memory.created_at,
        memory.tags,
        memory.importance,
        memory.pinned,
    )
    return _encode(SharedKind.MEMORY, body, paths)


def encode_handoff(name: str, text: str, paths: LocalPaths) -> str:
    """The body of a handoff with this file name and text."""
    return _encode(SharedKind.HANDOFF, HandoffBody(name, text), paths)


def encode_continuity(text: str, updated_at: int, paths: LocalPaths) -> str:
    """The body of the shared layer of a project's continuity."""
    return _encode(SharedKind.CONTINUITY, ContinuityBody(text, updated_at), paths)


def encode_checkpoint(checkpoint: Checkpoint, paths: LocalPaths) -> str:
    """A checkpoint's body."""
    body = CheckpointBody(
        checkpoint.session,
        checkpoint.harness,
        checkpoint.digest,
        checkpoint.created_at,
        checkpoint.trigger,
        checkpoint.words,
        checkpoint.window,
        checkpoint.prompt_count,
        checkpoint.outline,
    )
    return _encode(SharedKind.CHECKPOINT, body, paths)


def encode_session(session: Session, paths: LocalPaths, around: AroundSession) -> str:
    """A session's body: its work, and what belongs to it."""
    body = SessionBody(
        key=session.key,
        harness=session.harness,
        started_at=session.started_at,
        last_event_at=session.last_event_at,
        changed_at=session.changed_at,
        phase=session.phase,
        ended_at=session.ended_at,
        end_reason=session.end_reason,
        turn_open=session.turn_open,
        model=session.model,
        prompt_count=session.prompts_known,
        window=session.window,
        title=session.title,
        git=session.git,
        trail=_without_places(session.trail, session.project),
        around=replace(around, words=around.words[:1]),
    )
    return _encode(SharedKind.SESSION, body, paths)


def _without_places(trail: Trail, project: Project) -> Trail:
    """The trail with its files named from the project's root; those outside of it are nobody else's."""
    # A call that has not returned means nothing elsewhere.
    return fast_replace(
        trail,
        files=tuple(_files_inside(trail.files, project.relative)),
        subagent_files=tuple(_files_inside(trail.subagent_files, project.relative)),
        open_calls=(),
    )


def _files_inside(files: tuple[FileTouch, ...], relative: Callable[[str], str]) -> list[FileTouch]:
    renamed = (
        replace(touch, path=relative(touch.path), renamed_to=relative(touch.renamed_to)) for touch in files
    )
    return [
        touch
        for touch in renamed
        if is_inside(touch.path) and (not touch.renamed_to or is_inside(touch.renamed_to))
    ]


def is_inside(path: str) -> bool:
    """Whether a path is plainly one below the folder that it is named from."""
    parts = path.replace("\\", "/").split("/")
    return (
        bool(path) and not {"", ".", ".."} & set(parts) and not parts[0].startswith("~") and ":" not in path
    )


def _encode(kind: SharedKind, body: Body, paths: LocalPaths) -> str:
    document = msgspec.to_builtins(body, str_keys=True)
    neutral = _cleaned(document, paths.without)
    return _bounded({_VERSION: VERSION, _KIND: kind.value, **cast("dict[str, Any]", neutral)})


def _bounded(document: dict[str, Any]) -> str:
    """The document as JSON; while it is too long, without half of its longest text or longest list."""
    data = msgspec.json.encode(document)
    while len(data) > MOST_BYTES:
        longest = max(_lists_in(document), key=_size, default=None)
        text_size = max(map(len, _texts_in(document)), default=0)
        if longest is not None and text_size * 2 < len(data):
            del longest[: (len(longest) + 1) // 2]
        else:
            document = cast("dict[str, Any]", _shortened(document, text_size // 2))
        data = msgspec.json.encode(document)
    return data.decode()


def _texts_in(value: _Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part)


def _size(value: object) -> int:
    return len(msgspec.json.encode(value))


def _lists_in(value: _Json) -> list[list[Any]]:
    """The lists with several entries, at any depth; of an inner and an outer one, both."""
    if isinstance(value, dict):
        return [each for part in value.values() for each in _lists_in(part)]
    if isinstance(value, list):
        inner = [each for part in value for each in _lists_in(part)]
        return [value, *inner] if len(value) > 1 else inner
    return []


def _shortened(value: _Json, limit: int) -> _Json:
    if isinstance(value, str):
        return shortened(value, limit)
    if isinstance(value, dict):
        return {name: _shortened(part, limit) for name, part in value.items()}
    if isinstance(value, list):
        return [_shortened(part, limit) for part in value]
    return value


# ---------------------------------------------------------------- decoding


def decode_memory(body: str) -> MemoryBody | Skipped:
    """The memory of a body, or why it cannot be read."""
    return _decode(SharedKind.MEMORY, MemoryBody, body)


def decode_handoff(body: str) -> HandoffBody | Skipped:
    """The handoff of a body, or why it cannot be read. Its name is that of a file in one folder."""
    decoded = _decode(SharedKind.HANDOFF, HandoffBody, body)
    if isinstance(decoded, Skipped):
        return decoded
    name = _NO_FILE_NAME.sub("-", decoded.name).lstrip(".-")[:_NAME_CHARS]
    return replace(decoded, name=name or "handoff.md")


def decode_continuity(body: str) -> ContinuityBody | Skipped:
    """The continuity of a body, or why it cannot be read."""
    return _decode(SharedKind.CONTINUITY, ContinuityBody, body)


def decode_checkpoint(body: str) -> CheckpointBody | Skipped:
    """The checkpoint of a body, or why it cannot be read."""
    return _decode(SharedKind.CHECKPOINT, CheckpointBody, body)


def decode_session(body: str) -> SessionBody | Skipped:
    """The session of a body, or why it cannot be read."""
    decoded = _decode(SharedKind.SESSION, SessionBody, body)
    if isinstance(decoded, Skipped):
        return decoded
    if not decoded.key:
        return Skipped("a session without a key")
    trail = _without_places(decoded.trail, _NOWHERE)
    around = replace(
        decoded.around,
        words=decoded.around.words[:1],
        commits=tuple(each for each in decoded.around.commits if _COMMIT.match(each)),
        prints=tuple(each for each in decoded.around.prints if is_inside(each.path)),
    )
    return fast_replace(decoded, trail=trail, around=around)


def decode(kind: SharedKind, body: str) -> Body | Skipped:
    """What a body of that kind says, or why it cannot be read."""
    return _DECODERS[kind](body)


def place_session(body: SessionBody, project: Project, clock_ahead: int = 0) -> Session:
    """The session as one of this project, where its files are below the local root.

    `clock_ahead` says how far the local clock is ahead of the hub's: the times become those of this machine.
    """
    root, later = project.root.rstrip("/"), clock_ahead - body.around.clock_ahead
    trail = fast_replace(
        body.trail,
        files=tuple(_placed(touch, root) for touch in body.trail.files),
        subagent_files=tuple(_placed(touch, root) for touch in body.trail.subagent_files),
    )
    return fast_replace(
        begin(body.key, body.harness, project, body.started_at + later),
        last_event_at=body.last_event_at + later,
        changed_at=(body.changed_at or body.last_event_at) + later,
        phase=body.phase,
        ended_at=body.ended_at + later if body.ended_at else 0,
        end_reason=body.end_reason,
        turn_open=body.turn_open,
        model=body.model,
        prompt_count=body.prompt_count,
        window=body.window,
        title=body.title,
        git=body.git,
        trail=trail,
    )


def _placed(touch: FileTouch, root: str) -> FileTouch:
    renamed_to = f"{root}/{touch.renamed_to}" if touch.renamed_to else ""
    return replace(touch, path=f"{root}/{touch.path}", renamed_to=renamed_to)


def _decode(kind: SharedKind, body_type: type[_T], body: str) -> _T | Skipped:
    if len(body) > MOST_READ:
        return Skipped(f"a shared {kind} of more than {MOST_READ} characters")
    try:
        document = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return Skipped(f"a shared {kind} that is not JSON")
    if not isinstance(document, dict):
        return Skipped(f"a shared {kind} that is no object")
    content = cast("dict[str, Any]", document)
    version = content.get(_VERSION)
    if type(version) is not int or version < 1:
        return Skipped(f"a shared {kind} without a version")
    if version > VERSION:
        return Skipped(f"a shared {kind} that a later version of Holdfast wrote")
    if content.get(_KIND) != kind.value:
        return Skipped(f"a shared {kind} that is of another kind")
    try:
        return _converted(body_type, _cleaned(content, str))
    except (ValueError, RecursionError):
        return Skipped(f"a shared {kind} that lacks what it is about")


def _converted(kind: type[_T], value: object) -> _T:
    """The value as this type; what in it cannot be read is left out, if it can be done without."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return msgspec.convert(_readable_part(kind, value), kind)


def _readable_part(kind: _Hint, value: object) -> object:
    """The part of a JSON value that can be converted to a type; `_UNREADABLE` if it cannot be at all."""
    origin: object = get_origin(kind)
    if origin is Union or origin is UnionType:
        candidates = (_readable_part(each, value) for each in get_args(kind))
        return next((each for each in candidates if each is not _UNREADABLE), _UNREADABLE)
    if origin is tuple and isinstance(value, list):
        entries = (_readable_part(get_args(kind)[0], each) for each in cast("list[object]", value))
        return [each for each in entries if each is not _UNREADABLE]
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        hints, content = _hints_of(kind), cast("dict[str, object]", value)
        parts = {name: _readable_part(hint, content[name]) for name, hint in hints.items() if name in content}
        value = {name: part for name, part in parts.items() if part is not _UNREADABLE}
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return _UNREADABLE
    return value


_UNREADABLE: Final = object()


@cache
def _hints_of(kind: type) -> Mapping[str, _Hint]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _cleaned(value: _Json, change: Callable[[str], str]) -> _Json:
    """The value with texts that any database can store, changed, and with numbers that can be times."""
    if isinstance(value, str):
        return change(_UNSTORABLE.sub(_replacement, value) if _UNSTORABLE.search(value) else value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return min(max(value, EARLIEST), LATEST)
    if isinstance(value, float):
        return value if math.isfinite(value) and abs(value) <= LATEST else 0.0
    if isinstance(value, dict):
        return {name: _cleaned(part, change) for name, part in value.items()}
    return [_cleaned(part, change) for part in value]


def _replacement(char: re.Match[str]) -> str:
    return "" if char[0] == "\0" else "\N{REPLACEMENT CHARACTER}"


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_COMMIT: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_NO_FILE_NAME: Final = re.compile(r"[^\w.-]+")
_NAME_CHARS: Final = 200
_NOWHERE: Final = Project("", "", "", "", "")
_DECODERS: Final[Mapping[SharedKind, Callable[[str], Body | Skipped]]] = {
    SharedKind.MEMORY: decode_memory,
    SharedKind.HANDOFF: decode_handoff,
    SharedKind.CONTINUITY: decode_continuity,
    SharedKind.CHECKPOINT: decode_checkpoint,
    SharedKind.SESSION: decode_session,
}
