"""Tables: values below a heading that says password, and those of a Kubernetes Secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import names, values
from holdfast.core.redaction.names import NameMeaning, Proof
from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.text.patterns import compiled

_LONGEST_LINE: Final = 2_000
_MOST_ROWS: Final = 5_000
# Below a heading that may itself be a row: were all read there, a table of headings would take for ever.
_MOST_BELOW_ROWS: Final = 100
_SEPARATORS: Final = "|,;\t"
# A heading has words in its cells, and nothing else.
_HEADING: Final = compiled(r"""[ \t"'`*_|]{0,9}[A-Za-z][\w /().#*"'`-]{0,40}\Z""", re.ASCII)
_RULE: Final = compiled(r"[ \t]*+\|?+[ \t:|+-]{3,2000}+\Z")
_CELL: Final = compiled(r"""[ \t"'`*]{0,9}(?P<value>[^"'`*].{0,400}?)[ \t"'`*]{0,9}\Z""")
# A neighbour that shows whose the secrets are: there a plain word is one too.
_OWNERS: Final = compiled(
    r"user|login|email|e-mail|account|host|name|server|site|service|url|system|client", re.IGNORECASE
)
_PASSWORDS: Final = frozenset(("password", "secret", "pin", "recovery-code"))
_CODES: Final = compiled(r"(?:\bpins?\b|(?:recovery|backup|scratch)[ _-]codes?)", re.IGNORECASE)


def column_at(text: str, place: int) -> Iterator[Span]:
    """The values of the column whose heading has a name that says secret at this place."""
    line_start = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1
    line_end = _end_of_line(text, place, place + _LONGEST_LINE + 1)
    if line_end - line_start > _LONGEST_LINE:
        return
    heading = text[line_start:line_end]
    separator = next((sign for sign in _SEPARATORS if sign in heading), "")
    if not separator:
        return
    cells = heading.split(separator)
    column = heading[: place - line_start].count(separator)
    announced = _announced(cells[column])
    if announced is None or not _is_heading(text, line_end, separator, cells):
        return
    owned = any(_OWNERS.search(cell) for number, cell in enumerate(cells) if number != column)
    most = _MOST_BELOW_ROWS if _is_below_row(text, line_start, separator, len(cells)) else _MOST_ROWS
    for start, value in _below(text, line_end, separator, len(cells), column, most):
        if _is_secret(value, announced, owned=owned):
            yield Span(start, start + len(value), announced.kind, Rank.NAME)


def _is_heading(text: str, end: int, separator: str, cells: list[str]) -> bool:
    """Whether these cells are a heading: with bars a rule is drawn below it, elsewhere none is empty."""
    if separator == "|":
        ruled = _RULE.match(text[end + 1 : _end_of_line(text, end + 1)].rstrip("\r"))
        return ruled is not None and all(_HEADING.match(cell) for cell in cells if cell.strip())
    return all(map(_HEADING.match, cells))


def _announced(cell: str) -> NameMeaning | None:
    if code := _CODES.search(cell):
        return NameMeaning("pin" if "pin" in code[0].lower() else "recovery-code", Proof.NONE)
    return names.announced_by(cell)


def _is_below_row(text: str, line_start: int, separator: str, width: int) -> bool:
    """Whether the line before this one has as many cells."""
    end = max(0, line_start - 1)
    before = text.rfind("\n", max(0, end - _LONGEST_LINE), end) + 1
    return (
        line_start > 0 and end - before <= _LONGEST_LINE and text.count(separator, before, end) == width - 1
    )


def _below(
    text: str, end: int, separator: str, width: int, column: int, most: int
) -> Iterator[tuple[int, str]]:
    """Where each cell of this column begins, and what it says, down to the first line that is no row."""
    for _ in range(most):
        start, end = end + 1, _end_of_line(text, end + 1)
        line = text[start:end].rstrip("\r")
        cells = line.split(separator)
        if start >= len(text) or not line.strip():
            return
        if separator == "|" and _RULE.match(line):
            continue
        if len(cells) != width:
            return
        if found := _CELL.match(cells[column]):
            place = start + sum(len(cell) + 1 for cell in cells[:column])
            yield place + found.start("value"), found["value"]


def _is_secret(value: str, announced: NameMeaning, *, owned: bool) -> bool:
    if any(map(str.isspace, value)):
        return values.is_words(value, sure=announced.kind == "password")
    if announced.kind in _PASSWORDS and owned:
        return values.is_given(value, Proof.NONE) and not values.is_code(value)
    return values.is_secret_unquoted(value, announced.proof)


def _end_of_line(text: str, place: int, limit: int | None = None) -> int:
    """Where the line ends, or the limit if that is nearer: a line may be as long as the text."""
    end = text.find("\n", place, limit)
    return end if end >= 0 else len(text) if limit is None else min(limit, len(text))


_NEWLINE: Final = r"(?:\r?\n|\\r|\\n)"
# Where somebody has made one line of it all, only the indent is left of a new line.
_BLOCK: Final = re.compile(
    rf"""\\{{0,3}}["']?(?P<plain>string)?data\\{{0,3}}["']?:[ ]?(?:\{{|{_NEWLINE}|[ ]{{2,40}}(?=\S))""",
    re.IGNORECASE,
)
_ENTRY: Final = re.compile(
    rf"""(?:{_NEWLINE}|,)?[ \t]{{0,40}}\\{{0,3}}["']?[\w.-]{{1,100}}\\{{0,3}}["']?:[ ]?
        (?:[>|][+-]?{_NEWLINE}[ \t]{{1,40}})?\\{{0,3}}["']?(?P<value>[^\s"'\\,}}]{{4,4000}})\\{{0,3}}["']?""",
    re.VERBOSE,
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/]{4,4000}={0,2}\Z")
_LOOK_AHEAD: Final = 2_000
_MOST_ENTRIES: Final = 30


def _secret_values(text: str, place: int) -> Iterator[Span]:
    block = _BLOCK.search(text, place, place + _LOOK_AHEAD)
    entry = _ENTRY.match(text, block.end()) if block else None
    for _ in range(_MOST_ENTRIES):
        if block is None or entry is None:
            return
        value = entry["value"]
        if values.is_given(value, Proof.NONE) and (block["plain"] or _ENCODED.match(value)):
            yield Span(*entry.span("value"), "secret", Rank.PLACE)
        entry = _ENTRY.match(text, entry.end())


MANIFEST_RULES: Final = (
    Rule(b"secret", rb"""(?:(?<=kind:\ secret)|(?<=kind:\ "secret)|(?<=kind":\ "secret)|(?<=kind":"secret)
                           |(?<=kind\\":\ \\"secret)|(?<=kind\\":\\"secret))(?![\w-])""", _secret_values),
)  # fmt: skip
