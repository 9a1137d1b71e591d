"""What a reviewer is told of a session: what contradicts itself, and what the work rests on."""

from __future__ import annotations

import pytest

from holdfast.core.documents.continuity import LayerName, Part
from holdfast.core.documents.continuity_conflicts import NOTES_MOST, conflicts, pointers
from holdfast.core.documents.continuity_summary import generated
from holdfast.core.events.event import Action, Event
from tests.core.scenes import after, called, prompt, returned, said, session


def ran(command: str) -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command)


def told(*events: Event) -> tuple[str, ...]:
    return conflicts(after(session(), *events).trail)


@pytest.mark.parametrize(
    ("events", "warning"),
    [
        (
            (prompt("You must use pnpm here.", "p"), *ran("npm install")),
            "package manager: `pnpm` was asked for, but `npm` was run",
        ),
        (
            (prompt("Always use rg, never grep.", "p"), *ran("grep -r port src")),
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
    assert told(*events) == (warning,)


@pytest.mark.parametrize(
    "events",
    [
        (prompt("You must use pnpm here.", "p"), *ran("pnpm install")),
        (
            said("The canonical store is MEMORY.md.", "a"),
            said("Again: the canonical store is memory.md.", "b"),
        ),
        (prompt("It requires Redis.", "p"), said("It needs Postgres on port 5432.", "a")),
        (said("See docs/a.md.", "a"), said("See docs/b.md.", "b")),
    ],
)
def test_what_adds_to_each_other_is_none(events: tuple[Event, ...]) -> None:
    assert told(*events) == ()


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
    assert note in generated(done).layers[LayerName.SHARED].of(Part.NOTES)


def test_of_many_pointers_the_last_are_told() -> None:
    texts = " ".join(f"See docs/{number}.md." for number in range(20))
    assert pointers(after(session(), prompt(texts, "p")).trail)[-1] == "Reference: `docs/19.md`"
    assert len(pointers(after(session(), prompt(texts, "p")).trail)) == NOTES_MOST
