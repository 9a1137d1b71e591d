"""What a session says to the two layers, by rule."""

from __future__ import annotations

import pytest

from holdfast.core.documents.continuity import ContinuityPart, LayerName, item_subject
from holdfast.core.documents.continuity_summary import (
    POINTERS_MOST,
    Confidence,
    EvidenceCounts,
    GeneratedSummary,
    conflicts,
    generated,
    layers_of,
    pointers,
)
from holdfast.core.events.event import Action, Event
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.work.state import Statement, StatementSource, WorkState
from tests.core.scenes import after, called, prompt, returned, said, session, worked

SHARED, LOCAL = LayerName.SHARED, LayerName.LOCAL
CHECK = "make test 2>&1 | tail -5"


def of(*events: Event) -> GeneratedSummary:
    return generated(after(session(), *events))


def ran(command: str, *, ok: bool = True, text: str = "") -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command, ok=ok, text=text, exit_status=int(not ok))


def edited(path: str) -> tuple[Event, Event]:
    return called(path, Action.EDIT, path), returned(path)


@pytest.mark.parametrize(
    ("events", "layer", "part", "item"),
    [
        (
            (said("It works now: the cache survives a restart.", "a1"),),
            LayerName.SHARED,
            ContinuityPart.CONFIRMED,
            "It works now: the cache survives a restart.",
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
    shared = of(*ran(CHECK, ok=False, text="1 failed"), *ran(CHECK)).layers[LayerName.SHARED]
    assert shared.of(ContinuityPart.FAILED) == ()
    assert list(map(item_subject, shared.of(ContinuityPart.CONFIRMED))) == ["make test"]


def test_a_check_that_fails_is_a_failure_of_the_project_with_its_reason() -> None:
    layers = of(*ran(CHECK, ok=False, text="E  ValueError: no port\n1 failed")).layers
    failed = layers[SHARED].of(ContinuityPart.FAILED)
    assert [item for item in failed if item_subject(item) == "make test" and "ValueError: no port" in item]
    assert layers[LOCAL].of(ContinuityPart.FAILED) == ()


@pytest.mark.parametrize(
    ("statement", "layer", "part", "item"),
    [
        (
            Statement(Section.DONE, "The port is set.", 1),
            SHARED,
            ContinuityPart.CONFIRMED,
            "The port is set.",
        ),
        (
            Statement(Section.DONE, "It passes on this machine.", 1),
            LOCAL,
            ContinuityPart.CONFIRMED,
            "It passes on this machine.",
        ),
        (
            Statement(Section.DONE, "A run takes 12 ms.", 1, kind=NoteKind.MEASURED),
            SHARED,
            ContinuityPart.CONFIRMED,
            "A run takes 12 ms.",
        ),
        (Statement(Section.FAILURES, "The pool leaks.", 1), SHARED, ContinuityPart.FAILED, "The pool leaks."),
        (Statement(Section.NOW, "Writing the docs", 1), LOCAL, ContinuityPart.NEXT, "Writing the docs"),
        (Statement(Section.NEXT, "Tag it", 1), LOCAL, ContinuityPart.NEXT, "Tag it"),
        (
            Statement(Section.NEXT, "A regex might do.", 1, kind=NoteKind.UNTRIED),
            SHARED,
            ContinuityPart.UNTRIED,
            "A regex might do.",
        ),
        (
            Statement(Section.QUESTIONS, "Which port?", 1),
            LOCAL,
            ContinuityPart.NEXT,
            "Waits for the user: Which port?",
        ),
        (Statement(Section.RULES, "Never rebase.", 1), SHARED, ContinuityPart.NOTES, "Never rebase."),
        (Statement(Section.DECISIONS, "SQLite it is.", 1), SHARED, ContinuityPart.NOTES, "SQLite it is."),
        (
            Statement(Section.WHERE, "Needs Redis.", 1, kind=NoteKind.NEED),
            SHARED,
            ContinuityPart.NOTES,
            "Needs Redis.",
        ),
        (Statement(Section.WHERE, "port 5433", 1), LOCAL, ContinuityPart.NOTES, "Where: port 5433"),
    ],
)
def test_the_section_of_a_statement_decides_its_layer_and_part(
    statement: Statement, layer: LayerName, part: ContinuityPart, item: str
) -> None:
    layers = layers_of(WorkState(statements=(statement,)), session())
    assert {(name, one) for name in LayerName for one in ContinuityPart if layers[name].of(one)} == {
        (layer, part)
    }
    assert layers[layer].of(part) == (item,)


def test_branch_and_commit_are_left_to_the_repository() -> None:
    git = Statement(Section.WHERE, "Branch: main", 0, origin=StatementSource.GIT)
    assert all(layer.is_empty() for layer in layers_of(WorkState(statements=(git,)), session()).values())


def test_of_many_statements_those_worth_most_are_written() -> None:
    many = [
        Statement(Section.DECISIONS, f"Decision {number}", number, worth=number / 13) for number in range(13)
    ]
    notes = layers_of(WorkState(statements=tuple(many)), session())[SHARED].of(ContinuityPart.NOTES)
    assert notes == tuple(f"Decision {number}" for number in range(1, 13))


def test_a_generic_prompt_is_no_goal() -> None:
    layers = of(prompt("Mend the retry of the client", "p1"), prompt("Continue", "p2")).layers
    assert {layer.goal for layer in layers.values()} == {"Mend the retry of the client"}


@pytest.mark.parametrize(
    "command", ["ls -la", "git status", "sed -n 1,9p tests/test_a.py", "rg build src", "cat check.log"]
)
def test_looking_around_confirms_and_refutes_nothing(command: str) -> None:
    shared = of(*ran(command), *ran(f"{command} ", ok=False)).layers[LayerName.SHARED]
    assert (shared.of(ContinuityPart.CONFIRMED), shared.of(ContinuityPart.FAILED)) == ((), ())


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
