"""Audit: what the redactor of today would still redact, in numbers, and which memories are worth a look."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command, group, json_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.core.redaction.redact import redact
from holdfast.core.text.strings import shortened
from holdfast.engine.memory.remember import audit_memories as doubtful
from holdfast.engine.privacy.audit import secrets as exposed
from holdfast.engine.redaction.redactor import readable_lists


@group("holdfast audit secrets", "holdfast audit memories")
def audit() -> None:
    """Look through what is kept: for secrets, and for memories that are of no use."""


@command("holdfast audit secrets", "holdfast audit secrets --json")
@json_option("Print one JSON document: a list of {place, kind, count}.")
def secrets(*, as_json: bool) -> None:
    """Count secrets in the store and in every file of the home.

    Each text is read as the redactor of today reads it. Only counts are printed, never a value. The exit
    status is 1 if there is any.
    """
    where = access.home()
    lists = readable_lists(config.load(where, None, None, os.environ).config)
    with access.opened_store(where) as store, working("reading everything"):
        counts = exposed(store, where, lists, lambda: True)
    if as_json:
        give_json([asdict(count) for count in counts])
    elif counts:
        give_table(
            ("place", "kind", "count"), [(count.place, count.kind, str(count.count)) for count in counts]
        )
        say("\nhint: the daemon redacts rows and logs again by itself; `holdfast doctor` says how far it is")
    else:
        give("no secret was found")
    click.get_current_context().exit(1 if counts else 0)


@command("holdfast audit memories", "holdfast audit memories --all-projects --json")
@click.option("--all-projects", is_flag=True, help="Of every project; else of this one and your own.")
@project_option()
@json_option("Print one JSON document: a list of {id, problem, detail, text}.")
def memories(*, all_projects: bool, project: Path | None, as_json: bool) -> None:
    """Find memories that are worth a look.

    Those that say the same or nearly the same as another, those that only repeat what Holdfast gave back,
    those that name files which are gone, and those that nobody found in 30 days. Nothing is changed.
    """
    with access.stored_engine() as engine, working("reading memories"):
        audited = doubtful(engine, access.project_at(project), all_projects=all_projects)
    rows = [
        {"id": doubt.id, "problem": doubt.problem, "detail": doubt.detail, "text": redact(memory.text)}
        for doubt, memory in audited.found
    ]
    if as_json:
        give_json(rows)
    elif rows:
        give_table(
            ("id", "problem", "detail", "text"),
            [(row["id"][:8], row["problem"], row["detail"], shortened(row["text"], 60)) for row in rows],
        )
        say("\nhint: `holdfast memories edit ID` changes one, `holdfast memories forget ID` removes it")
    else:
        give(f"nothing is doubtful about {audited.looked_at:,} memories")


audit.add_command(secrets)
audit.add_command(memories)
