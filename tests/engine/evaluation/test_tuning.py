"""Tuning: the same sessions give the same table, half of them only measure it, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from holdfast import harnesses
from holdfast.core.brief.weights import FEATURES, SENTENCES, THINGS, WEIGHTS, Weights
from holdfast.core.evaluation.survival import Rarity, rarity
from holdfast.engine.evaluation.survival import Recording, Transcript, session_in
from holdfast.engine.evaluation.tuning import BETTER, Example, Tuned, Worth, examples, fit_weights, worth
from tests.engine.evaluation.test_survival import HARNESS, RULE, kept, long_session
from tests.harnesses.claude_code_records import Json, assistant, text, tool_result, tool_use, user

pytestmark = pytest.mark.slow

STEPS = range(56)


def steps(said: Callable[[int], str], part: Callable[[int], int]) -> list[Json]:
    """A session that says something in each step, and edits one of more parts than a brief has room for."""
    told = [user(f"Mend the parts. {RULE}", uuid="p1"), user("Now resolve every binding.", uuid="p2")]
    for number in STEPS:
        file = f"/home/you/proj/src/part_{number % 7}/binding_of_the_enclosing_module_{part(number)}.py"
        edit = tool_use("Edit", f"e{number}", file_path=file, old_string="", new_string="")
        told += [
            assistant(text(said(number)), uuid=f"s{number}", request=f"m{number}"),
            assistant(edit, uuid=f"e{number}", request=f"m{number}"),
            user([tool_result("done", f"e{number}")], uuid=f"f{number}"),
        ]
    return told


def comes_back_to_files_and_names() -> list[Json]:
    name = "resolve_the_outer_binding_of_the_enclosing_scope"
    return steps(lambda step: f"The cause is in {name}_{step * 7 % 29}.", lambda step: step * 5 % 29)


def comes_back_to(tickets: int) -> list[Json]:
    """A session that needs its tickets and never comes back to a file: the table expects the contrary."""
    place = "https://tickets.example/projects/parts/browse"
    return steps(
        lambda step: f"It was that of {place}/PART-{1000 + step * 7 % tickets} again.",
        lambda step: step,
    )


def recording(path: Path, records: list[Json]) -> Recording:
    found = session_in(Transcript(harnesses.reader(HARNESS), kept(path, records)))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions") / HARNESS


@pytest.fixture(scope="module")
def recordings(folder: Path) -> list[Recording]:
    tickets = {"a.jsonl": 29, "b.jsonl": 31}
    return [recording(folder / name, comes_back_to(count)) for name, count in tickets.items()]


@pytest.fixture(scope="module")
def rare(recordings: Sequence[Recording]) -> Rarity:
    return rarity(one.mentions for one in recordings)


@pytest.fixture(scope="module")
def found(recordings: Sequence[Recording]) -> list[Example]:
    # One cut of the session that is fitted is enough: fitting is what takes time.
    first, _, *others = examples(recordings)
    return [first, *others]


@pytest.fixture(scope="module")
def gains() -> list[str]:
    return []


@pytest.fixture(scope="module")
def result(found: Sequence[Example], rare: Rarity, gains: list[str]) -> Tuned:
    return fit_weights(found, rare, gains.append)


def of(session: str, found: Sequence[Example]) -> list[Example]:
    return [one for one in found if one.name == session]


def test_the_examples_are_the_virtual_cuts_and_know_nothing_of_what_comes_after(tmp_path: Path) -> None:
    cut = list(examples([recording(tmp_path / "s1.jsonl", long_session())]))
    assert [one.name for one in cut] == ["s1.jsonl", "s1.jsonl"]
    assert all(one.need.needed for one in cut)
    assert all(one.session.harness == HARNESS for one in cut)
    assert "the_future" not in repr([one.session for one in cut])
    assert cut[0].session.last_event_at <= cut[1].session.last_event_at


def test_a_session_that_is_too_short_is_no_example(tmp_path: Path) -> None:
    assert list(examples([recording(tmp_path / "s1.jsonl", long_session()[:20])])) == []


@pytest.mark.parametrize(
    "bad",
    [
        {**WEIGHTS, "changed_file": -9.0},
        {**WEIGHTS, "constraint": -20.0, "first_rule": -20.0},
        {**WEIGHTS, **dict.fromkeys(THINGS, -9.0)},
        dict.fromkeys(WEIGHTS, 0.0),
    ],
    ids=["no changed files", "no constraints", "no things", "all alike"],
)
def test_a_table_made_bad_on_purpose_is_worth_less(tmp_path: Path, bad: Weights) -> None:
    one = recording(tmp_path / "s1.jsonl", comes_back_to_files_and_names())
    cuts, rare = list(examples([one])), rarity([one.mentions])
    assert worth(cuts, rare, bad).total < worth(cuts, rare, WEIGHTS).total


def test_an_unreadable_brief_costs_more_than_what_it_holds_gives() -> None:
    good = Worth(0.5, 0.5, 0.5, precision=0.5, constraints=0.8, form=1.0, state=1.0)
    full = Worth(0.9, 0.9, 0.9, precision=0.5, constraints=0.8, form=0.0, state=1.0)
    assert full.total < good.total


def test_no_example_is_worth_nothing(rare: Rarity) -> None:
    assert worth([], rare, WEIGHTS) == Worth(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_a_table_that_is_not_the_best_for_the_sessions_is_improved(result: Tuned, gains: list[str]) -> None:
    before, after = result.fitted
    assert after.total > before.total + BETTER
    totals = [float(gain.rsplit(" ", 1)[-1]) for gain in gains]
    assert totals == sorted(totals)
    assert totals[-1] == pytest.approx(after.total, abs=0.0001)


def test_what_is_said_of_the_fitted_table_is_what_it_is_worth(
    result: Tuned, found: Sequence[Example], rare: Rarity
) -> None:
    halves = {session: of(session, found) for session in ("a.jsonl", "b.jsonl")}
    worths = {
        session: (worth(half, rare, WEIGHTS), worth(half, rare, result.weights))
        for session, half in halves.items()
    }
    assert worths["a.jsonl"] != worths["b.jsonl"]
    # Every cut of one session stands on the same side, and no session on both.
    assert (result.fitted, result.held_out) in (
        (worths["a.jsonl"], worths["b.jsonl"]),
        (worths["b.jsonl"], worths["a.jsonl"]),
    )


def test_one_session_alone_is_fitted_and_nothing_is_held_out(found: Sequence[Example], rare: Rarity) -> None:
    one = of("b.jsonl", found)[:1]
    first, second = (fit_weights(one, rare, lambda gain: None) for _ in range(2))
    assert first == second
    assert first.held_out is None
    assert first.fitted[0] == worth(one, rare, WEIGHTS)
    assert first.fitted[1].total >= first.fitted[0].total


def test_the_fitted_table_has_every_weight_and_the_products_own_stays_as_it_is(
    result: Tuned, folder: Path
) -> None:
    assert result.weights.keys() == WEIGHTS.keys()
    assert result.weights != WEIGHTS
    assert {**SENTENCES, **THINGS, **FEATURES} == WEIGHTS
    assert sorted(path.name for path in folder.parent.rglob("*.*")) == ["a.jsonl", "b.jsonl"]
