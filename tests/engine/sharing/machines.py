"""Machines that share through one hub: each with a store, a home, settings and a clock of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from holdfast.core.events.identity import Marks, Site
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import Machine, SharedName
from holdfast.core.sharing.items import SharedKind
from holdfast.engine.engine import Engine
from holdfast.engine.memory.remember import edit
from holdfast.engine.privacy.forget import OneMemory, forget
from holdfast.engine.sharing.exchange import Exchanged, HubLink, exchange, pull, push
from holdfast.settings import Config, Sharing
from holdfast.stores.base import START, Store
from holdfast.stores.shared import SharedWithin, StoredVersion
from holdfast.stores.sqlite import open_store
from tests.engine.library import Library
from tests.engine.sharing.breaking_hub import BreakingDatabase, BreakingHub
from tests.engine.stage import NOON
from tests.stores.contract import Field

NAME = "github.com/acme/shop"
EVERYTHING = Sharing(
    hubs=("work: *",),
    handoffs=True,
    continuity=True,
    memories="team",
    own=True,
    checkpoints=True,
    sessions="own",
)
OWN_MEMORIES = Sharing(hubs=("work: *",), own=True)


@dataclass
class SharingMachine:
    """One machine of one person."""

    name: str
    library: Library
    hub: BreakingHub
    project: Project
    machine: Machine
    clock_ahead: int = 0
    stops: bool = field(default=False)

    @property
    def engine(self) -> Engine:
        return replace(self.library.engine(), home=self.library.home)

    @property
    def store(self) -> Store:
        return self.library.store

    @property
    def link(self) -> HubLink:
        return HubLink("work", self.hub, self.machine)

    def at(self, now: int) -> SharingMachine:
        """Set the time: the machine's clock is ahead of the hub's."""
        self.library.now = now + self.clock_ahead
        self.hub.database.now = now
        return self

    def share(self, sharing: Sharing) -> None:
        self.library.config = replace(self.library.config, sharing=sharing)

    def exchange(self) -> Exchanged:
        return exchange(self.engine, self.link, lambda: not self.stops)

    def push(self) -> Exchanged:
        return push(self.engine, self.link, lambda: not self.stops)

    def pull(self) -> Exchanged:
        return pull(self.engine, self.link, lambda: not self.stops)

    def push_stamps(self) -> None:
        """What the daemon does within seconds, also without a network: note when something changed."""
        with self.store.writing():
            self.store.stamp_announcements(self.library.now)

    def rename(self, name: str) -> None:
        """The project's remote has another name now."""
        seen_at = self.library.now + 1
        with self.store.writing():
            self.store.put_shared_name(SharedName(self.project.project_id, name, seen_at, seen_at))

    def remember(self, text: str, **wish: Field) -> str:
        return self.library.remember(text, self.project, **wish).memory.id

    def edit(self, id: str, text: str) -> None:
        edit(self.engine, self.project, id, text=text)

    def forget(self, id: str) -> None:
        forget(self.store, self.library.home, OneMemory(id), self.library.now)

    def texts(self) -> dict[str, str]:
        """The memories of this machine, by id."""
        return {
            id: memory.text for id in self.store.memory_ids() if (memory := self.store.memory(id)) is not None
        }

    def items(self, *kinds: SharedKind) -> list[StoredVersion]:
        """What this machine has of others."""
        return self.store.shared_items(
            SharedWithin(kinds=kinds, except_machine=self.machine.id), START, 1_000
        )


@dataclass
class Fleet:
    """Makes machines that use one hub."""

    folder: Path
    stack: ExitStack
    database: BreakingDatabase = field(default_factory=lambda: BreakingDatabase(NOON))
    machines: int = 0

    def machine(
        self, name: str, person: str = "ada", sharing: Sharing = OWN_MEMORIES, *, clock_ahead: int = 0
    ) -> SharingMachine:
        home = self.folder / name
        root = home / "clone" / "shop"
        root.mkdir(parents=True)
        store = open_store(home / "store.db", home / "backups", NOON)
        self.stack.callback(store.close)
        project = Project(str(root), str(root), f"shop-of-{name}", "main", str(root))
        library = Library(store, home, NOON + clock_ahead, Config(sharing=sharing), embedder=None)
        self.machines += 1
        library.numbers = 1_000 * self.machines
        machine = SharingMachine(
            name,
            library,
            self.database.connect(person),
            project,
            Machine(f"{name}-id", name),
            clock_ahead,
        )
        self._know(machine)
        machine.hub.identify(machine.machine)
        return machine

    def restored(self, lost: SharingMachine) -> SharingMachine:
        """The same machine after its store was lost."""
        home = self.folder / f"{lost.name}-again"
        store = open_store(home / "store.db", home / "backups", NOON)
        self.stack.callback(store.close)
        library = replace(lost.library, store=store, home=home, numbers=lost.library.numbers + 500)
        machine = replace(lost, library=library)
        self._know(machine)
        return machine

    def clone(self, machine: SharingMachine) -> SharingMachine:
        """The same machine, in another clone of the repository."""
        root = machine.library.home / "second" / "shop"
        root.mkdir(parents=True)
        project = replace(machine.project, path=str(root), normalized=str(root), root=str(root))
        second = replace(machine, project=replace(project, project_id=f"second-of-{machine.name}"))
        self._know(second)
        return second

    def _know(self, machine: SharingMachine) -> None:
        project = machine.project
        site = Site(
            project.project_id,
            project.root,
            project.root,
            project.root,
            is_git=False,
            marks=Marks("1", machine.name),
            first_seen_at=NOON,
            last_seen_at=NOON,
        )
        with machine.store.writing():
            machine.store.put_site(site)
            machine.store.put_shared_name(SharedName(project.project_id, NAME, NOON, NOON))


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        yield Fleet(tmp_path, stack)
