"""What comes back out of a damaged store, and what must not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.events.identity import Marks, Site
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.trail import Note, Trail
from holdfast.core.memory.memory import Label
from holdfast.core.redaction.redact import NO_LISTS, Lists
from holdfast.core.session.session import Phase
from holdfast.engine.index import checkpoint_document
from holdfast.engine.privacy import forget
from holdfast.engine.redaction.forgotten import note_wording
from holdfast.engine.upkeep.recover_store import UNKNOWN, Recovery, recover, remove
from holdfast.stores.base import EVERYWHERE, SearchDocument
from holdfast.stores.sqlite import SqliteStore, back_up_daily, open_store, set_aside
from holdfast.stores.store_files import set_aside_stores
from tests.stores.contract import ALL, MINUTE, NOON, SESSION, checkpoint, memory, prompt, session

PORT = memory("m1", text="The port is 8080")
SITE = Site(
    SESSION.project.project_id,
    "/home/you/moved/.git",
    "/home/you/shop/.git",
    "/home/you/moved",
    is_git=True,
    marks=Marks("8:1", "4711", 17, "a hash", 12, ("another",)),
    first_seen_at=NOON,
    last_seen_at=NOON + MINUTE,
    moved_from="/home/you/shop",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose store was damaged and set aside; all of its rows can be read."""
    home = tmp_path / "home"
    with closing(opened(home)) as store, store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1", text="Bluebell is the code name"))
        store.add_event(prompt("r2", text="And then mend the lexer"))
        store.add_checkpoint(checkpoint("c1"))
        store.put_memory(PORT)
        store.add_document(SearchDocument("d1", "prompt", "shop", "an old passage", session="s1", at=NOON))
        store.put_cursor("index/s1", "7")
        store.put_site(SITE)
    set_aside(home / "store.db", NOON)
    return home


def opened(home: Path) -> SqliteStore:
    return open_store(home / "store.db", home / "backups", NOON)


def recovered(home: Path, lists: Lists = NO_LISTS) -> Recovery:
    (one,) = recover(home, lists, NOON, lambda _stage, _part: None)
    return one


def test_all_that_can_be_read_comes_back_once(home: Path) -> None:
    first = recovered(home)
    assert {table.name: table.added for table in first.tables if table.added} == {
        "memories": 1,
        "sessions": 1,
        "session_checkpoints": 1,
        "documents": 1,
        "messages": 2,
        "cursors": 1,
        "sites": 1,
    }
    assert recovered(home).added == 0
    with closing(opened(home)) as store:
        assert store.session("s1") == SESSION
        assert [event.record for event in store.events("s1", ALL)] == ["r1", "r2"]
        assert store.memory("m1") == PORT
        assert store.sites() == [SITE], "a project that had moved is still known where it is"
        found = {document.id for document in store.documents(EVERYWHERE, ALL)}
        assert found == {"m1", "c1", "d1"}, "the documents of memories and checkpoints are made again"
        assert [hit.id for hit in store.search(["port"], EVERYWHERE, ALL)] == ["m1"]
        assert store.check() == ""
    aside = "store.corrupt-20260101T120000Z.db"
    assert {path.name for path in home.iterdir()} == {"store.db", aside, f"{aside}.recovered"}


def test_it_goes_through_the_redactor_of_today(home: Path) -> None:
    recovered(home, Lists(deny=("Bluebell",)))
    with closing(opened(home)) as store:
        assert not any("Bluebell" in text.text for text in store.texts())
        assert any("is the code name" in text.text for text in store.texts())


def test_nothing_newer_is_overwritten(home: Path) -> None:
    newer = session("s1", last_event_at=NOON + MINUTE, transcript="newer.jsonl")
    port = memory("m2", text="The port is 9090", created_at=NOON + MINUTE)
    with closing(opened(home)) as store, store.writing():
        store.put_session(newer)
        store.add_event(prompt("r1", text="a later revision", revision=3))
        store.put_memory(port)
        store.add_checkpoint(checkpoint("c1", digest="better words"))
        store.add_document(checkpoint_document(checkpoint("c1", digest="better words")))
    recovered(home)
    with closing(opened(home)) as store:
        assert store.session("s1") == newer
        assert store.events("s1", ALL)[0] == prompt("r1", text="a later revision", revision=3)
        assert [one.digest for one in store.checkpoints(ALL)] == ["better words"]
        old = store.memory("m1")
        assert old is not None
        assert (old.superseded_by, old.labels) == ("m2", (Label.SUPERSEDED,))


def test_what_was_said_again_since_is_one_memory(home: Path) -> None:
    with closing(opened(home)) as store, store.writing():
        store.put_memory(replace(PORT, id="again"))
    recovered(home)
    with closing(opened(home)) as store:
        assert [one.id for one in store.memories(EVERYWHERE, ALL)] == ["again"]


def test_what_was_forgotten_is_not_brought_back(home: Path) -> None:
    with closing(opened(home)) as store, store.writing():
        store.forget(["s1"], NOON + MINUTE)
    recovered(home)
    with closing(opened(home)) as store:
        assert store.keys() == []
        assert [one.id for one in store.memories(EVERYWHERE, ALL)] == ["m1"], "it belongs to no session"


