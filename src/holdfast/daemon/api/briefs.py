"""Briefs over HTTP: what agents were given, with the receipt of each, and what the next one would be."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.compose import compose_for_start
from holdfast.daemon.api.executor import ExecutorDep
from holdfast.daemon.api.paging import Page, Paged
from holdfast.engine.briefing.resume import next_brief
from holdfast.engine.engine import Engine
from holdfast.engine.repository.projects import project_named
from holdfast.engine.views.serialisation import Row, item_row, receipt_row
from holdfast.errors import NotThere
from holdfast.stores.base import PageMark
from holdfast.stores.codec import to_iso

router = APIRouter(tags=["briefs"])


class ItemRow(BaseModel):
    """One thing that a brief could say."""

    section: str
    text: str
    at: str | None
    source: str = Field(description="The session, record or file that it comes from.")
    score: float = Field(description="What it is worth; the greater, the sooner it is said.")
    rendered: bool = Field(description="Whether the brief says it.")
    omitted: str = Field(description="Why it does not, where it does not.")


class ReceiptRow(BaseModel):
    """A brief, and the account of it."""

    id: str
    session_key: str
    window: int
    reason: Reason
    predecessor: str | None
    created_at: str
    budget: int
    size: int
    text: str
    items: list[ItemRow]


class ReceiptPage(Page[ReceiptRow]):
    """Some briefs, the newest first."""


class NextBrief(BaseModel):
    """What a session that started now would be given; empty texts where that is nothing."""

    text: str
    reason: Reason | None
    predecessor: str | None
    created_at: str
    budget: int
    size: int
    items: list[ItemRow]


@router.get("/briefs", response_model=ReceiptPage)
async def listed(
    executor: ExecutorDep,
    paging: Paged,
    session: Annotated[str, Query(max_length=1_000, description="Of this session only.")] = "",
) -> object:
    """The briefs that were given, each with its receipt."""
    rows = await executor.do(
        lambda engine: engine.store.page_of_receipts(session, paging.behind, paging.wanted)
    )
    return paging.page(rows, lambda receipt: PageMark(receipt.created_at, receipt.id), receipt_row)


@router.get("/briefs/{id}", response_model=ReceiptRow)
async def one(executor: ExecutorDep, id: str) -> object:
    """One brief, by the id of its receipt."""

    def fetch(engine: Engine) -> Row:
        receipt = engine.store.receipt(id)
        if receipt is None:
            raise NotThere(f"there is no brief `{id}`", "`/api/briefs` lists them")
        return receipt_row(receipt)

    return await executor.do(fetch)


@router.get("/next-brief", response_model=NextBrief)
async def to_come(
    executor: ExecutorDep,
    project: Annotated[str, Query(max_length=4_096, description="Its id, or a path of it.")],
) -> object:
    """What the next session of a project would be given back, as things are now."""
    return await executor.do(lambda engine: next_row(engine, project))


def next_row(engine: Engine, project: str) -> Row:
    """The brief that the next session of a project would be given."""
    place = project_named(engine, project)
    budget = engine.config(place).continuity.recovery_budget_chars
    brief_input = next_brief(engine, place)
    brief = compose_for_start(brief_input, budget) if brief_input else None
    return {
        "text": brief.text if brief else "",
        "reason": brief_input.reason if brief_input else None,
        "predecessor": brief_input.session.key if brief_input else None,
        "created_at": to_iso(engine.clock()),
        "budget": budget,
        "size": len(brief.text) if brief else 0,
        "items": [item_row(item) for item in brief.items] if brief else [],
    }
