"""Make a release, up to the tag that one then pushes: `make release VERSION=X.Y.Z`.

Everything happens in a second worktree: version, changelog, commit, build and checks. Only if all of it went
well, the branch moves to that commit and the tag is set. Until then, and in a dry run, nothing of the
repository changes. Nothing is ever pushed from here.
"""

# ruff: noqa: INP001, S607

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from packaging.version import Version

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import distributions
from scripts.distributions import DistributionError, Distributions

BRANCH: Final = "main"
VERSION_FILE: Final = "src/holdfast/__init__.py"
CHANGELOG: Final = "CHANGELOG.md"
CHECKS: Final = ("check", "test")
"""The targets of make that must pass before anything is written."""
_VERSION_LINE: Final = re.compile(r'^__version__ = "([^"]*)"$', re.MULTILINE)
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")
_OPEN_HEADING: Final = re.compile(
    r"^## \[(?:unreleased\]|[^\]]*\] - unreleased)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_HEADING: Final = re.compile(r"^## ", re.MULTILINE)


class ReleaseRefused(Exception):
    """Why there is no release: one sentence, and what to do about it."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Release:
    """A release that may be made: its tag, and the two files as they will be committed."""

    version: str
    version_file: str
    changelog: str

    @property
    def tag(self) -> str:
        return f"v{self.version}"


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description="Make a release, up to the tag that one then pushes.")
    parser.add_argument("version", help="its number, as in 1.2.3")
    parser.add_argument("--dry-run", action="store_true", help="build and check, but commit and tag nothing")
    parser.add_argument(
        "--tree", type=Path, default=Path.cwd(), help="the repository (default: where you are)"
    )
    arguments = parser.parse_args()
    try:
        make_release(arguments.tree, arguments.version, _today(), only_try=arguments.dry_run)
    except (ReleaseRefused, DistributionError) as error:
        hint = f"\nhint: {error.hint}" if isinstance(error, ReleaseRefused) else ""
        sys.exit(f"error: {error}{hint}")


def make_release(tree: Path, version: str, date: str, *, only_try: bool) -> None:
    """Make the release of what is committed in `tree`, and say what to do next."""
    release = plan(tree, version, date)
    for target in CHECKS:
        _say(f"make {target}")
        _check_by(tree, ["make", "--no-print-directory", target], f"`make {target}` failed")
    with _second_worktree(tree) as copy:
        commit = _commit(copy, release)
        _say("build")
        built = distributions.build(copy, copy / "dist", distributions.commit_time(copy))
        _check_distributions(copy, built)
        shutil.rmtree(tree / "dist", ignore_errors=True)
        shutil.copytree(copy / "dist", tree / "dist")
    for file in (built.wheel, built.sdist):
        _say(f"dist/{file.name}: sha256 {_sha256(tree / 'dist' / file.name)}")
    if only_try:
        _say(f"dry run: {release.tag} was built and checked; nothing was committed or tagged")
        return
    _git(tree, "merge", "--quiet", "--ff-only", commit)
    _git(tree, "tag", "--annotate", release.tag, "--message", f"Holdfast {version}", commit)
    _say(f"{release.tag} is committed on {BRANCH} and tagged; nothing was pushed")
    _say(f"next: git push --atomic origin {BRANCH} {release.tag}")
    _say("then approve the environment `pypi` of the release workflow, which builds and uploads these files")


def plan(tree: Path, version: str, date: str) -> Release:
    """The release of this version; ReleaseRefused if the repository is not ready for it."""
    if not _RELEASE.fullmatch(version):
        raise ReleaseRefused(
            f"`{version}` is no version to release", "name three numbers: make release VERSION=1.2.3"
        )
    branch = _git(tree, "branch", "--show-current").strip()
    if branch != BRANCH:
        where = f"on the branch `{branch}`" if branch else "on no branch"
        raise ReleaseRefused(f"releases are made on `{BRANCH}`, and this is {where}", f"git switch {BRANCH}")
    if changed := _git(tree, "status", "--porcelain").splitlines():
        raise ReleaseRefused(
            f"the tree has changes that are not committed, as in `{changed[0][3:]}`",
            "commit or stash them first",
        )
    if _git(tree, "tag", "--list", f"v{version}").strip():
        raise ReleaseRefused(f"the tag v{version} exists already", "name the next version")
    text = (tree / VERSION_FILE).read_text(encoding="utf-8")
    changelog = (tree / CHANGELOG).read_text(encoding="utf-8")
    return Release(version, _with_version(text, version), _cut(changelog, version, date))


def _with_version(text: str, version: str) -> str:
    """The file that defines the version, with this one."""
    line = _VERSION_LINE.search(text)
    if line is None:
        raise ReleaseRefused(
            f"`{VERSION_FILE}` defines no version", 'it needs a line `__version__ = "1.2.3"`'
        )
    if Version(version) <= Version(line[1]):
        raise ReleaseRefused(
            f"{version} is not greater than {line[1]}, the version in `{VERSION_FILE}`", "name a greater one"
        )
    return text[: line.start(1)] + version + text[line.end(1) :]


def _cut(changelog: str, version: str, date: str) -> str:
    """The changelog in which what was unreleased is this version's, below an empty section."""
    heading = _OPEN_HEADING.search(changelog)
    following = _HEADING.search(changelog, heading.end()) if heading else None
    section = changelog[heading.end() : following.start() if following else None] if heading else ""
    if heading is None or not re.search(r"^- \S", section, re.MULTILINE):
        raise ReleaseRefused(
            f"`{CHANGELOG}` has nothing under `[Unreleased]`", "write a line for each thing that users notice"
        )
    cut = f"## [Unreleased]\n\n## [{version}] - {date}"
    return changelog[: heading.start()] + cut + changelog[heading.end() :]


def _commit(copy: Path, release: Release) -> str:
    """Commit version, changelog and the plugins, which name the version, in the second worktree; its id."""
    (copy / VERSION_FILE).write_text(release.version_file, encoding="utf-8")
    (copy / CHANGELOG).write_text(release.changelog, encoding="utf-8")
    _write_plugins(copy)
    _git(copy, "add", "--all")
    _git(copy, "commit", "--quiet", "--message", f"Release {release.version}")
    return _git(copy, "rev-parse", "HEAD").strip()


def _write_plugins(copy: Path) -> None:
    """Have the package in the second worktree write the plugins of the harnesses there."""
    words = [sys.executable, "-m", "holdfast.cli", "plugin", str(copy)]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseRefused(f"the plugins could not be written: {done.stderr.strip()}", "try `make plugins`")


def _check_distributions(copy: Path, built: Distributions) -> None:
    """Raise if the files differ when they are built again, hold the wrong things or would be refused."""
    _say("check")
    distributions.check(built, distributions.tracked_files(copy))
    again = distributions.build(copy, copy / "dist-again", distributions.commit_time(copy))
    for first, second in ((built.wheel, again.wheel), (built.sdist, again.sdist)):
        if first.read_bytes() != second.read_bytes():
            raise DistributionError(f"`{first.name}` has other bytes when it is built again")
    words = [
        sys.executable,
        "-m",
        "twine",
        "--no-color",
        "check",
        "--strict",
        str(built.wheel),
        str(built.sdist),
    ]
    _check_by(copy, words, "`twine check` refuses the files")


def _check_by(tree: Path, words: Sequence[str], sentence: str) -> None:
    done = subprocess.run(
        words, cwd=tree, check=False, stdout=sys.stderr, env=_without_make(), stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise ReleaseRefused(sentence, "its output is above; nothing was committed or tagged")


def _without_make() -> dict[str, str]:
    """The environment without what an outer make left for an inner one, such as `VERSION=…`."""
    left = {"MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}
    return {name: value for name, value in os.environ.items() if name not in left}


@contextlib.contextmanager
def _second_worktree(tree: Path) -> Generator[Path]:
    """A clean checkout of the current commit, which is removed in any case."""
    with tempfile.TemporaryDirectory(prefix="holdfast-release-") as folder:
        copy = Path(folder) / "holdfast"
        _git(tree, "worktree", "add", "--quiet", "--detach", str(copy), "HEAD")
        try:
            yield copy
        finally:
            _git(tree, "worktree", "remove", "--force", str(copy))


def _git(tree: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise ReleaseRefused(
            f"`git {words[0]}` failed: {reason[-1]}", "see whether this is a repository of yours"
        )
    return done.stdout


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _today() -> str:
    return datetime.now(tz=UTC).date().isoformat()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()
