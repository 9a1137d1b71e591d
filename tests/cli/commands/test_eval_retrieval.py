"""`holdfast eval retrieval`: numbers for machines and a table for people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.engine.evaluation.retrieval import FINDERS
from tests.cli.conftest import Person

MEASURES = ("r5", "r10", "hit1", "mrr")
SAID = ("I took up pottery", "The kiln is broken", "We moved to Oslo in May", "My sister paints")
QUESTIONS = [
    {"question": "What is broken?", "evidence": ["D1:2"], "category": 1},
    {"question": "Where did they move?", "evidence": ["D1:3"], "category": 2},
]


@pytest.fixture
def data(person: Person) -> Path:
    folder = person.root / "data"
    (folder / "devmembench").mkdir(parents=True)
    spoken = [{"speaker": "Ada", "dia_id": f"D1:{place}", "text": text} for place, text in enumerate(SAID, 1)]
    samples = [
        {"sample_id": name, "conversation": {"session_1": spoken}, "qa": QUESTIONS} for name in ("a", "b")
    ]
    (folder / "locomo10.json").write_text(json.dumps(samples))
    message = {"role": "user", "content": "We use FastAPI for the shop"}
    sessions = [{"sessionId": "S1", "messages": [message]}]
    question = {
        "questionType": "tech-stack",
        "question": "Which framework has the shop?",
        "groundTruth": "FastAPI",
        "haystackSessionIds": ["S1"],
    }
    (folder / "devmembench" / "sessions.json").write_text(json.dumps(sessions))
    (folder / "devmembench" / "questions.json").write_text(json.dumps([question]))
    return folder


def test_json_has_a_number_for_every_measure_of_every_finder(person: Person, data: Path) -> None:
    done = person.types("eval", "retrieval", "--data", str(data), "--json")
    assert done.status == 0, done.err
    told = done.json["locomo"]
    assert (told["conversations"], told["memories"], told["questions"]) == (2, 8, 4)
    assert list(told["finders"]) == list(FINDERS)
    for numbers in told["finders"].values():
        assert all(0 <= numbers[name] <= 1 and numbers[f"{name}_n"] == 4 for name in MEASURES)
        assert 0 <= numbers["latency_p50_ms"] <= numbers["latency_p95_ms"]
    assert told["finders"]["holdfast"]["hit1"] == 1
    assert [told["finders"]["empty"][name] for name in MEASURES] == [0, 0, 0, 0]
    assert {name: of["r5_n"] for name, of in told["by_category"].items()} == {"1": 2, "2": 2}
    assert {name: of["r5_n"] for name, of in told["by_conversation"].items()} == {"a": 2, "b": 2}
    dev = done.json["devmembench"]["finders"]
    assert (dev["holdfast"]["answer5"], dev["empty"]["answer10"]) == (1, 0)
    assert not person.home.exists()


def test_a_limit_asks_less(person: Person, data: Path) -> None:
    done = person.types("eval", "retrieval", "--data", str(data), "--limit", "1", "--json")
    assert (done.json["locomo"]["questions"], done.json["devmembench"]["questions"]) == (2, 1)


def test_people_get_a_row_for_each_finder(person: Person, data: Path) -> None:
    done = person.types("eval", "retrieval", "--data", str(data))
    assert done.status == 0, done.err
    for title in ("Holdfast  ", "keywords alone (BM25)", "vectors alone", "grep", "empty store (control)"):
        assert done.out.count(title) == 2, title
    locomo, devmembench = done.out.split("devmembench")
    assert "R@10" in locomo
    assert "answer@5" not in locomo
    assert "answer@5" in devmembench
    assert "4 questions about 8 memories" in done.err


def test_a_folder_without_a_set_is_reported_with_what_would_be_one(person: Person) -> None:
    empty = person.root / "empty"
    empty.mkdir()
    done = person.types("eval", "retrieval", "--data", str(empty), "--json")
    assert (done.status, done.out) == (1, "")
    assert "there is no known set" in done.err
    assert "locomo10*.json" in done.err
