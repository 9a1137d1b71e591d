"""What a session says to the two layers, by rule."""

from __future__ import annotations

import pytest

from holdfast.core.documents.continuity import LayerName, Part
from holdfast.core.documents.continuity_summary import Confidence, EvidenceCounts, Generated, generated
from holdfast.core.events.event import Action, Event
from tests.core.scenes import after, called, prompt, returned, said, session, worked


def of(*events: Event) -> Generated:
    return generated(after(session(), *events))


def ran(command: str, *, ok: bool = True, text: str = "") -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command, ok=ok, text=text, exit_status=int(not ok))


def edited(path: str) -> tuple[Event, Event]:
    return called(path, Action.EDIT, path), returned(path)


@pytest.mark.parametrize(
    ("events", "layer", "part", "item"),
    [
        (ran("make test"), LayerName.SHARED, Part.CONFIRMED, "`make test` passed"),
        (
            ran("make test", ok=False, text="E  ValueError: no port\n1 failed"),
            LayerName.SHARED,
            Part.FAILED,
            "`make test` failed: ValueError: no port",
        ),
        (edited("/home/you/app/src/a.py"), LayerName.LOCAL, Part.NOTES, "`src/a.py` edited"),
        (edited("/etc/hosts"), LayerName.LOCAL, Part.NOTES, "`/etc/hosts` edited"),
        (
            (prompt("Never touch the vendored client.", "p1"),),
            LayerName.SHARED,
            Part.NOTES,
            "Never touch the vendored client.",
        ),
        (
            (prompt("Never use the network in this worktree.", "p1"),),
            LayerName.LOCAL,
            Part.NOTES,
            "Never use the network in this worktree.",
        ),
        (
            (said("Next step: run the migration on staging.", "a1"),),
            LayerName.LOCAL,
            Part.NEXT,
            "Next step: run the migration on staging.",
        ),
    ],
)
def test_every_item_goes_to_its_layer(
    events: tuple[Event, ...], layer: LayerName, part: Part, item: str
) -> None:
    layers = of(*events).layers
    assert item in layers[layer].of(part)
    other = next(one for one in LayerName if one is not layer)
    assert item not in layers[other].of(part)


def test_a_failure_that_passed_later_is_none() -> None:
    shared = of(*ran("make test", ok=False, text="1 failed"), *ran("make test")).layers[LayerName.SHARED]
    assert (shared.of(Part.FAILED), shared.of(Part.CONFIRMED)) == ((), ("`make test` passed",))


def test_a_generic_prompt_is_no_goal() -> None:
    layers = of(prompt("Mend the retry of the client", "p1"), prompt("Continue", "p2")).layers
    assert {layer.goal for layer in layers.values()} == {"Mend the retry of the client"}


@pytest.mark.parametrize(
    "command", ["ls -la", "git status", "sed -n 1,9p tests/test_a.py", "rg build src", "cat check.log"]
)
def test_looking_around_confirms_and_refutes_nothing(command: str) -> None:
    shared = of(*ran(command), *ran(f"{command} ", ok=False)).layers[LayerName.SHARED]
    assert (shared.of(Part.CONFIRMED), shared.of(Part.FAILED)) == ((), ())


@pytest.mark.parametrize(
    "command",
    ["pytest -q", "npm run lint", "cargo build", "bun run typecheck", "python -m mypy src", "go vet ./..."],
)
def test_what_checks_the_work_confirms_it(command: str) -> None:
    assert of(*ran(command)).layers[LayerName.SHARED].of(Part.CONFIRMED) == (f"`{command}` passed",)


def test_how_much_there_was_to_go_by_is_counted() -> None:
    assert generated(worked()).counts == EvidenceCounts(0, 1, 1, 0, 0)


@pytest.mark.parametrize(
    ("events", "confidence", "warnings"),
    [
        ((), Confidence.LOW, ()),
        (ran("make test"), Confidence.MEDIUM, ()),
        (
            (prompt("You must use pnpm here.", "p1"), *ran("npm install")),
            Confidence.LOW,
            ("package manager: `pnpm` was asked for, but `npm` was run",),
        ),
        ((prompt("You must use pnpm here.", "p1"), *ran("pnpm install")), Confidence.MEDIUM, ()),
    ],
)
def test_confidence_falls_with_contradictions(
    events: tuple[Event, ...], confidence: Confidence, warnings: tuple[str, ...]
) -> None:
    result = of(*events)
    assert (result.confidence, result.warnings) == (confidence, warnings)
