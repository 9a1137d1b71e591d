"""Fields: read untrusted JSON of a harness once, where it comes in.

What cannot be read becomes `Skipped`; a missing field or one of another type becomes an empty text. Each
harness knows what its fields mean.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar, cast

import msgspec

from holdfast.core.events.event import Skipped

TEXT_LIMIT = 8_000
"""How many characters are stored of a tool call's input, and of its output."""

NOTHING = msgspec.Raw(b"null")
"""The value of a missing field whose JSON is decoded only on use."""

_NOTE_ROOM = 60
_WORD_MOST = 100
_LAST_WORD = re.compile(rf"(?<=\s)\S{{1,{_WORD_MOST}}}\Z")
_FIRST_WORD = re.compile(rf"\A\S{{1,{_WORD_MOST}}}(?=\s)")
_MOST_TOKENS = 1 << 40
_OBJECT: msgspec.json.Decoder[dict[str, object]] = msgspec.json.Decoder(dict[str, object])
_ANYTHING: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)
_T = TypeVar("_T")


def read_object(payload: bytes, where: str = "") -> dict[str, object] | Skipped:
    """The JSON object in these bytes."""
    return decoded(_OBJECT, payload, where)


def decoded(decoder: msgspec.json.Decoder[_T], line: bytes | msgspec.Raw, where: str = "") -> _T | Skipped:
    """These bytes, decoded; a text cut in the middle of a character is repaired first."""
    try:
        return decoder.decode(line)
    except (ValueError, RecursionError):
        return _decoded_mended(decoder, bytes(line), where)


def value_of(raw: msgspec.Raw | bytes) -> object:
    """The JSON value in these bytes; None if it cannot be read."""
    if raw is NOTHING:
        return None
    value = decoded(_ANYTHING, raw)
    return None if isinstance(value, Skipped) else value


def text_of(raw: msgspec.Raw | bytes) -> str | None:
    """The JSON text in these bytes; None if it is missing or anything else."""
    value = value_of(raw)
    return value if isinstance(value, str) else None


def text(fields: Mapping[str, object], *names: str) -> str:
    """The first of these fields that holds a non-empty text."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is an object, otherwise an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The value if it is a list, otherwise an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def capped(whole: str, limit: int = TEXT_LIMIT) -> str:
    """The text within the limit: its beginning and end, with a note of how much was left out between."""
    if len(whole) <= limit:
        return whole
    room_for_text = max(0, limit - _NOTE_ROOM)
    head, tail = whole[: room_for_text // 2], whole[len(whole) - (room_for_text - room_for_text // 2) :]
    # Half of a secret would not be recognised as one, so no word is cut.
    if len(head) > _WORD_MOST * 4:
        # The search starts where the last word can begin; from the start of the text it would try every word.
        last = _LAST_WORD.search(head, len(head) - _WORD_MOST)
        first = _FIRST_WORD.match(tail)
        head, tail = head[: last.start()] if last else head, tail[first.end() :] if first else tail
    return f"{head}\n[… {len(whole) - len(head) - len(tail)} characters left out …]\n{tail}"


def entering(folder: str, command: str) -> str:
    """The command with a `cd` to the folder it runs in, as a user would type it elsewhere."""
    return f"cd {shlex.quote(folder)} && {command}" if command and folder not in ("", ".") else command


def milliseconds(timestamp: str) -> int:
    """An ISO 8601 time as milliseconds since 1970; 0 for anything else."""
    try:
        moment = datetime.fromisoformat(timestamp)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0, round(aware.timestamp() * 1000))
    except (ValueError, OverflowError):
        return 0


def tokens(value: object) -> int:
    """A number of tokens from an untrusted JSON value; 0 if it is not a number."""
    return count(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def count(tokens: float | None) -> int:
    """A number of tokens, at least 0 and capped."""
    return int(min(tokens, _MOST_TOKENS)) if tokens and tokens > 0 else 0


_LARGEST_EXIT: Final = 1 << 32


def status_of(value: object) -> int | None:
    """A command's exit status, if the value is a plausible number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) <= _LARGEST_EXIT else None


def _decoded_mended(decoder: msgspec.json.Decoder[_T], line: bytes, where: str) -> _T | Skipped:
    """Repair and decode bytes that could not be decoded as they are, or say why that fails."""
    try:
        return decoder.decode(mended(line))
    except msgspec.ValidationError as error:
        return Skipped(f"not as expected: {error}", where)
    except RecursionError:
        return Skipped("nested too deeply", where)
    except ValueError:
        return Skipped("not JSON" if line.strip() else "empty", where)


# Harnesses cut texts by UTF-16 units, so half of a surrogate pair is common; a crash leaves NUL bytes behind.
_SURROGATES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def mended(line: bytes) -> bytes:
    """The line with half characters replaced and the bytes that a crash left around it removed."""
    line = line.strip(b"\0 \t\r\n").decode(errors="replace").encode()
    return _SURROGATES.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)
