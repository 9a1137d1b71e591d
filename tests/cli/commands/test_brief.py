"""A brief from a transcript alone: the same everywhere, nothing stored, a clear word where there is none."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import harnesses
from holdfast.core.brief.compose import Reason
from holdfast.engine.recording.preview import preview
from holdfast.errors import TranscriptUnreadable
from tests.cli.conftest import HARNESS, Person
from tests.depth import examples
from tests.harnesses.opencode_records import NOON, asked, story, text

CLAUDE = harnesses.get(HARNESS)
TOOL = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/src/lexer.py"}}


def record(number: int, kind: str, content: object, **more: object) -> dict[str, object]:
    return {
        "type": kind,
        "uuid": f"r{number}",
        "parentUuid": f"r{number - 1}",
        "sessionId": "s1",
        "timestamp": f"2026-03-01T10:{number:02}:00.000Z",
        "message": {"role": kind, "content": content},
        **more,
    }


RECORDS = [
    record(0, "user", "mend the lexer"),
    record(1, "assistant", [TOOL]),
    record(2, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]),
    record(3, "assistant", [{"type": "text", "text": "The lexer is mended."}]),
    record(4, "user", "now the writer"),
    record(5, "assistant", [{"type": "text", "text": "Halfway through the writer."}]),
]
BOUNDARY = {
    "type": "system",
    "subtype": "compact_boundary",
    "uuid": "b",
    "sessionId": "s1",
    "timestamp": "2026-03-01T10:06:00.000Z",
    "content": "Conversation compacted",
}


def written(path: Path, records: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def wrote(number: int, path: str) -> tuple[object, object]:
    """A subagent's call and what came of it."""
    call = {"type": "tool_use", "id": f"w{number}", "name": "Write", "input": {"file_path": path}}
    result = {"type": "tool_result", "tool_use_id": f"w{number}", "content": "done"}
    return (
        record(number, "assistant", [call], isSidechain=True, uuid=f"call{number}"),
        record(number, "user", [result], isSidechain=True, uuid=f"result{number}"),
    )


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return written(tmp_path / "s1.jsonl", RECORDS)


def test_the_brief_holds_what_was_said_and_done(person: Person, transcript: Path) -> None:
    done = person.types("brief", "--harness", HARNESS, "--transcript", str(transcript))
    assert done.status == 0
    assert "## Session Recovery Context" in done.out
    for said in ("mend the lexer", "/src/lexer.py", "now the writer", "Halfway through the writer."):
        assert said in done.out
    assert "receipt: startup, from session s1" in done.err


def test_of_much_that_was_left_out_the_first_is_shown_and_the_rest_is_counted(
    person: Person, tmp_path: Path
) -> None:
    said = "\n\n".join(f"I found that `load_part_{number}` reads its part from disk." for number in range(40))
    long = written(
        tmp_path / "s1.jsonl", [*RECORDS, record(9, "assistant", [{"type": "text", "text": said}])]
    )
    words = ["brief", "--harness", HARNESS, "--transcript", str(long), "--budget", "600"]
    items = person.types(*words, "--json").json["receipt"]["items"]
    left_out = sum(not item["rendered"] for item in items)
    lines = [line for line in person.types(*words).err.splitlines() if line.startswith("left out")]
    assert len(lines) == 13
    assert not any(line.startswith("left out (said already): ") for line in lines)
    assert lines[-1] == f"left out too: {left_out - 12} items that were needed less; `--json` lists them"
    refused = person.types(*words, "--answer", answered(tmp_path, "No.")).err
    reason = "left out (the answer has none of the sections): Written by a model: "
    assert next(line for line in refused.splitlines() if line.startswith("left out")).startswith(reason)


@pytest.mark.parametrize("reason", ["startup", "clear", "compact"])
def test_a_reason_for_a_transcript_is_refused(person: Person, transcript: Path, reason: str) -> None:
    done = person.types("brief", "--harness", HARNESS, "--transcript", str(transcript), "--reason", reason)
    assert done.status == 2
    assert "--reason is for the stored sessions, not for a --transcript." in done.err
    assert done.out == ""


def test_nothing_is_stored_and_nothing_is_written_beside_it(person: Person, transcript: Path) -> None:
    before = transcript.read_bytes()
    words = ["brief", "--harness", HARNESS, "--transcript", str(transcript), "--until-line", "3"]
    assert person.types(*words).status == 0
    assert not person.home.exists()
    assert list(transcript.parent.iterdir()) == [transcript]
    assert transcript.read_bytes() == before


