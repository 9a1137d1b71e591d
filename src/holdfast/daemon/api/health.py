"""Health over HTTP: the doctor's findings, statistics, session scores, evaluation results, and metrics."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse

from holdfast import __version__
from holdfast.core.session.score import Start
from holdfast.daemon.api.dependencies import ExecutorDep, Page, Paged
from holdfast.engine.engine import Engine
from holdfast.engine.evaluation.usage import statistics
from holdfast.engine.health import examine
from holdfast.engine.health.doctor import HealthVerdict, verdict_of
from holdfast.engine.health.examine import Surroundings
from holdfast.engine.views import measurements
from holdfast.engine.views.measurements import Metrics, measure
from holdfast.engine.views.stats import DAYS
from holdfast.stores.base import PageMark
from holdfast.stores.codec import to_iso

router = APIRouter(tags=["health"])


class CheckRow(BaseModel):
    """What one check found."""

    check: str
    ok: bool
    detail: str
    fix: str


class Health(BaseModel):
    """Whether everything is as it should be."""

    version: str
    ok: bool
    summary: str = Field(description="One line, as `holdfast doctor` ends.")
    findings: list[CheckRow] = Field(description="Problems first.")


class ScoreRow(BaseModel):
    """How a session went on from what was there before it."""

    session: str
    harness: str
    project_id: str
    scored_at: str
    start: Start
    agent_events: int
    brief_items: int
    brief_items_used: int
    needed: int
    rediscovered: int
    novel_context_count: int
    memories_recalled: int
    memories_used: int


class ScorePage(Page[ScoreRow]):
    """Some scores, the one that was worked out last first."""


class EvaluationRow(BaseModel):
    """What was measured on the user's own history."""

    name: str
    at: str
    report: dict[str, Any] = Field(description="As `holdfast eval … --json` prints it.")


class EvaluationPage(Page[EvaluationRow]):
    """Some results."""


class SurvivedRow(BaseModel):
    """How often a context was lost, and how often a brief brought it back."""

    seen: int
    survived: int


class CompactionsRow(SurvivedRow):
    """The compactions that Holdfast saw, and those of imported sessions, which it did not see."""

    imported: int


class BriefUseRow(BaseModel):
    """How many names and files one brief holds, and how many the agent then used; null if not known."""

    id: str
    session_key: str
    created_at: str
    names: int | None
    used: int | None


class UseRow(BaseModel):
    """The use of all briefs of which it is known."""

    names: int
    used: int
    share: float | None
    briefs_known: int
    briefs_unknown: int
    by_brief: list[BriefUseRow]


class SessionCounts(BaseModel):
    """The sessions of these days."""

    count: int
    stored: int = Field(description="Of all time.")
    imported: int
    by_harness: dict[str, int]


class BriefCounts(BaseModel):
    """The briefs that were given."""

    count: int
    by_reason: dict[str, int]
    characters: int


class MemoryCounts(BaseModel):
    """The memories in force."""

    count: int
    added: int
    recalled: int


class CostRow(BaseModel):
    """Time and tokens; null if not known. Tokens of briefs are estimated from their length."""

    hook_events: int | None
    hook_ms_p50: int | None
    hook_ms_p95: int | None
    hook_ms_total: int | None
    brief_tokens: int
    model_questions: int
    model_tokens: int
    model_cents: float


class DayCounts(BaseModel):
    """One day (UTC)."""

    date: str
    sessions: int
    briefs: int


class Statistics(BaseModel):
    """What Holdfast kept, gave back and cost, as far as it is still stored."""

    days: int
    since: str
    sessions: SessionCounts
    compactions: CompactionsRow
    crashes: SurvivedRow
    briefs: BriefCounts
    use: UseRow
    memories: MemoryCounts
    cost: CostRow
    by_day: list[DayCounts]


@router.get("/health", response_model=Health)
async def health(
    executor: ExecutorDep,
    *,
    deep: Annotated[
        bool, Query(description="Also read the whole store, and send trial hook events.")
    ] = False,
) -> object:
    """What the doctor finds."""
    look = examine.thoroughly if deep else examine.at_a_glance

    def fetch(engine: Engine) -> HealthVerdict:
        around = Surroundings(executor.dispatcher.home, engine.user_home, os.environ)
        return verdict_of(look(engine, around))

    verdict = await (executor.read_through(lambda engine, _: fetch(engine)) if deep else executor.do(fetch))
    return {
        "version": __version__,
        "ok": verdict.ok,
        "summary": verdict.summary,
        "findings": [finding.row for finding in verdict.findings],
    }


@router.get("/scores", response_model=ScorePage)
async def scores(executor: ExecutorDep, paging: Paged) -> object:
    """How sessions went, as far as `holdfast sessions --scores` has worked it out."""
    rows = await executor.do(lambda engine: engine.store.page_of_scores(paging.behind, paging.rows_to_fetch))
    return paging.page(
        rows,
        lambda score: PageMark(score.scored_at, score.session),
        lambda score: {**asdict(score), "scored_at": to_iso(score.scored_at)},
    )


@router.get("/evaluations", response_model=EvaluationPage)
async def measured(executor: ExecutorDep, paging: Paged) -> object:
    """The last results of `holdfast eval survival --history`."""
    stored_results = await executor.do(lambda engine: measurements.stored_evaluations(engine.store))
    return paging.page_of(
        stored_results,
        lambda result: PageMark(result.at, result.name),
        lambda result: {"name": result.name, "at": to_iso(result.at), "report": result.report},
    )


@router.get("/stats", response_model=Statistics)
async def stats(
    executor: ExecutorDep,
    days: Annotated[int, Query(description="Of so many days, today included.", ge=1, le=366)] = DAYS,
) -> object:
    """What was kept, given back and used in the last days, and what it cost; what is not known is null."""
    return await executor.read_through(lambda engine, _: statistics(engine, days))


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(executor: ExecutorDep) -> PlainTextResponse:
    """Metrics in the text format of Prometheus."""
    measured = await executor.do(lambda engine: measure(engine, executor.dispatcher.home))
    lines = executor.redacted([*_metric_lines(measured), *_requests(executor)])
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _metric_lines(metrics: Metrics) -> Iterator[str]:
    for name, count in asdict(metrics.counts).items():
        if name != "live":  # counted by harness below
            yield from _metric(f"{name}_kept", "gauge", {"": count})
    live = {_label("harness", entry.harness): entry.live for entry in metrics.captured}
    yield from _metric("sessions_live", "gauge", live)
    yield from _metric("store_bytes", "gauge", {"": metrics.store_bytes})
    yield from _metric("hook_events_waiting", "gauge", {"": metrics.hook_events_waiting})
    skipped = {_label("reason", reason): times for reason, times in metrics.skipped.items()}
    yield from _metric("skipped_total", "counter", skipped)
    today = metrics.spent[0].models if metrics.spent else {}
    spent = {_label("model", name): entry.tokens for name, entry in today.items()}
    yield from _metric("model_tokens_last_day", "gauge", spent)


def _requests(executor: ExecutorDep) -> Iterator[str]:
    counts = {
        f"{_label('method', method)},{_label('route', route)},{_label('status', str(status))}": times
        for (method, route, status), times in sorted(executor.answered.items())
    }
    yield from _metric("http_requests_total", "counter", counts)


def _metric(name: str, kind: str, values: Mapping[str, int]) -> Iterator[str]:
    if not values:
        return
    yield f"# TYPE holdfast_{name} {kind}"
    for labels, value in values.items():
        yield f"holdfast_{name}{{{labels}}} {value}" if labels else f"holdfast_{name} {value}"


def _label(name: str, text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'
