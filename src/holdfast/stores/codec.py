"""Codec: Holdfast's values as the text and bytes that a store holds, and back.

Fields that a later minor version added are ignored and missing ones take their defaults, so that going back
one version loses only the new fields. The store decides which column a value goes to.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from hashlib import blake2b
from typing import Any, Final, TypeVar, cast

import msgspec

from holdfast.core.brief.compose import Item
from holdfast.core.events.event import KINDS, Event
from holdfast.core.memory.memory import identity, subject_of
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Session
from holdfast.errors import StoreCorrupt, StoreTooNew

T = TypeVar("T")
N = TypeVar("N", bound=StrEnum)


def encode_event(event: Event) -> str:
    """The whole event as JSON; its kind is stored beside it."""
    return _encode(event)


def decode_event(kind: str, data: str) -> Event | None:
    """The event of that kind; None if only a later version knows the kind."""
    decoder = _EVENTS.get(kind)
    if decoder is None:
        return None
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError as error:
        raise _damaged("an event", error) from error


def kind_of(event: Event) -> str:
    """An event's kind: `tool_called` for `ToolCalled`."""
    return _kind(type(event))


def encode_session(session: Session) -> str:
    """The whole session as JSON."""
    return _encode(session)


def decode_session(data: str) -> Session:
    """The stored session."""
    return _decode("a session", _SESSION.decode, data)


def encode_items(items: tuple[Item, ...]) -> str:
    """A receipt's items as JSON."""
    return _encode(items)


def decode_items(data: str) -> tuple[Item, ...]:
    """The items of a receipt."""
    return _decode("a receipt", _ITEMS.decode, data)


def encode_outline(outline: Outline) -> str:
    """The fields of a checkpoint as JSON."""
    return _encode(outline)


def decode_outline(data: str) -> Outline:
    """The fields of a checkpoint; empty for one from before they existed."""
    return _decode("a checkpoint", _OUTLINE.decode, data)


def encode_texts(texts: tuple[str, ...]) -> str:
    """A list of texts as JSON."""
    return _encode(texts)


def decode_texts(data: str) -> tuple[str, ...]:
    """A list of texts from JSON."""
    if data == "[]":  # as most are
        return ()
    return _decode("a row of texts", _TEXTS.decode, data)


def decode_name(kind: type[N], name: str) -> N:
    """The member of an enumeration with this stored name."""
    try:
        return kind(name)
    except ValueError as error:
        raise _too_new(f"`{name}` for {kind.__name__}", error) from error


def map_session(data: str, change: Callable[[str], str]) -> str:
    """A session's JSON with every text in it changed; its key stays."""
    changed = map_document(data, change)
    if changed == data:
        return data
    document, before = msgspec.json.decode(changed), msgspec.json.decode(data)
    return _encode({**document, "key": before["key"]})


def map_document(data: str, change: Callable[[str], str]) -> str:
    """JSON with every text in it changed except ids, names and paths; anything else counts as one text."""
    try:
        document = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return change(data)
    changed = _mapped(document, change)
    return data if changed == document else _encode(changed)


def texts_of(data: str) -> Iterator[str]:
    """Every text that `map_document` would change; anything but JSON is one text."""
    texts: list[str] = []

    def collect(text: str) -> str:
        texts.append(text)
        return text

    map_document(data, collect)
    yield from texts


def hashed(name: str) -> bytes:
    """A hash by which a name can be recognised but not read."""
    return blake2b(clean(name).encode(), digest_size=16).digest()


def identity_hash(text: str) -> bytes:
    """A hash that two memories share if they say the same."""
    return hashed(identity(text))


def subject_hash(text: str) -> bytes:
    """A hash that two memories share if they set the same subject to a value; empty if one sets none."""
    subject = subject_of(text)
    return hashed(subject) if subject else b""


def clean(value: T) -> T:
    """The same value with U+FFFD for every lone surrogate in its texts: half a character cannot be stored."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return cast("T", _whole(value))
    if isinstance(value, tuple):
        return cast("T", tuple(clean(part) for part in cast("tuple[object, ...]", value)))
    if is_dataclass(value) and not isinstance(value, type):
        if _is_whole(value):  # as nearly all are
            return value
        parts: dict[str, Any] = {field.name: clean(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **parts)
    return value


def _is_whole(value: object) -> bool:
    """Whether a value can be stored unchanged; checking this is faster than going through its parts."""
    try:
        msgspec.json.encode(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text


def to_iso(at: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC; texts of this form sort by time."""
    return (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> int:
    """Milliseconds since 1970."""
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
    except ValueError as error:
        raise _damaged("a time", error) from error


def unit(vector: Sequence[float]) -> array[float]:
    """The vector at length one in float32, so that a dot product is a cosine; empty for a zero vector."""
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        return array("f")
    return array("f", [part / length for part in vector])


def packed(vector: Sequence[float]) -> bytes:
    """A vector's direction in one signed byte per dimension; empty for a zero vector."""
    points = unit(vector)
    longest = max(map(abs, points), default=0.0)
    return array("b", [round(_BYTE * part / longest) for part in points]).tobytes()


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {name: item if name in _NO_TEXTS else _mapped(item, change) for name, item in fields.items()}
    return value


def _encode(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(clean(value)).decode()


def _decode(what: str, decode: Callable[[str], T], data: str) -> T:
    try:
        return decode(data)
    except msgspec.ValidationError as error:
        raise _too_new(what, error) from error
    except msgspec.DecodeError as error:
        raise _damaged(what, error) from error


def _too_new(what: str, error: Exception) -> StoreTooNew:
    return StoreTooNew(
        f"the store holds {what} that this version cannot read: {error}",
        hint="upgrade with `uv tool upgrade holdfast`",
    )


def _damaged(what: str, error: Exception) -> StoreCorrupt:
    return StoreCorrupt(f"the store holds {what} that is damaged: {error}")


def _kind(event: type[Event]) -> str:
    return _HUMP.sub("_", event.__name__).lower()


_NO_TEXTS = frozenset(
    # A session, a record or a file is found by these, so none of them may change.
    "session record parent agent turn call subagent previous harness project transcript source head "
    "inherited inherits "
    # These hold one of a few fixed words.
    "origin action tool model phase trigger unanswered sign signs status kind section".split()
)
_BYTE = 127
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EVENTS: Final = {_kind(kind): msgspec.json.Decoder[Event](kind) for kind in KINDS}
_SESSION = msgspec.json.Decoder(Session)
_ITEMS = msgspec.json.Decoder(tuple[Item, ...])
_TEXTS = msgspec.json.Decoder(tuple[str, ...])
_OUTLINE = msgspec.json.Decoder(Outline)
