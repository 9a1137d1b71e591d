"""Dialect: how PostgreSQL says what the shared statements say in SQLite's words.

Most of them are the same in both. What is not is listed here, and nowhere else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from holdfast.lazy_dataclass import dataclass
from holdfast.stores.sql import documents, forgetting, redactor_versions
from holdfast.stores.sql.database import CHECKPOINT_AT, Bindings, Value


@dataclass(frozen=True, slots=True)
class DriverStatement:
    """A statement for the driver, and the values that it names."""

    text: str
    names: tuple[str, ...]

    def values(self, bindings: Bindings) -> dict[str, object]:
        """Its values, those that are derived of others included."""
        return {name: _value(name, bindings) for name in self.names}


def translated_statement(sql: str) -> DriverStatement:
    """The statement as PostgreSQL understands it."""
    sql = _REPLACED.get(sql, sql)
    for shared, own in _WORDS:
        sql = sql.replace(shared, own)
    sql = _LIST.sub(r"unnest(cast(:list_\1 as text[])) as each(value)", sql)
    names = tuple(dict.fromkeys(_NAME.findall(sql)))
    return DriverStatement(_NAME.sub(r"%(\1)s", sql.replace("%", "%%")), names)


def terms_of(text: str) -> str:
    """The words of a text for the full-text index, as SQLite's splits it: accents and punctuation removed."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(_WORD.findall(text.casefold()))[:LONGEST_TERMS]


LONGEST_TERMS: Final = 200_000
"""PostgreSQL indexes at most a megabyte of a text."""


def _value(name: str, bindings: Bindings) -> object:
    for prefix, derive in _DERIVED.items():
        if name.startswith(prefix):
            return derive(str(bindings[name.removeprefix(prefix)]))
    return _storable(bindings.get(name))


def restored(text: str) -> str:
    """A text as it was before it was stored."""
    if _MARK not in text:
        return text
    return text.replace(_STORED_NUL, "\0").replace(_STORED_MARK, _MARK)


def _storable(value: Value) -> Value:
    """The same value; a NUL, which PostgreSQL cannot store in a text, becomes a mark and a digit."""
    if isinstance(value, str) and ("\0" in value or _MARK in value):
        return value.replace(_MARK, _STORED_MARK).replace("\0", _STORED_NUL)
    return value


def _listed(value: str) -> list[Value]:
    """The items of a list in JSON, as texts."""
    items: list[object] = msgspec.json.decode(value)
    return [_storable(str(item)) for item in items]


def _length_of(text: str) -> int:
    terms = terms_of(text)
    return terms.count(" ") + 1 if terms else 0


_DERIVED: Final[Mapping[str, Callable[[str], object]]] = {
    "list_": _listed,
    "terms_of_": terms_of,
    "length_of_": _length_of,
}
"""By the beginning of a value's name: how it is made of the value that the rest of its name says."""

_NAME: Final = re.compile(r"(?<![:\w]):([a-z_]\w*)")
_LIST: Final = re.compile(r"json_each\(:(\w+)\)")
_WORD: Final = re.compile(r"[^\W_]+")

_WORDS: Final = (
    (CHECKPOINT_AT, "cast(round(extract(epoch from cast(created_at as timestamptz)) * 1000) as bigint)"),
    ("instr(", "strpos("),
    ("x''", "cast('' as bytea)"),
    ("cross join", "join"),
)

_MARK: Final = "\U0010fffe"
_STORED_NUL: Final = f"{_MARK}0"
_STORED_MARK: Final = f"{_MARK}1"

# A text that changes takes its place in the full-text index in the same statement.
_TERMS = (
    "terms    = to_tsvector('words', :terms_of_text0),\n       length   = :length_of_text0,\n       text "
)
_REPLACED: Final = {
    documents.ADD_DOCUMENT: documents.ADD_DOCUMENT.replace(
        "source, text\n)", "source, text, terms, length\n)"
    )
    .replace(":text\n)", ":text, to_tsvector('words', :terms_of_text), :length_of_text\n)")
    .replace(
        "set kind ", "set terms       = excluded.terms,\n       length      = excluded.length,\n       kind "
    ),
    **{
        sql: sql.replace("text  ", _TERMS, 1)
        for sql in (forgetting.WRITE_DOCUMENT, redactor_versions.WRITE_DOCUMENT)
    },
    documents.BEST: documents.BEST.replace(
        "json_each(:numbers) as best",
        "unnest(cast(:list_numbers as text[])) with ordinality as best(value, place)",
    ).replace(" limit :limit", " order by best.place\n limit :limit"),
    redactor_versions.PUT_FIRST: redactor_versions.PUT_FIRST.replace(":value", "encode(:value, 'hex')"),
}