def test_the_same_file_gives_the_same_brief_wherever_it_stands(transcript: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copy = written(elsewhere / "s1.jsonl", RECORDS)
    assert preview(CLAUDE, transcript).brief == preview(CLAUDE, copy).brief


def test_ages_count_from_the_last_record_or_the_time_given(transcript: Path) -> None:
    assert " old: data" not in preview(CLAUDE, transcript).brief.text
    at = preview(CLAUDE, transcript).brief_input.now + 7_200_000
    assert "2 h old" in preview(CLAUDE, transcript, at=at).brief.text


def test_a_time_is_given_by_iso_8601(person: Person, transcript: Path) -> None:
    words = ["brief", "--harness", HARNESS, "--transcript", str(transcript), "--json", "--at"]
    assert person.types(*words, "2026-03-01T12:05:00+01:00").json["receipt"]["age_ms"] == 3_600_000
    assert "is no time" in person.types(*words, "yesterday").err


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(lines=st.integers(1, len(RECORDS)))
def test_the_first_lines_give_what_a_file_of_just_these_gives(tmp_path: Path, lines: int) -> None:
    whole = written(tmp_path / "s1.jsonl", RECORDS)
    part = tmp_path / "part"
    part.mkdir(exist_ok=True)
    shorter = written(part / "s1.jsonl", RECORDS[:lines])
    assert preview(CLAUDE, whole, until_line=lines).brief == preview(CLAUDE, shorter).brief


def test_a_subagents_work_counts_only_until_the_last_line_read(transcript: Path) -> None:
    folder = transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    work = [*wrote(2, "/src/early.py"), *wrote(5, "/src/late.py")]
    written(folder / "agent-a1.jsonl", work)
    whole = preview(CLAUDE, transcript).brief.text
    assert "- Edited, not committed: /src/{late.py, lexer.py, early.py}" in whole
    part = preview(CLAUDE, transcript, until_line=4).brief.text
    assert "early.py" in part
    assert "late.py" not in part


def test_after_a_compaction_the_brief_says_so(tmp_path: Path) -> None:
    compacted = preview(CLAUDE, written(tmp_path / "s1.jsonl", [*RECORDS, BOUNDARY]))
    assert compacted.brief_input.reason is Reason.COMPACT
    assert "Just compacted" in compacted.brief.text
    assert "mend the lexer" in compacted.brief.text


def test_a_compaction_that_work_followed_is_not_called_the_last_thing_that_happened(tmp_path: Path) -> None:
    later = record(7, "user", "and now the printer")
    went_on = preview(CLAUDE, written(tmp_path / "s1.jsonl", [*RECORDS, BOUNDARY, later]))
    assert went_on.brief_input.reason is Reason.STARTUP
    assert "Just compacted" not in went_on.brief.text


@given(budget=st.integers(0, 2_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
def test_a_brief_keeps_its_budget(transcript: Path, budget: int) -> None:
    assert len(preview(CLAUDE, transcript, budget=budget).brief.text) <= budget


def test_a_link_that_a_person_named_is_followed(transcript: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(transcript)
    assert preview(CLAUDE, link).brief == preview(CLAUDE, transcript).brief


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "there is no file"),
        (lambda path: path.mkdir(), "is a directory"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.touch(), "is empty"),
        (lambda path: path.write_bytes(b"\xff\x00\n" * 50), "holds no record of"),
        (lambda path: path.write_text("{}\n[1]\nnonsense\n"), "holds no record of"),
        (lambda path: path.symlink_to(path), "cannot be examined"),
    ],
)
def test_what_is_no_transcript_is_refused_in_one_sentence(tmp_path: Path, make: object, says: str) -> None:
    assert callable(make)
    path = tmp_path / "transcript.jsonl"
    make(path)
    with pytest.raises(TranscriptUnreadable, match=says) as refused:
        preview(CLAUDE, path)
    assert refused.value.hint


def test_a_person_hears_of_it_as_of_any_error(person: Person, tmp_path: Path) -> None:
    done = person.types("brief", "--harness", HARNESS, "--transcript", str(tmp_path))
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"error: `{tmp_path}` is a directory\n\nhint: ")


class TestFromADatabase:
    """Many sessions in one file: one is named, or the one that changed last is meant."""

    @pytest.fixture
    def database(self, tmp_path: Path) -> Path:
        kept = story("ses_1", tmp_path / "opencode.db")
        kept.session("ses_2", at=NOON - 1)
        kept.message("ses_2", *asked(text("Paint the boat.")))
        return kept.path

    def brief(self, path: Path, session: str = "", until_line: int | None = None) -> str:
        return preview(harnesses.reader("opencode"), path, session, until_line).brief.text

    def test_of_a_session_that_is_named(self, database: Path) -> None:
        assert "Paint the boat." in self.brief(database, "ses_2")

    def test_of_the_one_that_changed_last(self, database: Path) -> None:
        told = self.brief(database)
        assert "Never touch legacy.py." in told
        assert "Round half up" in told
        assert "Paint the boat." not in told

    def test_it_has_no_lines_to_stop_at(self, database: Path) -> None:
        with pytest.raises(TranscriptUnreadable) as refused:
            self.brief(database, "ses_1", 3)
        assert "--until-line" in refused.value.hint

    def test_of_a_session_that_is_not_in_it(self, database: Path) -> None:
        with pytest.raises(TranscriptUnreadable):
            self.brief(database, "ses_9")


