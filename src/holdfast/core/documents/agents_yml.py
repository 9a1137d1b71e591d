"""Read the ledger settings in `.agents.yml`: the keys `ledger` and `ledger_path` below `session`.

The file belongs to other programs, which store more in it. This reads only the YAML that these two keys need:
a block or a one-line mapping, plain or quoted scalars. Anything else is reported as unclear and ignored: the
file may come from an untrusted repository, and a full YAML parser would be an attack surface.
`files.ledger` finds and opens the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LedgerSetting:
    """The settings in one file; None for a key that is not set."""

    ledger: bool | None = None
    ledger_path: str | None = None


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why the file's settings cannot be used."""

    reason: str


def parse_ledger_setting(text: str) -> LedgerSetting | Unclear:
    """The settings in the text of a file."""
    lines = _first_document(text)
    starts = [(place, match["rest"]) for place, line in enumerate(lines) if (match := _SESSION.match(line))]
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
    values = dict(pairs)
    ledger, path = values.get("ledger", ""), values.get("ledger_path", "")
    if not _is_empty(ledger) and _plain(ledger).lower() not in _TRUTH:
        return Unclear("`session.ledger` must be true or false")
    if not _is_empty(path) and not _text(path):
        return Unclear("`session.ledger_path` must be a path in one line")
    return LedgerSetting(_TRUTH.get(_plain(ledger).lower()), None if _is_empty(path) else _text(path))


def combine_ledger_settings(files: Iterable[LedgerSetting]) -> LedgerSetting:
    """The combined settings of several files; a later file overrides earlier ones."""
    ledger: bool | None = None
    path: str | None = None
    for setting in files:
        ledger = setting.ledger if setting.ledger is not None else ledger
        path = setting.ledger_path or path
    return LedgerSetting(ledger, path)


_SESSION: Final = re.compile(r"(?:session|'session'|\"session\")[ ]*:(?P<rest>[ \t].*|)$")
_NAMES_IT: Final = re.compile(r"\bsession\b")
_LONGEST: Final = 1_000
_NESTED: Final = "\n"
"""Stands for a value that spans several lines."""
_TRUTH: Final = {"true": True, "false": False}
_KEY: Final = re.compile(r"[\w.\"'-]{1,80}")
_END: Final = r"[ \t]*(?:[ \t]#.*)?"
_EMPTY: Final = re.compile(rf"[ \t]*(?:#.*|~|null)?{_END}")
_PLAIN: Final = re.compile(rf"[ \t]*([\w./~][^#:{{}}\[\],&*!|>'\"%@`\n]*?){_END}")
_QUOTED: Final = re.compile(rf"[ \t]*(?:'([^'\n]*)'|\"([^\"\\\n]*)\"){_END}")
_MAPPING: Final = re.compile(rf"[ \t]*\{{([^{{}}\[\]#]*)\}}{_END}")


def _first_document(text: str) -> list[str]:
    """The lines of the first YAML document in the file; later ones are ignored."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    first = next((place for place, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    lines = lines[first + 1 :] if lines[first].rstrip() == "---" else lines[first:]
    end = next((place for place, line in enumerate(lines) if line.rstrip() in ("---", "...")), len(lines))
    return lines[:end]


def _in_block(lines: Iterable[str]) -> list[tuple[str, str]] | None:
    """Keys and raw values of the block that begins here; None if it is not a plain mapping."""
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
    mapping = _MAPPING.fullmatch(rest[:_LONGEST])
    if mapping is None:
        return None
    pairs = [_pair(part) for part in mapping[1].split(",") if part.strip()]
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
    scalar = _PLAIN.fullmatch(raw)
    return scalar[1] if scalar else ""


def _text(raw: str) -> str:
    scalar = _QUOTED.fullmatch(raw)
    return (scalar[1] or scalar[2] or "") if scalar else _plain(raw)
