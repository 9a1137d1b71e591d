"""Which transcripts may be opened: those of the harness itself, be they files or rows in its database."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.recording.transcripts import (
    MissingTranscript,
    ReadableTranscript,
    RefusedTranscript,
    transcript_access,
)


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
        ("kept/sessions.db", ReadableTranscript),
        ("kept/sessions.db/ses_1", ReadableTranscript),
        ("kept/later.db/ses_1", MissingTranscript),
        ("elsewhere.db/ses_1", RefusedTranscript),
        ("kept/link.db", RefusedTranscript),
        ("kept/link.db/ses_1", RefusedTranscript),
        ("kept/../elsewhere.db/ses_1", RefusedTranscript),
    ],
)
def test_a_session_in_a_database_has_a_path_behind_it(path: str, found: type, root: Path) -> None:
    assert isinstance(transcript_access(str(root.parent / path), (root,)), found)