def test_nor_with_a_session_that_inherited_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    rule = Note(NoteKind.CONSTRAINT, "Bluebell is the code name", NOON, "r1", inherited="s1")
    with closing(opened(home)) as store, store.writing():
        for key, ancestor in (("s2", "s1"), ("s3", "s0")):
            trail = Trail(notes=(replace(rule, inherited=ancestor),), inherits=(ancestor,))
            store.put_session(replace(SESSION, key=key, trail=trail))
            store.add_event(prompt("r1", session=key, text="continue"))
    set_aside(home / "store.db", NOON)
    with closing(opened(home)) as store, store.writing():
        store.forget(["s1"], SESSION.last_event_at + MINUTE)
    recovered(home)
    with closing(opened(home)) as store:
        heir, other = store.session("s2"), store.session("s3")
        assert heir is not None
        assert other is not None
        assert (len(heir.trail.notes), len(other.trail.notes)) == (0, 1)
        assert [event.record for event in store.events("s2", ALL)] == ["r1"]


def test_what_the_damaged_store_had_forgotten_stays_forgotten(home: Path) -> None:
    with closing(opened(home)) as store, store.writing():
        store.forget(["s9"], NOON)
    set_aside(home / "store.db", NOON + MINUTE)
    recover(home, NO_LISTS, NOON, lambda _stage, _part: None)
    with closing(opened(home)) as store:
        assert store.forgotten_at("s9") == NOON


def test_events_whose_session_is_lost_are_kept_and_belong_to_no_other_project(tmp_path: Path) -> None:
    home = tmp_path / "home"
    store = opened(home)
    with store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1"))
    store._database.rows("pragma foreign_keys = off")
    with store.writing():
        store._database.write("delete from sessions", {})
    store.close()
    set_aside(home / "store.db", NOON)
    recovered(home)
    with closing(opened(home)) as store:
        (lost,) = store.sessions(ALL)
        assert (lost.key, lost.phase, lost.project.project_id) == ("s1", Phase.ORPHANED, UNKNOWN)
        assert len(store.events("s1", ALL)) == 1


def test_what_a_killed_recovery_left_goes(home: Path) -> None:
    left = home / "store.corrupt-20260101T120000Z.db.salvage-999999999"
    left.write_text("rows that nobody redacted")
    recovered(home)
    assert not left.exists()


def test_forgetting_reaches_what_only_the_damaged_store_held(home: Path) -> None:
    with closing(opened(home)) as store:
        forgotten = forget.forget(store, home, forget.OneSession("s1"), NOON + MINUTE)
        assert (forgotten.sessions, forgotten.events, forgotten.checkpoints) == (1, 2, 1)
        assert store.keys() == []
        assert store.memory("m1") == PORT, "what nobody forgot is in the store in use"
    assert {path.name for path in home.iterdir() if path.suffix != ".toml"} == {"forgotten.jsonl", "store.db"}
    assert b"Bluebell" not in (home / "store.db").read_bytes()


def test_what_a_memory_said_before_an_edit_is_forgotten_with_it_after_a_recovery(tmp_path: Path) -> None:
    home, earlier = tmp_path / "home", "Bluebell is the code name of the port"
    with closing(opened(home)) as store, store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1", text=f"So: {earlier}"))
        store.put_memory(PORT)
        note_wording(store, home, PORT.id, earlier)
    set_aside(home / "store.db", NOON)
    with closing(opened(home)) as store:
        forget.settle(store, home, NOON)
    recovered(home)
    with closing(opened(home)) as store:
        assert forget.forget(store, home, forget.OneMemory(PORT.id), NOON + MINUTE).mentions == 1
    assert b"Bluebell" not in (home / "store.db").read_bytes()


def test_forgetting_everything_brings_nothing_back_first(home: Path) -> None:
    with closing(opened(home)) as store:
        assert forget.forget(store, home, forget.Everything(), NOON).memories == 0
    assert {path.name for path in home.iterdir()} == {"forgotten.jsonl", "store.db"}


def test_what_only_the_last_backup_has_is_taken_from_there(home: Path) -> None:
    path, backups = home / "store.db", home / "backups"
    with closing(opened(home)) as store:
        with store.writing():
            store.put_session(session("s2"))
            store.put_memory(memory("m2", text="Only the backup knows"))
        store.note_held(NOON)
    backup = back_up_daily(path, backups, NOON)
    path.write_bytes(b"")
    set_aside(path, NOON + MINUTE)
    from_empty, from_first, from_backup = recover(home, NO_LISTS, NOON, lambda _stage, _part: None)
    assert {table.name: table.lost for table in from_empty.tables if table.lost} == {
        "sessions": 1,
        "memories": 1,
    }
    assert (from_first.added, from_backup.file, from_backup.added) == (8, backup, 2)
    with closing(opened(home)) as store:
        assert {one.id for one in store.memories(EVERYWHERE, ALL)} == {"m1", "m2"}


def test_removing_takes_all_that_stands_beside_it(home: Path) -> None:
    (aside,) = set_aside_stores(home / "store.db")
    Path(f"{aside.path}-wal").touch()
    remove(aside)
    assert list(home.iterdir()) == []
