"""`holdfast eval survival`: numbers for machines, tables, words and a picture for people."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.engine.evaluation.survival import BUILDERS
from holdfast.engine.views import measurements
from holdfast.stores.sqlite import open_store
from tests.cli.conftest import HARNESS, Person
from tests.engine.evaluation.test_survival import kept, long_session

MEASURES = ("survival", "survival_old", "precision", "constraints", "form")
CHECKS = ("last_state", "last_state_all", "stale_facts", "drift", "crash", "idempotence")


@pytest.fixture
def data(person: Person) -> Path:
    kept(person.root / "data" / HARNESS / "s1.jsonl", long_session())
    kept(person.root / "data" / HARNESS / "s2.jsonl", long_session()[:20])
    return person.root / "data"


def test_json_has_a_number_for_every_measure(person: Person, data: Path) -> None:
    done = person.types("eval", "survival", "--data", str(data), "--json")
    assert done.status == 0, done.err
    told = done.json
    assert (told["sessions"], told["cuts"]) == (2, {"real": 1, "virtual": 2})
    assert list(told["builders"]) == list(BUILDERS)
    for name in MEASURES:
        assert 0 <= told["builders"]["holdfast"]["virtual"][name] <= 1
        assert told["builders"]["holdfast"]["virtual"][f"{name}_n"] == 2
    assert told["builders"]["empty"]["real"]["survival"] == 0
    assert set(CHECKS) <= told["checks"].keys()
    assert told["checks"]["crash"] == 1
    assert told["harnesses"][HARNESS]["builders"] == told["builders"]
    assert not person.home.exists()


def test_two_runs_print_the_same(person: Person, data: Path) -> None:
    first, second = (person.types("eval", "survival", "--data", str(data), "--json") for _ in range(2))
    assert first.out == second.out


def test_a_limit_reads_less(person: Person, data: Path) -> None:
    done = person.types("eval", "survival", "--data", str(data), "--limit", "1", "--json")
    assert done.json["sessions"] == 1


def test_identifiers_that_do_not_recur_need_not_count(person: Person, data: Path) -> None:
    done = person.types("eval", "survival", "--data", str(data), "--recurring", "999", "--json")
    assert done.status == 0, done.err
    of = done.json["builders"]["holdfast"]["virtual"]
    assert of["survival"] == of["survival_without_names"]
    assert done.json["recurring"] == 999


def test_a_table_and_a_picture_say_which_identifiers_count(person: Person, data: Path) -> None:
    plot = person.root / "p.svg"
    done = person.types("eval", "survival", "--data", str(data), "--recurring", "3", "--plot", str(plot))
    assert "an identifier counts only if it was named 3 times or more before the cut" in done.err
    assert "names that recur 3 times" in plot.read_text()
    assert "identifier counts" not in person.types("eval", "survival", "--data", str(data)).err


def test_people_get_a_row_for_each_builder_and_cut(person: Person, data: Path) -> None:
    done = person.types("eval", "survival", "--data", str(data))
    assert done.status == 0, done.err
    rows = [line for line in done.out.splitlines() if line.startswith("Holdfast's brief  ")]
    assert [("real" in row, "virtual" in row) for row in rows] == [(True, False), (False, True)]
    assert "bare list of facts" in done.out
    assert "idempotence" in done.out


def test_the_picture_has_a_bar_for_each_builder_and_cut(person: Person, data: Path) -> None:
    picture = person.root / "survival.svg"
    done = person.types("eval", "survival", "--data", str(data), "--plot", str(picture))
    assert done.status == 0, done.err
    svg = ET.fromstring(picture.read_text())
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "Holdfast's brief" in texts
    assert "the harness's summary, whole" in texts
    # A background, two squares of the legend, two bars for each builder; four need a summary and have one.
    bars = len(BUILDERS) * 2 - 4
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}rect"))) == 1 + 2 + bars


def test_history_says_in_words_what_would_have_been_saved(person: Person) -> None:
    kept(person.settings.parent / "projects" / "p" / "s1.jsonl", long_session())
    done = person.types("eval", "survival", "--history")
    assert done.status == 0, done.err
    words = done.out.splitlines()[-1]
    assert words.startswith("1 of your sessions was read. Once the context was compacted")
    assert "Holdfast's brief of 2,000 characters would have had" in words
    with closing(open_store(person.home / "store.db", person.home / "backups", 0)) as store:
        (measured,) = measurements.stored_evaluations(store)
    assert (measured.name, measured.report["sessions"]) == ("survival", 1)


def test_history_without_a_compaction_says_so(person: Person) -> None:
    kept(person.settings.parent / "projects" / "p" / "s1.jsonl", long_session()[:30])
    done = person.types("eval", "survival", "--history")
    assert "None was compacted" in done.out


@pytest.mark.parametrize("words", [[], ["--history", "--data", "."], ["--data", "nowhere"], ["--limit", "0"]])
def test_a_wrong_call_is_a_usage_error(person: Person, words: list[str]) -> None:
    done = person.types("eval", "survival", *words)
    assert (done.status, done.out) == (2, "")


def test_no_transcript_is_said_in_a_sentence(person: Person) -> None:
    done = person.types("eval", "survival", "--data", ".")
    assert (done.status, done.out) == (1, "")
    assert "no transcript of a known harness" in done.err


def test_transcripts_that_tell_nothing_are_said_in_a_sentence(person: Person) -> None:
    kept(person.project / HARNESS / "s1.jsonl", [])
    done = person.types("eval", "survival", "--data", ".")
    assert (done.status, done.out) == (1, "")
    assert "tells anything" in done.err
