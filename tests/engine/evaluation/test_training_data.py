"""Training data: what is labelled, what belongs together, and that no validation session is used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

from holdfast.core.evaluation.labels import LabelSource, StatementVerdict
from holdfast.engine.evaluation.handover import Probe, probes_to_fit
from holdfast.engine.evaluation.training_data import (
    MOST_STATEMENTS,
    UsableTranscripts,
    case_of,
    judged_cuts,
    outline,
    rows_of_case,
    rows_of_judged,
    rows_of_transcript,
    transcripts_of,
    usable,
)
from holdfast.errors import JudgementsUnreadable, ProbeUnreadable
from tests.engine.evaluation.test_handover import HARNESS, every, nugget, question, write_probe
from tests.engine.evaluation.test_survival import compaction, kept, work
from tests.harnesses.claude_code_records import Json, assistant, text, user

SHOP, CAFE = "shop", "cafe"


def talk(name: str, project: str = SHOP) -> list[Json]:
    """A short session about a thing of its own, in a directory of its project's."""
    records = [
        user(f"Please mend the checkout of {name}.", uuid=f"{name}-p1"),
        assistant(text(f"The root cause is `round_{name}`."), uuid=f"{name}-a1", request=f"{name}-m1"),
        user(f"Never touch the client of {name}.", uuid=f"{name}-p2"),
        assistant(
            text(f"`round_{name}` is mended, all tests pass."), uuid=f"{name}-a2", request=f"{name}-m2"
        ),
        user(f"Now do the invoices of {name}.", uuid=f"{name}-p3"),
    ]
    return [{**one, "cwd": f"/home/you/{project}"} for one in records]


def compacted() -> list[Json]:
    """A long session with a summary, after which the agent comes back to what it named."""
    records = [user("Mend fact_1 and fact_2 next.", uuid="p1"), *work(0, 40), *compaction(1), *work(40, 20)]
    return [{**one, "cwd": "/home/you/parts"} for one in records]


def write_session(data: Path, file: str, records: Sequence[Json]) -> None:
    kept(data / HARNESS / file, list(records))


def write_questions(probes: Path, name: str, file: str, session: str, line: int = 5) -> None:
    about = {"file": f"{HARNESS}/{file}", "harness": HARNESS, "line": line}
    rule = question("rule-1", "constraint", nugget("the client", f"never touch the client of {session}"))
    cause = question("decision-1", "decision", nugget("the cause", f"root cause is .round_{session}"))
    trap = nugget("the tests", "all tests pass")
    write_probe(probes, name, about=about, questions=[rule, cause], traps=[trap])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "probes").mkdir()
    return tmp_path / "probes"


def read(data: Path, folder: Path) -> tuple[list[Probe], UsableTranscripts]:
    probes, validation = probes_to_fit(folder, every)
    outlines = [outline(one, data) for one in transcripts_of(data, probes)]
    return probes, usable(outlines, validation)


def test_statements_are_labelled_by_the_questions_at_their_cut(data: Path, folder: Path) -> None:
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_questions(folder, "01", f"{SHOP}/a.jsonl", "a")
    (probe,), available = read(data, folder)
    case = case_of(probe, data, available)
    assert case is not None
    rows = list(rows_of_case(case))
    assert {row.source for row in rows} == {LabelSource.PROBES}
    assert sorted(row.row.weight for row in rows if row.row.is_positive) == [30.0, 30.0]
    assert [row.row.weight for row in rows if row.row.weight == 5.0 and not row.row.is_positive]
    assert case.score({"section rules": 5.0, "section decisions": 5.0}, 2_000).share == 1.0


def test_a_brief_is_scored_with_the_table_that_is_passed(data: Path, folder: Path) -> None:
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_questions(folder, "01", f"{SHOP}/a.jsonl", "a")
    (probe,), available = read(data, folder)
    case = case_of(probe, data, available)
    assert case is not None
    narrow = 300
    tables = {"section decisions": 9.0, "bias": -9.0}, {"section rules": 9.0, "bias": -9.0}
    with_cause, with_rule = (
        [one.id for one in case.score(table, narrow).questions if one.share] for table in tables
    )
    assert "decision-1" in with_cause
    assert "decision-1" not in with_rule


