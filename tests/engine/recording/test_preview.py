"""A transcript is folded into a session without a store, and its harness is found by its first lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast import harnesses
from holdfast.engine.recording.preview import DETECTION_LINES, fold, is_transcript_of, preview
from holdfast.errors import TranscriptUnreadable

CLAUDE = "claude-code"


def record(number: int, kind: str, content: object) -> str:
    fields = {
        "type": kind,
        "uuid": f"r{number}",
        "sessionId": "s1",
        "timestamp": f"2026-03-01T10:{number % 60:02}:00.000Z",
        "message": {"role": kind, "content": content},
    }
    return json.dumps(fields) + "\n"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "s1.jsonl"
    answer = [{"type": "text", "text": "The lexer is mended."}]
    path.write_text(record(0, "user", "mend the lexer") + record(1, "assistant", answer))
    return path


def test_the_folded_session_is_the_one_that_a_preview_shows(transcript: Path) -> None:
    reader = harnesses.reader(CLAUDE)
    folded = fold(reader, transcript)
    assert [prompt.text for prompt in folded.trail.prompts] == ["mend the lexer"]
    assert preview(reader, transcript).brief_input.session == folded


def test_only_the_first_lines_are_folded_where_a_number_is_given(transcript: Path) -> None:
    reader = harnesses.reader(CLAUDE)
    with transcript.open("a") as file:
        file.write(record(2, "user", "now the writer"))
    assert len(fold(reader, transcript).trail.prompts) == 2
    assert len(fold(reader, transcript, until_line=2).trail.prompts) == 1


@pytest.mark.parametrize("name", harnesses.readable())
def test_a_transcript_is_recognised_by_its_own_harness_alone(transcript: Path, name: str) -> None:
    assert is_transcript_of(harnesses.reader(name), transcript) == (name == CLAUDE)


def test_a_file_whose_first_lines_tell_nothing_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text("{}\n" * DETECTION_LINES + record(0, "user", "mend the lexer"))
    assert not is_transcript_of(harnesses.reader(CLAUDE), path)
    assert fold(harnesses.reader(CLAUDE), path).trail.prompts


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a transcript\n")
    with pytest.raises(TranscriptUnreadable, match="holds no record"):
        fold(harnesses.reader(CLAUDE), path)
