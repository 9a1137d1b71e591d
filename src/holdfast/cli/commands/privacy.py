"""Commands that check and remove what is stored: forget, prune, audit."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command, group, json_option, moment, project_option
from holdfast.cli.printing import folded, give, give_json, give_table, line_width, say, working
from holdfast.core.redaction.redact import redact
from holdfast.core.text.strings import quantity, shortened
from holdfast.daemon.local import client
from holdfast.engine.ids import ambiguous, candidate
from holdfast.engine.liveness import lock_holder, spooled_hook_events
from holdfast.engine.memory.remember import audit_memories as doubtful
from holdfast.engine.memory.remember import named_memory
from holdfast.engine.privacy import forget as forgetting
from holdfast.engine.privacy.audit import secrets as exposed
from holdfast.engine.privacy.forget import (
    Before,
    Choice,
    Everything,
    Forgotten,
    OneMemory,
    OneProject,
    OneSession,
)
from holdfast.engine.redaction.redactor import lists_of, readable_lists
from holdfast.engine.repository.projects import by_name, last_in_place, resolve
from holdfast.engine.upkeep import recover_store
from holdfast.engine.upkeep.maintain import prune_all, would_prune
from holdfast.errors import DaemonAway, Declined, HoldfastError
from holdfast.stores.base import RowKind, Store
from holdfast.stores.store_files import set_aside_stores

FORGETTING_TIME = 600.0
NEAREST = 3
ALIKE = 0.5
"""How alike a key must be to be suggested, of 1."""
KINDS = (
    ("sessions", "session", "sessions"),
    ("events", "event", "events"),
    ("checkpoints", "checkpoint", "checkpoints"),
    ("receipts", "brief", "briefs"),
    ("documents", "searchable text", "searchable texts"),
    ("memories", "memory", "memories"),
    ("hook_events", "hook event", "hook events"),
)


@command(
    "holdfast forget --session 1f2e3d4c",
    "holdfast forget --project . --dry-run",
    "holdfast forget --before 2026-01-31 --yes",
    "holdfast forget --memory 5d6c7b8a",
    "holdfast forget --all",
)
@click.option("--session", metavar="KEY", help="This session, by its key or how that begins.")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="DIR|ID",
    help="This project, where it is or was, or by its id.",
)
@click.option("--memory", metavar="ID", help="This memory, by its id or how that begins.")
@click.option("--before", metavar="90d|DATE", help="The sessions whose last event is from before then.")
@click.option("--all", "everything", is_flag=True, help="Everything that was ever recorded.")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option()
def forget(  # noqa: PLR0913 - each is an option
    *,
    session: str | None,
    project: Path | None,
    memory: str | None,
    before: str | None,
    everything: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove for good what is kept of sessions, or a memory.

    From the store, its index and its backups, from the spool and the logs; no byte of it is left in the home.
    A memory goes with every copy of it and every wording that it had, whoever repeated it. What was
    remembered in a session goes with the session, and what holds in a project with the project. A session
    that goes on is kept from then on. The harness's own transcripts stay where they are, and so do the
    backups that setup made of its settings; a transcript that is read again brings nothing back.
    """
    options = [each for each in (session, project, memory, before, everything or None) if each is not None]
    if len(options) != 1:
        raise click.UsageError("Say one of --session, --project, --memory, --before and --all.")
    _take_in_hook_events(access.home())
    if not dry_run and not everything:
        _recover_first(access.home())
    with access.stored_engine() as engine:
        if memory is not None:
            id = named_memory(engine, access.project_at(None), memory, all_projects=True).id
            choice: Choice = OneMemory(id)
        else:
            choice = _choice(engine.store, session, project, before)
    carry_out(access.home(), choice, dry_run=dry_run, yes=yes, as_json=as_json)


