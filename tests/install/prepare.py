"""Prepare what `make test-install` needs: uv and pipx, and the packages that Holdfast depends on.

They go into `.venv-install`, once for each state of what they are made from. The packages are downloaded from
the package index in the versions that a user would get today, so that the tests themselves need no network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

TREE: Final = Path(__file__).parents[2]
PREPARED: Final = TREE / ".venv-install"
TOOLS: Final = PREPARED / "bin"
PACKAGES: Final = PREPARED / "packages"
_STAMP: Final = PREPARED / ".prepared"
_PINNED: Final = TREE / "requirements" / "install.txt"

RELEASED: Final = "8b0a153b1a77c833a0e530d1de58995043a349e5"
"""The last commit of version 0.1.0: the next one began 0.2.0."""


def is_prepared() -> bool:
    """Whether everything is there, for the tree as it is."""
    return _STAMP.is_file() and _STAMP.read_text(encoding="utf-8") == _state()


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of a source tree, by the build backend that is installed already."""
    before = set(folder.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(source)], check=True, cwd=folder)
    (wheel,) = set(folder.glob("*.whl")) - before
    return wheel


def unpack_release(folder: Path) -> bool:
    """Write the source tree of 0.1.0 into the folder; false if this clone does not have its commit."""
    has_commit = subprocess.run(
        ["git", "cat-file", "-e", f"{RELEASED}^{{commit}}"], cwd=TREE, capture_output=True, check=False
    )
    if has_commit.returncode:
        return False
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "archive", "--output", str(archive), RELEASED], cwd=TREE, check=True)
    shutil.unpack_archive(archive, folder)
    archive.unlink()
    return True


def _prepare() -> None:
    print(f"installing uv and pipx into {PREPARED.relative_to(TREE)}, and downloading packages")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(PREPARED)], check=True)
    pip = [str(TOOLS / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    subprocess.run([*pip, "install", "--requirement", str(_PINNED)], check=True)
    # `pipx` puts pip into its environments, and a clone is built by hatchling.
    needed = ("pip", "hatchling", *_dependencies())
    subprocess.run([*pip, "download", "--only-binary", ":all:", "--dest", str(PACKAGES), *needed], check=True)
    _STAMP.write_text(_state(), encoding="utf-8")


def _dependencies() -> list[str]:
    """What Holdfast needs to run, with every extra, and what 0.1.0 needs."""
    released = subprocess.run(
        ["git", "show", f"{RELEASED}:pyproject.toml"], cwd=TREE, capture_output=True, text=True, check=False
    ).stdout
    here = (TREE / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(here)["project"]["optional-dependencies"].values()
    texts = [here, released] if released else [here]
    needed = (one for text in texts for one in tomllib.loads(text)["project"]["dependencies"])
    return list(dict.fromkeys((*needed, *(one for extra in extras for one in extra))))


def _state() -> str:
    """A digest of everything that decides what is prepared."""
    made_by = Path(__file__).read_text(encoding="utf-8")
    parts = (sys.version, sys.executable, made_by, _PINNED.read_text(encoding="utf-8"), *_dependencies())
    return hashlib.sha256(os.fsencode("\0".join(parts))).hexdigest()


if __name__ == "__main__":
    if not is_prepared():
        _prepare()
