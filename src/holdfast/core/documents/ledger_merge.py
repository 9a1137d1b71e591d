"""How what a session knows joins what stands in a ledger's file.

What a person or an agent wrote there stays as it is, line by line. Of what we wrote before, the passing gives
way to what is known now, and the standing stays. What was taken out by hand is not put in again, and a mark
that was taken away by hand is not set again for the same reason.
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
"""Where what is known now takes the place of what we wrote before."""
AUTHORED: Final = frozenset({Part.GOAL, Part.NOW, Part.NEXT})
"""Where explicit words take the place of everything."""
STANDING: Final = {Part.CONSTRAINTS: 30, Part.DECISIONS: 20, Part.DONE: 20}
"""What stays though the session no longer knows it; with more than so much, the oldest of ours go."""
REMEMBERED: Final = 200
"""So much of what was ours is remembered of a part, lest it comes back after it was taken out by hand."""


@dataclass(frozen=True, slots=True)
class LedgerInput:
    """What there is to say: seen by rule, given in explicit words, and what of the file is ours already."""

    found: Ledger = Ledger()
    given: Ledger = Ledger()
    ours: Ledger = Ledger()
    """As it was found when we wrote it, with the marks of then."""
    file_doubts: Mapping[str, str] = field(default_factory=lambda: {})
    """By the key of a file: what is not as it was left; empty where it is."""
    is_settled: Callable[[str], bool] = lambda _: False
    """Whether the user has confirmed what a text says."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The file as it is to be, and what we have written of it so far."""

    document: Document
    ours: Ledger


def merged(current: Document, known: LedgerInput, updated: str) -> Merged:
    """The file with what is known, updated now; a file without a heading becomes a whole ledger."""
    if not any(section.heading for section in current.sections):
        current = parse(written(Ledger(), updated))
    document, ours = stamped(current, updated), Ledger()
    for part in Part:
        settled = _settled(part, texts(document, part), known)
        document = changed(document, part, settled.change)
        ours = ours.having(part, settled.ours)
    return Merged(document, ours)


# ---------------------------------------------------------------- what becomes of each entry


@dataclass(frozen=True, slots=True)
class _Settled:
    """What becomes of the entries that stand there and what is new, and what of all that is ours."""

    change: Change
    ours: tuple[Entry, ...]


def _settled(part: Part, texts: Sequence[str], known: LedgerInput) -> _Settled:
    found, given, ours = (_by_key(ledger.of(part)) for ledger in (known.found, known.given, known.ours))
    stands = {key_of(text): text for text in texts}
    authored = part in AUTHORED and bool(given)
    gone = {key for key in stands if key not in given and (authored or _gives_way(part, key, found, ours))}
    wanted = [
        None if key_of(text) in gone or not text else _marked_now(part, text, key_of(text), known)
        for text in texts
    ]
    present = stands.keys() - gone
    new = {key: entry for key, entry in given.items() if key not in present}
    if not authored and not (part is Part.GOAL and present):
        # What is ours and does not stand there was taken out by hand.
        unwanted = ours.keys() - stands.keys()
        new |= {key: each for key, each in found.items() if key not in present | unwanted | given.keys()}
    added = [_marked_now(part, stands.get(key, marked(each)), key, known) for key, each in new.items()]
    # What someone had written before we found it is theirs.
    seen = {key: each for key, each in found.items() if key in ours or key not in stands}
    remembered = {key: each for key, each in ours.items() if key not in gone} | seen
    wanted = _within_bounds(part, wanted, ours.keys(), len(added))
    return _Settled(Change(tuple(wanted), tuple(added)), tuple(remembered.values())[-REMEMBERED:])


def _gives_way(part: Part, key: str, found: Mapping[str, Entry], ours: Mapping[str, Entry]) -> bool:
    """Whether an entry of ours goes: what is found again comes back in the order in which it is found."""
    if part is Part.QUESTIONS:
        return key in ours and key not in found
    return part in REPLACED and bool(found) and key in ours


def _within_bounds(
    part: Part, wanted: list[Entry | None], ours: Iterable[str], new: int
) -> list[Entry | None]:
    """Without the oldest of ours where there is too much; of constraints the first stay, they bind most."""
    over = sum(entry is not None for entry in wanted) + new - STANDING.get(part, len(wanted) + new)
    own = frozenset(ours)
    places = [place for place, entry in enumerate(wanted) if entry and key_of(entry.text) in own]
    start = len(places) // 2 if part is Part.CONSTRAINTS else 0
    dropped = frozenset(places[start : start + max(over, 0)])
    return [None if place in dropped else entry for place, entry in enumerate(wanted)]


def _marked_now(part: Part, text: str, key: str, known: LedgerInput) -> Entry:
    """An entry that stays, with the mark that it should have now."""
    entry = entry_of(text)
    if part is Part.FILES:
        why = known.file_doubts.get(key)
        return entry if why is None or (why and entry.unconfirmed) else Entry(entry.text, bool(why), why)
    found, given, before = (
        _by_key(ledger.of(part)).get(key) for ledger in (known.found, known.given, known.ours)
    )
    if given is not None and given.unconfirmed and not is_by_rule(given):
        return Entry(entry.text, unconfirmed=True, why=given.why)
    if entry.unconfirmed:
        says_so = any(other is not None and not other.unconfirmed for other in (found, given))
        return Entry(entry.text) if says_so or known.is_settled(entry.text) else entry
    # A mark that we had set, and that is there no more, was taken away by hand.
    newly = found is not None and found.unconfirmed and before is not None and not before.unconfirmed
    return Entry(entry.text, unconfirmed=True, why=found.why) if found and newly else entry


def _by_key(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {key_of(entry.text): entry for entry in entries}
