"""`holdfast eval pressure`: how well the size of a request is foretold, on transcripts of any harness."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.models.known import KNOWN_MODELS
from tests.cli.conftest import Person


def assistant(number: int, used: int) -> str:
    usage = {"input_tokens": used, "output_tokens": 10}
    message = {
        "id": f"m{number}",
        "model": "claude-sonnet-4-5",
        "role": "assistant",
        "content": [{"type": "text", "text": "ok"}],
        "usage": usage,
    }
    record = {
        "type": "assistant",
        "uuid": f"a{number}",
        "timestamp": "2026-01-01T12:00:00Z",
        "message": message,
    }
    return json.dumps(record)


def user(number: int, text: str) -> str:
    message = {"role": "user", "content": text}
    return json.dumps(
        {"type": "user", "uuid": f"u{number}", "timestamp": "2026-01-01T12:00:00Z", "message": message}
    )


def written(folder: Path, *lines: str) -> Path:
    path = folder / "claude-code" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_the_report_by_harness_and_family(person: Person, tmp_path: Path) -> None:
    data = written(tmp_path, assistant(1, 1_000), user(2, "hello world"), assistant(3, 1_012))
    rows = person.types("eval", "pressure", "--data", str(data), "--json").json
    measured = [row for row in rows if row["requests"]]
    assert [(row["harness"], row["family"], row["requests"]) for row in measured] == [
        ("claude-code", "claude", 1),
        ("all", "all", 1),
    ]
    unmeasured = {row["family"] for row in rows if not row["requests"]}
    assert unmeasured == {known.name for known in KNOWN_MODELS} - {"claude"}
    assert rows[0]["within"] == 1.0
    assert rows[0]["median"] == 0.0
    done = person.types("eval", "pressure", "--data", str(data))
    assert "claude-code" in done.out
    assert "100.0%" in done.out
    assert "unmeasured" in done.err
    assert all(f"{family} (" in done.err for family in unmeasured)


def test_transcripts_without_counts_are_an_error_that_says_so(person: Person, tmp_path: Path) -> None:
    data = written(tmp_path, user(1, "hello"))
    done = person.types("eval", "pressure", "--data", str(data))
    assert done.status == 1
    assert "holds counts" in done.err
