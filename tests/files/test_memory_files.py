"""Memory files are found and read where they are, and nothing outside the worktree is."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from holdfast.errors import PathRefused
from holdfast.files import memory_files
from holdfast.files.memory_files import MemoryFileState


def kept(root: Path, path: str, text: str = "# Rules\nNever.\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def paths(root: Path) -> list[str]:
    return [state.path for state in memory_files.states(root)]


def test_the_lead_file_days_and_topics_are_found(tmp_path: Path) -> None:
    for path in ("MEMORY.md", "memory/2026-03-01.md", "memory/style.md", "memory/notes.txt", "README.md"):
        kept(tmp_path, path)
    kept(tmp_path, "memory/deeper/more.md")
    assert paths(tmp_path) == ["MEMORY.md", "memory/2026-03-01.md", "memory/style.md"]


def test_a_worktree_without_any_has_none(tmp_path: Path) -> None:
    assert paths(tmp_path) == []
    assert paths(tmp_path / "nowhere") == []
    (tmp_path / "memory").write_text("a file in its place")
    assert paths(tmp_path) == []


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, root = kept(tmp_path, "outside/secret.md"), tmp_path / "root"
    kept(root, "memory/own.md")
    (root / "memory" / "link.md").symlink_to(outside)
    (root / "MEMORY.md").symlink_to(outside)
    assert [memory_files.read(root, path) for path in ("memory/link.md", "MEMORY.md")] == ["", ""]
    (root / "memory").rename(tmp_path / "elsewhere")
    (root / "memory").symlink_to(tmp_path / "elsewhere")
    assert "memory/own.md" not in paths(root)
    assert memory_files.read(root, "memory/own.md") == ""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"plain", "plain"),
        (b"\xef\xbb\xbfmarked", "marked"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\x7fELF\0\0", ""),
        (b"x" * ((1 << 20) + 1), ""),
        (b"", ""),
    ],
)
def test_what_is_no_text_is_passed_over(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "MEMORY.md").write_bytes(content)
    assert memory_files.read(tmp_path, "MEMORY.md") == text


def test_a_pipe_in_place_of_a_file_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "MEMORY.md")
    assert memory_files.read(tmp_path, "MEMORY.md") == ""


@pytest.mark.parametrize(
    ("path", "modified", "at"),
    [
        ("memory/2026-03-01.md", 5, 1_772_323_200_000),
        ("memory/2026-03-01.md", 1_772_323_200_000 + 7, 1_772_323_200_000 + 7),
        ("memory/2026-03-01.md", 1_900_000_000_000, 1_772_323_200_000 + 86_399_999),
        ("memory/2026-02-30.md", 5, 5),
        ("memory/style.md", 5, 5),
        ("MEMORY.md", 5, 5),
    ],
)
def test_a_day_s_file_is_as_old_as_its_day(path: str, modified: int, at: int) -> None:
    assert memory_files.written_at(MemoryFileState(path, modified * 1_000_000, 1)) == at


def test_a_paragraph_is_added_to_the_file_of_the_day(tmp_path: Path) -> None:
    day = date(2026, 3, 1)
    assert memory_files.add(tmp_path, day, "The port is 8080.") == "memory/2026-03-01.md"
    memory_files.add(tmp_path, day, "  The host is here.\n")
    written = (tmp_path / "memory" / "2026-03-01.md").read_text(encoding="utf-8")
    assert written == "# 2026-03-01\n\nThe port is 8080.\n\nThe host is here.\n"


def test_what_stands_in_the_day_s_file_stays(tmp_path: Path) -> None:
    file = kept(tmp_path, "memory/2026-03-01.md", "mine, without an end")
    memory_files.add(tmp_path, date(2026, 3, 1), "added")
    assert file.read_text(encoding="utf-8") == "mine, without an end\n\nadded\n"


def test_nothing_is_added_behind_a_link(tmp_path: Path) -> None:
    outside, root = kept(tmp_path, "outside.md"), tmp_path / "root"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2026-03-01.md").symlink_to(outside)
    with pytest.raises(PathRefused):
        memory_files.add(root, date(2026, 3, 1), "added")
    assert outside.read_text(encoding="utf-8") == "# Rules\nNever.\n"
