"""One file, replaced whole: mode, owner and link kept, and nothing left behind when it fails."""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.files import atomic


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    return path


def test_what_is_written_is_read(file: Path) -> None:
    atomic.write(file, b"new")
    assert atomic.read(file) == b"new"
    assert list(file.parent.iterdir()) == [file]


def test_no_file_is_read_as_none(tmp_path: Path) -> None:
    assert atomic.read(tmp_path / "none" / "settings.json") is None


@pytest.mark.parametrize("kept", [0o644, 0o600, 0o664, 0o640])
def test_a_file_keeps_its_mode(file: Path, kept: int) -> None:
    file.chmod(kept)
    atomic.write(file, b"new")
    assert mode(file) == kept


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_keeps_its_owner(file: Path) -> None:
    os.chown(file, 12345, 54321)
    atomic.write(file, b"new")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)


def test_a_new_file_and_its_folders_are_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "home" / "bin" / "hook.py"
    assert atomic.missing_folders(path) == (path.parent, path.parent.parent)
    atomic.write(path, b"new")
    assert [mode(one) for one in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]
    assert atomic.missing_folders(path) == ()


def test_a_link_stays_and_the_file_behind_it_is_written(file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, chain = tmp_path / "elsewhere" / "link", tmp_path / "elsewhere" / "chain"
    link.symlink_to("../settings.json")
    chain.symlink_to(link)
    atomic.write(chain, b"new")
    assert file.read_bytes() == b"new"
    assert chain.is_symlink()
    assert link.is_symlink()


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def _link_to_nothing(path: Path) -> None:
    path.symlink_to("gone")


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_folder, r"settings\.json` is not a regular file"),
        (_pipe, r"settings\.json` is not a regular file"),
        (_link_to_a_pipe, "pipe` is not a regular file"),
        (_link_to_nothing, r"settings\.json` is a link to a file that is not there"),
        (_link_to_itself, r"settings\.json`: Too many levels of symbolic links"),
    ],
)
def test_what_is_not_a_regular_file_is_neither_read_nor_written(
    tmp_path: Path, make: Callable[[Path], None], why: str
) -> None:
    path = tmp_path / "settings.json"
    make(path)
    there = sorted(tmp_path.iterdir())
    with pytest.raises(HoldfastError, match=why):
        atomic.read(path)
    with pytest.raises(HoldfastError, match=why):
        atomic.write(path, b"new")
    assert sorted(tmp_path.iterdir()) == there


def test_a_read_only_file_is_left_alone(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(HoldfastError, match="read-only"):
        atomic.write(file, b"new")
    assert file.read_bytes() == b"old"


@pytest.fixture
def full_disk() -> Iterator[None]:
    """The system lets nobody write more than a hundred bytes into one file."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("full_disk")
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    with pytest.raises(HoldfastError, match="cannot write"):
        atomic.write(file, b"new" * 1000)
    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]


def test_a_file_can_be_removed_twice(file: Path) -> None:
    atomic.remove(file)
    atomic.remove(file)
    atomic.remove(file.parent / "none" / "x")
    assert not file.exists()


def test_only_an_empty_folder_is_removed(tmp_path: Path) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    (full / "x").mkdir(parents=True)
    empty.mkdir()
    link = tmp_path / "link"
    link.symlink_to(full / "x")
    for folder in (empty, full, link, tmp_path / "gone"):
        atomic.remove_empty_folder(folder)
    assert sorted(tmp_path.iterdir()) == [full, link]
    assert (full / "x").is_dir()
