"""`holdfast eval handover`: numbers for machines, tables for people, only numbers for validation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Person
from tests.engine.evaluation.test_handover import FILE, TRAP, write_data, write_probe
from tests.tables import every_row

ZEBRAS = "zebras"
"""What no brief of the made-up session holds."""


@pytest.fixture
def words(person: Person) -> list[str]:
    """The command on two probes: one cut before the invoices, with a trap, and one after."""
    data, probes = write_data(person.root / "data"), person.root / "probes"
    write_probe(probes, "01", 5, traps=[TRAP])
    write_probe(probes, "02", 6)
    return ["eval", "handover", "--data", str(data), "--probes", str(probes)]


def cut_rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if line.startswith("0")]


def test_json_has_a_number_for_every_measure(person: Person, words: list[str]) -> None:
    done = person.types(*words, "--json")
    assert done.status == 0, done.err
    assert done.json == {
        "handover": 0.5,
        "se": 0.25,
        "kinds": {"goal": 0.5, "next": 0.5},
        "misled": 1.0,
        "cuts": {"01": 0.25, "02": 0.75},
        "over_budget": [],
    }
    assert not person.home.exists()


def test_people_get_the_total_the_kinds_and_the_cuts(person: Person, words: list[str]) -> None:
    done = person.types(*words)
    assert done.status == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert ["handover", "0.500", "±", "0.250", "4", "questions"] in rows
    assert ["misled", "1.000", "1", "traps"] in rows
    assert ["goal", "0.500", "2"] in rows
    assert ["next", "0.500", "2"] in rows
    assert cut_rows(done.out) == [["01", "0.250", "2", "1", "of", "1"], ["02", "0.750", "2", "–"]]
    assert "cuts: 2; 2,000 characters each" in done.err
    assert ZEBRAS not in done.out + done.err


@every_row(
    ("only", "names"),
    [("01", ["01"]), ("01-02", ["01", "02"]), ("02-09, 00", ["02"]), ("02,01", ["01", "02"])],
)
def test_only_some_probes_are_measured(person: Person, words: list[str], only: str, names: list[str]) -> None:
    done = person.types(*words, "--only", only, "--json")
    assert done.status == 0, done.err
    assert list(done.json["cuts"]) == names


def test_a_budget_bounds_the_brief(person: Person, words: list[str]) -> None:
    texts = person.root / "texts"
    texts.mkdir()
    for name in ("01", "02"):
        (texts / f"{name}.txt").write_text("invoices are next; zebras\n")
    without_data = [*words[:2], *words[4:], "--texts", str(texts)]
    assert person.types(*without_data, "--json").json["handover"] == 0.75
    done = person.types(*without_data, "--budget", "17", "--json")
    assert (done.json["handover"], done.json["over_budget"]) == (0.5, ["01", "02"])
    assert (
        "over the budget, the rest did not count: 01, 02" in person.types(*without_data, "--budget", "17").err
    )


def test_beside_a_summary_only_what_it_lacks_counts(person: Person, words: list[str]) -> None:
    (person.root / "probes" / "02" / "native.txt").write_text("Zebras. The checkout of the shop.")
    done = person.types(*words, "--beside-summary", "--json")
    assert done.json["cuts"] == {"02": 1.0}
    assert done.json["kinds"] == {"next": 1.0}


def test_a_summary_that_holds_everything_leaves_nothing_to_measure(person: Person, words: list[str]) -> None:
    everything = "Zebras. The checkout of the shop. The invoices are next."
    (person.root / "probes" / "02" / "native.txt").write_text(everything)
    done = person.types(*words, "--beside-summary", "--json")
    assert (done.json["handover"], done.json["cuts"]) == (None, {"02": None})
    assert cut_rows(person.types(*words, "--beside-summary").out) == [["02", "–", "0", "–"]]


def test_what_is_missing_and_what_misleads_is_listed(person: Person, words: list[str]) -> None:
    done = person.types(*words, "--missing")
    assert done.status == 0, done.err
    assert ["01", "goal-1", "goal", ZEBRAS] in cut_rows(done.out)
    assert ["01", "next-1", "next", "invoices", "are", "next"] in cut_rows(done.out)
    assert ["01", "never", "mended"] in cut_rows(done.out)
    told = person.types(*words, "--missing", "--json").json
    assert told["missing"][0] == {"cut": "01", "question": "goal-1", "kind": "goal", "text": ZEBRAS}
    assert told["misleading"] == [{"cut": "01", "text": "never mended"}]


@pytest.fixture
def with_validation(person: Person, words: list[str]) -> list[str]:
    """The second probe is for validation, by its transcript."""
    data, about = person.root / "data", person.root / "probes" / "02" / "about.json"
    (data / "other.jsonl").write_bytes((data / FILE).read_bytes())
    about.write_text(json.dumps(json.loads(about.read_text()) | {"file": "other.jsonl"}))
    (person.root / "probes" / "validation.txt").write_text("other.jsonl\n")
    return words


@pytest.mark.parametrize("more", [[], ["--only", "02"], ["--only", "01-09"], ["--json"]])
def test_of_probes_for_validation_nothing_but_numbers_is_shown(
    person: Person, with_validation: list[str], more: list[str]
) -> None:
    done = person.types(*with_validation, "--missing", *more)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(
        "error: --missing shows no probe that `validation.txt` keeps for validation (02)"
    )
    assert "hint: name the others with --only" in done.err
    assert ZEBRAS not in done.err


def test_their_numbers_are_shown_and_development_probes_are_listed(
    person: Person, with_validation: list[str]
) -> None:
    assert person.types(*with_validation, "--json").json["cuts"] == {"01": 0.25, "02": 0.75}
    done = person.types(*with_validation, "--missing", "--only", "01")
    assert done.status == 0, done.err
    assert ZEBRAS in done.out


def test_a_broken_expression_of_a_probe_for_validation_is_not_quoted(
    person: Person, with_validation: list[str]
) -> None:
    questions = person.root / "probes" / "02" / "questions.json"
    nugget = {"text": "hidden words", "any": ["(hidden words"]}
    questions.write_text(json.dumps([{"id": "q", "kind": "goal", "nuggets": [nugget]}]))
    done = person.types(*with_validation)
    assert (done.status, done.out) == (1, "")
    assert "statement 1 of `q` has an invalid regular expression" in done.err
    assert "hidden words" not in done.err


def test_a_transcript_that_is_not_there_is_said_in_a_sentence(person: Person, words: list[str]) -> None:
    (person.root / "data" / FILE).unlink()
    done = person.types(*words)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: there is no brief for probe `01`: there is no file `")
    assert "\n\nhint: `about.json` names the harness, and the transcript by its path in --data" in done.err


def test_malformed_questions_are_said_in_a_sentence(person: Person, words: list[str]) -> None:
    (person.root / "probes" / "01" / "questions.json").write_text("[")
    done = person.types(*words)
    assert (done.status, done.out) == (1, "")
    assert "01/questions.json` is malformed: Input data was truncated" in done.err
    assert "\n\nhint: write [" in done.err


def test_no_probe_is_said_in_a_sentence(person: Person, words: list[str]) -> None:
    for done in (person.types(*words, "--only", "77"), person.types(*words, "--beside-summary")):
        assert (done.status, done.out) == (1, "")
        assert "there is no probe to score in" in done.err
        assert "hint: a probe is a folder with `about.json` and `questions.json`" in done.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--probes", "nowhere"], "'nowhere' does not exist"),
        (["--data", "nowhere"], "'nowhere' does not exist"),
        (["--texts", "nowhere"], "'nowhere' does not exist"),
        (["--budget", "0"], "0 is not in the range"),
        (["--budget", "100001"], "100001 is not in the range"),
        (["--only", ""], "names no probes; write it like 01-10,17-30"),
        (["--only", "01,,02"], "names no probes"),
        (["--only", "10-01"], "names no probes"),
    ],
)
def test_a_wrong_call_is_a_usage_error(
    person: Person, words: list[str], more: list[str], message: str
) -> None:
    done = person.types(*words, *more)
    assert (done.status, done.out) == (2, "")
    assert message in " ".join(done.err.split())


def test_data_or_texts_must_be_named(person: Person) -> None:
    done = person.types("eval", "handover", "--probes", str(Path.cwd()))
    assert (done.status, done.out) == (2, "")
    assert "Say --data DIR, or --texts DIR." in done.err
