"""Two machines share while everything between them breaks: nothing is lost, nothing is there twice.

The machines are killed, the network drops, delays, doubles and cuts, and the hub crashes. Twenty times by
default; `HOLDFAST_KILLS` says how often.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psycopg
import pytest

from holdfast.core.events.identity import Marks, Site
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import SharedName
from holdfast.core.sharing.items import SharedKind
from holdfast.engine.memory.remember import edit
from holdfast.engine.privacy.forget import OneMemory, forget
from holdfast.engine.sharing.report import notes_of
from holdfast.errors import StoreLocked
from holdfast.files import machine_id
from holdfast.stores.base import EVERYWHERE, Store
from holdfast.stores.sqlite import open_store
from tests.chaos.bad_network import BadNetwork
from tests.engine.library import Library
from tests.postgres.server import ROOT, Server
from tests.stores.hub.rooms import PostgresRoom

KILLS = int(os.environ.get("HOLDFAST_KILLS", "20"))
LONGEST_LIFE_S = 1.0
ACTIONS = 3
SETTLED_S = 240.0
SHOP = "github.com/acme/shop"


@dataclass
class SharingHome:
    """A machine: its home, its store as its person uses it, and the process that shares."""

    home: Path
    name: str
    store: Store
    library: Library
    project: Project
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    written: dict[str, set[str]] = field(default_factory=dict)

    def live(self) -> None:
        """Have the sharing process run."""
        if self.process is None or self.process.poll() is not None:
            words = [sys.executable, "-m", "tests.chaos.sharer", str(self.home)]
            self.process = subprocess.Popen(words, cwd=ROOT, env=self.environment)

    def die(self) -> None:
        """Kill it at whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def memories(self) -> dict[str, str]:
        return {each.id: each.text for each in self.store.memories_named(self.store.memory_ids())}


@dataclass
class Scene:
    """Two machines of one person, the hub, and the network between them."""

    machines: list[SharingHome]
    network: BadNetwork
    server: Server
    random: Random
    remembered: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    number: int = 0

    def act(self) -> None:
        """One thing that the person does on one of the machines."""
        machine = self.random.choice(self.machines)
        machine.library.now = time.time_ns() // 1_000_000
        engine = machine.library.engine()
        here = sorted(machine.store.memory_ids())
        self.number += 1
        text = f"Thing {self.number} is in drawer {self.number * 7} of {machine.name}."
        fate = self.random.random()
        if fate < 0.5 or not here:
            self.remembered.add(machine.library.remember(text, machine.project).memory.id)
        elif fate < 0.8:
            edit(engine, machine.project, self.random.choice(here), text=text)
        else:
            id = self.random.choice(here)
            # The other process uses the store: then it is not forgotten, or its files are cleared later.
            with contextlib.suppress(StoreLocked):
                forget(machine.store, machine.home, OneMemory(id), machine.library.now)
            if machine.store.memory(id) is None:
                self.forgotten.add(id)

    def hurt(self) -> None:
        """One thing that goes wrong."""
        match self.random.randrange(10):
            case 0:
                self.server.stop(signal.SIGQUIT)
                self.server.start()
            case 1 | 2:
                self.network.cut()
            case 3:
                self._ask(_END_MEMBERS)
            case _:
                self.random.choice(self.machines).die()

    def at_hub(self) -> dict[str, str]:
        """The bodies at the hub, by the item's id."""
        rows = self._ask(_BODIES)
        return {str(id): str(body) for id, body in rows}

    def _ask(self, sql: bytes) -> list[tuple[object, ...]]:
        with psycopg.connect(self.server.address.url("hub"), autocommit=True) as connection:
            return connection.execute(sql).fetchall()

    @property
    def expected(self) -> set[str]:
        return self.remembered - self.forgotten


_END_MEMBERS = b"select pg_terminate_backend(pid) from pg_stat_activity where usename like '%person%'"
_BODIES = b"select item_id, body from holdfast_hub.versions where body <> ''"


