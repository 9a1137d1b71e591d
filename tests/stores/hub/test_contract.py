"""The contract of a hub, on every implementation."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, OutgoingItem, SharedKind, VersionRef
from holdfast.errors import HubRefused
from holdfast.stores.hub.base import Hub
from tests.stores.hub.contract import NOON, SHOP, Place, item, machine_of, texts


def test_a_member_is_told_who_they_are(place: Place) -> None:
    hub = place.invite("ann", "core")
    known = hub.identify(machine_of("ann"))
    assert (known.person, known.team, known.is_read_only) == ("ann", "core", False)
    assert known.now > NOON / 2


def test_what_one_member_pushes_another_pulls_with_author_and_machine(place: Place) -> None:
    ann, bob = place.invite("ann"), place.invite("bob")
    sent = item(replaces=VersionRef("machine-of-bob", 4))
    ann.push(SHOP, "machine-of-ann", [sent])
    (received,) = bob.pull(SHOP, 0, 10)
    assert received.item == sent
    assert (received.person, received.machine) == ("ann", machine_of("ann"))
    assert ann.pull(SHOP, 0, 10) == [received]


@pytest.mark.parametrize("kind", list(SharedKind))
def test_every_kind_is_stored_whole(place: Place, kind: SharedKind) -> None:
    ann = place.invite("ann")
    sent = item(kind=kind, body='{"text": "\\u0000 – 𝄞 \' \\" \\\\ {1,2}"}')
    ann.push(SHOP, "machine-of-ann", [sent])
    assert [each.item for each in ann.pull(SHOP, 0, 10)] == [sent]


def test_a_pull_goes_on_behind_the_number_it_is_given(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item(f"m{number}", number) for number in range(1, 8)])
    first = ann.pull(SHOP, 0, 3)
    rest = ann.pull(SHOP, first[-1].sequence, 10)
    assert [each.item.id for each in [*first, *rest]] == [f"m{number}" for number in range(1, 8)]
    assert ann.pull(SHOP, rest[-1].sequence, 10) == []


def test_sending_twice_or_an_older_version_changes_nothing(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item(revision=2)])
    before = ann.pull(SHOP, 0, 10)
    ann.push(SHOP, "machine-of-ann", [item(revision=2), item(revision=1, body="{}")])
    assert ann.pull(SHOP, 0, 10) == before
    assert len(ann.audit(10)) == len(place.owner.members()) + 1


def test_a_newer_version_takes_the_place_of_the_older_one(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item("m1", 1), item("m2", 2)])
    ann.push(SHOP, "machine-of-ann", [item("m1", 3, '{"text": "new"}')])
    assert texts(ann) == [("m2", item().body), ("m1", '{"text": "new"}')]


def test_each_machine_has_a_version_of_its_own(place: Place) -> None:
    ann = place.invite("ann")
    ann.identify(Machine("desk", "desk"))
    ann.push(SHOP, "machine-of-ann", [item(body="1")])
    ann.push(SHOP, "desk", [item(body="2")])
    assert texts(ann) == [("m1", "1"), ("m1", "2")]


def test_a_removal_takes_the_texts_of_the_authors_other_versions(place: Place) -> None:
    ann, bob = place.invite("ann"), place.invite("bob")
    ann.identify(Machine("desk", "desk"))
    ann.push(SHOP, "desk", [item()])
    bob.push(SHOP, "machine-of-bob", [item(body="bob's")])
    ann.push(SHOP, "machine-of-ann", [item(body="")])
    assert texts(bob) == [("m1", ""), ("m1", "bob's"), ("m1", "")]


@pytest.mark.parametrize(
    "bad",
    [
        replace(item("m2", 2), revision=0),
        replace(item("m2", 2), revision=2**63),
        replace(item("m2", 2), at=2**63),
        replace(item("m2", 2), id=""),
        replace(item("m2", 2), id="x" * 1_001),
    ],
)
def test_a_push_is_stored_whole_or_not_at_all(place: Place, bad: OutgoingItem) -> None:
    ann = place.invite("ann")
    with pytest.raises(HubRefused, match="cannot be shared"):
        ann.push(SHOP, "machine-of-ann", [item("m1", 1), bad])
    assert ann.pull(SHOP, 0, 10) == []
    assert ann.last_revision("machine-of-ann") == 0


def test_what_no_text_may_hold_is_replaced(place: Place) -> None:
    ann = place.invite("ann")
    ann.identify(Machine("machine-of-ann", "a\x00b"))
    ann.push("shop\ud800", "machine-of-ann", [item("m\x00", body="a\x00b\udfff")])
    (received,) = ann.pull("shop\ud800", 0, 10)
    assert (received.item.id, received.item.body) == ("m\ufffd", "a\ufffdb\ufffd")
    assert received.machine.name == "a\ufffdb"


def test_the_last_revision_of_a_machine_counts_all_projects(place: Place) -> None:
    ann = place.invite("ann")
    assert ann.last_revision("machine-of-ann") == 0
    ann.push(SHOP, "machine-of-ann", [item(revision=4)])
    ann.push("github.com/acme/other", "machine-of-ann", [item(revision=9), item("m2", 2)])
    assert ann.last_revision("machine-of-ann") == 9
    assert ann.last_revision("never seen") == 0


def test_projects_are_apart(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item()])
    assert ann.pull("github.com/acme/other", 0, 10) == []
    assert ann.pull("github.com/acme", 0, 10) == []


@pytest.mark.parametrize(
    ("shared", "readers"),
    [
        (item(), {"ann", "bob", "eve-reads"}),
        (item(audience=Audience.OWN), {"ann"}),
        (item(recipient="bob"), {"ann", "bob"}),
        (item(recipient="nobody yet"), {"ann"}),
        (item(audience=Audience.OWN, recipient="bob"), {"ann"}),
        (item(recipient="zoe"), {"ann"}),
    ],
)
def test_who_sees_an_item(place: Place, shared: OutgoingItem, readers: set[str]) -> None:
    hubs = {
        "ann": place.invite("ann"),
        "bob": place.invite("bob"),
        "eve-reads": place.invite("eve-reads", is_read_only=True),
        "zoe": place.invite("zoe", "other"),
    }
    hubs["ann"].push(SHOP, "machine-of-ann", [shared])
    assert {name for name, hub in hubs.items() if hub.pull(SHOP, 0, 10)} == readers
    audience_only = shared.audience is Audience.TEAM and not shared.recipient
    reading = {name for name, hub in hubs.items() if any(each.id == "m1" for each in hub.audit(50))}
    assert reading == (readers if audience_only else {"ann"})


@pytest.mark.parametrize(
    ("before", "after", "who", "seen"),
    [
        (item(), item(revision=2, audience=Audience.OWN), "bob", [(1, "")]),
        (item(), item(revision=2, audience=Audience.OWN), "ann", [(2, item().body)]),
        (item(), item(revision=2, recipient="cal"), "bob", [(1, "")]),
        (item(), item(revision=2, recipient="cal"), "cal", [(1, ""), (2, item().body)]),
        (item(recipient="bob"), item(revision=2, recipient="cal"), "bob", [(1, "")]),
        (item(audience=Audience.OWN), item(revision=2), "bob", [(2, item().body)]),
    ],
)
def test_who_may_see_it_no_longer_is_told_that_it_is_removed(
    place: Place, before: OutgoingItem, after: OutgoingItem, who: str, seen: list[tuple[int, str]]
) -> None:
    hubs = {name: place.invite(name) for name in ("ann", "bob", "cal")}
    hubs["ann"].push(SHOP, "machine-of-ann", [before])
    hubs["ann"].push(SHOP, "machine-of-ann", [after])
    assert [(each.item.revision, each.item.body) for each in hubs[who].pull(SHOP, 0, 10)] == seen


def test_who_may_see_it_again_is_given_it_again(place: Place) -> None:
    ann, bob = place.invite("ann"), place.invite("bob")
    for each in (item(), item(revision=2, audience=Audience.OWN), item(revision=3)):
        ann.push(SHOP, "machine-of-ann", [each])
    assert [(each.item.revision, each.item.body) for each in bob.pull(SHOP, 0, 10)] == [(3, item().body)]


def test_a_machine_belongs_to_the_person_who_named_it_first(place: Place) -> None:
    ann, bob = place.invite("ann"), place.invite("bob")
    with pytest.raises(HubRefused):
        bob.identify(machine_of("ann"))
    with pytest.raises(HubRefused):
        bob.push(SHOP, "machine-of-ann", [item()])
    with pytest.raises(HubRefused):
        bob.confirm(SHOP, "machine-of-ann", 1)
    assert ann.pull(SHOP, 0, 10) == []


def test_a_machine_without_an_id_or_never_named_is_refused(place: Place) -> None:
    ann = place.invite("ann")
    with pytest.raises(HubRefused):
        ann.identify(Machine("", "no id"))
    with pytest.raises(HubRefused):
        ann.push(SHOP, "never named", [item()])


def test_a_read_only_member_pulls_and_pushes_nothing(place: Place) -> None:
    ann, eve = place.invite("ann"), place.invite("eve", is_read_only=True)
    ann.push(SHOP, "machine-of-ann", [item()])
    assert eve.identify(machine_of("eve")).is_read_only
    with pytest.raises(HubRefused):
        eve.push(SHOP, "machine-of-eve", [item()])
    eve.confirm(SHOP, "machine-of-eve", 1)
    assert texts(eve) == [("m1", item().body)]


def test_machines_say_how_far_they_have_applied_a_project(place: Place) -> None:
    ann, bob, zoe = place.invite("ann"), place.invite("bob"), place.invite("zoe", "other")
    ann.push(SHOP, "machine-of-ann", [item(audience=Audience.OWN)])
    ann.confirm(SHOP, "machine-of-ann", 5)
    bob.confirm(SHOP, "machine-of-bob", 3)
    bob.confirm(SHOP, "machine-of-bob", 2)
    assert [each.person for each in ann.machines(SHOP)] == ["ann"], "nothing is shared with the team yet"
    bob.push(SHOP, "machine-of-bob", [item("m2")])
    zoe.confirm(SHOP, "machine-of-zoe", 1)
    states = ann.machines(SHOP)
    assert [(each.machine, each.person, each.applied) for each in states] == [
        (machine_of("bob"), "bob", 3),
        (machine_of("ann"), "ann", 5),
    ]
    assert states[0].last_seen_at >= states[1].last_seen_at > 0
    assert [each.person for each in zoe.machines(SHOP)] == ["zoe"]
    assert ann.machines("github.com/acme/other") == []


def test_a_machine_has_the_name_that_it_gave_last(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item()])
    ann.identify(Machine("machine-of-ann", "renamed"))
    assert ann.pull(SHOP, 0, 1)[0].machine.name == "renamed"


@pytest.mark.parametrize(("project", "left"), [(SHOP, 1), (None, 0)])
def test_erasing_ones_own_leaves_what_others_shared(place: Place, project: str | None, left: int) -> None:
    ann, bob = place.invite("ann"), place.invite("bob")
    ann.identify(Machine("desk", "desk"))
    ann.push(SHOP, "machine-of-ann", [item(), item("m2", 2, audience=Audience.OWN), item("m3", 3, "")])
    ann.push(SHOP, "desk", [item(body="from the desk")])
    ann.push("other", "machine-of-ann", [item(revision=4)])
    bob.push(SHOP, "machine-of-bob", [item(body="bob's")])
    after = bob.pull(SHOP, 0, 50)[-1].sequence
    assert ann.erase_own(project) == 3 - left
    assert {text for _, text in texts(ann)} == {"", "bob's"}
    assert len(texts(ann, "other")) == 1
    assert texts(ann, "other")[0][1] == (item().body if left else "")
    assert [id for id, text in texts(bob, after=after) if not text] == ["m1", "m1"]
    assert ann.erase_own(project) == 0
    ann.push(SHOP, "machine-of-ann", [item(revision=5)])
    assert texts(bob)[-1] == ("m1", item().body)


def test_the_audit_says_who_did_what_to_which_item_the_latest_first(place: Place) -> None:
    ann = place.invite("ann")
    changes = [item(revision=revision, body=str(revision)) for revision in range(2, 6)]
    for each in (item(), *changes, item(revision=9, body="")):
        ann.push(SHOP, "machine-of-ann", [each])
    entries = ann.audit(10)
    assert [(each.action, each.id) for each in entries] == [
        *(("removed", "m1"), ("changed", "m1"), ("shared", "m1"), ("invited", "ann"))
    ]
    last = entries[0]
    assert (last.person, last.machine, last.project, last.kind) == (
        *("ann", "machine-of-ann", SHOP, "memory"),
    )
    assert last.at > NOON / 2
    assert ann.audit(2) == entries[:2]


def _everything(hub: Hub) -> list[Callable[[], object]]:
    return [
        lambda: hub.identify(machine_of("ann")),
        lambda: hub.push(SHOP, "machine-of-ann", [item("m2", 2)]),
        lambda: hub.pull(SHOP, 0, 10),
        lambda: hub.confirm(SHOP, "machine-of-ann", 1),
        lambda: hub.machines(SHOP),
        lambda: hub.erase_own(None),
        lambda: hub.audit(10),
        lambda: hub.last_revision("machine-of-ann"),
    ]


def test_a_revoked_person_can_do_nothing_more_and_what_they_shared_stays(place: Place) -> None:
    ann, bob = place.invite("ann"), place.invite("bob")
    ann.push(SHOP, "machine-of-ann", [item()])
    place.owner.revoke("ann")
    for act in _everything(ann):
        with pytest.raises(HubRefused):
            act()
    assert texts(bob) == [("m1", item().body)]
    assert [(each.name, bool(each.revoked_at)) for each in place.owner.members()] == [
        ("ann", True),
        ("bob", False),
    ]
    assert bob.audit(1)[0].action == "revoked"
    place.owner.revoke("ann")
    assert bob.audit(2)[1].action != "revoked"


def test_who_was_revoked_can_be_invited_again_to_the_same_team(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item()])
    place.owner.revoke("ann")
    with pytest.raises(HubRefused, match="is in the team `core`"):
        place.owner.invite("ann", "other", is_read_only=False)
    again = place.invite("ann", is_read_only=True)
    assert texts(again) == [("m1", item().body)]
    (member,) = place.owner.members()
    assert (member.name, member.team, member.is_read_only, member.revoked_at) == ("ann", "core", True, 0)


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "-a", 'a"b', "a" * 33, "a\x00"])
def test_what_cannot_be_a_name_is_refused(place: Place, name: str) -> None:
    with pytest.raises(HubRefused, match="cannot be the name"):
        place.owner.invite(name, "core", is_read_only=False)
    with pytest.raises(HubRefused, match="cannot be the name"):
        place.owner.invite("ann", name, is_read_only=False)


def test_someone_who_was_never_invited_cannot_be_revoked(place: Place) -> None:
    with pytest.raises(HubRefused, match="never invited"):
        place.owner.revoke("nobody")


def test_preparing_again_changes_nothing(place: Place) -> None:
    ann = place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item()])
    assert not place.owner.prepare()
    assert texts(ann) == [("m1", item().body)]


ITEMS = st.builds(
    item,
    id=st.sampled_from(["m1", "m2"]),
    revision=st.integers(1, 6),
    body=st.sampled_from(["", "1", "2"]),
    audience=st.sampled_from(Audience),
    recipient=st.sampled_from(["", "bob"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pushes=st.lists(st.tuples(st.sampled_from(["ann", "bob"]), st.lists(ITEMS, max_size=4)), max_size=6))
def test_who_pulls_in_steps_ends_with_what_who_pulls_at_once_sees(
    place: Place, pushes: list[tuple[str, list[OutgoingItem]]]
) -> None:
    """Whatever is pushed, and whenever one pulls: the cursor misses nothing that is still there."""
    hubs = _members(place)
    project = f"project {uuid.uuid4()}"
    cursor, seen = 0, dict[tuple[str, str, str], tuple[int, str]]()
    for number, (name, items) in enumerate(pushes):
        sent = [replace(each, revision=each.revision + number) for each in items]
        hubs[name].push(project, f"machine-of-{name}", sent)
        for change in hubs["bob"].pull(project, cursor, 3):
            assert change.sequence > cursor
            cursor = change.sequence
            key = (change.machine.id, change.item.kind, change.item.id)
            seen[key] = (change.item.revision, change.item.body)
    while changes := hubs["bob"].pull(project, cursor, 3):
        for change in changes:
            cursor = change.sequence
            key = (change.machine.id, change.item.kind, change.item.id)
            seen[key] = (change.item.revision, change.item.body)
    at_once = dict[tuple[str, str, str], tuple[int, str]]()
    for change in hubs["bob"].pull(project, 0, 1_000):
        key = (change.machine.id, change.item.kind, change.item.id)
        at_once[key] = (change.item.revision, change.item.body)
    assert {key: text for key, (_, text) in seen.items() if text} == {
        key: text for key, (_, text) in at_once.items() if text
    }


def _members(place: Place) -> dict[str, Hub]:
    names = {member.name for member in place.owner.members()}
    return {name: place.connect(name) if name in names else place.invite(name) for name in ("ann", "bob")}
