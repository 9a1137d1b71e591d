"""Git exclude: has git ignore files that Holdfast writes, in all worktrees."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from holdfast.core.events.world import Project
from holdfast.engine.engine import Engine
from holdfast.engine.repository import git
from holdfast.errors import HoldfastError
from holdfast.files import install
from holdfast.files.install import Exclusion, Manifest


def keep_out_of_git(engine: Engine, project: Project, path: str) -> None:
    """Have git ignore a file or folder of Holdfast's, unless it is tracked."""
    place = git.find(project.root)
    if engine.home is None or place is None or place.repository is None or git.tracks(place.repository, path):
        return
    install.add_exclusion(engine.home, _exclude_of(place.repository), _pattern(path))


def settings_exclusions(root: Path, files: Iterable[Path]) -> tuple[Exclusion, ...]:
    """The exclusions that keep settings with paths of this machine from being committed.

    Refuses a file that is committed already, and one behind a link to another place.
    """
    place = git.find(str(root))
    repository = place.repository if place else None
    for file in files:
        name = file.relative_to(root).as_posix()
        if file.resolve() != file:
            raise HoldfastError(f"a link leads from `{name}` to another place", "put it aside and try again")
        if repository and git.tracks(repository, name) is not False:
            raise HoldfastError(
                f"`{name}` is tracked by git, and what setup writes there holds paths of this machine",
                "leave Holdfast's tools out with `--no-mcp` if only they go there, or leave out `--project`",
            )
    return _exclusions(root, files)


def spare_exclusions(manifest: Manifest, root: Path, files: Iterable[Path]) -> tuple[Exclusion, ...]:
    """The exclusions that are not needed once Holdfast is removed from these files of a project.

    All worktrees of one repository share them.
    """
    going = frozenset(files)
    others = [record for record in manifest.edited if record.project and record.path not in going]
    needed = {
        one for record in others if record.project for one in _exclusions(record.project, [record.path])
    }
    return tuple(one for one in _exclusions(root, going) if one not in needed)


def worktrees_with(manifest: Manifest, folder: str) -> tuple[Path, ...]:
    """The roots of all worktrees that have a folder which git was told to ignore."""
    common_dirs = dict.fromkeys(
        line.path.parent.parent for line in manifest.excluded if line.pattern == _pattern(f"{folder}/")
    )
    roots = dict.fromkeys(one.root for common in common_dirs for one in _worktrees(common))
    return tuple(root for root in roots if (root / folder).is_dir())


def documents_in_sight(manifest: Manifest) -> tuple[Path, ...]:
    """Documents in worktrees that git sees once Holdfast's lines are gone from its exclude files.

    What setup itself wrote, which unsetup removes, is none of them.
    """
    removed = {*(one.path for one in manifest.edited), *(one.path for one in manifest.copied)}
    paths = (
        repository.root / name
        for line in manifest.excluded
        for name in [line.pattern.strip("/").replace("\\", "")]
        for repository in _worktrees(line.path.parent.parent)
        if not git.tracks(repository, name)
    )
    return tuple(path for path in dict.fromkeys(paths) if path not in removed and _has_content(path))


def _worktrees(common_dir: Path) -> tuple[git.Repository, ...]:
    return git.worktrees(git.Repository(common_dir, common_dir, common_dir))


def _has_content(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.is_file()


def _exclusions(root: Path, files: Iterable[Path]) -> tuple[Exclusion, ...]:
    place = git.find(str(root))
    if place is None or place.repository is None:
        return ()
    exclude_file = _exclude_of(place.repository)
    names = (file.relative_to(root).as_posix() for file in files)
    return tuple(Exclusion(exclude_file, _pattern(name)) for name in names)


def _exclude_of(repository: git.Repository) -> Path:
    return repository.common_dir / "info" / "exclude"


def _pattern(name: str) -> str:
    return re.sub(r"([*?\[])", r"\\\1", f"/{name}")
