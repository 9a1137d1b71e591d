"""What a hub carries, on a real PostgreSQL: pushes, pulls, many machines at once, and projects that grow.

Everything is a ratio to a bare `insert` or `select` of the same rows, in the same run and on the same server,
which writes durably. It needs what `make test-postgres` installs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import secrets
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, OutgoingItem, SharedKind
from holdfast.stores.hub import postgres as queries
from holdfast.stores.hub.base import Invitation
from holdfast.stores.hub.owner import PostgresHubOwner
from holdfast.stores.hub.postgres import PostgresHub
from holdfast.stores.postgres.connection import PostgresAddress
from tests.postgres.server import Server

BATCH: Final = 20
"""Rows that a machine sends in a minute."""
BODY: Final = json.dumps({"text": "The staging port is 5433, and the report wants whole cents. " * 6})
PERSONS: Final = 200
MACHINES_EACH: Final = 5
PROJECTS: Final = 50
THREADS: Final = 8
SETTINGS: Final = {
    "fsync": "on",
    "full_page_writes": "on",
    "shared_buffers": "512MB",
    "max_connections": "400",
    "max_wal_size": "4GB",
    "autovacuum_naptime": "1min",
}


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of many calls."""

    name: str
    count: int
    p50: float
    p95: float
    p99: float
    ratio: float
    """Of the median to that of the bare statement; 1 for that itself."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A pull of 100 rows from a project with that many."""

    rows: int
    p50: float
    p95: float
    ratio: float
    """Of the median to that of a bare select by primary key."""
    bytes_per_row: int
    scans: list[str]
    """Tables that the plan reads whole and that grow with use; none is right."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Many machines at once, each with its rows a minute."""

    machines: int
    seconds: float
    rows: int
    rows_per_second: float
    push: Latency
    pull: Latency
    lag: Latency
    """From the end of a push until a machine sees it that asks without a pause."""
    late: float
    """The share of turns that began a second too late: more was asked than was carried."""


@dataclass
class Times:
    """Milliseconds, by what was done."""

    by_name: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.add(name, (time.perf_counter() - began) * 1000)

    def add(self, name: str, ms: float) -> None:
        self.by_name.setdefault(name, []).append(ms)

    def latency(self, name: str, floor: str) -> Latency:
        values = sorted(self.by_name[name])
        base = statistics.median(self.by_name[floor])
        p50, p95, p99 = (
            round(values[min(len(values) - 1, int(len(values) * share))], 2) for share in (0.5, 0.95, 0.99)
        )
        ratio = round(statistics.median(values) / base, 2)
        return Latency(name, len(values), p50, p95, p99, ratio)


class HubServer:
    """A server with a hub, and people who log in. Close it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.server = Server(settings=SETTINGS)
        self.server.start()
        self.address = self.server.address
        password = secrets.token_hex()
        with self.superuser() as connection:
            connection.execute(
                b"create role hub_admin login createrole password '" + password.encode() + b"'"
            )
            connection.execute(b"create database hub owner hub_admin")
        self.owner = PostgresHubOwner(self._login(Invitation("hub_admin", password)))
        self.owner.prepare()

    def invite(self, name: str) -> PostgresHub:
        return PostgresHub(self._login(self.owner.invite(name, "team", is_read_only=False)))

    def superuser(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.address.url(database), autocommit=True)

    def close(self) -> None:
        self.owner.close()
        self.server.remove()

    def _login(self, invitation: Invitation) -> PostgresAddress:
        file = self._folder / invitation.login
        file.touch(0o600)
        file.write_text(invitation.password, encoding="ascii")
        return PostgresAddress(self.address.url("hub", invitation.login), str(file))


def measure_calls(hub: HubServer, rounds: int) -> list[Latency]:
    """One member's calls and the bare statements, in turn."""
    ann, bob = hub.invite("ann"), hub.invite("bob")
    ann.identify(Machine("ann", "ann"))
    bob.identify(Machine("bob", "bob"))
    times, numbers = Times(), itertools.count(1)
    with hub.superuser("hub") as bare:
        bare.execute(_BARE_TABLE)
        for _ in range(rounds):
            batch = _items(numbers, BATCH)
            with times.of("bare insert"):
                bare.execute(_BARE_INSERT, _bare_rows(batch))
            with times.of("push, new"):
                ann.push("calls", "ann", batch)
            with times.of("push, sent again"):
                ann.push("calls", "ann", batch)
            changed = [_changed(each, next(numbers)) for each in batch]
            with times.of("push, changed"):
                ann.push("calls", "ann", changed)
            last = changed[-1].revision
            with times.of("bare select"):
                bare.execute(_BARE_SELECT, (last - 3 * BATCH, BATCH)).fetchall()
            after = max(0, ann.pull("calls", 0, 1)[0].sequence - 1)
            with times.of("pull"):
                bob.pull("calls", after, BATCH)
            with times.of("pull, nothing new"):
                bob.pull("calls", 2**40, BATCH)
            with times.of("confirm"):
                bob.confirm("calls", "bob", after)
    for each in (ann, bob):
        each.close()
    floors = {"bare insert": "bare insert", "push, new": "bare insert", "push, changed": "bare insert"}
    floors |= {"push, sent again": "bare insert", "confirm": "bare insert"}
    return [times.latency(name, floors.get(name, "bare select")) for name in times.by_name]


