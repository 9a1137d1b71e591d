"""What a model may say to the two layers: of the shape that was asked for, and held against the rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.core.agent_log.summary import Failed
from holdfast.core.documents.continuity import ContinuityPart, LayerName
from holdfast.core.documents.continuity_model import answer, question
from holdfast.core.documents.continuity_summary import (
    Author,
    Confidence,
    EvidenceCounts,
    GeneratedSummary,
    confidence,
    generated,
)
from holdfast.core.events.event import Action, Event
from holdfast.core.session.session import Session
from tests.core.scenes import after, called, prompt, returned, said, session

EMPTY: dict[str, Any] = {
    "goal": "",
    "confirmedWorking": [],
    "triedAndFailed": [],
    "notYetTried": [],
    "incompleteNext": [],
    "filesDecisionsEnvironment": [],
}


def ran(command: str, *, ok: bool, text: str = "") -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command, ok=ok, text=text, exit_status=int(not ok))


def worked() -> Session:
    return after(
        session(),
        prompt("Mend the retry of the client", "p1"),
        called("e", Action.EDIT, "/home/you/app/src/retry.py"),
        returned("e"),
        *ran("make test 2>&1 | tail -5", ok=False, text="E  ValueError: no port\n1 failed"),
        *ran("make lint 2>&1 | tail -5", ok=True),
        said("Next step: run the migration on staging.", "a1"),
    )


GOOD: dict[str, Any] = {
    "project": {
        **EMPTY,
        "goal": "Mend the retry",
        "confirmedWorking": ["`make lint` is clean"],
        "triedAndFailed": ["`make test`: no port"],
    },
    "projectLocal": {
        **EMPTY,
        "goal": "continue",
        "incompleteNext": ["run the migration on staging"],
        "filesDecisionsEnvironment": ["/home/you/app/src/retry.py: the backoff"],
    },
}


def read(text: str) -> GeneratedSummary | Failed:
    done = worked()
    return answer(text, done, generated(done))


def changed(layer: str, **rows: object) -> str:
    return json.dumps({**GOOD, layer: {**GOOD[layer], **rows}})


def test_an_answer_is_taken_over_with_paths_from_the_top_and_a_real_goal() -> None:
    result = read(f"Here you are:\n```json\n{json.dumps(GOOD)}\n```")
    assert isinstance(result, GeneratedSummary)
    shared, local = result.layers[LayerName.SHARED], result.layers[LayerName.LOCAL]
    assert (shared.goal, local.goal) == ("Mend the retry", "Mend the retry of the client")
    assert shared.of(ContinuityPart.CONFIRMED) == ("`make lint` is clean",)
    assert local.of(ContinuityPart.NOTES) == ("src/retry.py: the backoff",)
    assert (result.confidence, result.warnings) == (Confidence.HIGH, ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no answer"),
        ("I cannot do that.", "not as asked"),
        (
            json.dumps({"project": GOOD["project"]}),
            "not as asked: Object missing required field `projectLocal`",
        ),
        (json.dumps({"project": {"goal": "x"}, "projectLocal": EMPTY}), "missing required field"),
        (changed("project", triedAndFailed="all"), "Expected `array`, got `str`"),
        (json.dumps({"project": EMPTY, "projectLocal": EMPTY}), "it says nothing of the commands"),
        ("[" * 100_000, "not as asked"),
    ],
)
def test_an_answer_that_is_of_no_use_says_why(text: str, reason: str) -> None:
    result = read(text)
    assert isinstance(result, Failed)
    assert reason in result.reason


@pytest.mark.parametrize(
    ("text", "confidence", "warning"),
    [
        (changed("projectLocal", incompleteNext=[]), Confidence.MEDIUM, ""),
        (changed("project", confirmedWorking=["the linter"]), Confidence.MEDIUM, ""),
        (
            changed("project", confirmedWorking=["`make test` is green"]),
            Confidence.LOW,
            "outcome: the model counts `make test` as working, but it failed last",
        ),
        (
            changed("project", triedAndFailed=["`make lint` has errors"]),
            Confidence.LOW,
            "outcome: the model counts `make lint` as failing, but it passed last",
        ),
        (changed("project", triedAndFailed=["`make test-all`", "`make test`"]), Confidence.HIGH, ""),
    ],
)
def test_a_model_is_held_against_the_rules(text: str, confidence: Confidence, warning: str) -> None:
    result = read(text)
    assert isinstance(result, GeneratedSummary)
    assert (result.confidence, result.warnings) == (confidence, (warning,) if warning else ())


SOME, NONE = EvidenceCounts(1, 0, 0, 0, 0), EvidenceCounts(0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("author", "counts", "warnings", "expected"),
    [
        (Author.AGREED, SOME, (), Confidence.HIGH),
        (Author.MODEL, SOME, (), Confidence.MEDIUM),
        (Author.RULES, SOME, (), Confidence.MEDIUM),
        (Author.STAND_IN, SOME, (), Confidence.LOW),
        (Author.AGREED, SOME, ("conflict",), Confidence.LOW),
        (Author.MODEL, SOME, ("conflict",), Confidence.LOW),
        (Author.RULES, SOME, ("conflict",), Confidence.LOW),
        (Author.AGREED, NONE, (), Confidence.LOW),
        (Author.RULES, NONE, (), Confidence.LOW),
    ],
)
def test_confidence_by_author_evidence_and_conflict(
    author: Author, counts: EvidenceCounts, warnings: tuple[str, ...], expected: Confidence
) -> None:
    assert confidence(author, counts, warnings) is expected


def test_the_question_gives_the_schema_then_the_evidence() -> None:
    asked = question(worked(), ())
    places = [
        asked.index(part) for part in ('"projectLocal"', "`make lint`", "src/retry.py", "## Conversation")
    ]
    assert places == sorted(places)
