"""What a session says to the two layers, by rule."""

from __future__ import annotations

import pytest

from holdfast.core.documents.continuity import ContinuityPart, LayerName
from holdfast.core.documents.continuity_summary import (
    POINTERS_MOST,
    Confidence,
    EvidenceCounts,
    GeneratedSummary,
    conflicts,
    generated,
    pointers,
)
from holdfast.core.events.event import Action, Event
from tests.core.scenes import after, called, prompt, returned, said, session, worked


def of(*events: Event) -> GeneratedSummary:
    return generated(after(session(), *events))


def ran(command: str, *, ok: bool = True, text: str = "") -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command, ok=ok, text=text, exit_status=int(not ok))


def edited(path: str) -> tuple[Event, Event]:
    return called(path, Action.EDIT, path), returned(path)


@pytest.mark.parametrize(
    ("events", "layer", "part", "item"),
    [
        (ran("make test"), LayerName.SHARED, ContinuityPart.CONFIRMED, "`make test` passed"),
        (
            ran("make test", ok=False, text="E  ValueError: no port\n1 failed"),
            LayerName.SHARED,
            ContinuityPart.FAILED,
            "`make test` failed: ValueError: no port",
        ),
        (edited("/home/you/app/src/a.py"), LayerName.LOCAL, ContinuityPart.NOTES, "`src/a.py` edited"),
        (edited("/etc/hosts"), LayerName.LOCAL, ContinuityPart.NOTES, "`/etc/hosts` edited"),
        (
            (prompt("Never touch the vendored client.", "p1"),),
            LayerName.SHARED,
            ContinuityPart.NOTES,
            "Never touch the vendored client.",
        ),
        (
            (prompt("Never use the network in this worktree.", "p1"),),
            LayerName.LOCAL,
            ContinuityPart.NOTES,
            "Never use the network in this worktree.",
        ),
        (
            (said("Next step: run the migration on staging.", "a1"),),
            LayerName.LOCAL,
            ContinuityPart.NEXT,
            "Next step: run the migration on staging.",
        ),
    ],
)
def test_every_item_goes_to_its_layer(
    events: tuple[Event, ...], layer: LayerName, part: ContinuityPart, item: str
) -> None:
    layers = of(*events).layers
    assert item in layers[layer].of(part)
    other = next(one for one in LayerName if one is not layer)
    assert item not in layers[other].of(part)


def test_a_failure_that_passed_later_is_none() -> None:
    shared = of(*ran("make test", ok=False, text="1 failed"), *ran("make test")).layers[LayerName.SHARED]
    assert (shared.of(ContinuityPart.FAILED), shared.of(ContinuityPart.CONFIRMED)) == (
        (),
        ("`make test` passed",),
    )


def test_a_generic_prompt_is_no_goal() -> None:
    layers = of(prompt("Mend the retry of the client", "p1"), prompt("Continue", "p2")).layers
    assert {layer.goal for layer in layers.values()} == {"Mend the retry of the client"}


@pytest.mark.parametrize(
    "command", ["ls -la", "git status", "sed -n 1,9p tests/test_a.py", "rg build src", "cat check.log"]
)
def test_looking_around_confirms_and_refutes_nothing(command: str) -> None:
    shared = of(*ran(command), *ran(f"{command} ", ok=False)).layers[LayerName.SHARED]
    assert (shared.of(ContinuityPart.CONFIRMED), shared.of(ContinuityPart.FAILED)) == ((), ())


@pytest.mark.parametrize(
    "command",
    ["pytest -q", "npm run lint", "cargo build", "bun run typecheck", "python -m mypy src", "go vet ./..."],
)
def test_what_checks_the_work_confirms_it(command: str) -> None:
    assert of(*ran(command)).layers[LayerName.SHARED].of(ContinuityPart.CONFIRMED) == (f"`{command}` passed",)


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


def command_events(command: str) -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command)


def conflicts_after(*events: Event) -> tuple[str, ...]:
    return conflicts(after(session(), *events).trail)


@pytest.mark.parametrize(
    ("events", "warning"),
    [
        (
            (prompt("You must use pnpm here.", "p"), *command_events("npm install")),
            "package manager: `pnpm` was asked for, but `npm` was run",
        ),
        (
            (prompt("Always use rg, never grep.", "p"), *command_events("grep -r port src")),
            "search tool: `rg` was asked for, but `grep` was run",
        ),
        (
            (said("The canonical store is MEMORY.md.", "a"), said("The canonical store is store.db.", "b")),
            "canonical store: `memory.md` and `store.db` were both named",
        ),
        (
            (
                said("Retrieval goes search -> timeline -> details.", "a"),
                said("So: recall, then expand.", "b"),
            ),
            "retrieval flow: `recall → expand` and `search → timeline → details` were both named",
        ),
        (
            (prompt("Try MCP first, then the shell.", "p"), said("I will use the CLI first.", "a")),
            "retrieval route order: `cli` and `mcp` were both named",
        ),
        (
            (prompt("规范存储是 MEMORY.md。", "p"), said("规范存储是 store.db。", "a")),
            "canonical store: `memory.md` and `store.db` were both named",
        ),
    ],
)
def test_what_does_not_go_together_is_a_warning(events: tuple[Event, ...], warning: str) -> None:
    assert conflicts_after(*events) == (warning,)


@pytest.mark.parametrize(
    "events",
    [
        (prompt("You must use pnpm here.", "p"), *command_events("pnpm install")),
        (
            said("The canonical store is MEMORY.md.", "a"),
            said("Again: the canonical store is memory.md.", "b"),
        ),
        (prompt("It requires Redis.", "p"), said("It needs Postgres on port 5432.", "a")),
        (said("See docs/a.md.", "a"), said("See docs/b.md.", "b")),
    ],
)
def test_what_adds_to_each_other_is_none(events: tuple[Event, ...]) -> None:
    assert conflicts_after(*events) == ()


@pytest.mark.parametrize(
    ("sentence", "note"),
    [
        ("See docs/runbook.md for the steps.", "Reference: `docs/runbook.md`"),
        ("The runbook is at https://example.org/run.", "Reference: `https://example.org/run`"),
        ("详见 docs/设计.md", "Reference: `docs/设计.md`"),
        ("The tests need Redis on port 6380.", "Requires: redis on port 6380"),
        ("It depends on a running Postgres.", "Requires: postgres"),
        ("Docker must be running.", "Requires: docker"),
        ("需要启动 Redis", "Requires: redis"),
    ],
)
def test_pointers_and_services_are_notes_of_the_shared_layer(sentence: str, note: str) -> None:
    done = after(session(), prompt(sentence, "p"))
    assert note in pointers(done.trail)
    assert note in generated(done).layers[LayerName.SHARED].of(ContinuityPart.NOTES)


def test_of_many_pointers_the_last_are_shown() -> None:
    texts = " ".join(f"See docs/{number}.md." for number in range(20))
    assert pointers(after(session(), prompt(texts, "p")).trail)[-1] == "Reference: `docs/19.md`"
    assert len(pointers(after(session(), prompt(texts, "p")).trail)) == POINTERS_MOST
