"""The record of what was forgotten, beside the store: hashes alone, one JSON object a line.

It outlives the store, so that neither a new store nor a restored backup brings anything back. The first line
changes with every write, and tells whether there is something new in the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, cast

from holdfast.files import atomic
from holdfast.lazy_dataclass import dataclass

NAME: Final = "forgotten.jsonl"
_HEAD_MOST: Final = 1024


@dataclass(frozen=True, slots=True)
class WordingLine:
    """A wording of a memory in hashes, when it was forgotten, and when it was remembered again."""

    words: int
    blocks: tuple[bytes, ...]
    alone: bool
    at: int
    lifted_at: int


@dataclass(frozen=True, slots=True)
class ForgottenRecord:
    """All that was forgotten, by hashes: names with their times, and wordings under a key."""

    generation: str = ""
    key: bytes = b""
    names: Mapping[bytes, int] = field(default_factory=dict[bytes, int])
    wordings: tuple[WordingLine, ...] = ()


def generation(home: Path) -> str:
    """Which state of the record is there; empty where there is none, or where it cannot be read."""
    try:
        with (home / NAME).open("rb") as file:
            head = file.readline(_HEAD_MOST)
    except OSError:
        return ""
    return str(_fields(head).get("generation", ""))


def read(home: Path) -> ForgottenRecord:
    """The record; lines that cannot be read are left out."""
    raw = atomic.read(home / NAME)
    if raw is None:
        return ForgottenRecord()
    head, names, wordings = dict[str, Any](), dict[bytes, int](), list[WordingLine]()
    for line in map(_fields, raw.splitlines()):
        match line:
            case {"generation": str(), "key": str()}:
                head = line
            case {"name": str(name), "at": int(at)}:
                names |= dict.fromkeys(_unhexed([name]), at)
            case {"blocks": [*blocks], "words": int(words), "alone": bool(alone), "at": int(at), **rest}:
                cut, lifted_at = tuple(_unhexed(blocks)), rest.get("lifted_at", 0)
                if cut and len(cut) == len(blocks) and words > 0 and isinstance(lifted_at, int):
                    wordings.append(WordingLine(words, cut, alone, at, lifted_at))
            case _:
                pass
    key = next(_unhexed([head.get("key", "")]), b"")
    return ForgottenRecord(str(head.get("generation", "")), key, names, tuple(wordings))


def write(home: Path, record: ForgottenRecord) -> None:
    """Put the record in place of the one before; on the disk before this returns."""
    names = [{"name": name.hex(), "at": at} for name, at in sorted(record.names.items())]
    wordings = [
        {
            "blocks": [block.hex() for block in each.blocks],
            "words": each.words,
            "alone": each.alone,
            "at": each.at,
            "lifted_at": each.lifted_at,
        }
        for each in sorted(record.wordings, key=lambda each: (each.at, each.blocks))
    ]
    lines = ({"generation": record.generation, "key": record.key.hex()}, *names, *wordings)
    atomic.write(home / NAME, "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def _fields(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}


def _unhexed(texts: Iterable[object]) -> Iterator[bytes]:
    for text in texts:
        try:
            yield bytes.fromhex(str(text))
        except ValueError:
            continue
