"""Several files changed together: all or none, whenever the process dies."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.files import atomic, together
from holdfast.files.together import FileWrite, Target, locked, write_together

NAMES = ("a.md", "b/c.md")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def changes(tree: Path, text: bytes) -> list[FileWrite]:
    inside = [FileWrite(Target(name, tree), text) for name in NAMES]
    return [*inside, FileWrite(Target(str(tree.parent / "home.json")), text)]


def left(journal: Path) -> list[str]:
    return [path.name for path in journal.iterdir()]


def found(tree: Path) -> list[bytes | None]:
    return [change.target.read() for change in changes(tree, b"")]


def test_all_files_are_written_and_nothing_is_left_behind(tree: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "journal"):
        write_together(tmp_path / "journal", changes(tree, b"one"))
    assert found(tree) == [b"one"] * 3
    assert left(tmp_path / "journal") == ["lock"]


def test_a_file_can_go_with_the_others(tree: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "journal"):
        write_together(tmp_path / "journal", changes(tree, b"one"))
        write_together(tmp_path / "journal", [FileWrite(Target("a.md", tree), None)])
    assert found(tree) == [None, b"one", b"one"]


def test_where_one_file_is_refused_the_others_stay_as_they_were(tree: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "journal"):
        write_together(tmp_path / "journal", changes(tree, b"one"))
        (tree / "b/c.md").unlink()
        (tree / "b/c.md").mkdir()
        with pytest.raises(HoldfastError, match=r"b/c\.md"):
            write_together(
                tmp_path / "journal", [FileWrite(Target("a.md", tree), b"two"), *changes(tree, b"two")]
            )
    assert (tree / "a.md").read_bytes() == b"one"


KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.files import atomic, together, worktree

tree, journal, fatal = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
steps = 0

def counted(real):
    def step(*arguments):
        global steps
        if steps == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        steps += 1
        return real(*arguments)
    return step

atomic.write, atomic.remove = counted(atomic.write), counted(atomic.remove)
worktree.write = counted(worktree.write)
with together.locked(journal):
    together.write_together(journal, [
        together.FileWrite(together.Target("a.md", tree), b"two"),
        together.FileWrite(together.Target("b/c.md", tree), b"two"),
        together.FileWrite(together.Target(str(tree.parent / "home.json")), b"two"),
    ])
"""


@pytest.mark.parametrize("fatal", range(9))
def test_after_a_kill_between_any_two_writes_all_files_are_old_or_all_new(
    tree: Path, tmp_path: Path, fatal: int
) -> None:
    journal = tmp_path / "journal"
    with locked(journal):
        write_together(journal, changes(tree, b"one"))
    arguments = [sys.executable, "-c", KILLED, str(tree), str(journal), str(fatal)]
    ended = subprocess.run(arguments, check=False).returncode
    assert ended == (-signal.SIGKILL if fatal < 8 else 0)
    with locked(journal):
        pass
    assert len(set(found(tree))) == 1
    assert found(tree)[0] == (b"one" if fatal < 4 else b"two")


def test_a_file_that_someone_wrote_after_the_crash_is_theirs(tree: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with locked(journal):
        write_together(journal, changes(tree, b"one"))
    subprocess.run([sys.executable, "-c", KILLED, str(tree), str(journal), "4"], check=False)
    (tree / "a.md").write_bytes(b"mine")
    with locked(journal):
        pass
    assert found(tree) == [b"mine", b"two", b"two"]


def _append(journal: Path, tree: Path, word: str) -> None:
    for _ in range(20):
        with locked(journal):
            before = Target("a.md", tree).read() or b""
            write_together(journal, [FileWrite(Target("a.md", tree), before + f"{word}\n".encode())])


def test_two_processes_lose_nothing_of_each_other(tree: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_append, args=(tmp_path / "journal", tree, word)) for word in ("x", "y")]
    for process in both:
        process.start()
    for process in both:
        process.join()
    words = (tree / "a.md").read_text().split()
    assert (words.count("x"), words.count("y")) == (20, 20)


def test_who_waits_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "WAIT", 0.0)
    with (
        locked(tmp_path / "journal"),
        pytest.raises(HoldfastError, match="another Holdfast is writing"),
        locked(tmp_path / "journal"),
    ):
        pass


def test_a_broken_off_journal_is_nothing(tree: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    atomic.write(journal / "0.part", b"never")
    with locked(journal):
        pass
    assert (found(tree), left(journal)) == ([None] * 3, ["lock"])
