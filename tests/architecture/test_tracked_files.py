"""The repository knows no machine: no path of a home or a workspace, no address of a package registry."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT, Finding

# Written in pieces here and below, so that this file does not find itself.
WORKSPACES = "(?:" + "work|root" + r")(?![\w-])"
HOMES = "home" + r"/(?!you\b)[a-z]\w*"
MACHINE_PATHS = re.compile(rf"(?<![\w.~-])/(?:{WORKSPACES}|{HOMES})")
EXAMPLE_HOME = "/home/" + "you"
HOSTS = r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|crates\.io|ghcr\.io"
REGISTRIES = re.compile(rf"\b(?:{HOSTS})\b|--(?:extra-)?index-url", re.IGNORECASE)


def names_no_machine(path: str, text: str) -> Iterator[Finding]:
    """A tracked file works, and reads the same, on every machine."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := MACHINE_PATHS.search(line):
            says = f"`{match.group()}` is a path of one machine; use tmp_path, `~` or `{EXAMPLE_HOME}`"
            yield Finding(path, number, says)
        if match := REGISTRIES.search(line):
            says = (
                f"`{match.group()}` names a registry; the machine's own settings say where packages come from"
            )
            yield Finding(path, number, says)


def _tracked() -> Iterator[tuple[str, str]]:
    """Every text file that git tracks or would, with its text."""
    # A checkout that another user owns is still the checkout under test.
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=30,
    )
    for path in sorted(set(listed.stdout.decode().split("\0"))):
        file = ROOT / path
        if path and file.is_file() and not file.is_symlink():
            yield path, file.read_bytes().decode("utf-8", errors="replace")


def test_no_tracked_file_names_a_machine_or_a_registry() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so nothing says which files are tracked")
    files = list(_tracked())
    assert "pyproject.toml" in dict(files)
    findings = [str(finding) for path, text in files for finding in names_no_machine(path, text)]
    assert not findings, "\n" + "\n".join(findings)


@pytest.mark.parametrize(
    "line",
    [
        "/" + "work/main/src",
        "cd /" + "work && ls",
        '"/' + 'root/.config"',
        "file:///" + "root/x",
        "/home/" + "ada/src",
        "https://" + "pypi" + ".org/simple",
        "https://registry." + "npmjs" + ".org/",
        "pip install --" + "index-url http://localhost x",
    ],
)
def test_a_machine_or_a_registry_is_found(line: str) -> None:
    assert list(names_no_machine("docs/install.md", line))


@pytest.mark.parametrize(
    "line",
    [
        "docs/work/notes",
        "/workspace",
        "/rooted",
        "~/.holdfast",
        EXAMPLE_HOME + "/src",
        "a/root/b",
        "/srv/work/x",
    ],
)
def test_other_paths_are_fine(line: str) -> None:
    assert list(names_no_machine("docs/install.md", line)) == []
