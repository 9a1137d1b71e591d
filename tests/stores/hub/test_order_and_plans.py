"""Order under concurrent pushes, and the plans of what is asked often: nothing is missed or scanned."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from holdfast.core.sharing.items import Audience
from holdfast.stores.hub import postgres as queries
from tests.stores.hub.contract import SHOP, item
from tests.stores.hub.rooms import PostgresRoom

WRITERS = 6
PUSHES = 25


def test_a_reader_misses_nothing_while_many_push(room: PostgresRoom) -> None:
    """A number that is visible means that all smaller ones are: whoever goes on behind it has missed none."""
    for number in range(WRITERS):
        room.place.invite(f"p{number}")
    reader = room.place.invite("reader")
    writers = [threading.Thread(target=_push_much, args=(room, f"p{number}")) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    seen: list[int] = []
    texts: dict[tuple[str, str], str] = {}
    while True:
        are_running = any(writer.is_alive() for writer in writers)
        changes = reader.pull(SHOP, seen[-1] if seen else 0, 7)
        seen += [each.sequence for each in changes]
        texts |= {(each.machine.id, each.item.id): each.item.body for each in changes}
        if not changes and not are_running:
            break
    for writer in writers:
        writer.join()
    assert seen == sorted(set(seen))
    at_once = reader.pull(SHOP, 0, 100_000)
    assert texts == {(each.machine.id, each.item.id): each.item.body for each in at_once}
    assert len(texts) == WRITERS * 5
    assert set(texts.values()) == {json.dumps(PUSHES - 5 + each) for each in range(5)}
    last = room.superuser_sql().execute(b"select last_sequence from holdfast_hub.projects").fetchone()
    assert last == (WRITERS * PUSHES,), "numbers have no gaps"


def _push_much(room: PostgresRoom, name: str) -> None:
    hub = room.place.connect(name)
    for number in range(PUSHES):
        hub.push(SHOP, f"machine-of-{name}", [item(f"m{number % 5}", number + 1, json.dumps(number))])


def test_a_push_that_is_not_committed_keeps_later_numbers_waiting(room: PostgresRoom) -> None:
    ann, bob = room.place.invite("ann"), room.place.invite("bob")
    raw = room.sql("ann")
    raw.execute(b"begin")
    raw.execute(
        b"select holdfast_hub.push(%s, 'machine-of-ann', '{memory}', '{slow}', '{1}', '{1}', '{team}',"
        b" '{\"\"}', '{text}', '{7}', '{\"\"}', '{0}')",
        (SHOP,),
    )
    other = threading.Thread(target=bob.push, args=(SHOP, "machine-of-bob", [item("quick")]))
    other.start()
    watcher = room.superuser_sql()
    waiting = b"select count(*) from pg_locks where not granted"
    while watcher.execute(waiting).fetchone() == (0,):
        assert other.is_alive(), "it did not wait"
    assert ann.pull(SHOP, 0, 10) == []
    raw.execute(b"commit")
    other.join()
    assert [each.item.id for each in ann.pull(SHOP, 0, 10)] == ["slow", "quick"]


def test_a_push_that_fails_half_way_stores_nothing(room: PostgresRoom) -> None:
    ann = room.place.invite("ann")
    with pytest.raises(psycopg.errors.CheckViolation):
        room.sql("ann").execute(
            b"select holdfast_hub.push(%s, 'machine-of-ann', '{memory,nothing}', '{a,b}', '{1,2}', '{1,2}',"
            b" '{team,team}', '{\"\",\"\"}', '{1,2}', '{7,7}', '{\"\",\"\"}', '{0,0}')",
            (SHOP,),
        )
    assert ann.pull(SHOP, 0, 10) == []
    assert [each.action for each in ann.audit(10)] == ["invited"]
    assert ann.last_revision("machine-of-ann") == 0


def test_the_audit_gets_a_partition_for_each_month_by_itself(room: PostgresRoom) -> None:
    room.place.invite("ann")
    connection = room.owner_sql()
    connection.execute(f'set role "{room.owner.roles.owner}"'.encode())
    for at in (
        0,
        1_798_761_599_999,
        1_798_761_600_000,
        1_798_761_600_000,
    ):  # The last two are in January 2027.
        connection.execute(b"select holdfast_hub.ensure_audit_month(%s)", (at,))
    partitions = connection.execute(
        b"select c.relname, pg_get_expr(c.relpartbound, c.oid) from pg_class c"
        b" join pg_inherits i on i.inhrelid = c.oid"
        b" where i.inhparent = 'holdfast_hub.audit'::regclass and c.relkind = 'r' order by 1"
    ).fetchall()
    bounds = dict(partitions)
    assert {"audit_1970_01", "audit_2026_12", "audit_2027_01"} <= bounds.keys()
    assert bounds["audit_2027_01"] == "FOR VALUES FROM ('1798761600000') TO ('1801440000000')"


@pytest.fixture
def full(room: PostgresRoom) -> PostgresRoom:
    """A hub in which a project has 30,000 rows of 20 people, most of them private."""
    ann = room.place.invite("ann")
    ann.push(SHOP, "machine-of-ann", [item("first"), item("own", 2, audience=Audience.OWN)])
    connection = room.superuser_sql()
    connection.execute(_FILL)
    connection.execute(
        b"insert into holdfast_hub.applied select 1, number, team_id, 1 from holdfast_hub.machines"
    )
    connection.execute(
        b"insert into holdfast_hub.audit"
        b" (at, team_id, person_id, person, machine, action, project, kind, item_id, is_for_team)"
        b" select at, team_id, n, person, '', 'shared', '', 'memory', 'i' || n, n % 3 = 0"
        b" from holdfast_hub.audit, generate_series(1, 10000) n where action = 'invited'"
    )
    connection.execute(b"analyze")
    return room


@pytest.mark.parametrize(
    ("sql", "parameters", "most"),
    [
        (queries._PULL, {"project": SHOP, "after": 0, "limit": 100}, 3 * 110),
        (queries._PULL, {"project": SHOP, "after": 29_000, "limit": 100}, 3 * 110),
        (queries._LAST_REVISION, {"machine": "machine-of-ann"}, 0),
        (queries._MACHINES, {"project": SHOP}, 2_010),
        (queries._AUDIT, {"limit": 20}, 0),
    ],
)
def test_what_is_asked_often_reads_indexes(
    full: PostgresRoom, sql: bytes, parameters: dict[str, Any], most: int
) -> None:
    connection = full.sql("ann")
    plan = connection.execute(b"explain (format json, analyze, buffers) " + sql, parameters).fetchone()
    assert plan
    nodes = list(_nodes(plan[0][0]["Plan"]))
    tables = [node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"]
    scanned = [table for table in tables if table in _LARGE or table.startswith("audit")]
    assert scanned == []
    read = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes
        if node.get("Relation Name") == "versions"
    )
    assert read <= most, (
        "no more than what is asked for, from each of three indexes, or one row for each machine"
    )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from _nodes(inner)


_LARGE = ("versions", "applied")
"""What grows with use; people and machines fit into a few pages."""

_FILL = b"""
with people as (
  insert into holdfast_hub.members (role, name, team_id, is_read_only, invited_at)
  select 'r' || n, 'r' || n, (select id from holdfast_hub.teams), false, 1
    from generate_series(1, 2000) n
  returning id, team_id
),
machines as (
  insert into holdfast_hub.machines (id, name, person_id, team_id, last_seen_at)
  select 'm' || id, 'm', id, team_id, 1
    from people
  returning number, person_id, team_id
),
numbered as (
  select *, row_number() over () as position from machines limit 20
)
insert into holdfast_hub.versions
select (select id from holdfast_hub.projects), m.team_id, m.person_id, m.number, 'memory', 'i' || n, 1,
       10 + n, 1, case when n % 10 = 0 then 'team' else 'own' end, '', false, 'text', '7', '', 0
  from generate_series(1, 30000) n
  join numbered m on m.position = 1 + n % 20
"""