def test_transcripts_with_a_record_in_common_are_one_session(data: Path, folder: Path) -> None:
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_session(data, f"{CAFE}/a-resumed.jsonl", [*talk("a")[:2], *talk("b", CAFE)])
    write_session(data, f"{CAFE}/c.jsonl", talk("c", CAFE))
    write_questions(folder, "01", f"{SHOP}/a.jsonl", "a")
    origins = read(data, folder)[1].origins
    assert [
        origins[f"{HARNESS}/{name}"].session for name in (f"{SHOP}/a.jsonl", f"{CAFE}/a-resumed.jsonl")
    ] == [f"{HARNESS}/{CAFE}/a-resumed.jsonl"] * 2
    assert origins[f"{HARNESS}/{CAFE}/c.jsonl"].session == f"{HARNESS}/{CAFE}/c.jsonl"
    # What shares a session shares its project too.
    assert len({origin.project for origin in origins.values()}) == 1


@pytest.mark.parametrize(
    ("first", "second", "are_one"),
    [
        (("one/a.jsonl", SHOP), ("one/b.jsonl", CAFE), True),
        (("one/a.jsonl", SHOP), ("two/b.jsonl", SHOP), True),
        (("one/a.jsonl", SHOP), ("two/b.jsonl", CAFE), False),
        (("a.jsonl", SHOP), ("b.jsonl", CAFE), False),
    ],
    ids=["one folder", "one directory", "neither", "only the harness's folder"],
)
def test_a_project_is_a_folder_or_a_working_directory(
    data: Path, folder: Path, first: tuple[str, str], second: tuple[str, str], *, are_one: bool
) -> None:
    for (file, project), name in zip((first, second), "ab", strict=True):
        write_session(data, file, talk(name, project))
    write_questions(folder, "01", first[0], "a")
    projects = {origin.project for origin in read(data, folder)[1].origins.values()}
    assert (len(projects) == 1) is are_one


def test_a_compacted_session_is_labelled_by_its_summary_and_by_what_was_used(
    data: Path, folder: Path
) -> None:
    write_session(data, "parts/long.jsonl", compacted())
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_questions(folder, "01", f"{SHOP}/a.jsonl", "a")
    _, available = read(data, folder)
    rows = list(rows_of_transcript(f"{HARNESS}/parts/long.jsonl", available))
    by_source = {
        source: [row.row.is_positive for row in rows if row.source is source]
        for source in (LabelSource.SUMMARIES, LabelSource.USE)
    }
    assert all(True in labels for labels in by_source.values())
    assert all(1 < len(labels) <= MOST_STATEMENTS for labels in by_source.values())
    assert all(row.row.features[f"labelled by {row.source}"] == 1.0 for row in rows)
    assert not list(rows_of_transcript(f"{HARNESS}/{SHOP}/a.jsonl", available))


LISTED = f"{HARNESS}/{SHOP}/secret.jsonl"


@pytest.fixture
def validated(data: Path, folder: Path) -> Path:
    """Two sessions for fitting; one for validation in three files, with two probes and a compaction."""
    secret = [*talk("secret"), *compacted()]
    write_session(data, f"{SHOP}/secret.jsonl", secret)
    write_session(data, f"{CAFE}/copy.jsonl", secret)
    write_session(data, f"{CAFE}/later.jsonl", [*secret[-3:], *talk("later", CAFE)])
    for name in ("a", "b"):
        write_session(data, f"{SHOP}/{name}.jsonl", talk(name))
        write_questions(folder, name, f"{SHOP}/{name}.jsonl", name)
    write_questions(folder, "copied", f"{CAFE}/copy.jsonl", "secret")
    write_questions(folder, "hidden", f"{SHOP}/secret.jsonl", "secret")
    return folder


