"""Recover-store: bring back what can be read in a damaged store, and say what came back."""

from __future__ import annotations

import os
import sys
from typing import Final

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.cli.progress import progress_bar
from holdfast.core.text.strings import quantity
from holdfast.engine.home_store import refuse_server
from holdfast.engine.redaction.redactor import lists_of
from holdfast.engine.upkeep.recover_store import Recovery, recover, remove
from holdfast.stores.store_files import set_aside_stores

NAMES: Final = {
    "forgotten": "what was forgotten",
    "session_checkpoints": "checkpoints",
    "receipts": "briefs",
    "documents": "passages",
    "messages": "events",
    "session_scores": "scores",
}
"""The names that users see for tables, if they differ from the table's own."""


@command("holdfast recover-store", "holdfast recover-store --remove", "holdfast recover-store --json")
@click.option("--remove", "removing", is_flag=True, help="Remove the damaged store afterwards.")
@json_option()
def recover_store(*, removing: bool, as_json: bool) -> None:
    """Bring back what can be read in a damaged store.

    When the store cannot be read any more, the daemon sets it aside and begins a new one. This reads every
    page of what was set aside, adds each row that is whole to the store in use, memories first, and says how
    many came back. Nothing newer is overwritten, what was forgotten stays forgotten, and doing it again adds
    nothing twice. What only the last daily backup still has is taken from there. The damaged store stays for
    90 days unless you remove it.
    """
    home = access.home()
    aside = set_aside_stores(home / "store.db")
    if not aside:
        if as_json:
            give_json({"recovered": [], "removed": []})
        say("there is no damaged store")
        return
    refuse_server(home, "what is recovered goes into the file of the home", "unset `store.url` for that")
    lists = lists_of(config.load(home, None, None, os.environ).config)
    with progress_bar() as progress:
        recovered = recover(home, lists, access.now(), progress)
    if not as_json:
        for each in recovered:
            _show(each)
    removed = [store for store in aside if removing or (not as_json and _agrees(store.path.name))]
    for store in removed:
        remove(store)
    if as_json:
        paths = [str(store.path) for store in removed]
        give_json({"recovered": [_row(each) for each in recovered], "removed": paths})
        return
    for store in aside:
        say(f"removed `{store.path}`" if store in removed else f"note: {store}; `--remove` removes it")


def _show(recovery: Recovery) -> None:
    give(f"from {'the backup ' if recovery.file.parent.name == 'backups' else ''}{recovery.file}:")
    rows = [
        (NAMES.get(table.name, table.name), f"{table.readable:,}", f"{table.added:,}", _lost(table.lost))
        for table in recovery.tables
        if table.readable or table.lost
    ]
    if rows:
        give_table(("", "readable", "added", "lost"), rows)
    else:
        give("nothing in it can be read")
    if recovery.unreadable:
        give(f"{quantity(recovery.unreadable, 'row')} cannot be read")


def _lost(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def _row(recovery: Recovery) -> dict[str, object]:
    tables = {
        table.name: {"readable": table.readable, "added": table.added, "lost": table.lost}
        for table in recovery.tables
    }
    return {"file": str(recovery.file), "tables": tables, "unreadable": recovery.unreadable}


def _agrees(name: str) -> bool:
    """Whether the user wants it removed now; without a terminal to ask, it stays."""
    return sys.stdin.isatty() and click.confirm(f"Remove {name} now?", err=True)
