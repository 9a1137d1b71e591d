"""A place to tell continuity's stories at: a repository, a home, and sessions of any harness that work in it.

The clock and the ids are set by hand, so that every file that is written is the same on every run.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.documents.continuity import ContinuityPart, LayerName, LayerSummary
from holdfast.core.documents.continuity_log import AuditScope, AuditTrigger
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, begin
from holdfast.engine.documents import continuity
from holdfast.engine.documents.continuity import ContinuityFiles, SaveOutcome, SaveTask
from holdfast.engine.documents.continuity_source import ContinuitySource, SourceChoice
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means
from holdfast.engine.repository.git import identity
from holdfast.stores.base import Lineage
from holdfast.stores.sqlite import SqliteStore, open_in_memory
from tests.stories.test_brief_snapshots import PROJECT, TELLINGS, Step, stamped

NOON = 1_800_000_000_000
MEANS = Means({}, lambda seconds: None)


@dataclass
class Bench:
    """A worktree in which sessions work, and whose continuity is kept."""

    root: Path
    worktree: Path
    config: Config = field(default_factory=Config)
    store: SqliteStore = field(default_factory=open_in_memory)
    now: int = NOON
    numbers: int = 0

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Project:
        return identity(str(self.worktree))

    @property
    def engine(self) -> Engine:
        return Engine(
            store=self.store,
            harness=harnesses.get,
            config=lambda project: self.config,
            user_home=self.root,
            clock=lambda: self.now,
            new_id=self._next_id,
            new_secret=lambda: b"bench",
            home=self.home,
        )

    @property
    def continuity_files(self) -> ContinuityFiles:
        return continuity.continuity_files(self.engine, self.home, self.project)

    def transcript(self, harness: str, *steps: Step, name: str = "s1") -> Path:
        """What a session of that harness wrote down of these steps, done in this worktree."""
        telling = TELLINGS[harness]
        rows = [*telling.opening]
        for place, step in enumerate(steps):
            rows += telling.step(step, f"call-{place}")
        told = [stamped(row, f"2026-03-01T10:00:{at:02}.000Z") for at, row in enumerate(rows)]
        path = self.root / f"{name}.jsonl"
        path.write_bytes(telling.written(told).replace(PROJECT.encode(), str(self.worktree).encode()))
        return path

    def save(
        self, harness: str, *steps: Step, scope: AuditScope = AuditScope.BOTH, name: str = "s1"
    ) -> SaveOutcome:
        """A session works, and what it did is saved."""
        self.now += 1_000
        source = ContinuitySource(
            SourceChoice.EXPLICIT, harness, self.transcript(harness, *steps, name=name), name
        )
        return continuity.save(
            self.engine, self.continuity_files, SaveTask(scope, source, AuditTrigger.SAVE), MEANS
        )

    def refresh(self, source: ContinuitySource, scope: AuditScope = AuditScope.BOTH) -> SaveOutcome:
        self.now += 1_000
        return continuity.refresh(
            self.engine, self.continuity_files, SaveTask(scope, source, AuditTrigger.REFRESH), MEANS
        )

    def knows(self, harness: str, key: str, transcript: Path, *, fork_of: str = "") -> None:
        """The store knows of an ended session with that transcript."""
        self.now += 1_000
        begun = begin(key, harness, self.project, self.now)
        session = replace(begun, transcript=str(transcript), phase=Phase.ENDED, changed_at=self.now)
        with self.store.writing():
            self.store.put_session(session)
            if fork_of:
                self.store.add_lineage(Lineage(key, fork_of, "fork", self.now))

    def said(self, layer: LayerName) -> LayerSummary:
        """What a layer says now."""
        found = continuity.layers_with_paths(continuity.layers(self.continuity_files))
        return next((one.summary for one in found if one.name is layer), LayerSummary())

    def items(self, part: ContinuityPart) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the shared and the local layer say in a section."""
        return self.said(LayerName.SHARED).of(part), self.said(LayerName.LOCAL).of(part)

    def file(self, layer: LayerName) -> Path:
        return self.continuity_files.places.target(layer).whole

    def plain(self, text: str) -> str:
        """A text without what differs from one machine to the next."""
        project = self.project
        names: Mapping[str, str] = {
            str(self.worktree): "/worktree",
            str(self.home): "~/.holdfast",
            str(self.root): "/elsewhere",
            project.project_id: "PROJECT",
            project.worktree_id: "WORKTREE",
            project.worktree_id[:8]: "WORKTREE",
        }
        for name, stands_for in names.items():
            text = text.replace(name, stands_for)
        return text

    def _next_id(self) -> str:
        self.numbers += 1
        return f"id-{self.numbers}"


def bench_at(root: Path) -> Bench:
    """A bench with a repository of its own."""
    worktree = root / "app"
    worktree.mkdir()
    subprocess.run(["git", "init", "-q", str(worktree)], check=True)
    return Bench(root, worktree)
