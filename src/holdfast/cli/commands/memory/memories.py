"""Memories: those that are kept, listed, shown, changed, pinned and forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from holdfast.cli import access
from holdfast.cli.commands.privacy.forget import carry_out
from holdfast.cli.options import command, group, json_option, limit_option, project_option
from holdfast.cli.printing import give, give_json, say
from holdfast.cli.views.memory_rows import give_memories, memory_row
from holdfast.core.memory.memory import Memory
from holdfast.core.redaction.redact import redact
from holdfast.engine.memory import remember as remembering
from holdfast.engine.privacy.forget import OneMemory
from holdfast.errors import HoldfastError


@group("holdfast memories list", "holdfast memories pin 1f2e3d4c")
def memories() -> None:
    """Look after what was remembered: list, show, edit, pin, unpin, forget."""


@command("holdfast memories list", "holdfast memories list --all --json")
@click.option("--all", "everything", is_flag=True, help="Also those that a newer one supersedes.")
@click.option("--all-projects", is_flag=True, help="Of every project; else of this one and your own.")
@limit_option(50)
@project_option()
@json_option()
def listed(*, everything: bool, all_projects: bool, limit: int, project: Path | None, as_json: bool) -> None:
    """List memories, the newest first."""
    place = access.project_at(project)
    with access.stored_engine() as engine:
        matches = remembering.memories(
            engine, place, all_projects=all_projects, include_superseded=everything, limit=limit
        )
    if as_json:
        give_json([memory_row(memory) for memory in matches])
    elif matches:
        give_memories(matches)
    else:
        say("nothing is remembered here; `holdfast remember TEXT` keeps something")


@command("holdfast memories show 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def show(*, id: str, project: Path | None, as_json: bool) -> None:
    """Show one memory, by its id or how that begins."""
    with access.stored_engine() as engine:
        memory = remembering.named_memory(engine, access.project_at(project), id, all_projects=True)
    if as_json:
        give_json(memory_row(memory))
        return
    for name, value in memory_row(memory).items():
        if name != "text" and value not in (None, "", []):
            values = cast("list[str]", value) if isinstance(value, list) else [str(value)]
            say(f"{name}: {', '.join(values)}")
    give(redact(memory.text))


@command("holdfast memories edit 1f2e3d4c 'The port is 9090'", "holdfast memories edit 1f2e3d4c --tag net")
@click.argument("id", metavar="ID")
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("--tag", "tags", multiple=True, metavar="T", help="In place of its tags; '' for none.")
@click.option("--importance", type=click.FloatRange(0, 1), metavar="0..1", help="How much it matters.")
@project_option()
@json_option()
def edit(
    *,
    id: str,
    words: tuple[str, ...],
    tags: tuple[str, ...],
    importance: float | None,
    project: Path | None,
    as_json: bool,
) -> None:
    """Change a memory's text, tags or importance."""
    if not (words or tags or importance is not None):
        raise click.UsageError("Say what is to change: TEXT, --tag or --importance.")
    text = " ".join(words) if words else None
    _refuse_half_characters(text or "")
    with access.stored_engine() as engine:
        memory = remembering.edit(
            engine, access.project_at(project), id, text=text, tags=tags or None, importance=importance
        )
    _changed(memory, as_json=as_json)


@command("holdfast memories pin 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def pin(*, id: str, project: Path | None, as_json: bool) -> None:
    """Do not let a memory fade."""
    with access.stored_engine() as engine:
        memory = remembering.edit(engine, access.project_at(project), id, pinned=True)
    _changed(memory, as_json=as_json)


@command("holdfast memories unpin 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def unpin(*, id: str, project: Path | None, as_json: bool) -> None:
    """Let a memory fade like others."""
    with access.stored_engine() as engine:
        memory = remembering.edit(engine, access.project_at(project), id, pinned=False)
    _changed(memory, as_json=as_json)


@command("holdfast memories forget 1f2e3d4c --yes")
@click.argument("id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@project_option()
@json_option()
def forget(*, id: str, dry_run: bool, yes: bool, project: Path | None, as_json: bool) -> None:
    """Remove a memory for good; what it had superseded holds again."""
    with access.stored_engine() as engine:
        memory = remembering.named_memory(engine, access.project_at(project), id)
    carry_out(access.home(), OneMemory(memory.id), dry_run=dry_run, yes=yes, as_json=as_json)


def _changed(memory: Memory, *, as_json: bool) -> None:
    give_json(memory_row(memory)) if as_json else give(memory.id)


def _refuse_half_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise HoldfastError("the text is not valid UTF-8", "convert it first") from None


memories.add_command(listed, "list")
for each in (show, edit, pin, unpin, forget):
    memories.add_command(each)
