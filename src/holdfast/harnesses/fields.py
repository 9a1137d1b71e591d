"""Fields: foreign JSON read once, at the edge, without trusting it.

What cannot be read becomes `Skipped`; what is missing or of another kind becomes an empty text. Which fields
mean what is each harness's own knowledge and is not here.
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
"""How many characters are worth keeping of what one call of a tool is given, and of its output."""

NOTHING = msgspec.Raw(b"null")
"""What stands for a field that is missing, where its JSON is decoded only when somebody asks."""

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
    """What the decoder makes of these bytes; a text cut in the middle of a character is mended first."""
    try:
        return decoder.decode(line)
    except (ValueError, RecursionError):
        return _decoded_mended(decoder, bytes(line), where)


def value_of(raw: msgspec.Raw | bytes) -> object:
    """Whatever JSON stands there; None where it cannot be read."""
    if raw is NOTHING:
        return None
    found = decoded(_ANYTHING, raw)
    return None if isinstance(found, Skipped) else found


def text(fields: Mapping[str, object], *names: str) -> str:
    """The first of these fields that holds a text which is not empty."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def mapping(value: object) -> Mapping[str, object]:
    """The value where it is an object, otherwise an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The value where it is a list, otherwise an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def capped(whole: str, limit: int = TEXT_LIMIT) -> str:
    """The text, or its beginning and its end with a note of how much was left out between them."""
    if len(whole) <= limit:
        return whole
    kept = max(0, limit - _NOTE_ROOM)
    head, tail = whole[: kept // 2], whole[len(whole) - (kept - kept // 2) :]
    # Half a word would be taken for a name, and not for the secret that it is a part of.
    if len(head) > _WORD_MOST * 4:
        # Looked for where it can begin: from the start of the text, every word in it would be tried.
        last = _LAST_WORD.search(head, len(head) - _WORD_MOST)
        first = _FIRST_WORD.match(tail)
        head, tail = head[: last.start()] if last else head, tail[first.end() :] if first else tail
    return f"{head}\n[… {len(whole) - len(head) - len(tail)} characters left out …]\n{tail}"


def entering(folder: str, command: str) -> str:
    """The command as one would type it elsewhere, where a call says beside it in which folder it runs."""
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
    """A number of tokens in JSON of which nothing is known; 0 if it is none."""
    return count(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def count(tokens: float | None) -> int:
    """A number of tokens, whatever was written in its place."""
    return int(min(tokens, _MOST_TOKENS)) if tokens and tokens > 0 else 0


_LARGEST_EXIT: Final = 1 << 32


def status_of(value: object) -> int | None:
    """With what a command ended, if that is a number that can be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) <= _LARGEST_EXIT else None


def _decoded_mended(decoder: msgspec.json.Decoder[_T], line: bytes, where: str) -> _T | Skipped:
    """What can still be made of bytes that could not be decoded as they stand, or why nothing can."""
    try:
        return decoder.decode(mended(line))
    except msgspec.ValidationError as error:
        return Skipped(f"not as expected: {error}", where)
    except RecursionError:
        return Skipped("nested too deeply", where)
    except ValueError:
        return Skipped("not JSON" if line.strip() else "empty", where)


# Harnesses cut texts by UTF-16 units, so half of a pair is a daily sight; a crash leaves NUL bytes behind.
_SURROGATES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def mended(line: bytes) -> bytes:
    """The line with what no reader takes put right: half characters, and what a crash left around it."""
    line = line.strip(b"\0 \t\r\n").decode(errors="replace").encode()
    return _SURROGATES.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)
