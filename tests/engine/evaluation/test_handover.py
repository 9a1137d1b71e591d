"""Handover on probes: which are read, what a brief may see of a session, and what cannot be used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast import harnesses
from holdfast.engine.evaluation.handover import (
    FILE_BYTES,
    Probe,
    briefs_from,
    probes_beside_summary,
    probes_in,
    score_probe,
    texts_in,
)
from holdfast.engine.recording.preview import preview
from holdfast.errors import ProbeUnreadable
from tests.harnesses.claude_code_records import assistant, jsonl, text, user, written
from tests.tables import every_row

HARNESS = "claude-code"
FILE = f"{HARNESS}/shop/s1.jsonl"
SESSION = [
    user("Please mend the checkout of the shop.", uuid="p1"),
    assistant(text("The checkout rounds prices down."), uuid="a1", request="m1"),
    user("Never touch the vendored client.", uuid="p2"),
    assistant(text("The rounding is mended, tests pass."), uuid="a2", request="m2"),
    user("Now the invoices are next.", uuid="p3"),
    assistant(text("Working on the invoices."), uuid="a3", request="m3"),
]
LINES = len(SESSION)


def nugget(words: str, *expressions: str) -> dict[str, Any]:
    return {"text": words, "any": [*(expressions or (words,))]}


def question(id: str, kind: str, *nuggets: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "kind": kind, "question": "?", "answer": "!", "nuggets": [*nuggets]}


GOAL = question("goal-1", "goal", nugget("the checkout", r"checkout of the \w+"), nugget("zebras"))
NEXT = question("next-1", "next", nugget("invoices are next"))
TRAP = nugget("never mended", "checkout of the shop")


def write_data(folder: Path) -> Path:
    """A folder of data with one session."""
    path = folder / FILE
    written(path.parent, jsonl(SESSION), path.name)
    return folder


def write_probe(folder: Path, name: str, line: int = LINES, **files: object) -> Path:
    """A probe at this line of the session; a file of another content is named without its ending."""
    contents: dict[str, object] = {
        "about": {"file": FILE, "harness": HARNESS, "line": line},
        "questions": [GOAL, NEXT],
        **files,
    }
    probe = folder / name
    probe.mkdir(parents=True)
    for stem, content in contents.items():
        (probe / f"{stem}.json").write_bytes(
            content if isinstance(content, bytes) else json.dumps(content).encode()
        )
    return probe


def every(_: str) -> bool:
    return True


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


@pytest.fixture
def probes(tmp_path: Path) -> Path:
    """One cut before the invoices, one after, and files beside them."""
    folder = tmp_path / "probes"
    write_probe(folder, "01", 5, traps=[TRAP])
    write_probe(folder, "02", 6)
    (folder / "notes").mkdir()
    (folder / "README.md").write_text("what these are")
    return folder


def the_probe(folder: Path, name: str = "01") -> Probe:
    (probe,) = probes_in(folder, lambda each: each == name)
    return probe


def test_each_folder_with_questions_is_a_probe(probes: Path) -> None:
    read = probes_in(probes, every)
    assert [(probe.name, str(probe.file), probe.line) for probe in read] == [("01", FILE, 5), ("02", FILE, 6)]
    assert [len(probe.traps) for probe in read] == [1, 0]
    assert [each.kind for each in read[0].questions] == ["goal", "next"]


def test_a_brief_sees_only_what_stands_before_the_cut(probes: Path, data: Path) -> None:
    before, after = (score_probe(probe, briefs_from(data), 2_000) for probe in probes_in(probes, every))
    assert [(each.id, each.share) for each in before.questions] == [("goal-1", 0.5), ("next-1", 0.0)]
    assert [(each.id, each.share) for each in after.questions] == [("goal-1", 0.5), ("next-1", 1.0)]
    assert before.questions[0].missing == ("zebras",)
    assert before.traps_stated == ("never mended",)


@pytest.mark.parametrize("budget", [300, 2_000])
def test_the_brief_is_the_one_that_a_preview_gives(probes: Path, data: Path, budget: int) -> None:
    brief = briefs_from(data)(the_probe(probes), budget)
    assert brief == preview(harnesses.reader(HARNESS), data / FILE, "", 4, None, budget).brief.text


def test_texts_of_another_writer_are_scored_in_its_place(probes: Path, tmp_path: Path) -> None:
    (tmp_path / "01.txt").write_text("zebras, and the checkout of the museum; invoices are next\n")
    score = score_probe(the_probe(probes), texts_in(tmp_path), 30)
    assert ([each.share for each in score.questions], score.is_over_budget) == ([0.5, 0.0], True)


def test_beside_a_summary_only_probes_that_have_one_count(probes: Path) -> None:
    (probes / "02" / "native.txt").write_text("There are no\nzebras.")
    (probe,) = probes_beside_summary(probes, every)
    assert probe.name == "02"
    assert [[each.text for each in one.nuggets] for one in probe.questions] == [
        ["the checkout"],
        ["invoices are next"],
    ]


@every_row(
    ("listed", "is_for_validation"),
    [
        ("", False),
        ("another.jsonl\n", False),
        (f"another.jsonl\n\n {FILE} \n", True),
        (f"./{FILE}", True),
        ("01", True),
        ("02", False),
    ],
)
def test_a_list_says_which_probes_are_for_validation(
    probes: Path,
    listed: str,
    is_for_validation: bool,  # noqa: FBT001
) -> None:
    (probes / "validation.txt").write_text(listed)
    assert the_probe(probes).is_for_validation is is_for_validation


def test_without_such_a_list_none_is(probes: Path) -> None:
    assert not any(probe.is_for_validation for probe in probes_in(probes, every))


BROKEN = question("goal-1", "goal", nugget("fine", "fine"), nugget("broken", "fine", "(secret words"))
HUGE = question("goal-1", "goal", nugget("huge", "a{99999999999999999999}"))
LONG = question("goal-1", "goal", nugget("long", "a" * 2_001))


@every_row(
    ("name", "content", "message"),
    [
        ("questions", b"[{]", "questions.json` is malformed: JSON is malformed"),
        ("questions", b'[{"id": "\xff"}]', "questions.json` is malformed"),
        ("questions", b'[{"id": "\\ud800"}]', "questions.json` is malformed"),
        ("questions", b"", "questions.json` is malformed"),
        ("questions", {"id": "q"}, "questions.json` is malformed: Expected `array`, got `object`"),
        ("questions", [{"id": "q"}], "missing required field `kind` - at `$[0]`"),
        ("questions", [question("q", "goal", {"text": "t", "any": "e"})], "at `$[0].nuggets[0].any`"),
        ("questions", [BROKEN], "statement 2 of `goal-1` has an invalid regular expression: missing ),"),
        ("questions", [HUGE], "statement 1 of `goal-1` has an invalid regular expression"),
        ("questions", [LONG], "questions.json` is malformed: Expected `str` of length <= 2000"),
        ("traps", [nugget("x", "[")], "traps.json`: statement 1 has an invalid regular expression"),
        ("traps", {}, "traps.json` is malformed"),
        ("about", {"file": FILE, "harness": HARNESS}, "about.json` is malformed"),
        ("about", {"file": FILE, "harness": HARNESS, "line": 1}, "Expected `int` >= 2 - at `$.line`"),
        ("about", {"file": "../s1.jsonl", "harness": HARNESS, "line": 2}, "outside of the data"),
        ("about", {"file": "/s1.jsonl", "harness": HARNESS, "line": 2}, "outside of the data"),
        ("about", {"file": "s\0.jsonl", "harness": HARNESS, "line": 2}, "outside of the data"),
    ],
)
def test_a_probe_that_cannot_be_used_is_named_with_a_hint(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: object, message: str
) -> None:
    folder = tmp_path_factory.mktemp("probes")
    write_probe(folder, "01", LINES, **{name: content})
    with pytest.raises(ProbeUnreadable) as caught:
        probes_in(folder, every)
    assert message in caught.value.message
    assert f"01/{name}.json`" in caught.value.message
    assert caught.value.hint
    assert "secret words" not in caught.value.message


@every_row(
    ("about", "message"),
    [
        ({"file": "gone.jsonl", "harness": HARNESS, "line": 5}, "gone.jsonl`"),
        ({"file": FILE, "harness": "nobody", "line": 5}, "nobody"),
        ({"file": HARNESS, "harness": HARNESS, "line": 5}, "is a directory"),
    ],
)
def test_a_brief_that_cannot_be_made_names_its_probe(
    tmp_path_factory: pytest.TempPathFactory, about: dict[str, object], message: str
) -> None:
    root = tmp_path_factory.mktemp("root")
    data = write_data(root / "data")
    write_probe(root / "probes", "01", about=about)
    with pytest.raises(ProbeUnreadable) as caught:
        briefs_from(data)(the_probe(root / "probes"), 2_000)
    assert caught.value.message.startswith("there is no brief for probe `01`: ")
    assert message in caught.value.message
    assert "--data" in caught.value.hint


def test_an_empty_brief_ends_the_run(probes: Path, data: Path) -> None:
    with pytest.raises(ProbeUnreadable, match="the brief for probe `01` is empty"):
        briefs_from(data)(the_probe(probes), 1)


def test_a_text_that_is_not_there_is_named(probes: Path, tmp_path: Path) -> None:
    with pytest.raises(ProbeUnreadable, match=r"01\.txt` cannot be read: No such file"):
        texts_in(tmp_path)(the_probe(probes), 2_000)


def test_no_probe_at_all_is_an_error(probes: Path) -> None:
    for read in (probes_in, probes_beside_summary):
        with pytest.raises(ProbeUnreadable, match="there is no probe to score"):
            read(probes, lambda name: name == "03")
    with pytest.raises(ProbeUnreadable, match="there is no probe to score"):
        probes_beside_summary(probes, every)


def test_a_file_that_is_too_large_or_no_file_is_not_read(probes: Path) -> None:
    questions = probes / "01" / "questions.json"
    with questions.open("r+b") as file:
        file.truncate(FILE_BYTES + 1)
    with pytest.raises(ProbeUnreadable, match="larger than 4 MB"):
        the_probe(probes)
    questions.unlink()
    os.mkfifo(questions)
    with pytest.raises(ProbeUnreadable, match="not a regular file"):
        the_probe(probes)
