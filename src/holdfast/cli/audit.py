"""Audit: what in the home the redactor of today would still redact, in numbers; exit status 1 if anything."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.engine.audit import secrets as exposed
from holdfast.engine.redactor import lists_of


@click.group(epilog="\b\nExamples:\n  holdfast audit secrets")
def audit() -> None:
    """Look for secrets in everything that is kept."""


@command("holdfast audit secrets", "holdfast audit secrets --json")
@json_option("Print one JSON document: a list of {place, kind, count}.")
def secrets(*, as_json: bool) -> None:
    """Count secrets in the store and in every file of the home.

    Each text is read as the redactor of today reads it. Only counts are printed, never a value. The exit
    status is 1 if there is any.
    """
    where = access.home()
    lists = lists_of(config.load(where, None, None, os.environ).config)
    with access.opened_store(where) as store, working("reading everything"):
        found = exposed(store, where, lists)
    if as_json:
        give_json([asdict(one) for one in found])
    elif found:
        give_table(("place", "kind", "count"), [(one.place, one.kind, str(one.count)) for one in found])
        say("\nhint: the daemon redacts rows and logs again by itself; `holdfast doctor` says how far it is")
    else:
        give("no secret was found")
    click.get_current_context().exit(1 if found else 0)


audit.add_command(secrets)