def carry_out(where: Path, choice: Choice, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Say what would go, ask, have it gone, and tell what went."""
    with access.opened_store(where) as store, working("counting"):
        expected = forgetting.rehearse(store, where, choice, access.now())
        heirs = forgetting.living_on(store, choice.key) if isinstance(choice, OneSession) else []
    if not dry_run and expected != Forgotten():
        _agree(expected, beforehand=yes)
        with working("forgetting"):
            expected = _forgotten(where, choice)
    if as_json:
        give_json(asdict(expected))
        return
    for line in _count_lines(expected, "would be " if dry_run else ""):
        give(folded(line, line_width(), "  "))
    for path in expected.left:
        say(f"note: `{path}` says it too; that file is yours, so it was left as it is")
    for key in heirs:
        say(f"note: session {key} holds records of this one as its own; it is not forgotten with it")
    if not dry_run:
        say("left alone: the harnesses' own transcripts, and the backups that setup made of their settings")


def _take_in_hook_events(where: Path) -> None:
    """Record the spool first: a session known only by spooled hook events could not be found."""
    if not spooled_hook_events(where):
        return
    # A damaged store is an error here, and no daemon must be started on it.
    with access.opened_store(where):
        pass
    try:
        with working("catching up"):
            access.catch_up(where, start=True)
    except DaemonAway as error:
        say(f"note: {error.message}; hook events in the spool are searched as they are")


def _recover_first(home: Path) -> None:
    """What stands in a damaged store alone could not be named otherwise, and would come back with it."""
    aside = set_aside_stores(home / "store.db")
    if not aside:
        return
    say("note: what can be read in the damaged store is brought back first; that store goes afterwards")
    with working("recovering the damaged store"):
        lists = lists_of(config.load(home, None, None, os.environ).config)
        recover_store.recover_new(home, lists, access.now())


def _choice(store: Store, session: str | None, project: Path | None, before: str | None) -> Choice:
    if session is not None:
        return OneSession(_key(store, session))
    if project is not None:
        return OneProject(_project_id(store, project))
    if before is not None:
        return Before(moment(before, access.now()))
    return Everything()


def _key(store: Store, beginning: str) -> str:
    """The key that was named, or the only one that begins so."""
    # More keys than there are sessions: checkpoints and passages outlive them.
    keys = store.keys()
    matches = [key for key in keys if beginning and key.startswith(beginning)]
    if beginning in keys:
        return beginning
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ambiguous("session", beginning, [candidate(store, RowKind.SESSION, key) for key in matches])
    near = difflib.get_close_matches(beginning, keys, n=NEAREST, cutoff=ALIKE)
    nearest = " or ".join(f"`{key}`" for key in near[:NEAREST])
    usual = "`holdfast sessions` lists them" if keys else "nothing is kept of any session"
    hint = f"did you mean {nearest}?" if near else usual
    raise HoldfastError(f"nothing is kept of a session `{beginning}`", hint)


def _project_id(store: Store, directory: Path) -> str:
    """Whose work the directory is, or was while it was there; or the project of that id."""
    if directory.is_dir():
        place = str(directory.absolute())
        return last_in_place(store, place) or resolve(store, place).project.project_id
    project = by_name(store, str(directory))
    return project.project_id if project else resolve(store, str(directory.absolute())).project.project_id


def _agree(expected: Forgotten, *, beforehand: bool) -> None:
    if beforehand:
        return
    if not sys.stdin.isatty():
        raise HoldfastError(
            "forget asks before it removes anything, and nobody is there to answer",
            "look with `--dry-run`, then add `--yes`",
        )
    for line in _count_lines(expected, "would be "):
        say(line)
    if not click.confirm("Remove this for good?", err=True):
        raise Declined("nothing was removed")


def _forgotten(where: Path, choice: Choice) -> Forgotten:
    """Have the daemon do it, between two hook events; without a daemon, do it here."""
    if access.daemon_status(where) is None:
        if holder := lock_holder(where):
            raise DaemonAway(f"the daemon (process {holder}) does not answer", "run `holdfast restart`")
        with access.opened_store(where) as store:
            return forgetting.forget(store, where, choice, access.now())
    answer = client.ask(where, "forget", timeout=FORGETTING_TIME, **forgetting.words_of(choice))
    if "error" in answer:
        raise HoldfastError(str(answer["error"]), str(answer.get("hint") or "run `holdfast restart`"))
    return Forgotten(**answer)


def _count_lines(forgotten: Forgotten, mood: str) -> Iterator[str]:
    parts = [quantity(count, one, many) for name, one, many in KINDS if (count := getattr(forgotten, name))]
    yield f"{mood}forgotten: {', '.join(parts)}" if parts else "there is nothing to forget"
    if count := forgotten.mentions:
        yield f"{mood}rewritten: {quantity(count, 'other row')} that said it"
    if count := forgotten.rewritten:
        yield f"{mood}rewritten: {quantity(count, 'backup')} of the store, without it"
    if count := forgotten.ledgers:
        yield f"{mood}removed: {quantity(count, 'past version')} of ledgers"
    if count := forgotten.continuities:
        yield f"{mood}removed: the shared continuity of {quantity(count, 'project')}"
    if count := forgotten.copies:
        copies = quantity(count, "damaged copy", "damaged copies")
        yield f"{mood}removed: {copies} of the store, which could hold some of it"
    if count := forgotten.logs:
        yield f"{mood}emptied: {quantity(count, 'log')}, whose lines do not say whose they are"


@command("holdfast prune --dry-run", "holdfast prune --days 3")
@click.option("--days", type=click.IntRange(min=0), metavar="N", help="Keep so many days; else as set.")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
@json_option()
def prune(*, days: int | None, dry_run: bool, as_json: bool) -> None:
    """Remove what has served its time.

    The daemon does this by itself every hour. The newest checkpoint of each session is kept for 90 days; that
    of an imported one, and what was said in a session, as long as `records.retention_days` and
    `records.max_mb` say.
    """
    settings = config.load(access.home(), None, None, os.environ).config
    config.require_protection(settings)  # How long things are to be kept stands in the same files.
    days = settings.continuity.retention_days if days is None else days
    # What is pending is too young to go, and a daemon that was started to take it in would prune as well.
    with access.stored_engine() as engine, working("pruning"):
        pruned = (would_prune if dry_run else prune_all)(engine, days, settings.records)
    if as_json:
        give_json({**asdict(pruned), "days": days, "dry_run": dry_run})
        return
    verb = "would be removed" if dry_run else "removed"
    checkpoints, sessions = quantity(pruned.checkpoints, "checkpoint"), quantity(pruned.sessions, "session")
    give(f"{checkpoints}, {sessions} and {quantity(pruned.passages, 'passage')} {verb}")


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
        for doubt, memory in audited.doubts
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
        give(f"nothing is doubtful about {quantity(audited.looked_at, 'memory', 'memories')}")


audit.add_command(secrets)
audit.add_command(memories)
