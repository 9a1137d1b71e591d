"""Which transcripts may be opened: those of the harness itself, be they files or rows in its database."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.recording.transcripts import Missing, Readable, Refused, find


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "sessions.db").write_bytes(b"rows")
    (tmp_path / "elsewhere.db").write_bytes(b"rows")
    (folder / "link.db").symlink_to(tmp_path / "elsewhere.db")
    return folder


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("kept/sessions.db", Readable),
        ("kept/sessions.db/ses_1", Readable),
        ("kept/later.db/ses_1", Missing),
        ("elsewhere.db/ses_1", Refused),
        ("kept/link.db", Refused),
        ("kept/link.db/ses_1", Refused),
        ("kept/../elsewhere.db/ses_1", Refused),
    ],
)
def test_a_session_in_a_database_has_a_path_behind_it(path: str, found: type, root: Path) -> None:
    assert isinstance(find(str(root.parent / path), (root,)), found)
