"""Scratch repositories: small ones in the shape of this one, in which releases are made."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog

## [0.2.0] - unreleased

### Added

- Something that users notice.

## [0.1.0] - 2026-11-17

- The first one.
"""
PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "holdfast"
description = "A scratch package."
readme = "README.md"
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE", "src/holdfast/models/minilm/NOTICE"]
dynamic = ["version"]

[project.scripts]
holdfast = "holdfast:main"

[tool.hatch.version]
path = "src/holdfast/__init__.py"

[tool.hatch.build.targets.sdist]
include = ["/src/holdfast", "/CHANGELOG.md", "/LICENSE", "/README.md", "/SECURITY.md"]
"""
PLUGINS = """\
\"\"\"Writes a plugin that names the version, as the command `plugin` does.\"\"\"

import sys
from pathlib import Path

import holdfast

Path(sys.argv[2], "plugin.json").write_text(holdfast.__version__)
"""
FILES = {
    "CHANGELOG.md": CHANGELOG,
    "LICENSE": "A licence.\n",
    "Makefile": "check test:\n\t@echo $@ passed\n",
    "README.md": "# A scratch package\n",
    ".gitignore": "/dist/\n",
    "plugin.json": "0.2.0.dev0",
    "pyproject.toml": PYPROJECT,
    "src/holdfast/__init__.py": '"""A scratch package."""\n\n__version__ = "0.2.0.dev0"\n',
    "src/holdfast/cli.py": PLUGINS,
    "src/holdfast/models/minilm/NOTICE": "A notice.\n",
}


@dataclass(frozen=True)
class Scratch:
    """A repository in a temporary directory."""

    tree: Path

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.tree, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, **files: str) -> None:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A change")

    def write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            file = self.tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def state(self) -> tuple[str, str, str, str]:
        """Everything that a release may change: branch, tags, tree and worktrees."""
        return (
            self.git("rev-parse", "HEAD"),
            self.git("tag", "--list"),
            self.git("status", "--porcelain"),
            self.git("worktree", "list"),
        )


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = Scratch(tmp_path / "holdfast")
    made.tree.mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    made.git("config", "--global", "user.name", "Ada")
    made.git("config", "--global", "user.email", "ada@example.com")
    made.commit(**FILES)
    return made
