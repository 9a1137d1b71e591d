"""What a brief and a save confirmation say about a ledger.

After a `/clear` the brief starts with the ledger: the current task, one to three questions to confirm it,
then the rest. `brief.compose` selects among these lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.documents.ledger import Entry, Ledger, Part, marked
from holdfast.core.text.strings import elapsed, shortened
from holdfast.lazy_dataclass import dataclass

SHOWN: Final = 120
IN_QUESTION: Final = 80
ENTRY_CHARS: Final = 260
QUESTIONS: Final = 3
KIND: Final = "ledger"
MORE: Final = "ledger_more"
FIRST: Final = (KIND, "ledger_now", "ledger_ask", "ledger_next", "ledger_goal")
"""The kinds of line that a brief with a ledger begins with, in this order."""
_WORTH: Final = math.exp(3.0)
_LABELS: Final = (
    (Part.CONSTRAINTS, "Constraint"),
    (Part.DECISIONS, "Decision"),
    (Part.QUESTIONS, "Open"),
    (Part.FILES, "Files"),
    (Part.COMMANDS, "Commands"),
    (Part.DONE, "Done"),
    (Part.IDS, "IDs"),
)
_LISTS: Final = frozenset({Part.FILES, Part.COMMANDS, Part.IDS})


@dataclass(frozen=True, slots=True)
class Lead:
    """A ledger that a brief starts with, compared with the current files and branch."""

    path: str
    ledger: Ledger
    saved_at: int
    stale: str = ""
    """Why it is stale; empty for a fresh one."""
    notices: tuple[str, ...] = ()
    """What differs from the ledger: branch, commit."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line about a ledger; `key` is its text without labels."""

    kind: str
    text: str
    key: str
    score: float


def confirmation(path: str, ledger: Ledger) -> str:
    """The message after a ledger was saved."""
    goal, now, following = (_first(ledger.of(part)) for part in (Part.GOAL, Part.NOW, Part.NEXT))
    state = f"{len(ledger.done)} done, now: {now}, next: {following}"
    return f"Checkpoint saved to {path}\n- Goal: {goal}\n- State: {state}"


def questions(ledger: Ledger) -> tuple[str, ...]:
    """What to ask before continuing: whether this is still the focus, and about unconfirmed entries."""
    return tuple(_questions(ledger))[:QUESTIONS]


def _questions(ledger: Ledger) -> Iterator[str]:
    if focus := next(iter((*ledger.now, *ledger.goal)), None):
        yield f"The ledger shows “{_short(focus)}” in progress: is this still the focus?"
    files = [entry for entry in ledger.files if entry.unconfirmed]
    if files:
        names = shortened(", ".join(entry.text for entry in files), SHOWN)
        yield f"{names}: UNCONFIRMED ({files[0].why or 'state unknown'}): is it as you want it?"
    for entry in ledger.unconfirmed():
        if entry not in files:
            why = f" ({entry.why})" if entry.why else ""
            yield f"I see “{_short(entry)}” marked UNCONFIRMED{why}: can you confirm it?"


def lines(lead: Lead, now: int) -> Iterator[Line]:
    """Every line that a brief may contain about a ledger; of a stale ledger, fewer lines lead the brief."""
    stale = f" STALE: {lead.stale}." if lead.stale else ""
    age = elapsed(now - lead.saved_at)
    instruction = "Put the questions to the user first, then resume from Now."
    head = f"`{lead.path}`, saved here {age} ago.{stale} {instruction}"
    yield from _ranked(KIND, [head, *(f"UNCONFIRMED: {notice}" for notice in lead.notices)])
    yield from _labelled("ledger_now", "Now", lead.ledger.now)
    yield from _ranked("ledger_ask", [f"Ask: {question}" for question in questions(lead.ledger)])
    yield from _labelled(MORE if lead.stale else "ledger_next", "Next", lead.ledger.next)
    yield from _labelled(MORE if lead.stale else "ledger_goal", "Goal", lead.ledger.goal)
    for part, label in _LABELS:
        entries = lead.ledger.of(part)
        if part in _LISTS:
            yield from _ranked(MORE, [f"{label}: {', '.join(map(marked, entries))}"] if entries else [])
        else:
            yield from _labelled(MORE, label, entries)


def _labelled(kind: str, label: str, entries: tuple[Entry, ...]) -> Iterator[Line]:
    bare = [shortened(entry.text, ENTRY_CHARS) for entry in entries]
    texts = [
        f"{label}: {marked(replace(entry, text=text))}" for entry, text in zip(entries, bare, strict=True)
    ]
    for line, key in zip(_ranked(kind, texts), bare, strict=True):
        yield replace(line, key=key)


def _ranked(kind: str, texts: list[str]) -> Iterator[Line]:
    """The lines of one kind with scores; leading kinds keep their order, however long a line is."""
    for place, text in enumerate(texts):
        yield Line(kind, text, text, _WORTH if kind == MORE else _WORTH / 100**place)


def _first(entries: tuple[Entry, ...]) -> str:
    return shortened(entries[0].text, SHOWN) if entries else "-"


def _short(entry: Entry) -> str:
    return shortened(entry.text.strip("`"), IN_QUESTION)
