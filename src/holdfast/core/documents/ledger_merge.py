"""Merge what a session knows into a ledger's file.

What a person or an agent wrote there stays as it is, line by line. Of what Holdfast wrote before, the current
state (goal, now, next, files) is replaced, and lasting entries (constraints, decisions, done) stay. An entry
that was removed by hand is not added again, and a mark that was removed by hand is not set again for the same
reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final

from holdfast.core.documents.ledger import (
    Document,
    Entry,
    Ledger,
    Part,
    entry_of,
    key_of,
    marked,
    parse,
    written,
)
from holdfast.core.documents.ledger_edit import Change, changed, stamped, texts
from holdfast.core.documents.unconfirmed import is_by_rule
from holdfast.lazy_dataclass import dataclass

REPLACED: Final = frozenset({Part.GOAL, Part.NOW, Part.NEXT, Part.FILES, Part.IDS, Part.COMMANDS})
"""Parts where new evidence replaces what Holdfast wrote before."""
AUTHORED: Final = frozenset({Part.GOAL, Part.NOW, Part.NEXT})
"""Parts where explicit entries replace everything."""
STANDING: Final = {Part.CONSTRAINTS: 30, Part.DECISIONS: 20, Part.DONE: 20}
"""Parts whose entries stay though the session no longer has them; above this number, Holdfast's oldest go."""
REMEMBERED: Final = 200
"""How many of Holdfast's entries per part are remembered, so that one removed by hand does not come back."""


@dataclass(frozen=True, slots=True)
class LedgerInput:
    """What to merge: entries from evidence, explicit entries, and the entries that Holdfast wrote before."""

    found: Ledger = Ledger()
    given: Ledger = Ledger()
    ours: Ledger = Ledger()
    """Entries that Holdfast wrote before, with the marks that they had then."""
    file_doubts: Mapping[str, str] = field(default_factory=lambda: {})
    """For each file by its key: how it changed since the session left it; empty if it did not."""
    is_settled: Callable[[str], bool] = lambda _: False
    """Whether the user has confirmed a text."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The updated file, and the entries in it that Holdfast wrote."""

    document: Document
    ours: Ledger


def merged(current: Document, known: LedgerInput, updated: str) -> Merged:
    """The file with the input merged and a new time; a file without headings gets all sections."""
    if not any(section.heading for section in current.sections):
        current = parse(written(Ledger(), updated))
    document, own = stamped(current, updated), Ledger()
    for part in Part:
        result = _merge_part(part, texts(document, part), known)
        document = changed(document, part, result.change)
        own = own.having(part, result.own)
    return Merged(document, own)


# ---------------------------------------------------------------- what becomes of each entry


@dataclass(frozen=True, slots=True)
class _PartResult:
    """The change to a part's entries, and which entries Holdfast wrote."""

    change: Change
    own: tuple[Entry, ...]


def _merge_part(part: Part, texts: Sequence[str], known: LedgerInput) -> _PartResult:
    evidence, explicit, own = (_by_key(ledger.of(part)) for ledger in (known.found, known.given, known.ours))
    present_texts = {key_of(text): text for text in texts}
    authored = part in AUTHORED and bool(explicit)
    removed = {
        key
        for key in present_texts
        if key not in explicit and (authored or _is_replaced(part, key, evidence, own))
    }
    existing = [
        None if key_of(text) in removed or not text else _with_current_mark(part, text, key_of(text), known)
        for text in texts
    ]
    present = present_texts.keys() - removed
    new = {key: entry for key, entry in explicit.items() if key not in present}
    if not authored and not (part is Part.GOAL and present):
        # An entry that Holdfast wrote and that is missing was removed by hand.
        removed_by_hand = own.keys() - present_texts.keys()
        new |= {
            key: entry
            for key, entry in evidence.items()
            if key not in present | removed_by_hand | explicit.keys()
        }
    added = [
        _with_current_mark(part, present_texts.get(key, marked(entry)), key, known)
        for key, entry in new.items()
    ]
    # An entry that was in the file before Holdfast found it belongs to its author.
    seen = {key: entry for key, entry in evidence.items() if key in own or key not in present_texts}
    remembered = {key: entry for key, entry in own.items() if key not in removed} | seen
    existing = _within_bounds(part, existing, own.keys(), len(added))
    return _PartResult(Change(tuple(existing), tuple(added)), tuple(remembered.values())[-REMEMBERED:])


def _is_replaced(part: Part, key: str, evidence: Mapping[str, Entry], own: Mapping[str, Entry]) -> bool:
    """Whether an entry that Holdfast wrote is removed; if still found, it is added again in its new order."""
    if part is Part.QUESTIONS:
        return key in own and key not in evidence
    return part in REPLACED and bool(evidence) and key in own


def _within_bounds(
    part: Part, entries: list[Entry | None], own_keys: Iterable[str], new: int
) -> list[Entry | None]:
    """The entries without Holdfast's oldest where there are too many; the first constraints stay."""
    over = sum(entry is not None for entry in entries) + new - STANDING.get(part, len(entries) + new)
    own = frozenset(own_keys)
    places = [place for place, entry in enumerate(entries) if entry and key_of(entry.text) in own]
    start = len(places) // 2 if part is Part.CONSTRAINTS else 0
    dropped = frozenset(places[start : start + max(over, 0)])
    return [None if place in dropped else entry for place, entry in enumerate(entries)]


def _with_current_mark(part: Part, text: str, key: str, known: LedgerInput) -> Entry:
    """An entry with the mark that it should have now."""
    entry = entry_of(text)
    if part is Part.FILES:
        why = known.file_doubts.get(key)
        return entry if why is None or (why and entry.unconfirmed) else Entry(entry.text, bool(why), why)
    evidence, explicit, before = (
        _by_key(ledger.of(part)).get(key) for ledger in (known.found, known.given, known.ours)
    )
    if explicit is not None and explicit.unconfirmed and not is_by_rule(explicit):
        return Entry(entry.text, unconfirmed=True, why=explicit.why)
    if entry.unconfirmed:
        says_so = any(other is not None and not other.unconfirmed for other in (evidence, explicit))
        return Entry(entry.text) if says_so or known.is_settled(entry.text) else entry
    # A mark that Holdfast had set and that is missing was removed by hand.
    newly = evidence is not None and evidence.unconfirmed and before is not None and not before.unconfirmed
    return Entry(entry.text, unconfirmed=True, why=evidence.why) if evidence and newly else entry


def _by_key(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {key_of(entry.text): entry for entry in entries}
