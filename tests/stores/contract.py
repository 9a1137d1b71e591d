"""Values for the contract's tests: one plain example of each thing a store keeps, to be varied by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from holdfast.core.brief.compose import Item, Reason, Receipt
from holdfast.core.events.event import Origin, Prompt
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory, MemoryKind, MemoryScope
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Phase, Session, Trigger
from holdfast.stores.base import Lineage, SearchDocument, Within

NOON = 1_767_268_800_000
"""2026-01-01T12:00:00Z"""

Field: TypeAlias = Any
"""What a field is changed to; whether there is such a field, `replace` says."""

MINUTE = 60_000
ALL = 1_000

PROJECT = Project(
    path="~/shop",
    normalized="/home/you/shop",
    project_id="shop",
    worktree_id="shop-main",
    root="/home/you/shop",
)
SESSION = Session(key="s1", harness="claude-code", project=PROJECT, started_at=NOON, last_event_at=NOON)
PROMPT = Prompt(session="s1", record="r1", at=NOON, origin=Origin.HUMAN, text="Fix the parser")
CHECKPOINT = Checkpoint(
    id="c1",
    session="s1",
    harness="claude-code",
    project="~/shop",
    project_normalized="/home/you/shop",
    project_id="shop",
    worktree_id="shop-main",
    trigger=Trigger.PERIODIC,
    digest="## Session Checkpoint",
    prompt_count=10,
    memory_queries=("fix parser", "add tests"),
    recent_remembers=("use tabs",),
    window=2,
    created_at=NOON,
    words="half done",
    outline=Outline("The parser drops a line.", 51_000, 12, ("parser",), ("Why?",), ("Keep tabs.",)),
)
RECEIPT = Receipt(
    id="b1",
    session="s1",
    window=1,
    reason=Reason.COMPACT,
    predecessor="s0",
    created_at=NOON,
    budget=2_000,
    text="## Session Recovery Context",
    items=(
        Item("Goal", "“Fix the parser”", NOON, "s1", "goal", rendered=True),
        Item("State", "To do: tests", NOON, "s1", "todo", omitted="over budget"),
    ),
)
LINEAGE = Lineage(child="s2", parent="s1", kind="clear", at=NOON)
DOCUMENT = SearchDocument(id="d1", kind="record", project_id="shop", text="The parser drops the last line.")
MEMORY = Memory(
    id="m1",
    text="The port is 8080.",
    kind=MemoryKind.FACT,
    scope=MemoryScope.PROJECT,
    project_id="shop",
    worktree_id="",
    created_at=NOON,
)
SHOP = Within(("shop",))
OTHERS = Within(("other",))
NOWHERE = Within(("nowhere",))


def session(key: str, **changes: Field) -> Session:
    return replace(SESSION, key=key, **changes)


def ended(key: str, **changes: Field) -> Session:
    return session(key, phase=Phase.ENDED, **changes)


def prompt(record: str, **changes: Field) -> Prompt:
    return replace(PROMPT, record=record, **changes)


def checkpoint(id: str, **changes: Field) -> Checkpoint:
    return replace(CHECKPOINT, id=id, **changes)


def receipt(id: str, **changes: Field) -> Receipt:
    return replace(RECEIPT, id=id, **changes)


def document(id: str, text: str, **changes: Field) -> SearchDocument:
    return replace(DOCUMENT, id=id, text=text, **changes)


def memory(id: str, **changes: Field) -> Memory:
    return replace(MEMORY, id=id, **changes)
