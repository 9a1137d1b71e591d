"""Report: what is known of each hub, so that nobody is told "shared" when it is not."""

from __future__ import annotations

import msgspec

from holdfast.engine.shared_sessions import HUBS_FACT
from holdfast.errors import HubError
from holdfast.lazy_dataclass import dataclass, replace
from holdfast.stores.base import Store


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


def noted_hubs(store: Store) -> dict[str, HubNotes]:
    """The notes of every hub that was used or failed, by name; none of them if they cannot be read."""
    fact = store.fact(HUBS_FACT)
    try:
        return msgspec.json.decode(fact, type=dict[str, HubNotes]) if fact else {}
    except msgspec.DecodeError:
        return {}


def notes_of(store: Store, hub: str) -> HubNotes:
    """What is noted of a hub."""
    return noted_hubs(store).get(hub, HubNotes())


def note(store: Store, hub: str, notes: HubNotes) -> None:
    """Store the notes of a hub; called inside a transaction."""
    _put(store, {**noted_hubs(store), hub: notes})


def drop_notes(store: Store, hub: str) -> None:
    """Delete the notes of a hub; called inside a transaction."""
    _put(store, {name: notes for name, notes in noted_hubs(store).items() if name != hub})


def _put(store: Store, notes: dict[str, HubNotes]) -> None:
    store.put_fact(HUBS_FACT, msgspec.json.encode(notes).decode() if notes else "")


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
