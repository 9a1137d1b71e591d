"""What every store promises about sharing: announcements, versions of items, and cursors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, SharedKind, VersionRef
from holdfast.stores.base import START, PageMark, Store
from holdfast.stores.shared import TEAM_PREFIX, ItemKey, SharedWithin, StoredVersion
from tests.stores.contract import ALL, NOON, checkpoint, ended, memory, session

MEMORY = SharedKind.MEMORY
SHOP_NAME = "github.com/acme/shop"
KEY = ItemKey("work", SHOP_NAME, MEMORY, "m1")
LAPTOP = Machine("laptop-id", "laptop")
DESK = Machine("desk-id", "desk")
VERSION = StoredVersion(
    KEY,
    DESK,
    "ada",
    is_mine=True,
    revision=4,
    at=NOON,
    audience=Audience.OWN,
    body='{"text":"The port is 8080."}',
    sequence=9,
    received_at=NOON + 5,
)


def share(store: Store, *kinds: SharedKind) -> None:
    with store.writing():
        store.share_kinds("shop", kinds)


def put(store: Store, *versions: StoredVersion) -> StoredVersion | None:
    holder = None
    with store.writing():
        for version in versions:
            holder = store.put_version(version, "1")
    return holder


def waiting(store: Store) -> list[tuple[SharedKind, str]]:
    return [(each.kind, each.id) for each in store.announcements(0, ALL)]


def item(id: str, **changes: object) -> StoredVersion:
    return replace(VERSION, key=replace(KEY, id=id), **changes)  # type: ignore[arg-type]


def test_nothing_is_announced_by_default(store: Store) -> None:
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_session(session("s1"))
        store.add_checkpoint(checkpoint("c1"))
        store.drop_memory("m1")
    assert store.announcements(0, ALL) == []
    assert store.announced_kinds() == {}


def test_rows_that_exist_are_announced_when_their_kind_begins_to_be_shared(store: Store) -> None:
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_memory(memory("elsewhere", project_id="other"))
        store.put_session(session("s1"))
        store.add_checkpoint(checkpoint("c1"))
    share(store, MEMORY, SharedKind.SESSION, SharedKind.CHECKPOINT)
    assert sorted(waiting(store)) == [
        (SharedKind.CHECKPOINT, "c1"),
        (MEMORY, "m1"),
        (SharedKind.SESSION, "s1"),
    ]
    assert store.announced_kinds() == {"shop": {MEMORY, SharedKind.SESSION, SharedKind.CHECKPOINT}}
    assert store.count_announcements() == {"shop": 3}


def test_a_changed_row_is_announced_in_its_own_transaction(store: Store) -> None:
    share(store, MEMORY, SharedKind.SESSION, SharedKind.CHECKPOINT)
    with suppress(ZeroDivisionError), store.writing():
        store.put_memory(memory("m0"))
        store.put_memory(memory("m0", created_at=1 // 0))
    assert waiting(store) == []
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_session(session("s1"))
        store.add_checkpoint(checkpoint("c1"))
        store.put_memory(memory("elsewhere", project_id="other"))
    assert waiting(store) == [(MEMORY, "m1"), (SharedKind.SESSION, "s1"), (SharedKind.CHECKPOINT, "c1")]


def test_a_row_that_changes_again_is_announced_once_with_a_greater_revision(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_memory(memory("m2"))
        store.put_memory(memory("m1", text="The port is 9090."))
    first, second = store.announcements(0, ALL)
    assert (first.id, second.id) == ("m2", "m1")
    assert first.revision < second.revision
    assert store.announcements(first.revision, ALL) == [second]
    assert store.last_announcement() == second.revision
    assert store.announcements(0, 1) == [first]


def test_a_recall_changes_nothing_that_others_see(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1"))
        store.acknowledge(store.announcements(0, ALL))
        store.count_found(["m1"], NOON)
        store.put_memory(memory("m1"))
    assert waiting(store) == []


def test_only_what_was_sent_is_acknowledged(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_memory(memory("m2"))
    sent = store.announcements(0, ALL)
    with store.writing():
        store.put_memory(memory("m1", text="Changed while it was sent."))
        store.acknowledge(sent)
    assert waiting(store) == [(MEMORY, "m1")]


def test_the_time_of_a_change_is_noted_once(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1"))
        store.announce(SharedKind.HANDOFF, "h1", "shop", NOON)
        store.stamp_announcements(NOON + 1)
        store.stamp_announcements(NOON + 2)
    assert [(each.id, each.at) for each in store.announcements(0, ALL)] == [("m1", NOON + 1), ("h1", NOON)]


def test_one_announcement_is_found_by_its_row(store: Store) -> None:
    with store.writing():
        store.announce(SharedKind.HANDOFF, "h1", "shop", NOON)
    assert store.announcement(SharedKind.HANDOFF, "h1") == store.announcements(0, ALL)[0]
    assert store.announcement(MEMORY, "h1") is None


def test_the_redactor_of_a_row_is_known(store: Store) -> None:
    with store.writing():
        store.put_memory(memory("m1"), "7")
        store.put_session(session("s1"), "8")
        store.add_checkpoint(checkpoint("c1"), "9")
    rows = ((MEMORY, "m1"), (SharedKind.SESSION, "s1"), (SharedKind.CHECKPOINT, "c1"), (MEMORY, "m2"))
    assert [store.redactor_of(*row) for row in rows] == ["7", "8", "9", ""]
    assert store.redactor_of(SharedKind.HANDOFF, "h1") == ""


def test_a_kind_that_is_no_longer_shared_is_no_longer_announced(store: Store) -> None:
    share(store, MEMORY)
    share(store)
    with store.writing():
        store.put_memory(memory("m1"))
    assert waiting(store) == []
    assert store.announced_kinds() == {}


def test_what_a_hub_may_know_is_announced_when_it_is_deleted_whatever_is_shared_by_then(store: Store) -> None:
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_memory(memory("m2"))
        store.put_memory(memory("private"))
    put(store, VERSION, item(f"{TEAM_PREFIX}m2", audience=Audience.TEAM))
    with store.writing():
        for id in ("m1", "m2", "private"):
            store.drop_memory(id)
    assert waiting(store) == [(MEMORY, "m1"), (MEMORY, "m2")]
    assert [each.body for each in store.versions(KEY)] == [""], "its text is gone with it"


def test_pruned_sessions_and_checkpoints_are_announced(store: Store) -> None:
    share(store, SharedKind.SESSION, SharedKind.CHECKPOINT)
    with store.writing():
        store.put_session(ended("s1"))
        store.add_checkpoint(checkpoint("c1"))
        store.acknowledge(store.announcements(0, ALL))
    put(store, item("s1"), item("c1"))
    put(store, *(replace(VERSION, key=ItemKey("work", SHOP_NAME, kind, id)) for kind, id in (
        (SharedKind.SESSION, "s1"), (SharedKind.CHECKPOINT, "c1"))))  # fmt: skip
    with store.writing():
        store.prune_sessions(NOON + 1, NOON + 1)
        store.prune_checkpoints(NOON + 1, NOON + 1, NOON + 1)
    assert waiting(store) == [(SharedKind.SESSION, "s1"), (SharedKind.CHECKPOINT, "c1")]


def test_forgetting_announces_in_the_same_transaction(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1", session="s1"))
        store.put_session(session("s1"))
        store.acknowledge(store.announcements(0, ALL))
    put(store, VERSION)
    with store.writing():
        store.forget(["s1"], NOON)
    assert waiting(store) == [(MEMORY, "m1")]
    assert store.versions(KEY)[0].body == ""


def test_forgetting_everything_leaves_no_text_and_announces_the_removals(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1"))
    put(
        store,
        VERSION,
        replace(VERSION, key=replace(KEY, kind=SharedKind.HANDOFF), person="bob", is_mine=False),
    )
    with store.writing():
        store.forget_all(NOON)
    assert waiting(store) == [(MEMORY, "m1")]
    assert store.announced_kinds() == {}
    assert store.shared_items(SharedWithin(), START, ALL) == []


def test_a_mark_for_the_team_announces_its_memory(store: Store) -> None:
    with store.writing():
        store.put_memory(memory("m1"))
        assert store.mark_for_team("m1", NOON)
        assert not store.mark_for_team("m1", NOON + 1)
    assert store.team_memories() == {"m1": NOON}
    assert waiting(store) == [(MEMORY, "m1")]
    with store.writing():
        store.acknowledge(store.announcements(0, ALL))
        assert store.unmark_for_team("m1")
        assert not store.unmark_for_team("m1")
    assert waiting(store) == [(MEMORY, "m1")]
    assert store.team_memories() == {}


def test_a_mark_goes_with_its_memory(store: Store) -> None:
    with store.writing():
        store.put_memory(memory("m1"))
        store.mark_for_team("m1", NOON)
        store.drop_memory("m1")
    assert store.team_memories() == {}


def test_revisions_continue_above_those_of_an_earlier_life(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        for id in ("m1", "m2"):
            store.put_memory(memory(id))
        store.raise_revisions(100)
    assert [(each.id, each.revision) for each in store.announcements(0, ALL)] == [("m1", 101), ("m2", 102)]
    with store.writing():
        store.raise_revisions(50)
        store.put_memory(memory("m3"))
    assert [each.revision for each in store.announcements(0, ALL)] == [101, 102, 103]
    with store.writing():
        store.acknowledge(store.announcements(0, ALL))
        store.raise_revisions(200)
        store.put_memory(memory("m4"))
    assert [each.revision for each in store.announcements(0, ALL)] == [201]


def test_the_last_revision_that_was_sent_is_known(store: Store) -> None:
    assert store.last_sent_revision("work", DESK.id) == 0
    put(store, VERSION, item("m2", revision=7), item("m3", machine=LAPTOP, revision=12))
    assert store.last_sent_revision("work", DESK.id) == 7
    assert store.last_sent_revision("home", DESK.id) == 0


def test_what_a_hub_acknowledged_above_a_revision_is_known(store: Store) -> None:
    unsent = item("m4", revision=9, received_at=0)
    put(store, VERSION, item("m2", revision=7), item("m3", machine=LAPTOP, revision=12), unsent)
    above = store.versions_acknowledged_above("work", DESK.id, 3)
    assert [each.key.id for each in above] == ["m1", "m2"]
    assert [each.key.id for each in store.versions_acknowledged_above("work", DESK.id, 4)] == ["m2"]
    assert store.versions_acknowledged_above("home", DESK.id, 0) == []


def test_a_version_comes_back_as_it_was_put(store: Store) -> None:
    whole = replace(VERSION, replaces=VersionRef("old", 2), recipient="bob", audience=Audience.TEAM)
    assert put(store, whole) == replace(whole, holds=True)
    assert store.versions(KEY) == [replace(whole, holds=True)]
    assert store.versions_of(MEMORY, "m1") == [replace(whole, holds=True)]


def test_an_older_version_or_the_same_again_changes_nothing(store: Store) -> None:
    put(store, VERSION)
    put(store, replace(VERSION, body='{"text":"again"}'), replace(VERSION, revision=3, body='{"text":"old"}'))
    assert [each.body for each in store.versions(KEY)] == [VERSION.body]
    put(store, replace(VERSION, revision=5, body='{"text":"new"}'))
    assert [each.body for each in store.versions(KEY)] == ['{"text":"new"}']


def test_the_version_that_holds_is_read_and_the_others_are_its_history(store: Store) -> None:
    later = replace(VERSION, machine=LAPTOP, revision=2, at=NOON + 60_000, body='{"text":"later"}')
    put(store, VERSION, later)
    assert [each.machine.name for each in store.shared_items(SharedWithin(), START, ALL)] == ["laptop"]
    assert [(each.machine.name, each.holds) for each in store.versions(KEY)] == [
        ("laptop", True),
        ("desk", False),
    ]
    put(
        store, replace(VERSION, revision=5, replaces=VersionRef(LAPTOP.id, 2), body='{"text":"made from it"}')
    )
    assert [each.machine.name for each in store.shared_items(SharedWithin(), START, ALL)] == ["desk"]


def test_versions_that_do_not_hold_are_listed_by_time(store: Store) -> None:
    later = replace(VERSION, machine=LAPTOP, revision=2, at=NOON + 60_000, body='{"text":"later"}')
    put(store, VERSION, later, item("m2"))
    assert [(each.key.id, each.machine.name) for each in store.versions_without_hold(NOON, ALL)] == [
        ("m1", "desk")
    ]
    assert store.versions_without_hold(NOON + 1, ALL) == []


def test_a_removal_deletes_the_texts_of_its_persons_versions(store: Store) -> None:
    other = replace(VERSION, machine=LAPTOP, revision=2, at=NOON - 1)
    bobs = replace(VERSION, machine=Machine("bobs", "bobs"), person="bob", is_mine=False, at=NOON - 2)
    put(store, VERSION, other, bobs)
    put(store, replace(other, revision=3, at=NOON + 1, body="", is_removed=True))
    assert {each.machine.name: bool(each.body) for each in store.versions(KEY)} == {
        "desk": False,
        "laptop": False,
        "bobs": True,
    }
    assert [each.person for each in store.shared_items(SharedWithin(), START, ALL)] == ["bob"]
    put(store, replace(VERSION, revision=9, at=NOON + 5, body='{"text":"changed elsewhere meanwhile"}'))
    assert [each.body for each in store.versions(KEY) if each.person == "ada"] == ["", ""]


def test_a_removed_continuity_may_be_written_again(store: Store) -> None:
    key = replace(KEY, kind=SharedKind.CONTINUITY, id="shared")
    removal = replace(VERSION, key=key, is_removed=True, body="")
    put(store, removal)
    put(store, replace(VERSION, key=key, machine=LAPTOP, at=NOON + 1, replaces=VersionRef(DESK.id, 4)))
    assert [each.body for each in store.shared_items(SharedWithin(), START, ALL)] == [VERSION.body]


def test_items_are_read_by_project_kind_author_and_machine_the_newest_first(store: Store) -> None:
    handoff = replace(VERSION, key=replace(KEY, kind=SharedKind.HANDOFF, id="h1"), person="bob", at=NOON + 2)
    elsewhere = replace(VERSION, key=replace(KEY, project="other"), machine=LAPTOP, at=NOON + 1)
    put(store, VERSION, handoff, elsewhere)

    def ids(within: SharedWithin) -> list[tuple[str, str]]:
        items = store.shared_items(within, START, ALL)
        return [(each.key.project.rpartition("/")[2], each.key.id) for each in items]

    assert ids(SharedWithin()) == [("shop", "h1"), ("other", "m1"), ("shop", "m1")]
    assert ids(SharedWithin((SHOP_NAME,))) == [("shop", "h1"), ("shop", "m1")]
    assert ids(SharedWithin((SHOP_NAME, "other"), (MEMORY,))) == [("other", "m1"), ("shop", "m1")]
    assert ids(SharedWithin(())) == []
    assert ids(SharedWithin(person="bob")) == [("shop", "h1")]
    assert ids(SharedWithin(machine=LAPTOP.id)) == [("other", "m1")]
    assert ids(SharedWithin(except_machine=DESK.id)) == [("other", "m1")]


def test_items_are_read_in_pages(store: Store) -> None:
    put(store, *(item(f"m{n}", at=NOON + n // 2) for n in range(5)))
    mark, ids = START, list[str]()
    while page := store.shared_items(SharedWithin(), mark, 2):
        ids += [each.key.id for each in page]
        mark = PageMark(page[-1].at, page[-1].key.id)
    assert ids == ["m4", "m3", "m2", "m1", "m0"]


def test_one_item_is_found_by_its_id_and_how_it_begins(store: Store) -> None:
    put(store, VERSION, item("m12"), item("m13", is_removed=True, body=""), item("n1"))
    assert store.shared_item(MEMORY, "m1") == replace(VERSION, holds=True)
    assert store.shared_item(MEMORY, "m13") is None
    assert store.shared_item(SharedKind.HANDOFF, "m1") is None
    assert store.shared_ids_beginning(MEMORY, "m1", ALL) == ["m1", "m12"]


def test_what_is_for_one_person_is_found(store: Store) -> None:
    put(store, VERSION, item("h1", recipient="bob"), item("h2", recipient="bob", at=NOON + 1))
    assert [each.key.id for each in store.addressed_to("bob", ALL)] == ["h2", "h1"]
    assert store.addressed_to("", ALL) == []


def test_what_a_hub_has_committed_is_noted_of_that_version_alone(store: Store) -> None:
    put(store, replace(VERSION, received_at=0))
    with store.writing():
        store.note_sent(KEY, DESK.id, 3, NOON)
        store.note_sent(KEY, LAPTOP.id, 4, NOON)
    assert store.versions(KEY)[0].received_at == 0
    with store.writing():
        store.note_sent(KEY, DESK.id, 4, NOON)
    assert store.versions(KEY)[0].received_at == NOON


def test_a_base_says_what_a_row_is_and_takes_its_announcement_back(store: Store) -> None:
    share(store, MEMORY)
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_base(MEMORY, "m1", VersionRef(DESK.id, 4))
    assert waiting(store) == []
    assert store.base(MEMORY, "m1") == VersionRef(DESK.id, 4)
    with store.writing():
        store.put_base(MEMORY, "m1", VersionRef(DESK.id, 5))
    assert store.base(MEMORY, "m1") == VersionRef(DESK.id, 5)
    assert store.base(MEMORY, "m2") is None


def test_a_pull_cursor_belongs_to_a_project_at_a_hub(store: Store) -> None:
    with store.writing():
        store.put_pull_cursor("work", SHOP_NAME, 5)
        store.put_pull_cursor("work", SHOP_NAME, 8)
        store.put_pull_cursor("home", SHOP_NAME, 2)
    assert store.pull_cursor("work", SHOP_NAME) == 8
    assert store.pull_cursor("work", "other") == 0
    assert store.pull_cursors("home") == {SHOP_NAME: 2}


def test_leaving_a_hub_deletes_what_came_from_it_and_nothing_else(store: Store) -> None:
    put(store, VERSION, replace(VERSION, key=replace(KEY, hub="home", id="m2")))
    with store.writing():
        store.put_memory(memory("m1"))
        store.put_base(MEMORY, "m1", VersionRef(DESK.id, 4))
        store.put_pull_cursor("work", SHOP_NAME, 5)
        assert store.drop_hub("work") == 1
    assert [each.key.hub for each in store.shared_items(SharedWithin(), START, ALL)] == ["home"]
    assert store.pull_cursors("work") == {}
    assert store.base(MEMORY, "m1") is None
    assert store.memory("m1") is not None


def test_a_newer_redactor_reads_the_texts_of_versions_again(store: Store) -> None:
    put(store, VERSION)
    with store.writing():
        assert store.rewrite("2", lambda _, text: text.replace("8080", "[PORT]"), 10, 10_000).changed == 1
    assert store.versions(KEY)[0].body == '{"text":"The port is [PORT]."}'
    assert store.redaction("2").stale == 0
