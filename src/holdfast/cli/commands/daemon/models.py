"""Models: what asking them has cost."""

from __future__ import annotations

import click

from holdfast.cli import access
from holdfast.cli.options import command, group, json_option
from holdfast.cli.printing import give, give_json, give_table
from holdfast.engine.models import DayOfUse, days_until


@group("holdfast models usage")
def models() -> None:
    """Look at the models that Holdfast asks by itself.

    By default it asks none; `checkpoint.model` names one.
    """


@command("holdfast models usage", "holdfast models usage --days 7 --json")
@click.option(
    "--days",
    default=30,
    show_default=True,
    type=click.IntRange(1, 366),
    metavar="N",
    help="So many days back.",
)
@json_option("Print one JSON document: a list of {date, model, asked, failed, sent, given, cents}.")
def usage(*, days: int, as_json: bool) -> None:
    """Show how often models were asked, and what that took, day by day.

    `sent` and `given` are tokens. Cents are counted where `models.sent_cents` and `models.given_cents` say
    what a million of them costs. A day is one of UTC.
    """
    with access.stored_engine() as engine:
        days_of_use = days_until(engine.store, engine.clock(), days)
    if as_json:
        give_json([row for day in days_of_use for row in _rows(day)])
    elif days_of_use:
        columns = ("date", "model", "requests", "failed", "sent", "received", "cents")
        give_table(columns, [tuple(map(str, row.values())) for day in days_of_use for row in _rows(day)])
    else:
        give("no model was asked")


def _rows(day: DayOfUse) -> list[dict[str, object]]:
    return [
        {
            "date": day.date,
            "model": name,
            "requests": spent.asked,
            "failed": spent.failed,
            "sent": spent.sent,
            "received": spent.given,
            "cents": round(spent.cents, 4),
        }
        for name, spent in sorted(day.models.items())
    ]


models.add_command(usage)
