"""`make release` in scratch repositories: what it changes, and when it refuses to change anything."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.distributions import DistributionError
from scripts.release import ReleaseRefused, make_release
from tests.release.conftest import CHANGELOG, FILES, ROOT, Scratch

DAY = "2026-11-18"
EMPTY_CHANGELOG = CHANGELOG.replace("- Something that users notice.\n", "")


def on_a_branch(scratch: Scratch) -> None:
    scratch.git("switch", "--quiet", "--create", "idea")


def on_no_branch(scratch: Scratch) -> None:
    scratch.git("switch", "--quiet", "--detach")


def edited(scratch: Scratch) -> None:
    scratch.write({"README.md": "# Changed\n"})


def with_a_new_file(scratch: Scratch) -> None:
    scratch.write({"src/holdfast/forgotten.py": ""})


def at_a_later_version(scratch: Scratch) -> None:
    scratch.commit(**{"src/holdfast/__init__.py": '__version__ = "0.3.0"\n'})


def with_nothing_to_tell(scratch: Scratch) -> None:
    scratch.commit(**{"CHANGELOG.md": EMPTY_CHANGELOG})


def without_an_open_section(scratch: Scratch) -> None:
    scratch.commit(**{"CHANGELOG.md": CHANGELOG.replace("unreleased", "2026-11-18")})


def with_the_tag(scratch: Scratch) -> None:
    scratch.git("tag", "v0.2.0")


def with_a_failing_check(scratch: Scratch) -> None:
    scratch.commit(Makefile="check:\n\t@exit 3\n")


def with_a_failing_test(scratch: Scratch) -> None:
    scratch.commit(Makefile="check:\n\t@true\ntest:\n\t@exit 3\n")


def without_a_build(scratch: Scratch) -> None:
    scratch.commit(**{"pyproject.toml": FILES["pyproject.toml"].replace("Apache-2.0", "none")})


def with_a_readme_that_pypi_refuses(scratch: Scratch) -> None:
    """reStructuredText with a fault: `twine check` is the one who finds it."""
    scratch.commit(
        **{
            "pyproject.toml": FILES["pyproject.toml"].replace(
                'readme = "README.md"', 'readme = { file = "README.md", content-type = "text/x-rst" }'
            ),
            "README.md": "Title\n===\n\n.. no-such-directive::\n\n`open\n",
        }
    )


REFUSALS = [
    (on_a_branch, "releases are made on `main`, and this is on the branch `idea`"),
    (on_no_branch, "releases are made on `main`, and this is on no branch"),
    (edited, "the tree has changes that are not committed, as in `README.md`"),
    (with_a_new_file, "the tree has changes that are not committed, as in `src/holdfast/forgotten.py`"),
    (at_a_later_version, "0.2.0 is not greater than 0.3.0, the version in `src/holdfast/__init__.py`"),
    (with_nothing_to_tell, "`CHANGELOG.md` has nothing under `[Unreleased]`"),
    (without_an_open_section, "`CHANGELOG.md` has nothing under `[Unreleased]`"),
    (with_the_tag, "the tag v0.2.0 exists already"),
    (with_a_failing_check, "`make check` failed"),
    (with_a_failing_test, "`make test` failed"),
    (with_a_readme_that_pypi_refuses, "`twine check` refuses the files"),
]


@pytest.mark.parametrize(("spoil", "sentence"), REFUSALS)
def test_it_refuses_in_one_sentence_and_changes_nothing(
    scratch: Scratch, spoil: Callable[[Scratch], None], sentence: str
) -> None:
    spoil(scratch)
    before = scratch.state()
    with pytest.raises(ReleaseRefused) as refused:
        make_release(scratch.tree, "0.2.0", DAY, only_try=False)
    assert str(refused.value) == sentence
    assert refused.value.hint
    assert scratch.state() == before


@pytest.mark.parametrize("version", ["0.2", "v0.2.0", "0.2.0rc1", "../0.2.0", ""])
def test_it_refuses_what_is_no_version(scratch: Scratch, version: str) -> None:
    with pytest.raises(ReleaseRefused, match="is no version to release"):
        make_release(scratch.tree, version, DAY, only_try=False)


def test_it_refuses_where_a_build_fails(scratch: Scratch) -> None:
    without_a_build(scratch)
    before = scratch.state()
    with pytest.raises(DistributionError, match="hatchling could not build"):
        make_release(scratch.tree, "0.2.0", DAY, only_try=False)
    assert scratch.state() == before


def test_it_bumps_cuts_commits_and_tags(scratch: Scratch, capfd: pytest.CaptureFixture[str]) -> None:
    before = scratch.git("rev-parse", "HEAD")
    make_release(scratch.tree, "0.2.0", DAY, only_try=False)
    assert scratch.git("rev-parse", "HEAD~1") == before
    assert scratch.git("rev-parse", "v0.2.0^{commit}") == scratch.git("rev-parse", "HEAD")
    assert scratch.git("cat-file", "-t", "v0.2.0") == "tag"
    assert scratch.git("log", "-1", "--format=%s") == "Release 0.2.0"
    assert (
        scratch.git("diff", "--name-only", "HEAD~1") == "CHANGELOG.md\nplugin.json\nsrc/holdfast/__init__.py"
    )
    assert (scratch.tree / "plugin.json").read_text() == "0.2.0"
    assert '__version__ = "0.2.0"\n' in (scratch.tree / "src/holdfast/__init__.py").read_text("utf-8")
    cut = CHANGELOG.replace("## [0.2.0] - unreleased", f"## [Unreleased]\n\n## [0.2.0] - {DAY}")
    assert (scratch.tree / "CHANGELOG.md").read_text("utf-8") == cut
    assert scratch.git("status", "--porcelain") == ""
    assert scratch.git("worktree", "list").count("\n") == 0
    output = capfd.readouterr()
    assert output.out == ""
    assert "next: git push --atomic origin main v0.2.0\n" in output.err


def test_it_leaves_the_files_in_dist_as_they_are_built_from_the_tag(scratch: Scratch) -> None:
    make_release(scratch.tree, "0.2.0", DAY, only_try=False)
    names = sorted(file.name for file in (scratch.tree / "dist").iterdir() if file.name[0] != ".")
    assert names == ["holdfast-0.2.0-py3-none-any.whl", "holdfast-0.2.0.tar.gz"]
    with tarfile.open(scratch.tree / "dist" / names[1]) as sdist:
        times = {member.mtime for member in sdist.getmembers()}
    assert times == {int(scratch.git("log", "-1", "--format=%ct", "v0.2.0"))}


def test_the_next_release_is_cut_from_what_this_one_left(scratch: Scratch) -> None:
    make_release(scratch.tree, "0.2.0", DAY, only_try=False)
    with pytest.raises(ReleaseRefused, match="nothing under"):
        make_release(scratch.tree, "0.2.1", DAY, only_try=False)
    text = (scratch.tree / "CHANGELOG.md").read_text("utf-8")
    scratch.commit(
        **{"CHANGELOG.md": text.replace("[Unreleased]", "[Unreleased]\n\n### Fixed\n\n- A fault.")}
    )
    make_release(scratch.tree, "0.2.1", "2026-11-19", only_try=False)
    headings = [
        line for line in (scratch.tree / "CHANGELOG.md").read_text("utf-8").splitlines() if line[:3] == "## "
    ]
    assert headings == [
        "## [Unreleased]",
        "## [0.2.1] - 2026-11-19",
        "## [0.2.0] - 2026-11-18",
        "## [0.1.0] - 2026-11-17",
    ]


def test_a_dry_run_builds_and_checks_and_changes_nothing(
    scratch: Scratch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = scratch.state()
    make_release(scratch.tree, "0.2.0", DAY, only_try=True)
    assert scratch.state() == before
    assert (scratch.tree / "dist" / "holdfast-0.2.0-py3-none-any.whl").is_file()
    assert "dry run: v0.2.0 was built and checked; nothing was committed or tagged" in capfd.readouterr().err


def test_nothing_is_pushed(scratch: Scratch, tmp_path: Path) -> None:
    scratch.git("init", "--quiet", "--bare", str(tmp_path / "origin.git"))
    scratch.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    make_release(scratch.tree, "0.2.0", DAY, only_try=False)
    assert scratch.git("ls-remote", "origin") == ""
    # What it says to do next works, and brings both.
    scratch.git("push", "--quiet", "--atomic", "origin", "main", "v0.2.0")
    assert "refs/tags/v0.2.0" in scratch.git("ls-remote", "origin")


def test_the_command_says_a_refusal_and_what_to_do(scratch: Scratch) -> None:
    edited(scratch)
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "release.py"), "--tree", str(scratch.tree), "0.2.0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: the tree has changes that are not committed, as in `README.md`\n"
        "hint: commit or stash them first\n"
    )
