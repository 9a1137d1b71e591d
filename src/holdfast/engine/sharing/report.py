"""Report: what is known of each hub, so that nobody is told "shared" when it is not."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

import msgspec

from holdfast.errors import HubError
from holdfast.lazy_dataclass import dataclass, replace
from holdfast.stores.base import Store

_FACT: Final = "hub/"


@dataclass(frozen=True, slots=True)
class HubNotes:
    """What this machine noted of a hub. Times are of this machine's clock; 0 for never."""

    person: str = ""
    """Who this person is to the hub."""
    team: str = ""
    is_read_only: bool = False
    clock_ahead: int = 0
    """How far this machine's clock is ahead of the hub's, in milliseconds."""
    tried_at: int = 0
    pushed_at: int = 0
    """When everything that was to be sent had been sent, last."""
    pulled_at: int = 0
    failing_since: int = 0
    problem: str = ""
    """Why the last attempt failed; empty if it did not."""
    hint: str = ""


def notes_of(store: Store, hub: str) -> HubNotes:
    """What is noted of a hub; empty notes if nothing is, or nothing that can be read."""
    fact = store.fact(_FACT + hub)
    try:
        return msgspec.json.decode(fact, type=HubNotes) if fact else HubNotes()
    except msgspec.DecodeError:
        return HubNotes()


def note(store: Store, hub: str, notes: HubNotes) -> None:
    """Store the notes of a hub; called inside a transaction."""
    store.put_fact(_FACT + hub, msgspec.json.encode(asdict(notes)).decode())


def drop_notes(store: Store, hub: str) -> None:
    """Delete the notes of a hub; called inside a transaction."""
    store.put_fact(_FACT + hub, "")


def failed(notes: HubNotes, error: HubError, at: int) -> HubNotes:
    """The notes after an attempt that failed."""
    return replace(
        notes,
        tried_at=at,
        failing_since=notes.failing_since or at,
        problem=error.message,
        hint=error.hint,
    )


def succeeded(notes: HubNotes, at: int) -> HubNotes:
    """The notes after an attempt that did not fail."""
    return replace(notes, tried_at=at, failing_since=0, problem="", hint="")