# What a model is asked, and what it answers


ASKED = [
    *RECORDS,
    record(
        6, "assistant", [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make test"}}]
    ),
    record(
        7,
        "user",
        [{"type": "tool_result", "tool_use_id": "t2", "content": "Exit code 2\n1 failed", "is_error": True}],
    ),
]
ANSWER = """\
## Goal
- Mend the lexer, then the writer.
## Done
- The lexer in `/src/lexer.py` is mended.
## Now
- `make test` passes. The writer is half done.
## Next
- Look at `src/reader.py`."""


@pytest.fixture
def told(tmp_path: Path) -> list[str]:
    path = written(tmp_path / "s1.jsonl", ASKED)
    return ["brief", "--harness", HARNESS, "--transcript", str(path)]


def answered(folder: Path, text: str) -> str:
    path = folder / "answer.md"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_question_is_printed_as_a_model_would_get_it(person: Person, told: list[str]) -> None:
    done = person.types(*told, "--ask")
    assert done.out.startswith("Write the handover of a coding agent's session")
    assert "USER: now the writer" in done.out
    assert "FAILED: Exit code 2" in done.out
    as_json = person.types(*told, "--ask", "--json").json
    assert as_json == {"question": done.out.rstrip("\n"), "characters": len(done.out.rstrip("\n"))}
    assert "now the writer" not in person.types(*told, "--until-line", "4", "--ask").out
    assert not person.home.exists()


def test_no_secret_is_in_the_question_or_comes_in_with_an_answer(person: Person, tmp_path: Path) -> None:
    key = "ghp_" + "aB3dE6" * 6
    path = written(tmp_path / "s1.jsonl", [*ASKED, record(8, "user", f"the token is {key}")])
    words = ["brief", "--harness", HARNESS, "--transcript", str(path)]
    asked = person.types(*words, "--ask").out
    assert "the token is " in asked
    assert key not in asked
    answer = answered(tmp_path, f"## Goal\n- Mend the lexer.\n## Where\n- The token is {key} here.")
    done = person.types(*words, "--answer", answer, "--json")
    assert "Mend the lexer." in done.out
    assert key not in done.out


def test_a_brief_is_made_with_an_answer_and_says_what_of_it_is_wrong(
    person: Person, told: list[str], tmp_path: Path
) -> None:
    done = person.types(*told, "--answer", answered(tmp_path, ANSWER))
    assert done.status == 0
    for holds in ("Mend the lexer, then the writer.", "The writer is half done."):
        assert holds in done.out
    assert "`make test` passes." not in done.out
    assert "src/reader.py" not in done.out
    as_json = person.types(*told, "--answer", answered(tmp_path, ANSWER), "--json").json
    wrong = [item for item in as_json["receipt"]["items"] if item["section"] == "Written by a model"]
    assert {item["text"]: item["omitted"] for item in wrong} == {
        "`make test` passes.": "told as passed, but its last run failed",
        "Look at `src/reader.py`.": "`src/reader.py` does not occur in the session",
    }


def test_where_an_answer_is_no_use_the_rules_make_the_brief_and_the_receipt_says_why(
    person: Person, told: list[str], tmp_path: Path
) -> None:
    done = person.types(*told, "--answer", answered(tmp_path, "No."), "--budget", "6000")
    assert done.out == person.types(*told, "--budget", "6000").out
    assert "left out (the answer has none of the sections): Written by a model: The handover" in done.err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--ask",), 2, "--ask needs --transcript FILE and --harness HARNESS."),
        (("--answer", "a.md"), 2, "--answer needs --transcript FILE and --harness HARNESS."),
        (("--transcript", "s1.jsonl", "--ask"), 2, "--ask needs --transcript FILE and --harness HARNESS."),
        (("--ask", "--answer", "a.md"), 2, "Give either --ask or --answer."),
    ],
)
def test_a_question_or_answer_about_nothing_is_refused(
    person: Person, words: tuple[str, ...], status: int, message: str
) -> None:
    done = person.types("brief", *words)
    assert (done.status, done.out) == (status, "")
    assert message in done.err


def test_an_answer_that_cannot_be_read_is_an_error(person: Person, told: list[str], tmp_path: Path) -> None:
    done = person.types(*told, "--answer", str(tmp_path / "none.md"))
    assert (done.status, done.out) == (1, "")
    assert "none.md` cannot be read: No such file or directory" in done.err
    done = person.types(*told, "--answer", answered(tmp_path, "x" * (1 << 21)))
    assert done.status == 1
    assert "is larger than 1 MB" in done.err
