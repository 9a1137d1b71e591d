"""Whether what is found is measured rightly, on small conversations with known answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.engine.evaluation.retrieval import (
    DEVMEMBENCH,
    FINDERS,
    HOLDFAST,
    LOCOMO,
    Collection,
    QuestionResult,
    RetrievalQuestion,
    Turn,
    collections_in,
    library_of,
    means,
    results_for,
    scores,
)
from holdfast.errors import TranscriptUnreadable
from holdfast.models import embedder

EMBEDDER = embedder()
SAID = (
    ("s1", "Ada: Which database shall we take for the orders?"),
    ("s1", "Bob: Postgres, because of the constraints."),
    ("s1", "Ada: Fine with me."),
    ("s2", "Ada: The invoice parser fails on Windows."),
    ("s2", "Bob: That was the line endings, I repaired it."),
    ("s3", "Ada: Let us have lunch."),
)


def turns(*said: tuple[str, str]) -> tuple[Turn, ...]:
    """Turns with ids `t0`, `t1`, …, each with its place in its session."""
    sessions = [session for session, _ in said]
    return tuple(
        Turn(f"t{number}", text, session, sessions[:number].count(session), f"t{number}")
        for number, (session, text) in enumerate(said)
    )


def asked(text: str, *evidence: str, answer: str = "") -> RetrievalQuestion:
    return RetrievalQuestion(text, "1", frozenset(evidence), answer)


def found_by(finder: str, question: str) -> list[str]:
    with library_of(Collection("c", turns(*SAID), ()), EMBEDDER) as library:
        return FINDERS[finder](library, question)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["t0", "t1", "t2"], {"r5": 1, "r10": 1, "hit1": 1, "mrr": 1}),
        (["t2", "t0"], {"r5": 0.5, "r10": 0.5, "hit1": 0, "mrr": 0.5}),
        (["t2"] * 5 + ["t1"], {"r5": 0, "r10": 0.5, "hit1": 0, "mrr": 1 / 6}),
        (["t2"] * 10 + ["t1"], {"r5": 0, "r10": 0, "hit1": 0, "mrr": 1 / 11}),
        ([], {"r5": 0, "r10": 0, "hit1": 0, "mrr": 0}),
    ],
)
def test_each_measure_is_what_it_says(found: list[str], expected: dict[str, float]) -> None:
    by_id = {turn.id: turn for turn in turns(*SAID)}
    measures = scores(asked("?", "t0", "t1"), [by_id[id] for id in found])
    assert {name: measures[name] for name in expected} == pytest.approx(expected)


def test_an_answer_is_reported_as_far_as_its_words_are_there() -> None:
    database, postgres, *_ = turns(*SAID)
    question = asked("Which database?", "t1", answer="Postgres, for its constraints and speed")
    assert scores(question, [database, postgres])["answer5"] == pytest.approx(2 / 3)
    assert scores(question, [])["answer5"] == 0
    assert scores(asked("Which database?", "t1"), [postgres])["answer5"] is None


def test_means_leave_out_what_could_not_be_measured() -> None:
    rows = [
        QuestionResult(HOLDFAST, "c", "1", scores(asked("?", "t0", answer=answer), turns(*SAID)), 1.0)
        for answer in ("Postgres", "")
    ]
    assert means(rows)["hit1"].n == 2
    assert (means(rows)["answer5"].value, means(rows)["answer5"].n) == (1, 1)


def test_every_finder_is_asked_every_question_and_an_empty_store_finds_nothing() -> None:
    with library_of(Collection("c", turns(*SAID), ()), EMBEDDER) as library:
        rows = results_for("c", asked("What broke the invoice parser?", "t3"), library)
    assert [row.finder for row in rows] == list(FINDERS)
    by_finder = {row.finder: row.measures for row in rows}
    assert {name: measures["hit1"] for name, measures in by_finder.items()} == {
        HOLDFAST: 1,
        "holdfast_alone": 1,
        "keywords": 1,
        "meaning": 1,
        "grep": 1,
        "empty": 0,
    }
    assert set(by_finder["empty"].values()) == {0, None}


def test_recall_finds_the_answer_beside_the_words_that_were_asked_for() -> None:
    question = "Which database did they choose for the orders?"
    assert found_by(HOLDFAST, question)[:2] == ["t0", "t1"]
    assert "t1" not in found_by("keywords", question)


def test_recall_finds_other_words_for_the_same() -> None:
    assert "t4" not in found_by("grep", "who fixed it")
    assert found_by(HOLDFAST, "who fixed it")[0] == "t4"


def test_a_question_without_any_word_finds_no_keyword() -> None:
    assert found_by("keywords", "what is it?") == []
    assert found_by("grep", "what is it?") == []


def locomo(tmp_path: Path, **changes: object) -> Path:
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "session_1_date_time": "noon",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "I paint", "img_url": ["x"]},
            ],
            "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "Bye"}],
        },
        "qa": [
            {"question": "Who paints?", "answer": 7, "evidence": ["D1:2"], "category": 4},
            {"question": "Both?", "evidence": ["D1:2; D:2:1"], "category": 1},
            {"question": "Nowhere?", "evidence": ["D9:9", "D"], "category": 2},
            {"question": "A trap?", "evidence": ["D1:1"], "category": 5},
        ],
    }
    path = tmp_path / "deep" / "locomo10.dev.json"
    path.parent.mkdir()
    path.write_text(json.dumps([sample | changes]))
    return path


def test_locomo_is_one_memory_for_each_turn_and_a_collection_for_each_conversation(tmp_path: Path) -> None:
    locomo(tmp_path)
    (collection,) = collections_in(tmp_path)[LOCOMO]
    assert collection == Collection(
        "conv-1",
        (
            Turn("D1:1", "Ada: Hello", "1", 0, "D1:1"),
            Turn("D1:2", "Bob: I paint", "1", 1, "D1:2"),
            Turn("D2:1", "Ada: Bye", "2", 0, "D2:1"),
        ),
        (
            RetrievalQuestion("Who paints?", "4", frozenset({"D1:2"})),
            RetrievalQuestion("Both?", "1", frozenset({"D1:2", "D2:1"})),
        ),
    )


def test_devmembench_is_one_memory_for_each_message_and_counts_sessions(tmp_path: Path) -> None:
    folder = tmp_path / "somewhere" / "devmembench"
    folder.mkdir(parents=True)
    sessions = [
        {"sessionId": "S1", "metadata": {}, "messages": [{"role": "user", "content": "Use FastAPI"}] * 2},
        {"sessionId": "S2", "messages": []},
    ]
    questions = [
        {
            "questionId": "Q1",
            "questionType": "tech-stack",
            "question": "Which framework?",
            "groundTruth": "FastAPI",
            "haystackSessionIds": ["S1"],
        },
        {
            "questionType": "abstention",
            "question": "Which editor?",
            "groundTruth": "Not mentioned",
            "haystackSessionIds": [],
        },
    ]
    (folder / "sessions.json").write_text(json.dumps(sessions))
    (folder / "questions.dev.json").write_text(json.dumps(questions))
    expected = Collection(
        "devmembench",
        (Turn("S1:0", "Use FastAPI", "S1", 0, "S1"), Turn("S1:1", "Use FastAPI", "S1", 1, "S1")),
        (RetrievalQuestion("Which framework?", "tech-stack", frozenset({"S1"}), "FastAPI"),),
    )
    assert collections_in(tmp_path) == {DEVMEMBENCH: [expected]}
    assert collections_in(folder) == {DEVMEMBENCH: [expected]}


def test_a_folder_without_a_set_has_none(tmp_path: Path) -> None:
    assert collections_in(tmp_path) == {}


@pytest.mark.parametrize(
    "changes",
    [{"qa": "none"}, {"conversation": {"session_1": [{"speaker": "Ada"}]}}, {"conversation": []}],
)
def test_a_file_that_is_laid_out_otherwise_is_named(tmp_path: Path, changes: dict[str, object]) -> None:
    path = locomo(tmp_path, **changes)
    with pytest.raises(TranscriptUnreadable, match=path.name):
        collections_in(tmp_path)
