"""What every store promises of where projects are and were."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.identity import Marks, Site
from holdfast.core.sharing.identity import SharedName
from holdfast.stores.base import Store
from tests.stores.contract import NOON, checkpoint, document, memory, session

MARKS = Marks("801", "1f", 1_700_000_000_123_456_789, "abc", 1_700_000_001, ("one", "two"))
SITE = Site(
    "shop",
    "/home/you/shop/.git",
    "/anchor",
    "/home/you/shop",
    is_git=True,
    marks=MARKS,
    first_seen_at=NOON,
    last_seen_at=NOON,
)
LEFT = replace(SITE, location="/old/shop/.git", root="/old/shop", left_at=NOON, marks=Marks("801", "2f"))
PLAIN = Site(
    "notes",
    "/home/you/notes",
    "/home/you/notes",
    "/home/you/notes",
    is_git=False,
    marks=Marks("", ""),
    first_seen_at=NOON,
    last_seen_at=NOON,
)


def keep(store: Store, *sites: Site) -> None:
    with store.writing():
        for site in sites:
            store.put_site(site)


def test_a_site_is_found_by_its_place_its_project_and_its_marks(store: Store) -> None:
    keep(store, LEFT, SITE, PLAIN)
    assert store.sites() == [PLAIN, SITE, LEFT]
    assert store.sites_at(SITE.location) == [SITE]
    assert store.sites_of("shop") == [SITE, LEFT]
    assert store.sites_around(["/old/shop", "/home/you/notes", "/"]) == [PLAIN, LEFT]
    assert store.sites_around([SITE.location]) == [SITE]
    assert store.sites_around([]) == []
    assert store.sites_like("2f", "abc") == [SITE, LEFT]
    assert store.sites_like("", "") == []


def test_the_current_site_comes_first_and_then_the_one_left_last(store: Store) -> None:
    others = [replace(SITE, project_id=f"p{left}", left_at=left) for left in (3, 0, 9)]
    keep(store, *others)
    assert [site.project_id for site in store.sites_at(SITE.location)] == ["p0", "p9", "p3"]


def test_a_project_has_one_site_at_a_location(store: Store) -> None:
    keep(store, SITE, replace(SITE, left_at=NOON + 1))
    assert store.sites() == [replace(SITE, left_at=NOON + 1)]


def test_the_sites_of_a_project_are_forgotten(store: Store) -> None:
    keep(store, SITE, LEFT, PLAIN)
    with store.writing():
        assert store.forget_sites("shop") == 2
    assert store.sites() == [PLAIN]
    with store.writing():
        store.forget_all(NOON)
    assert store.sites() == []


def test_a_site_goes_in_time_unless_something_of_its_project_is_kept(store: Store) -> None:
    names = ("session", "checkpoint", "memory", "document", "nothing")
    keep(store, *(replace(PLAIN, project_id=name) for name in names))
    keep(store, replace(PLAIN, project_id="recent", last_seen_at=NOON + 1))
    with store.writing():
        store.put_session(session("s1", project=replace(session("s1").project, project_id="session")))
        store.add_checkpoint(checkpoint("c1", project_id="checkpoint"))
        store.put_memory(memory("m1", project_id="memory"))
        store.add_document(document("d1", "text", project_id="document"))
    with store.writing():
        assert store.prune_sites(NOON + 1) == 1
    assert {site.project_id for site in store.sites()} == {*names, "recent"} - {"nothing"}


def test_names_of_a_project_are_stored_once_the_chosen_one_first(store: Store) -> None:
    old, new = (SharedName("shop", name, NOON, at) for name, at in (("old", NOON), ("new", NOON + 2)))
    own = SharedName("shop", "own", NOON, NOON + 1, is_bound=True)
    with store.writing():
        for name in (old, own, new, SharedName("other", "new", NOON, NOON)):
            store.put_shared_name(name)
        store.put_shared_name(SharedName("shop", "new", NOON + 9, NOON + 1))
    assert store.shared_names("shop") == [own, new, old], "neither time goes back"
    assert store.projects_named("new") == ["other", "shop"]
    with store.writing():
        assert store.drop_shared_name("shop", "new")
        assert not store.drop_shared_name("shop", "new")
    assert store.projects_named("new") == ["other"]


def test_names_go_with_their_project(store: Store) -> None:
    names = [SharedName(id, "name", NOON, NOON) for id in ("shop", "notes", "lost")]
    keep(store, SITE, PLAIN)
    with store.writing():
        for name in names:
            store.put_shared_name(name)
        assert store.forget_sites("shop") == 1
    assert store.projects_named("name") == ["lost", "notes"]
    with store.writing():
        store.prune_sites(NOON)
    assert store.projects_named("name") == ["lost", "notes"]
    with store.writing():
        assert store.prune_sites(NOON + 1) == 1
    assert store.projects_named("name") == []
