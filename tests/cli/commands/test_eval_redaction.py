"""`holdfast eval redaction`: numbers for machines, tables for people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.engine.evaluation.redaction import Family, made_clean
from tests.cli.conftest import HARNESS, Person
from tests.core.made_up import HUNTER
from tests.engine.evaluation.test_redaction import finding
from tests.engine.evaluation.test_survival import kept, long_session

CLEAN = ("transcripts", *made_clean(1))


@pytest.fixture
def data(person: Person) -> Path:
    folder = person.root / "data" / "secrets"
    folder.mkdir(parents=True)
    findings = [
        finding("Password", HUNTER, f"password = {HUNTER}"),
        finding("Password", "swordfish", "a fish"),
        finding("Password", "trout", "a trout"),
    ]
    (folder / "labels.json").write_text(json.dumps(findings))
    kept(person.root / "data" / HARNESS / "s1.jsonl", long_session())
    return person.root / "data"


def test_json_has_a_number_for_every_measure(person: Person, data: Path) -> None:
    done = person.types("eval", "redaction", "--data", str(data), "--json")
    assert done.status == 0, done.err
    told = done.json
    assert told["recall"]["key_values"] == 0.6667
    assert told["recall"]["key_values_n"] == 3
    assert told["recall"]["all"] == told["recall_in_json"]["all"] == 0.6667
    assert told["recall_of_unknown_services"]["all"] == 0.6667
    assert {"all", *Family} <= told["recall"].keys()
    assert sum(half["all_n"] for half in told["halves"]) == 3
    for measure in ("false_redactions_per_million", "changed_characters_per_million"):
        assert told[measure] == dict.fromkeys(CLEAN, 0.0)
    assert told["characters"].keys() == set(CLEAN)
    assert told["megabytes_per_second"] > 0
    assert not person.home.exists()


def test_people_get_a_row_for_each_family_and_each_clean_text(person: Person, data: Path) -> None:
    done = person.types("eval", "redaction", "--data", str(data))
    assert done.status == 0, done.err
    row = next(line for line in done.out.splitlines() if line.startswith("values behind names"))
    assert row.split()[-5:-2] == ["0.667", "0.667", "0.667"]
    assert all(name.replace("_", " ") in done.out for name in CLEAN)
    assert "MB/s" in done.err


def test_nothing_to_measure_is_said_in_a_sentence(person: Person) -> None:
    done = person.types("eval", "redaction", "--data", ".")
    assert (done.status, done.out) == (1, "")
    assert "no labelled secrets and no transcripts" in done.err


@pytest.mark.parametrize("words", [[], ["--data", "nowhere"]])
def test_a_wrong_call_is_a_usage_error(person: Person, words: list[str]) -> None:
    done = person.types("eval", "redaction", *words)
    assert (done.status, done.out) == (2, "")
