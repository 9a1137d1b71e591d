"""Erase worktrees: removes forgotten wordings from Holdfast's files in projects, which the user may edit too.

What Holdfast wrote is removed. What a person wrote, or what is under version control, is reported and stays.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from holdfast import config
from holdfast.core.events.world import Project
from holdfast.core.memory.wordings import Wordings
from holdfast.engine.documents import ledger
from holdfast.engine.documents.handoff import FOLDER as HANDOFFS
from holdfast.engine.repository import git
from holdfast.errors import HoldfastError
from holdfast.files import atomic, continuity, memory_files, worktree
from holdfast.files.ledger import BY_HAND, Place, versions
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

SESSIONS: Final = 10_000
"""How many of the latest sessions are checked for where they worked."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file below a worktree's root, and whether Holdfast wrote the wording in it."""

    root: Path
    path: str
    is_own: Callable[[Wordings], bool]


def erase_worktrees(store: Store, home: Path, wordings: Wordings) -> tuple[str, ...]:
    """Remove these wordings from what Holdfast wrote; returns the people's files that still have one."""
    remaining: list[str] = []
    for file in _files(store, home) if wordings else ():
        with contextlib.suppress(HoldfastError):  # a link, or an unreadable file
            raw = worktree.read(file.root, file.path)
            text = (raw or b"").decode("utf-8", "surrogateescape")
            after = wordings.removed(text)
            if after == text:
                continue
            if file.is_own(wordings):
                worktree.write(file.root, file.path, after.encode("utf-8", "surrogateescape"))
            else:
                remaining.append(str(file.root / file.path))
    return tuple(remaining)


def _files(store: Store, home: Path) -> Iterator[_File]:
    projects = {each.project.worktree_id: each.project for each in store.sessions(SESSIONS)}
    for project in projects.values():
        root = Path(project.root)
        if not root.is_dir():
            continue
        place = ledger.place_of(home, project, _ledger_path(home, project))
        yield _File(root, place.path, partial(_in_ledger, place))
        written = home / "projects" / project.project_id / "continuity" / "written"
        local = written / f"{project.worktree_id}.json"
        yield _File(root, continuity.LOCAL_PATH, partial(_says, local))
        with contextlib.suppress(HoldfastError):
            for path in (f"{HANDOFFS}/{name}" for name in worktree.listed(root, HANDOFFS)):
                yield _File(root, path, partial(_is_untracked, root, path))
        for state in memory_files.found(root):
            yield _File(root, state.path, lambda _: False)


def _ledger_path(home: Path, project: Project) -> str:
    try:
        settings = config.load(home, Path(project.root), project.project_id, os.environ).config
    except HoldfastError:
        return ledger.DEFAULT_PATH
    return settings.session.ledger_path or ledger.DEFAULT_PATH


def _in_ledger(place: Place, wordings: Wordings) -> bool:
    """Whether the first version of a ledger with the wording was written by a session, not by hand."""
    saying = [version for version in versions(place) if wordings.removed(version.text()) != version.text()]
    return (bool(saying) and saying[-1].writer != BY_HAND) or _says(place.own, wordings)


def _says(own: Path, wordings: Wordings) -> bool:
    """Whether the stored copy of what Holdfast wrote has one of the wordings."""
    if not own.is_file():
        return False
    text = (atomic.read(own) or b"").decode("utf-8", "replace")
    return wordings.removed(text) != text


def _is_untracked(root: Path, path: str, _: Wordings) -> bool:
    """Whether a file is not in git; Holdfast alone writes such files."""
    place = git.find(str(root))
    repository = place.repository if place else None
    return repository is None or git.tracks(repository, path) is False
