"""Forgotten: hashes of what was forgotten, in the store and in a record file beside it.

Opening a store brings the two into agreement: a store that is new or was restored from a backup learns from
the record what it must not hold, and drops it. Forgetting itself is `engine.privacy.forget`'s work.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Final

from holdfast.core.memory.wordings import NO_WORDINGS, Fingerprint, Wordings, fingerprints
from holdfast.core.text.strings import query_terms
from holdfast.files import forgotten_record
from holdfast.files.forgotten_record import ForgottenRecord, WordingLine
from holdfast.stores.base import Store
from holdfast.stores.codec import hashed
from holdfast.stores.forgettable import EVERYTHING, Dropped, ForgottenWording, memory_name, project_name

GENERATION: Final = "forgotten_record"
"""The fact that says which state of the record the store agrees with."""
BEGUN: Final = "forgetting"
"""The fact that says what is to be forgotten, until the store has dropped it."""
KEY: Final = "wordings_key"
"""The fact that holds the key under which the words of memories are hashed."""
KEY_BYTES: Final = 16


def forgotten_wordings(store: Store) -> Wordings:
    """The wordings that no text may hold."""
    held = frozenset(each.fingerprint for each in store.forgotten_wordings() if each.holds)
    return _wordings(bytes.fromhex(store.fact(KEY)), held) if held else NO_WORDINGS


@lru_cache(maxsize=4)
def _wordings(key: bytes, forgotten: frozenset[Fingerprint]) -> Wordings:
    """Cached: every event asks for it, and each word is then hashed once."""
    return Wordings(key, forgotten)


def known_by(store: Store, text: str) -> tuple[Fingerprint, ...]:
    """The fingerprints of a wording in this store, also in the form of a memory query.

    Called inside a transaction.
    """
    key, words = _key(store), query_terms(text, len(text))
    return tuple(dict.fromkeys((*fingerprints(text, key), *(fingerprints(words, key) if words else ()))))


def note_wording(store: Store, home: Path | None, id: str, text: str) -> None:
    """Note a memory's present wording, to forget it with the memory; called inside a transaction."""
    store.add_memory_wordings(id, known_by(store, text))
    # If this store is damaged, its replacement has to hash the wording with the same key.
    if home is not None and not forgotten_record.read(home).key:
        publish(store, home)


def forget_memory(store: Store, id: str, at: int) -> Dropped:
    """Drop a memory and every text that has one of its wordings; called inside a transaction."""
    memory = store.memory(id)
    if memory is None:
        return Dropped()
    prints = dict.fromkeys((*known_by(store, memory.text), *store.memory_wordings(id)))
    for text in _texts_given_to(store, memory.session, id):
        prints |= dict.fromkeys(known_by(store, text))
    store.put_forgotten_wordings(ForgottenWording(each, at) for each in prints)
    store.forget_memory(id, at)
    erased = store.erase(Wordings(_key(store), prints), at)
    return Dropped(memories=1 + erased.memories, mentions=erased.mentions)


def forget_everything(store: Store, at: int) -> Dropped:
    """Drop everything but the hashes of forgotten wordings; called inside a transaction."""
    key = store.fact(KEY)
    dropped = store.forget_all(at)
    store.put_fact(KEY, key)
    return dropped


def publish(store: Store, home: Path) -> None:
    """Write all that the store knows into the record; called at the end of a transaction.

    The record is on the disk before the transaction is. If the process is killed between the two, the store
    learns from the record.
    """
    record = _merged(forgotten_record.read(home), store)
    forgotten_record.write(home, record)
    store.put_fact(GENERATION, record.generation)


def agrees(store: Store, home: Path) -> bool:
    """Whether store and record know the same."""
    there = forgotten_record.generation(home)
    return there == store.fact(GENERATION) and (bool(there) or not store.forgotten_names())


def is_settled(store: Store, home: Path) -> bool:
    """Whether a store holds nothing that is known to be forgotten; a cheap check."""
    return not store.fact(BEGUN) and agrees(store, home)


def agree(store: Store, home: Path, at: int) -> Dropped:
    """Bring store and record into agreement; returns what the store had to drop."""
    if agrees(store, home):
        return Dropped()
    with store.writing_durably():
        dropped = learn(store, forgotten_record.read(home), at)
        publish(store, home)
    return dropped


def learn(store: Store, record: ForgottenRecord, at: int) -> Dropped:
    """Drop from the store what the record says was forgotten; called inside a transaction."""
    known_names = store.forgotten_names()
    names = {name: when for name, when in record.names.items() if known_names.get(name, 0) < when}
    dropped = [forget_everything(store, at)] if hashed(EVERYTHING) in names else []
    if record.key:
        store.put_fact(KEY, record.key.hex())
    sessions = store.keys()
    dropped += [store.forget([key], names[hashed(key)]) for key in sessions if hashed(key) in names]
    projects = [id for id in store.project_ids() if hashed(project_name(id)) in names]
    dropped += [store.forget_project(id, names[hashed(project_name(id))]) for id in projects]
    for id in store.memory_ids():
        if hashed(memory_name(id)) in names:
            dropped.append(forget_memory(store, id, names[hashed(memory_name(id))]))
    store.note_forgotten(names)
    return _total((*dropped, _learned_wordings(store, record, at)))


def _learned_wordings(store: Store, record: ForgottenRecord, at: int) -> Dropped:
    known_wordings = {each.fingerprint: each for each in store.forgotten_wordings()}
    new_wordings = [
        ForgottenWording(Fingerprint(each.words, each.blocks, each.alone), each.at, each.lifted_at)
        for each in record.wordings
    ]
    store.put_forgotten_wordings(new_wordings)
    new = [
        each for each in new_wordings if each.holds and not _holds(known_wordings.get(each.fingerprint), each)
    ]
    return store.erase(Wordings(record.key, [each.fingerprint for each in new]), at) if new else Dropped()


def _holds(stored: ForgottenWording | None, recorded: ForgottenWording) -> bool:
    """Whether a store already knows of this forgetting, so that its rows are without the wording."""
    return stored is not None and stored.at >= recorded.at


def _merged(record: ForgottenRecord, store: Store) -> ForgottenRecord:
    names = {**record.names}
    for name, at in store.forgotten_names().items():
        names[name] = max(at, names.get(name, 0))
    wordings = {(each.words, each.blocks): each for each in record.wordings}
    for each in store.forgotten_wordings():
        one = each.fingerprint
        before = wordings.get((one.words, one.blocks))
        at, lifted_at = each.at, each.lifted_at
        if before is not None:
            at, lifted_at = max(at, before.at), max(lifted_at, before.lifted_at)
        wordings[one.words, one.blocks] = WordingLine(one.words, one.blocks, one.alone, at, lifted_at)
    return ForgottenRecord(token_hex(8), _key(store), names, tuple(wordings.values()))


def _texts_given_to(store: Store, session: str, id: str) -> list[str]:
    """The texts that a session was given of a memory, including wordings from before an edit."""
    if not session:
        return []
    events = store.events(session, _ALL)
    return [getattr(each, "text", "") for each in events if each.record.startswith(f"remembered:{id}:")]


def _key(store: Store) -> bytes:
    if not store.fact(KEY):
        store.put_fact(KEY, token_bytes(KEY_BYTES).hex())
    return bytes.fromhex(store.fact(KEY))


def _total(dropped: Iterable[Dropped]) -> Dropped:
    total = Dropped()
    for each in dropped:
        total += each
    return total


_ALL: Final = 1 << 30
