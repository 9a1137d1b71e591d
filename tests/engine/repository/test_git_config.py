"""A repository's config is read as git reads it, and one made to do harm sets nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.repository import git, marks
from holdfast.engine.repository.git_config import ConfigSetting, settings_in
from tests.engine.repository.test_git import repository_at, repository_in, run_git

TRICKY = st.text(st.sampled_from('ab =#;"\\\t/:@.[]-\u00e9'), max_size=12)
LINE = st.one_of(
    st.builds(lambda name, value: f"\t{name} = {value}", st.sampled_from(["url", "Fetch", "a-b"]), TRICKY),
    st.builds('  [remote "{}"]'.format, TRICKY),
    st.sampled_from(
        ["[core]", "[Remote.Old]", "bare", "# url = x", "", "url = a\\", 'url="a ; b" c # d', "="]
    ),
)


def as_git_says(file: Path) -> list[str] | None:
    """Key and value of each setting, as git lists them; None if it refuses the file."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(file.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "config", "--no-includes", "-f", str(file), "-z", "--list"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.stdout.decode().split("\0")[:-1] if done.returncode == 0 else None


def listed(setting: ConfigSetting) -> str:
    middle = "" if setting.subsection is None else f"{setting.subsection}."
    return f"{setting.section}.{middle}{setting.name}"


@given(lines=st.lists(LINE, max_size=8), ending=st.sampled_from(["\n", "\r\n"]))
def test_what_git_accepts_is_read_as_git_reads_it(
    lines: list[str], ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("config") / "config"
    file.write_bytes(ending.join(["[core]", *lines, ""]).encode())
    theirs = as_git_says(file)
    if theirs is None:
        return
    ours = [(listed(each), each.value) for each in settings_in(file.read_bytes().decode())]
    pairs = [each.partition("\n") for each in theirs]
    expected = [(name, value if newline else "true") for name, newline, value in pairs]
    # Older versions of git write a space for a tab inside a value.
    assert repr(ours).replace("\\t", " ") == repr(expected).replace("\\t", " ")


@pytest.mark.parametrize(
    "config",
    [
        b'[remote "origin"\n\turl = git@evil.example:a/b\n',
        b'[remote "origin"]\n\turl = "git@evil.example:a/b\n',
        b'[remote "origin"]\n\turl = git@evil.example:a/b\\q\n',
        b'# [remote "origin"]\n#\turl = git@evil.example:a/b\n',
        b"[include]\n\tpath = other\n",
        b'[includeIf "gitdir:/"]\n\tpath = other\n',
        b'[url "git@evil.example:"]\n\tinsteadOf = git@example.com:\n',
        b'[remote "origin"]\n\tpushurl = git@evil.example:a/b\n',
        b'[remote "x.origin"]\n\turlx = git@evil.example:a/b\n',
        b"[core]\n\turl = git@evil.example:a/b\n",
        b"\0\xff\xfe" * 400_000,
        b"a = b\\\n" * 200_000,
        b'[remote "origin"]\n\turl = "' + b"\\\n" * 300_000,
        b"[" * 900_000,
        b'x = "' * 200_000,
        b"#" * (git.MAX_CONFIG + 1) + b'\n[remote "origin"]\n\turl = git@evil.example:a/b\n',
    ],
    ids=range(16),
)
def test_a_hostile_config_names_no_remote(config: bytes, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    (repo / ".git" / "other").write_text('[remote "origin"]\n\turl = git@evil.example:a/b\n')
    (repo / ".git" / "config").write_bytes(config)
    repository = repository_at(repo)
    assert marks.shared_name_of(repository) == ""
    assert git.head(repository)[0] == "main"


def test_a_config_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    config, elsewhere = repo / ".git" / "config", tmp_path / "elsewhere"
    elsewhere.write_text('[remote "origin"]\n\turl = git@evil.example:a/b\n')
    config.unlink()
    os.mkfifo(config)
    assert marks.shared_name_of(repository_at(repo)) == ""
    config.unlink()
    config.symlink_to(elsewhere)
    assert marks.shared_name_of(repository_at(repo)) == ""


def test_a_secret_in_the_path_of_an_address_makes_no_name(tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    run_git(repo, "remote", "add", "origin", f"https://example.com/{token}/shop.git")
    assert marks.shared_name_of(repository_at(repo)) == ""
    run_git(repo, "remote", "set-url", "origin", f"https://you:{token}@example.com/acme/shop.git")
    assert marks.shared_name_of(repository_at(repo)) == "example.com/acme/shop"