@pytest.fixture
def scene(own_postgres: Callable[[], Server], tmp_path: Path) -> Iterator[Scene]:
    server = own_postgres()
    with psycopg.connect(server.address.url("postgres"), autocommit=True) as connection:
        password = secrets.token_hex()
        connection.execute(f"create role hub_owner login createrole password '{password}'".encode())
        connection.execute(b"create database hub owner hub_owner")
    room = PostgresRoom(server.address, "hub", "hub_owner", password, tmp_path)
    random = Random(KILLS)
    network = BadNetwork(server.address.port, random)
    invitation = room.owner.invite("ann", "shop", is_read_only=False)
    login = tmp_path / "login"
    login.touch(0o600)
    login.write_text(invitation.password)
    variables = {
        "HOLDFAST_HUB_URL": f"postgresql://{invitation.login}@127.0.0.1:{network.port}/hub",
        "HOLDFAST_HUB_PASSWORD_FILE": str(login),
        "HOLDFAST_SHARING_HUBS": "hub: *",
        "HOLDFAST_SHARING_OWN": "true",
    }
    with contextlib.ExitStack() as stack:
        stack.callback(room.close)
        stack.callback(network.close)
        machines = [_machine(tmp_path / name, name, variables, stack) for name in ("laptop", "desk")]
        yield Scene(machines, network, server, random)


def _machine(home: Path, name: str, variables: dict[str, str], stack: contextlib.ExitStack) -> SharingHome:
    root = home / "shop"
    root.mkdir(parents=True)
    machine_id.read_or_make(home)
    store = open_store(home / "store.db", home / "backups", 0)
    stack.callback(store.close)
    project = Project(str(root), str(root), f"shop-of-{name}", "main", str(root))
    marks = Marks("1", name)
    now = time.time_ns() // 1_000_000
    place, id = str(root), project.project_id
    site = Site(id, place, place, place, is_git=False, marks=marks, first_seen_at=now, last_seen_at=now)
    with store.writing():
        store.put_site(site)
        store.put_shared_name(SharedName(project.project_id, SHOP, now, now))
    library = Library(store, home, now, embedder=None)
    library.numbers = 1_000_000 if name == "desk" else 0
    own = {
        "HOLDFAST_HOME": str(home),
        "HOME": str(home),
        "HOLDFAST_MACHINE_NAME": name,
        "PATH": os.environ["PATH"],
    }
    machine = SharingHome(home, name, store, library, project, {**own, **variables})
    stack.callback(machine.die)
    return machine


def test_nothing_is_lost_and_nothing_doubled_whatever_breaks(scene: Scene) -> None:
    for _ in range(KILLS):
        for machine in scene.machines:
            machine.live()
        for _ in range(scene.random.randrange(1, ACTIONS + 1)):
            scene.act()
        time.sleep(scene.random.uniform(0, LONGEST_LIFE_S))
        scene.hurt()
    scene.network.is_bad = False
    for machine in scene.machines:
        machine.die()
        machine.live()
    _wait(scene, lambda: is_settled(scene))
    first, second = (machine.memories() for machine in scene.machines)
    assert first == second
    assert set(first) == scene.expected
    assert len(set(first.values())) == len(first)
    assert set(scene.at_hub()) == scene.expected
    for machine in scene.machines:
        documents = [
            each.id for each in machine.store.documents(EVERYWHERE, 100_000) if each.kind == "memory"
        ]
        assert sorted(documents) == sorted(scene.expected)
        gone = [id for id in scene.forgotten if machine.store.versions_of(SharedKind.MEMORY, id)]
        assert all(not each.body for id in gone for each in machine.store.versions_of(SharedKind.MEMORY, id))


def is_settled(scene: Scene) -> bool:
    """Whether everything was sent and applied everywhere."""
    first, second = scene.machines
    has_sent = all(machine.store.last_announcement() == 0 for machine in scene.machines)
    return (
        has_sent
        and first.memories() == second.memories()
        and set(scene.at_hub()) == scene.expected == set(first.memories())
    )


def _wait(scene: Scene, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + SETTLED_S
    while not condition():
        if time.monotonic() > until:
            notes = [notes_of(machine.store, "hub") for machine in scene.machines]
            pytest.fail(f"the machines did not agree: {notes}")
        time.sleep(0.2)
