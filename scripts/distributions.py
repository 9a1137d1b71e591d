"""Build the wheel and the sdist, the same bytes from the same commit, and check what they hold: `make dist`.

Every time inside them is that of the commit. What a file may hold is listed from what git tracks, so that
nothing that happens to lie in the tree gets in, and nothing that was added is left out.
"""

# ruff: noqa: INP001, S607

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

PACKAGE: Final = "src/holdfast/"
SDIST_FILES: Final = frozenset(
    {".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "hatch_build.py", "pyproject.toml"}
)
LICENCES: Final = ("LICENSE", "src/holdfast/models/minilm/NOTICE")
METADATA: Final = ("METADATA", "RECORD", "WHEEL", "entry_points.txt")
_PATH_OF_A_MACHINE: Final = re.compile(
    rb"(?<![\w.~-])/(?:root|(?:home|Users)/(?!you\b)[a-z][\w.-]*|tmp/[a-z][\w.-]*)/"
)
_TEXT: Final = frozenset({"", ".md", ".toml", ".txt", ".json", ".jsonl", ".py"})


class DistributionError(Exception):
    """A wheel or sdist that must not be published, or that could not be built: one sentence."""


@dataclass(frozen=True, slots=True)
class Distributions:
    """The two files that are published."""

    wheel: Path
    sdist: Path


def main() -> None:
    """Build what is committed into `dist/`, and check it."""
    root = Path(__file__).resolve().parents[1]
    target = root / "dist"
    shutil.rmtree(target, ignore_errors=True)
    try:
        built = build(root, target, commit_time(root))
        check(built, tracked_files(root))
    except DistributionError as error:
        sys.exit(f"error: {error}")
    for file in (built.wheel, built.sdist):
        sys.stdout.write(f"{file.relative_to(root)}: {file.stat().st_size:,} bytes\n")


def commit_time(tree: Path) -> int:
    """The time of the commit that is checked out, in seconds."""
    return int(_git(tree, "log", "-1", "--format=%ct"))


def tracked_files(tree: Path) -> frozenset[str]:
    """The files that git tracks, as paths below the tree."""
    return frozenset(path for path in _git(tree, "ls-files", "-z").split("\0") if path)


def build(tree: Path, target: Path, time: int) -> Distributions:
    """Build both files into `target`, with every time in them set to `time`."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(target)],
        cwd=tree,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(time)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DistributionError(f"hatchling could not build `{tree.name}`: {done.stderr.strip()[-2000:]}")
    try:
        (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    except ValueError as error:
        raise DistributionError(f"`{target}` does not hold one wheel and one sdist") from error
    return Distributions(wheel, sdist)


def check(built: Distributions, tracked: Iterable[str]) -> None:
    """Raise DistributionError if one of the files holds too much, too little, or a path of this machine."""
    files = frozenset(tracked)
    in_package = {path for path in files if path.startswith(PACKAGE)}
    wheel, sdist = _wheel_contents(built.wheel), _sdist_contents(built.sdist)
    licences = {f"licenses/{path}" for path in LICENCES}
    _compare(
        built.wheel,
        {_inside_wheel(name) for name in wheel},
        {path.removeprefix("src/") for path in in_package} | {*METADATA, *licences},
    )
    _compare(
        built.sdist,
        {name.partition("/")[2] for name in sdist},
        {"PKG-INFO", *in_package, *(SDIST_FILES & files)},
    )
    for file, contents in ((built.wheel, wheel), (built.sdist, sdist)):
        for finding in machine_paths(contents):
            raise DistributionError(f"`{file.name}` names a path of one machine: {finding}")


def machine_paths(contents: Mapping[str, bytes]) -> Iterator[str]:
    """Where the texts among these files name a path that only one machine has."""
    for name, content in contents.items():
        if PurePosixPath(name).suffix in _TEXT and (match := _PATH_OF_A_MACHINE.search(content)):
            yield f"{match.group().decode()} in {name}"


def _compare(file: Path, names: set[str], expected: set[str]) -> None:
    if unexpected := sorted(names - expected):
        raise DistributionError(f"`{file.name}` holds what does not belong there: {', '.join(unexpected)}")
    if missing := sorted(expected - names):
        raise DistributionError(f"`{file.name}` lacks {', '.join(missing)}")


def _inside_wheel(name: str) -> str:
    """The path in a wheel, without the name of the folder for metadata."""
    folder, _, rest = name.partition("/")
    return rest if folder.endswith(".dist-info") else name


def _wheel_contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _sdist_contents(sdist: Path) -> dict[str, bytes]:
    with tarfile.open(sdist) as opened:
        members = [(member.name, opened.extractfile(member)) for member in opened.getmembers()]
        return {name: file.read() for name, file in members if file is not None}


def _git(tree: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DistributionError(f"`git {words[0]}` failed in `{tree.name}`: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    main()
