"""What `.agents.yml` says of the ledger: the keys `ledger` and `ledger_path` below `session`.

The file belongs to other programs, which write far more into it. Of YAML only what these two keys take is
read: a block or a one-line mapping, plain or quoted scalars. Anything cleverer is called unclear and counts
for nothing: a stranger may have written the file, and a whole YAML parser would be his to play with. Finding
and opening the file is `files.agents_yml`'s work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LedgerSetting:
    """What one file says; None where it says nothing."""

    ledger: bool | None = None
    ledger_path: str | None = None


@dataclass(frozen=True, slots=True)
class Unclear:
    """What stands there cannot be used, and why."""

    reason: str


def asked(text: str) -> LedgerSetting | Unclear:
    """What a file of this text says."""
    lines = _first_document(text)
    starts = [(place, found["rest"]) for place, line in enumerate(lines) if (found := _SESSION.match(line))]
    if not starts:
        first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
        in_braces = first[0:1] in ("{", "[") and _NAMES_IT.search("\n".join(lines))
        return (
            Unclear("the file is one mapping in braces, not a block of keys")
            if in_braces
            else LedgerSetting()
        )
    place, rest = starts[0]
    pairs = _in_block(lines[place + 1 :]) if _is_empty(rest) else _in_line(rest)
    if len(starts) > 1 or pairs is None or len({key for key, _ in pairs}) < len(pairs):
        return Unclear("`session` is not written as a plain block of keys, each once")
    said = dict(pairs)
    ledger, path = said.get("ledger", ""), said.get("ledger_path", "")
    if not _is_empty(ledger) and _plain(ledger).lower() not in _TRUTH:
        return Unclear("`session.ledger` must be true or false")
    if not _is_empty(path) and not _text(path):
        return Unclear("`session.ledger_path` must be a path in one line")
    return LedgerSetting(_TRUTH.get(_plain(ledger).lower()), None if _is_empty(path) else _text(path))


def settled(files: Iterable[LedgerSetting]) -> LedgerSetting:
    """What several files say together; a later one wins."""
    ledger: bool | None = None
    path: str | None = None
    for each in files:
        ledger = each.ledger if each.ledger is not None else ledger
        path = each.ledger_path or path
    return LedgerSetting(ledger, path)


_SESSION: Final = re.compile(r"(?:session|'session'|\"session\")[ ]*:(?P<rest>[ \t].*|)$")
_NAMES_IT: Final = re.compile(r"\bsession\b")
_LONGEST: Final = 1_000
_NESTED: Final = "\n"
"""In place of a value that takes more than its line."""
_TRUTH: Final = {"true": True, "false": False}
_KEY: Final = re.compile(r"[\w.\"'-]{1,80}")
_END: Final = r"[ \t]*(?:[ \t]#.*)?"
_EMPTY: Final = re.compile(rf"[ \t]*(?:#.*|~|null)?{_END}")
_PLAIN: Final = re.compile(rf"[ \t]*([\w./~][^#:{{}}\[\],&*!|>'\"%@`\n]*?){_END}")
_QUOTED: Final = re.compile(rf"[ \t]*(?:'([^'\n]*)'|\"([^\"\\\n]*)\"){_END}")
_MAPPING: Final = re.compile(rf"[ \t]*\{{([^{{}}\[\]#]*)\}}{_END}")


def _first_document(text: str) -> list[str]:
    """The lines of the first document; a file may hold several, and only one is meant."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    first = next((place for place, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    lines = lines[first + 1 :] if lines[first].rstrip() == "---" else lines[first:]
    end = next((place for place, line in enumerate(lines) if line.rstrip() in ("---", "...")), len(lines))
    return lines[:end]


def _in_block(lines: Iterable[str]) -> list[tuple[str, str]] | None:
    """Keys and raw values of the block that begins here; None if it is no plain mapping."""
    pairs: list[tuple[str, str]] = []
    indent = 0
    for line in lines:
        bare = line.lstrip(" ")
        if not bare.strip() or bare.startswith("#"):
            continue
        width = len(line) - len(bare)
        indent = indent or width
        if not width and bare[0] != "\t":
            break
        if width > indent and pairs:
            pairs[-1] = (pairs[-1][0], _NESTED)
            continue
        pair = _pair(bare)
        if width < indent or bare[0] == "\t" or pair is None:
            return None
        pairs.append(pair)
    return pairs


def _in_line(rest: str) -> list[tuple[str, str]] | None:
    found = _MAPPING.fullmatch(rest[:_LONGEST])
    if found is None:
        return None
    pairs = [_pair(part) for part in found[1].split(",") if part.strip()]
    return [pair for pair in pairs if pair] if all(pairs) else None


def _pair(text: str) -> tuple[str, str] | None:
    key, colon, value = text.partition(":")
    key = key.strip()
    if not colon or value[:1] not in ("", " ", "\t") or not _KEY.fullmatch(key) or len(value) > _LONGEST:
        return None
    return key.strip("\"'"), value


def _is_empty(raw: str) -> bool:
    return len(raw) <= _LONGEST and _EMPTY.fullmatch(raw) is not None


def _plain(raw: str) -> str:
    found = _PLAIN.fullmatch(raw)
    return found[1] if found else ""


def _text(raw: str) -> str:
    found = _QUOTED.fullmatch(raw)
    return (found[1] or found[2] or "") if found else _plain(raw)