@pytest.mark.parametrize("line", [LISTED, f"./{LISTED}", "hidden"])
def test_no_session_of_a_validation_probe_is_used(data: Path, validated: Path, line: str) -> None:
    (validated / "validation.txt").write_text(f"{line}\n")
    probes, available = read(data, validated)
    assert [probe.name for probe in probes if case_of(probe, data, available)] == ["a", "b"]
    assert available.transcripts.keys() == {f"{HARNESS}/{SHOP}/a.jsonl", f"{HARNESS}/{SHOP}/b.jsonl"}
    assert available.origins.keys() == available.transcripts.keys()
    assert available.left_out == 3


def test_without_the_list_the_same_sessions_are_used(data: Path, validated: Path) -> None:
    probes, available = read(data, validated)
    assert [probe.name for probe in probes if case_of(probe, data, available)] == [
        "a",
        "b",
        "copied",
        "hidden",
    ]
    assert available.left_out == 0
    assert any(rows_of_transcript(LISTED, available))


def test_of_a_validation_probe_only_the_transcript_is_read(data: Path, validated: Path) -> None:
    (validated / "validation.txt").write_text(f"{LISTED}\n")
    (validated / "hidden" / "questions.json").write_text("not read")
    probes, validation = probes_to_fit(validated, lambda name: name != "hidden")
    assert [probe.name for probe in probes] == ["a", "b", "copied"]
    assert PurePosixPath(LISTED) in validation
    (validated / "validation.txt").unlink()
    with pytest.raises(ProbeUnreadable):
        probes_to_fit(validated, every)


def test_a_probe_without_its_transcript_is_an_error_that_names_it(data: Path, folder: Path) -> None:
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_questions(folder, "01", f"{SHOP}/b.jsonl", "b")
    (probe,), available = read(data, folder)
    with pytest.raises(ProbeUnreadable, match="probe `01`"):
        case_of(probe, data, available)


def judge(path: Path, file: str, **verdicts: StatementVerdict) -> Path:
    """A file in which readers judged the cause and the rule after four events of a session."""
    texts = {"cause": "The root cause is `round_a`.", "rule": "Never touch the client of a."}
    rows = [
        {"file": file, "events": 4, "text": texts[name], "verdict": verdict}
        for name, verdict in verdicts.items()
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_statements_are_labelled_by_readers_after_so_many_events(
    data: Path, folder: Path, tmp_path: Path
) -> None:
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_session(data, f"{CAFE}/b.jsonl", talk("b", CAFE))
    write_questions(folder, "01", f"{CAFE}/b.jsonl", "b")
    _, available = read(data, folder)
    file, path = f"{HARNESS}/{SHOP}/a.jsonl", tmp_path / "judged.jsonl"
    judge(path, file, cause=StatementVerdict.OUTDATED, rule=StatementVerdict.NEEDED)
    (cut,) = judged_cuts(path)
    rows = list(rows_of_judged(cut, available))
    assert {row.source for row in rows} == {LabelSource.READERS}
    assert sorted(row.row.is_positive for row in rows) == [False, True]
    assert {row.origin.session for row in rows} == {file}


def test_what_readers_judged_in_a_validation_session_is_not_used(
    data: Path, folder: Path, tmp_path: Path
) -> None:
    write_session(data, f"{SHOP}/a.jsonl", talk("a"))
    write_session(data, f"{CAFE}/b.jsonl", talk("b", CAFE))
    write_questions(folder, "01", f"{CAFE}/b.jsonl", "b")
    (folder / "validation.txt").write_text(f"{HARNESS}/{SHOP}/a.jsonl\n")
    _, available = read(data, folder)
    path = judge(tmp_path / "judged.jsonl", f"{HARNESS}/{SHOP}/a.jsonl", rule=StatementVerdict.NEEDED)
    assert [row for cut in judged_cuts(path) for row in rows_of_judged(cut, available)] == []


@pytest.mark.parametrize("line", ["{", '{"file": "a", "events": 4, "text": "b", "verdict": "good"}', "[]"])
def test_a_line_that_is_no_judgement_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(JudgementsUnreadable, match="line 2 of "):
        judged_cuts(path)
