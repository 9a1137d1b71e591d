"""Tuning: a table is judged where it was not fitted, the same data give the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.core.evaluation.feature_groups import FEATURE_GROUPS
from holdfast.core.evaluation.labels import LabelSource
from holdfast.core.evaluation.regression import BIAS, Row
from holdfast.core.work.weights import WEIGHTS
from holdfast.engine.evaluation.training_data import (
    LABELLED_BY,
    ProbeCase,
    TrainingData,
    TrainingOrigin,
    TrainingRow,
    case_of,
    rows_of_case,
)
from holdfast.engine.evaluation.tuning import (
    BUDGETS,
    SOURCES,
    Fitting,
    HeldOut,
    as_table,
    judge,
    new_table,
    tables_by_case,
    trials,
)
from tests.engine.evaluation.test_training_data import read, talk, write_questions, write_session

SESSIONS = {"a": "one", "b": "one", "c": "two", "d": "two", "e": "three"}
"""Sessions by name, with their projects."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[ProbeCase, ...]:
    """A probe of each session; one session has two."""
    root = tmp_path_factory.mktemp("tuning")
    data, folder = root / "data", root / "probes"
    for name, project in SESSIONS.items():
        write_session(data, f"{project}/{name}.jsonl", talk(name, project))
        write_questions(folder, name, f"{project}/{name}.jsonl", name)
    write_questions(folder, "a-earlier", "one/a.jsonl", "a", line=4)
    probes, available = read(data, folder)
    return tuple(case for probe in probes if (case := case_of(probe, data, available)))


@pytest.fixture(scope="module")
def training(cases: tuple[ProbeCase, ...]) -> TrainingData:
    return TrainingData(cases, tuple(row for case in cases for row in rows_of_case(case)))


def marked(cases: tuple[ProbeCase, ...]) -> TrainingData:
    """Rows of which each names its session and project, so that a table shows what it was fitted to."""
    return TrainingData(cases, tuple(row for case in cases for row in _marked_rows(case.origin)))


def _marked_rows(origin: TrainingOrigin) -> Iterator[TrainingRow]:
    for is_positive in (True, False):
        features = {origin.session: float(is_positive), f"project {origin.project}": float(is_positive)}
        yield TrainingRow(Row(features, is_positive, 50.0), LabelSource.PROBES, origin)


def test_no_table_is_judged_on_a_session_that_it_was_fitted_to(cases: tuple[ProbeCase, ...]) -> None:
    judged = tables_by_case(marked(cases), Fitting(HeldOut.SESSION))
    assert {case.probe.name for case, _ in judged} == {"a", "a-earlier", "b", "c", "d", "e"}
    sessions = {case.origin.session for case in cases}
    for case, table in judged:
        assert sessions & table.keys() == sessions - {case.origin.session}


def test_no_table_is_judged_on_a_project_that_it_was_fitted_to(cases: tuple[ProbeCase, ...]) -> None:
    projects = {f"project {case.origin.project}" for case in cases}
    assert len(projects) == 3
    for case, table in tables_by_case(marked(cases), Fitting(HeldOut.PROJECT)):
        assert projects & table.keys() == projects - {f"project {case.origin.project}"}


@pytest.mark.parametrize("size", [1, 3])
def test_the_learning_curve_draws_so_many_other_sessions(cases: tuple[ProbeCase, ...], size: int) -> None:
    sessions = {case.origin.session for case in cases}
    draws = [tables_by_case(marked(cases), Fitting(sessions=size), seed) for seed in range(3)]
    for case, table in (pair for draw in draws for pair in draw):
        assert len(sessions & table.keys() - {case.origin.session}) == size
        assert case.origin.session not in table
    assert draws[0] != draws[1]
    assert draws[0] == tables_by_case(marked(cases), Fitting(sessions=size), 0)


@pytest.mark.parametrize("group", FEATURE_GROUPS)
def test_a_group_of_features_that_is_left_out_is_in_no_table(training: TrainingData, group: str) -> None:
    for _, table in tables_by_case(training, Fitting(without=group)):
        assert not any(map(FEATURE_GROUPS[group], table))


def test_a_source_of_labels_that_is_left_out_changes_nothing(training: TrainingData) -> None:
    origin = training.cases[0].origin
    others = [
        TrainingRow(
            Row({f"{LABELLED_BY} use": 1.0, "quotes": 1.0}, is_positive=True, weight=9.0),
            LabelSource.USE,
            origin,
        )
        for _ in range(20)
    ]
    more = TrainingData(training.cases, (*training.rows, *others))
    probes_alone = Fitting(HeldOut.NOTHING, sources=frozenset({LabelSource.PROBES}))
    assert tables_by_case(more, probes_alone) == tables_by_case(training, probes_alone)
    assert tables_by_case(more, Fitting(HeldOut.NOTHING)) != tables_by_case(
        training, Fitting(HeldOut.NOTHING)
    )
    assert [trial.name for trial in trials(more) if trial.part == SOURCES] == [
        "all",
        "without probes",
        "without use",
    ]
    assert not any(name.startswith(LABELLED_BY) for name in new_table(more))


def test_the_shipped_table_is_judged_as_it_is(training: TrainingData) -> None:
    judged = judge(training, None)
    assert list(judged) == list(BUDGETS)
    shares = [case.score(WEIGHTS, 2_000).share or 0.0 for case in training.cases]
    assert judged[2_000].handover == pytest.approx(sum(shares) / len(shares), abs=0.001)


def test_two_runs_give_the_same_numbers(training: TrainingData) -> None:
    for trial in trials(training):
        assert judge(training, trial.fitting) == judge(training, trial.fitting), trial.name


def test_the_new_table_prefers_what_answers_questions_to_what_misleads(training: TrainingData) -> None:
    table = new_table(training)
    assert table["section decisions"] > table["section done"]
    assert next(iter(table)) == BIAS


def test_a_table_has_round_weights_and_none_that_hardly_count() -> None:
    weights = {"z": 0.456, "bias": 0.001, "a": -0.034, "b": 0.029, f"{LABELLED_BY} use": 2.0}
    assert as_table(weights) == {"bias": 0.0, "a": -0.03, "z": 0.46}
    assert list(as_table(weights)) == ["bias", "a", "z"]


def test_one_project_is_not_held_out(cases: tuple[ProbeCase, ...]) -> None:
    one = tuple(case for case in cases if case.probe.name in ("a", "b"))
    named = [trial.name for trial in trials(TrainingData(one, ()))]
    assert "fitted, each session held out" in named
    assert "fitted, each project held out" not in named