class CrowdOfMachines:
    """Machines that each push and pull twice a minute, at times of their own; one more watches a project."""

    def __init__(self, hub: HubServer, persons: int, seconds: float) -> None:
        self.seconds = seconds
        self.times = Times()
        self.late = list[bool]()
        self.rows = list[int]()
        self.hubs = [hub.invite(f"crowd{number}") for number in range(persons)]
        self.machines = [(n, f"crowd-{n}-{each}") for n in range(persons) for each in range(MACHINES_EACH)]
        for number, machine in self.machines:
            self.hubs[number].identify(Machine(machine, machine))
        self.watched = hub.invite("watcher")
        self._numbers = itertools.count(1)
        self._sent = dict[str, float]()
        self._seen = dict[str, float]()
        self._is_over = threading.Event()
        self._began = time.perf_counter()

    def run(self) -> Crowd:
        shares = [
            [each for each in self.machines if each[0] % THREADS == thread] for thread in range(THREADS)
        ]
        workers = [threading.Thread(target=self._work, args=(share,)) for share in shares if share]
        watcher = threading.Thread(target=self._watch)
        for each in (watcher, *workers):
            each.start()
        for each in workers:
            each.join()
        lasted = time.perf_counter() - self._began
        self._is_over.set()
        watcher.join()
        for connection in (self.watched, *self.hubs):
            connection.close()
        for id, at in self._sent.items():
            self.times.add("lag", max(0.0, (self._seen[id] - at) * 1000))
        push, pull, lag = (self.times.latency(name, name) for name in ("push", "pull", "lag"))
        count, late = sum(self.rows), round(sum(self.late) / len(self.late), 3)
        per_second = round(count / lasted, 1)
        return Crowd(len(self.machines), round(lasted, 1), count, per_second, push, pull, lag, late)

    def _work(self, share: Sequence[tuple[int, str]]) -> None:
        chance = random.Random(share[0][1])
        cursors = dict.fromkeys(share, 0)
        period = min(30.0, self.seconds)
        turns = range(int(self.seconds / period) + 1)
        plan = sorted(((chance.random() + turn) * period, which) for which in share for turn in turns)
        for due, which in plan:
            if due > self.seconds:
                return
            time.sleep(max(0.0, self._began + due - time.perf_counter()))
            self.late.append(time.perf_counter() - self._began - due > 1)
            cursors[which] = self._take_turn(*which, cursors[which])

    def _take_turn(self, number: int, machine: str, cursor: int) -> int:
        project = f"project {number % PROJECTS}"
        batch = _items(self._numbers, BATCH // 2)
        with self.times.of("push"):
            self.hubs[number].push(project, machine, batch)
        if number % PROJECTS == 0:
            self._sent[batch[-1].id] = time.perf_counter()
        self.rows.append(len(batch))
        with self.times.of("pull"):
            changes = self.hubs[number].pull(project, cursor, 100)
        return changes[-1].sequence if changes else cursor

    def _watch(self) -> None:
        cursor = 0
        while True:
            was_over = self._is_over.is_set()
            changes = self.watched.pull("project 0", cursor, 200)
            now = time.perf_counter()
            for change in changes:
                cursor = change.sequence
                self._seen.setdefault(change.item.id, now)
            if was_over and not changes:
                return
            time.sleep(0.02)


def measure_growth(hub: HubServer, sizes: Sequence[int], rounds: int) -> Iterator[Growth]:
    """Pulls from one project as it grows; a tenth of its rows are for the team."""
    ann = hub.invite("grown")
    ann.identify(Machine("grown", "grown"))
    ann.push("growing", "grown", _items(itertools.count(1), 1))
    chance = random.Random(1)
    with hub.superuser("hub") as bare:
        bare.execute(_FILL_PEOPLE)
        there = 1
        for size in sizes:
            for start in range(there, size, 500_000):
                bare.execute(_FILL, (BODY, start + 1, min(size, start + 500_000)))
            there = size
            bare.execute(b"vacuum analyze holdfast_hub.versions")
            times = Times()
            for _ in range(rounds):
                after = chance.randrange(size * 9 // 10)
                with times.of("bare"):
                    bare.execute(_BARE_PULL, (after,)).fetchall()
                with times.of("pull"):
                    ann.pull("growing", after, 100)
            pull, table = (
                times.latency("pull", "bare"),
                b"select pg_total_relation_size('holdfast_hub.versions')",
            )
            total = int((bare.execute(table).fetchone() or (0,))[0])
            scans = _scans(ann, size // 2)
            yield Growth(size, pull.p50, pull.p95, pull.ratio, total // size, scans)
    ann.close()


def _scans(member: PostgresHub, after: int) -> list[str]:
    """The growing tables that a pull reads whole, by its plan."""
    parameters = {"project": "growing", "after": after, "limit": 100}
    connection, pull = member._connection, queries._PULL  # noqa: SLF001 - the plan is of the very query
    row = connection.execute(b"explain (format json) " + pull, parameters).fetchone()
    assert row
    nodes = [row[0][0]["Plan"]]
    for node in nodes:
        nodes += node.get("Plans", [])
    return [
        node["Relation Name"]
        for node in nodes
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in _GROWING
    ]


def _items(numbers: Iterator[int], count: int) -> list[OutgoingItem]:
    return [
        OutgoingItem(SharedKind.MEMORY, f"m{number}", number, number, Audience.TEAM, BODY, "7")
        for number in itertools.islice(numbers, count)
    ]


def _changed(item: OutgoingItem, revision: int) -> OutgoingItem:
    return OutgoingItem(item.kind, item.id, revision, revision, item.audience, item.body[::-1], item.redactor)


def _bare_rows(items: Sequence[OutgoingItem]) -> tuple[list[int], list[str], list[str]]:
    return [each.revision for each in items], [each.id for each in items], [each.body for each in items]


def _print_calls(calls: Sequence[Latency]) -> None:
    print(f"{'one call, ' + str(BATCH) + ' rows':24}{'p50 ms':>9}{'p95':>9}{'p99':>9}{'× bare':>9}")
    for each in calls:
        print(f"{each.name:24}{each.p50:9.2f}{each.p95:9.2f}{each.p99:9.2f}{each.ratio:9.2f}", flush=True)


def _print_crowd(crowd: Crowd) -> None:
    print(
        f"\n{crowd.machines} machines, {crowd.seconds} s: {crowd.rows_per_second} rows/s,"
        f" {crowd.late:.1%} of turns late"
    )
    for each in (crowd.push, crowd.pull, crowd.lag):
        print(f"{each.name:24}{each.p50:9.2f}{each.p95:9.2f}{each.p99:9.2f}", flush=True)


def _print_growth(growth: Growth) -> None:
    print(
        f"{growth.rows:12,} rows: p50 {growth.p50} ms, p95 {growth.p95} ms, {growth.ratio} × bare,"
        f" {growth.bytes_per_row} bytes a row, reads whole: {', '.join(growth.scans) or 'nothing'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="how far a project grows")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long many machines work")
    parser.add_argument("--quick", action="store_true", help="seconds only, to see that it runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rounds, persons, seconds, most = 200, PERSONS, options.seconds, options.rows
    if options.quick:
        rounds, persons, seconds, most = 10, 10, 3.0, 10_000
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= most]
    with tempfile.TemporaryDirectory() as folder:
        hub = HubServer(Path(folder))
        try:
            calls = measure_calls(hub, rounds)
            if not options.json:
                _print_calls(calls)
            crowd = CrowdOfMachines(hub, persons, seconds).run()
            if not options.json:
                _print_crowd(crowd)
                print("\na pull of 100 rows from a project that grows")
            growth = list[Growth]()
            for grown in measure_growth(hub, sizes, rounds):
                growth.append(grown)
                if not options.json:
                    _print_growth(grown)
        finally:
            hub.close()
    if options.json:
        json.dump({"calls": calls, "crowd": crowd, "growth": growth}, sys.stdout, default=asdict, indent=2)


_GROWING: Final = ("versions", "audit")
"""What grows with use. Machines, people, and how far each has applied a project, fit into a few pages."""

_BARE_TABLE: Final = b"create table bare (number bigint primary key, id text, body text)"
_BARE_INSERT: Final = b"insert into bare select * from unnest(%s::bigint[], %s::text[], %s::text[])"
_BARE_SELECT: Final = b"select * from bare where number > %s order by number limit %s"
_BARE_PULL: Final = b"""
select *
  from holdfast_hub.versions
 where project_id = (select id from holdfast_hub.projects where name = 'growing')
   and audience = 'team'
   and recipient = ''
   and sequence > %s
 order by sequence
 limit 100
"""
_FILL_PEOPLE: Final = b"""
with people as (
  insert into holdfast_hub.members (role, name, team_id, is_read_only, invited_at)
  select 'filler' || n, 'filler' || n, (select id from holdfast_hub.teams limit 1), false, 1
    from generate_series(1, 20) n
  returning id, team_id
)
insert into holdfast_hub.machines (id, name, person_id, team_id, last_seen_at)
select 'filler' || id, 'filler', id, team_id, 1
  from people
"""
_FILL: Final = b"""
insert into holdfast_hub.versions
select p.id, m.team_id, m.person_id, m.number, 'memory', 'grown' || n, n, n, n,
       case when n %% 10 = 0 then 'team' else 'own' end, '', false, %s, '7', '', 0
  from generate_series(%s::bigint, %s::bigint) n
  join (select *, row_number() over (order by number) - 1 as position
          from holdfast_hub.machines where name = 'filler') m on m.position = n / 10 %% 20
 cross join (select id from holdfast_hub.projects where name = 'growing') p
"""

if __name__ == "__main__":
    main()
