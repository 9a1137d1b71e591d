"""The brief: what the next session in a project, or one continuing a given transcript, would be handed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from holdfast import harnesses
from holdfast.cli import access
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give, give_json, say, working
from holdfast.core.brief import SAID, Brief, Told
from holdfast.core.brief_beside import written
from holdfast.core.text import elapsed, one_line, shortened
from holdfast.engine.preview import preview
from holdfast.engine.resume import next_brief
from holdfast.engine.rows import item_row
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import to_iso

FILE_BUDGET = 2_000
"""For a brief from a file: the same everywhere, whatever the settings here say."""
LEFT_OUT_SHOWN = 12
"""A long session leaves out hundreds of names; a person wants to see what came close."""


class _Time(click.ParamType[int]):
    """A time by ISO 8601, in UTC unless it says otherwise, as milliseconds since 1970."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"`{value}` is no time; write it like 2026-01-31T12:00:00Z", param, ctx)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


_FILE = click.Path(path_type=Path)
_LINE = click.IntRange(min=1)
_SIZE = click.IntRange(min=0)


@command(
    "holdfast brief",
    "holdfast brief --project ~/src/thing --json",
    "holdfast brief --harness HARNESS --transcript session.jsonl --until-line 200",
)
@project_option()
@click.option("--harness", "name", metavar="HARNESS", help="Whose transcript it is.")
@click.option("--transcript", type=_FILE, metavar="FILE", help="Make the brief from this file alone.")
@click.option("--session", default="", metavar="KEY", help="The transcript's session; else the file's name.")
@click.option("--until-line", type=_LINE, metavar="N", help="Read only the first N lines.")
@click.option("--at", type=_Time(), metavar="TIME", help="Count ages from then; else from the last record.")
@click.option("--budget", type=_SIZE, metavar="N", help="At most so many characters; else 2000, or as set.")
@json_option("Print brief and receipt as one JSON document.")
def brief(*, project: Path | None, budget: int | None, as_json: bool, **reading: Any) -> None:  # noqa: ANN401
    """Show what the next session would be given back.

    The brief goes to stdout, its receipt (from where, how old, what was left out) to stderr. With
    --transcript it is made from that file alone: no daemon is needed, nothing is stored, and the same file
    gives the same brief.
    """
    asked = _Reading(**reading)
    offered = _next(project, budget) if asked.transcript is None else _from_file(asked, budget)
    if as_json:
        give_json(_as_json(offered))
    else:
        _print(offered)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Which transcript to read, and how much of it."""

    name: str | None
    transcript: Path | None
    session: str
    until_line: int | None
    at: int | None


@dataclass(frozen=True, slots=True)
class _Offered:
    """A brief as it would be given, and what a receipt accounts for; no `told` if there is nothing."""

    told: Told | None
    brief: Brief
    budget: int


def _next(project: Path | None, budget: int | None) -> _Offered:
    where = access.project_at(project)
    with access.opened_desk() as desk:
        room = desk.config(where).continuity.recovery_budget_chars if budget is None else budget
        told = next_brief(desk, where)
    return _Offered(told, written(told, room) if told else Brief("", ()), room)


def _from_file(asked: _Reading, budget: int | None) -> _Offered:
    if asked.name is None or asked.transcript is None:
        raise click.UsageError("--transcript needs --harness HARNESS.")
    harness = harnesses.reader(asked.name)
    room = FILE_BUDGET if budget is None else budget
    with working("reading the transcript"):
        found = preview(harness, asked.transcript, asked.session, asked.until_line, asked.at, room)
    return _Offered(found.told, found.brief, room)


def _as_json(offered: _Offered) -> dict[str, object]:
    told = offered.told
    if told is None:
        return {"brief": "", "receipt": None}
    receipt = {
        "reason": told.reason,
        "predecessor": told.session.key,
        "harness": told.session.harness,
        "project": told.session.project.path,
        "created_at": to_iso(told.now),
        "age_ms": told.now - told.session.changed_at,
        "budget": offered.budget,
        "size": len(offered.brief.text),
        "items": [item_row(item) for item in offered.brief.items],
    }
    return {"brief": offered.brief.text, "receipt": receipt}


def _print(offered: _Offered) -> None:
    told, made = offered.told, offered.brief
    if told is None or not made.text:
        say("there is nothing to give back")
        return
    give(made.text)
    # What is said by another item is missed by nobody.
    left_out = sorted(
        (item for item in made.items if not item.rendered), key=lambda item: item.omitted == SAID
    )
    age = elapsed(told.now - told.session.changed_at)
    say(f"\nreceipt: {told.reason}, from session {told.session.key}, whose work is {age} old")
    say(f"{len(made.text)} of {offered.budget} characters, {len(made.items) - len(left_out)} items in it")
    for item in left_out[:LEFT_OUT_SHOWN]:
        say(f"left out ({item.omitted}): {item.section}: {shortened(one_line(item.text), 80)}")
    if len(left_out) > LEFT_OUT_SHOWN:
        say(
            f"left out too: {len(left_out) - LEFT_OUT_SHOWN} items that were needed less; `--json` lists them"
        )
