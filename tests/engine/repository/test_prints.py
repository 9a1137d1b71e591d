"""Prints: two machines see that a file is the same, whatever its time and its line endings."""

from __future__ import annotations

from pathlib import Path

from holdfast.core.sharing.bodies import FilePrint
from holdfast.engine.repository.prints import prints_of


def test_the_same_lines_have_the_same_print_on_every_system(tmp_path: Path) -> None:
    for name, content in (("laptop", b"one\ntwo\n"), ("desk", b"one\r\ntwo\r\n"), ("other", b"one\nTWO\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_bytes(content)
    laptop, desk, other = (prints_of(tmp_path / name, ["a.txt"]) for name in ("laptop", "desk", "other"))
    assert laptop == desk
    assert laptop != other


def test_a_file_that_is_not_there_has_an_empty_print_and_none_outside_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "big").write_bytes(b"x" * (1 << 20) + b"x")
    paths = ["gone.txt", "gone.txt", "../secret", "/etc/passwd", "link", "big", ".git/config"]
    assert prints_of(root, paths) == (FilePrint("gone.txt", ""),)
