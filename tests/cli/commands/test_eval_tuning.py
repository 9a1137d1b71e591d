"""`holdfast eval handover --tune`: a table to paste and how good it is, without any validation session."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from holdfast.core.evaluation.feature_groups import FEATURE_GROUPS
from tests.cli.conftest import Person
from tests.engine.evaluation.test_handover import HARNESS
from tests.engine.evaluation.test_training_data import compacted, talk, write_questions, write_session

SECRET = "secret"


@pytest.fixture
def words(person: Person) -> list[str]:
    """The command on probes of three sessions in two projects, and a session that was compacted."""
    data, probes = person.root / "data", person.root / "probes"
    for name, project in {"a": "one", "b": "one", "c": "two"}.items():
        write_session(data, f"{project}/{name}.jsonl", talk(name, project))
        write_questions(probes, name, f"{project}/{name}.jsonl", name)
    write_session(data, "parts/long.jsonl", compacted())
    return ["eval", "handover", "--data", str(data), "--probes", str(probes), "--tune"]


def add_validation_session(person: Person) -> None:
    """A session with a compaction and a probe of its own, that is kept for validation."""
    records = [{**one, "cwd": "/home/you/one"} for one in [*talk(SECRET), *compacted()]]
    for number, one in enumerate(records):
        one["uuid"] = f"{SECRET}-{number}"
    write_session(person.root / "data", "one/secret.jsonl", records)
    write_questions(person.root / "probes", "d", "one/secret.jsonl", SECRET)
    (person.root / "probes" / "validation.txt").write_text(f"{HARNESS}/one/secret.jsonl\n")


def test_json_has_every_judgement_and_the_new_table(person: Person, words: list[str]) -> None:
    done = person.types(*words, "--json")
    assert done.status == 0, done.err
    report = done.json
    assert [report[name] for name in ("cuts", "sessions", "projects", "left_out")] == [3, 3, 2, 0]
    assert report["statements"].keys() == {"probes", "summaries", "use"}
    assert list(report["tables"]) == [
        "shipped",
        "fitted, judged where it was fitted",
        "fitted, each session held out",
        "fitted, each project held out",
    ]
    assert list(report["learning_curve"]) == ["all sessions"]
    assert list(report["features"]) == ["all", *(f"without {group}" for group in FEATURE_GROUPS)]
    assert [*report["labels"]] == [
        "all",
        "without probes",
        "without summaries",
        "without use",
        "probes alone",
    ]
    for part in ("tables", "learning_curve", "features", "labels"):
        for judgements in report[part].values():
            assert judgements.keys() == {"2000", "6000"}
            assert all(0 <= one["handover"] <= 1 and 0 <= one["misled"] <= 1 for one in judgements.values())
    assert report["labels"]["all"] == report["tables"]["fitted, each session held out"]
    assert all(isinstance(weight, float) for weight in report["weights"].values())


def test_people_get_tables_and_python_to_paste_and_nothing_changes(person: Person, words: list[str]) -> None:
    before = sorted(person.root.rglob("*"))
    done = person.types(*words)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    for begin in ("shipped", "all sessions", "without recency", "without summaries"):
        assert sum(line.startswith(f"{begin}  ") for line in lines) == 1, begin
    start = lines.index("WEIGHTS: Final[Mapping[str, float]] = {")
    (assignment,) = ast.parse("\n".join(lines[start:])).body
    assert isinstance(assignment, ast.AnnAssign)
    assert assignment.value is not None
    assert ast.literal_eval(assignment.value) == person.types(*words, "--json").json["weights"]
    assert "cuts: 3 in 3 sessions of 2 projects" in done.err
    assert "nothing was changed" in done.err
    assert sorted(person.root.rglob("*")) == before
    assert not person.home.exists()


def test_a_validation_session_makes_no_difference(person: Person, words: list[str]) -> None:
    without = person.types(*words, "--json").json
    add_validation_session(person)
    beside = person.types(*words, "--json")
    assert beside.status == 0, beside.err
    assert beside.json == {**without, "left_out": 1}
    # It would, if it were used.
    (person.root / "probes" / "validation.txt").unlink()
    used = person.types(*words, "--json").json
    assert used["sessions"] == 4
    assert used["weights"] != without["weights"]


def test_only_some_probes_are_fitted(person: Person, words: list[str]) -> None:
    assert person.types(*words, "--only", "a-b", "--json").json["sessions"] == 2


@pytest.mark.parametrize(
    "more", [["--missing"], ["--beside-summary"], ["--budget", "2000"], ["--texts", "."]], ids=" ".join
)
def test_an_option_that_would_be_ignored_is_refused(
    person: Person, words: list[str], more: list[str]
) -> None:
    done = person.types(*words, *more)
    assert (done.status, done.out) == (2, "")
    assert "--tune goes with" in done.err


def test_it_needs_data(person: Person, words: list[str]) -> None:
    done = person.types(*words[:2], *words[4:])
    assert (done.status, done.out) == (2, "")
    assert "--tune needs --data DIR" in done.err


def test_too_little_to_fit_is_said_in_a_sentence(person: Person, words: list[str]) -> None:
    for name in "bc":
        shutil.rmtree(Path(words[5], name))
    done = person.types(*words)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: there is nothing to fit: ")
    assert "\n\nhint: write more probes" in done.err
