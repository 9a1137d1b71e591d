"""Completion in real shells: the names of commands, sub-commands and options; how it is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Person

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def shell_person(person: Person) -> Person:
    """A person whose search path has `holdfast` and the system's programs."""
    folder = person.root / "bin"
    folder.mkdir()
    (folder / "holdfast").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m holdfast.cli "$@"\n')
    (folder / "holdfast").chmod(0o755)
    person.variables["PATH"] = f"{folder}:/usr/bin:/bin"
    return person


def in_shell(person: Person, shell: str, lines: str) -> str:
    program = shutil.which(shell, path="/usr/bin:/bin:/usr/local/bin")
    if program is None:
        pytest.skip(f"there is no {shell} here")
    # No settings of the machine: only what the test says.
    quiet = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *quiet, "-c", lines],
        env=person.environment,
        cwd=person.project,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


BASH = """
{load}
COMP_WORDS=({words} {last!r}); COMP_CWORD={count}
_holdfast_completion holdfast
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def in_bash(person: Person, load: str, words: str, last: str) -> set[str]:
    count = len(words.split())
    out = in_shell(person, "bash", BASH.format(load=load, words=words, last=last, count=count))
    return set(out.split())


@pytest.mark.parametrize(
    ("words", "last", "offered"),
    [
        ("holdfast", "sess", {"sessions"}),
        ("holdfast", "rec", {"recall", "recover-store"}),
        ("holdfast memories", "unp", {"unpin"}),
        ("holdfast checkpoints", "ta", {"take"}),
        ("holdfast sessions", "--lim", {"--limit"}),
        ("holdfast continuity", "sta", {"status"}),
    ],
)
def test_bash_completes(shell_person: Person, words: str, last: str, offered: set[str]) -> None:
    assert in_bash(shell_person, 'eval "$(holdfast completion bash)"', words, last) == offered


def test_bash_completes_from_the_file_that_is_installed(shell_person: Person) -> None:
    done = shell_person.types("completion", "bash", "--install")
    assert done.status == 0
    path = Path(done.out.strip())
    assert path == shell_person.user_home / ".local/share/bash-completion/completions/holdfast"
    assert in_bash(shell_person, f"source {path}", "holdfast", "unse") == {"unsetup"}


def test_fish_completes(shell_person: Person) -> None:
    lines = "holdfast completion fish | source; complete -C 'holdfast memories un'"
    assert in_shell(shell_person, "fish", lines).split("\t")[0] == "unpin"


def test_fish_completes_from_the_file_that_is_installed(shell_person: Person) -> None:
    path = Path(shell_person.types("completion", "fish", "--install").out.strip())
    assert path == shell_person.user_home / ".config/fish/completions/holdfast.fish"
    offered = in_shell(shell_person, "fish", f"source {path}; complete -C 'holdfast sess'")
    assert offered.startswith("sessions")


def test_zsh_loads_the_file_that_is_installed(shell_person: Person) -> None:
    path = Path(shell_person.types("completion", "zsh", "--install").out.strip())
    assert path.name == "_holdfast"
    # On TAB zsh calls this function from its line editor; here the function prints what it would offer.
    lines = f"""
    fpath=({path.parent} $fpath)
    autoload -Uz compinit && compinit -D -u
    print -r -- ${{_comps[holdfast]}}
    words=(holdfast memories un) CURRENT=3
    _describe() {{ print -rl -- ${{(P)4}} ${{(P)3}} }}
    compadd() {{ :; }}
    autoload -Uz +X _holdfast; functions _holdfast >/dev/null && eval "$(cat {path})" && _holdfast_completion
    """
    out = in_shell(shell_person, "zsh", lines)
    assert out.splitlines()[0] == "_holdfast"
    assert "unpin:" in out


@pytest.mark.parametrize("shell", SHELLS)
def test_unsetup_removes_what_was_installed(person: Person, shell: str) -> None:
    path = Path(person.types("completion", shell, "--install").out.strip())
    assert path.is_file()
    assert person.types("completion", shell, "--install").status == 0
    assert person.types("unsetup", "--yes").status == 0
    assert not path.exists()


def test_a_file_of_someone_else_is_left(person: Person) -> None:
    path = person.user_home / ".config/fish/completions/holdfast.fish"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    done = person.types("completion", "fish", "--install")
    assert (done.status, done.out) == (1, "")
    assert "it is not ours" in done.err
    assert path.read_text() == "# mine\n"


def test_the_shell_is_that_of_the_user_unless_one_is_named(person: Person) -> None:
    person.variables["SHELL"] = "/usr/bin/fish"
    assert person.types("completion").out == person.types("completion", "fish").out
    person.variables["SHELL"] = "/bin/tcsh"
    done = person.types("completion")
    assert (done.status, done.out) == (1, "")
    assert "`tcsh`" in done.err
    assert person.types("completion", "bash", "--json").json["path"] is None
