"""Erasure: remove forgotten wordings from a store's columns, each according to what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.core.agent_log.records import map_record
from holdfast.core.memory.memory import asked_to_remember, read
from holdfast.core.memory.passages import LENGTH, SPEAKER
from holdfast.core.memory.wordings import FORGOTTEN, Wordings
from holdfast.stores.codec import decode_texts, encode_texts, map_document, map_session

_QUERIES = "pending_queries"
_LISTED = (_QUERIES, "pending_remembers")
_ASKED = f"/remember {FORGOTTEN}"


def erased_text(text: str, wordings: Wordings) -> str:
    """A text; a request to remember a forgotten wording is erased however short the wording is."""
    if asked_to_remember(text) and wordings.is_one(read(text).text):
        return _ASKED
    return wordings.removed(text)


def erased_document(data: str, wordings: Wordings) -> str:
    """JSON with texts in it."""
    return map_document(data, lambda text: erased_text(text, wordings))


def erased_event(kind: str, data: str, wordings: Wordings) -> str:
    """An event; a remembered wording in it is erased however short it is."""
    if kind == "remembered":
        return map_document(data, lambda text: FORGOTTEN if wordings.is_one(text) else wordings.removed(text))
    return erased_document(data, wordings)


def erased_record(data: str, wordings: Wordings) -> str:
    """A line of a log in Holdfast's store."""
    return map_record(data, lambda text: erased_text(text, wordings))


def erased_session(data: str, wordings: Wordings) -> str:
    """A session's state; forgotten wordings are also removed from its lists of what to remember."""
    changed = map_session(data, lambda text: erased_text(text, wordings))
    fields: dict[str, Any] = msgspec.json.decode(changed)
    listed = {name: list[str](fields.get(name, ())) for name in _LISTED}
    queries = [wordings.removed_from_query(query) for query in listed[_QUERIES]]
    remaining = {name: _remaining(rows, wordings) for name, rows in {**listed, _QUERIES: queries}.items()}
    return changed if remaining == listed else msgspec.json.encode({**fields, **remaining}).decode()


def erased_queries(data: str, wordings: Wordings) -> str:
    """A list of queries without forgotten wordings."""
    texts = decode_texts(data)
    remaining = tuple(_remaining([wordings.removed_from_query(text) for text in texts], wordings))
    return data if remaining == texts else encode_texts(remaining)


def erased_texts(data: str, wordings: Wordings) -> str:
    """A list of texts without forgotten wordings."""
    texts = decode_texts(data)
    remaining = tuple(_remaining([wordings.removed(text) for text in texts], wordings))
    return data if remaining == texts else encode_texts(remaining)


def erased_found(kind: str, text: str, wordings: Wordings) -> str:
    """A document's text: a memory is one wording, a digest is a list, a passage may begin or end anywhere."""
    if kind == "memory":
        return wordings.removed(text)
    label, spoken = _labelled(wordings.removed_from_digest(text))
    return label + wordings.removed_from_passage(spoken)


def erased_passages(texts: Sequence[str], wordings: Wordings) -> list[str]:
    """The passages of one session, in order: a text that is too long for one continues in the next."""
    labels, spoken = zip(*map(_labelled, texts), strict=True) if texts else ((), ())
    gaps = [_gap(text) for text in texts]
    erased = wordings.removed_across([part + gap for part, gap in zip(spoken, gaps, strict=True)])
    return [label + part.removesuffix(gap) for label, part, gap in zip(labels, erased, gaps, strict=True)]


def _gap(passage: str) -> str:
    """What followed a passage: white space, unless a very long word was cut there."""
    cut = len(passage) == LENGTH and " " not in _labelled(passage)[1]
    return "" if cut else " "


def _labelled(passage: str) -> tuple[str, str]:
    """The speaker's label at the beginning of a passage, if any, and the rest of it."""
    label = SPEAKER.match(passage)
    return (label[0], passage[label.end() :]) if label else ("", passage)


def _remaining(texts: list[str] | tuple[str, ...], wordings: Wordings) -> list[str]:
    return [text for text in texts if text != FORGOTTEN and not wordings.is_one(text)]
