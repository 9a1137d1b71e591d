"""Whatever is created, moved, copied, cloned and removed: no project ever sees what another one remembers.

The repositories are laid out by hand, with all that is read of them, so that thousands can be made.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.repository import projects
from holdfast.stores.sqlite import SqliteStore, open_in_memory

NOON: Final = 1_800_000_000_000
PATHS: Final = ("a", "b", "deep/a")
ACTS: Final = ("create", "remove", "move", "copy", "clone", "worktree", "expire", "plain")


@dataclass(slots=True)
class Tree:
    """A directory, and the family of those that may know what it remembers: its copies, or its remote's."""

    family: str
    main: Tree | None = None
    """The main worktree, for a linked one that still belongs to it."""
    project_id: str = ""
    """By which it was known at its last visit."""


@dataclass(slots=True)
class World:
    """What there is on the disk, and who it is in truth."""

    root: Path
    store: SqliteStore = field(default_factory=open_in_memory)
    trees: dict[str, Tree] = field(default_factory=dict[str, Tree])
    owners: dict[str, str] = field(default_factory=dict[str, str])
    """The family of everyone who was ever known by an id."""
    plain: dict[str, str] = field(default_factory=dict[str, str])
    """By path: the family of the directory outside git that was last met there."""
    copied: set[str] = field(default_factory=set[str])
    numbers: count[int] = field(default_factory=count)

    def act(self, what: str, path: str, other: str) -> None:
        if what in ("create", "clone", "plain") and path not in self.trees:
            self.make(what, path)
        elif what in ("move", "copy") and path in self.trees and other not in self.trees:
            self.bring(what, path, other)
        elif what == "remove" and path in self.trees:
            shutil.rmtree(self.root / path)
            self.part_from(self.trees.pop(path))
        elif what == "worktree" and path in self.trees and other not in self.trees:
            self.add_worktree(path, other)
        elif what == "expire" and (self.root / path / ".git" / "logs").is_dir():
            (self.root / path / ".git" / "logs" / "HEAD").write_text("")

    def make(self, what: str, path: str) -> None:
        number = next(self.numbers)
        family = {"clone": "remote", "create": f"created {number}", "plain": ""}[what]
        (self.root / path).mkdir(parents=True)
        self.trees[path] = Tree(family)
        if what == "plain":
            return
        git = self.root / path / ".git"
        for folder in ("objects", "refs", "logs"):
            (git / folder).mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        remote = '[remote "origin"]\n\turl = git@example.com:you/shop.git\n' if what == "clone" else ""
        (git / "config").write_text(remote)
        who = f"You <you@example.invalid> {1_700_000_000 + number} +0000"
        (git / "logs" / "HEAD").write_text(f"{'0' * 40} {number:040x} {who}\t{what}: first\n")

    def bring(self, what: str, path: str, other: str) -> None:
        (self.root / other).parent.mkdir(parents=True, exist_ok=True)
        tree = self.trees[path]
        if what == "copy":
            shutil.copytree(self.root / path, self.root / other, symlinks=True)
            self.copied.add(tree.family)
            # A linked worktree or a directory outside git is known where it is, and its copy is not.
            is_repository = (self.root / path / ".git").is_dir()
            self.trees[other] = Tree(tree.family if is_repository else "")
            return
        (self.root / path).rename(self.root / other)
        self.trees[other] = self.trees.pop(path)
        self.part_from(tree)
        if tree.main is not None:
            self.trees[other] = Tree("")

    def part_from(self, main: Tree) -> None:
        """Linked worktrees whose repository is no longer where they point to are plain directories."""
        for path, tree in self.trees.items():
            if tree.main is main:
                self.trees[path] = Tree("")

    def add_worktree(self, path: str, other: str) -> None:
        common = self.root / path / ".git"
        if not common.is_dir():
            return
        (self.root / other).mkdir(parents=True)
        own = common / "worktrees" / f"w{next(self.numbers)}"
        own.mkdir(parents=True)
        (own / "HEAD").write_text("ref: refs/heads/other\n")
        (own / "commondir").write_text("../..\n")
        (own / "gitdir").write_text(f"{self.root / other}/.git\n")
        (self.root / other / ".git").write_text(f"gitdir: {own}\n")
        self.trees[other] = Tree(self.trees[path].family, self.trees[path])

    def visit(self, path: str) -> None:
        tree = self.trees[path]
        found = projects.at(self.store, str(self.root / path), NOON).project_id
        if not tree.family or tree.family.startswith("plain"):
            # Outside git a directory is the project last seen at its path, if it is still there.
            tree.family = tree.family or self.plain.get(path, f"plain {next(self.numbers)}")
            self.plain = {at: one for at, one in self.plain.items() if one != tree.family}
            self.plain[path] = tree.family
        assert self.owners.setdefault(found, tree.family) == tree.family, "two unrelated ones share an id"
        if tree.project_id and tree.family.startswith("created") and tree.family not in self.copied:
            assert tree.project_id == found, "it has lost what it remembers"
        tree.project_id = found

    def check(self) -> None:
        """Of those that are there at once no two share an id, but worktrees of one repository."""
        known: dict[str, Tree] = {}
        for path in self.trees:
            self.visit(path)
        for tree in self.trees.values():
            main = tree.main or tree
            assert known.setdefault(tree.project_id, main) is main, "a copy or a clone shares an id"


ACT: Final = st.tuples(st.sampled_from(ACTS), st.sampled_from(PATHS), st.sampled_from(PATHS), st.booleans())


@given(st.lists(ACT, min_size=3, max_size=25))
def test_no_project_ever_sees_what_another_one_remembers(acts: list[tuple[str, str, str, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder).resolve())
        for what, path, other, is_visited in acts:
            world.act(what, path, other)
            if is_visited:
                world.check()
        world.check()
        world.check()
