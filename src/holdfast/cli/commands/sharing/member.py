"""Hub, for a member: how sharing stands, what would be sent next, sharing now, and leaving."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias, cast

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience
from holdfast.core.text.strings import ago, elapsed, many, one_line, shortened
from holdfast.core.text.untrusted import defanged
from holdfast.engine.engine import Engine
from holdfast.engine.machine import this_machine
from holdfast.engine.sharing import connections, exchange, leaving, report, status
from holdfast.engine.sharing.connections import HubConnection
from holdfast.engine.sharing.exchange import Exchanged, HubLink
from holdfast.engine.sharing.hubs import URL_VARIABLE
from holdfast.engine.sharing.shared_projects import shared_projects
from holdfast.engine.sharing.status import Conflict, HubState, MachineProgress, NextItem, headline, text_in
from holdfast.errors import HoldfastError, HubError, NotThere
from holdfast.files import machine_id
from holdfast.stores.base import Store
from holdfast.stores.codec import to_iso
from holdfast.stores.hub.base import Hub
from holdfast.stores.shared import StoredVersion

SHOWN_CHARS: Final = 80
ID_CHARS: Final = 20
Row: TypeAlias = dict[str, object]

hub_option = click.option("--hub", "name", default="", metavar="NAME", help="This hub alone; else every one.")


@command("holdfast hub status", "holdfast hub status --what", "holdfast hub status --json")
@click.option("--what", is_flag=True, help="List exactly what would be sent next; nothing is sent.")
@hub_option
@json_option()
def show_status(*, what: bool, name: str, as_json: bool) -> None:
    """Show how sharing stands: what waits, when was shared last, and which machines have applied it.

    With --what, lists each text that would leave this machine next, before it does.
    The exit status is 0 if there is no problem, otherwise 1.
    """
    with access.writable_engine() as engine:
        access.register_project(engine, None)
        machine = _machine()
        joined = _joined(name)
        names = [each.name for each in joined]
        if what:
            items = [
                each
                for hub in _all_names(engine, names, name)
                for each in status.next_items(engine, hub, machine)
            ]
            give_json([_item_row(each) for each in items]) if as_json else _give_items(items)
            return
        states = [each for each in status.hub_states(engine, names, machine) if name in ("", each.name)]
        rows = [_state_row(engine.store, each, joined) for each in states]
    if as_json:
        give_json(rows)
    else:
        _give_states(states, rows)
    click.get_current_context().exit(1 if any(row["problem"] for row in rows) else 0)


@command("holdfast hub push", "holdfast hub push --hub work")
@hub_option
@json_option()
def push(*, name: str, as_json: bool) -> None:
    """Send now what waits; the daemon does so by itself."""
    _share(name, exchange.push, as_json=as_json)


@command("holdfast hub pull", "holdfast hub pull --hub work")
@hub_option
@json_option()
def pull(*, name: str, as_json: bool) -> None:
    """Get now what others have sent; the daemon does so by itself.

    Typed in a clone in which no session ran yet, it also gets what others have sent of that project.
    """
    _share(name, exchange.pull, as_json=as_json)


@command("holdfast hub history 1f2e3d4c", "holdfast hub history shared --json")
@click.argument("id", metavar="ID")
@json_option()
def history(*, id: str, as_json: bool) -> None:
    """Show every machine's version of a shared item, the one that holds first.

    ID is that of a memory or handoff, or how it begins; `shared` is this project's continuity.
    """
    with access.writable_engine() as engine:
        project = access.project_at(None)
        versions = status.versions_named(engine, project, id)
        redact = engine.redactor_to_show(project).of_session("")
    rows: list[Row] = [{**_version_row(each), "text": redact(defanged(text_in(each)))} for each in versions]
    if as_json:
        give_json(rows)
        return
    for row in rows:
        state = "holds" if row["holds"] else "removed" if row["removed"] else "earlier"
        give(f"{row['machine']} of {row['person']}, {row['at']}: {state}")
        give(str(row["text"]) or "(no text)")


@command("holdfast hub leave", "holdfast hub leave --hub work --erase --yes")
@click.option("--hub", "name", default="", metavar="NAME", help="Which hub, if several were joined.")
@click.option("--erase", is_flag=True, help="First remove at the hub all that you ever shared.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option()
def leave(*, name: str, erase: bool, yes: bool, as_json: bool) -> None:
    """Use a hub no more: what came from it is removed here, and what you remembered stays.

    What you shared stays at the hub, unless you say --erase. Then it is removed there, and from the machines
    of others when they pull the next time. That cannot be undone.
    """
    connection = _one(name)
    question = f"Leave the hub `{connection.name}`" + (
        " and remove all that you shared there" if erase else ""
    )
    if not yes:
        _ask(f"{question}?")
    with access.writable_engine() as engine, working("leaving"):
        left = leaving.leave(engine, access.home(), connection, _machine(), erase=erase)
    if as_json:
        give_json({"hub": connection.name, "erased": left.erased, "removed_here": left.removed_here})
        return
    if erase:
        say(f"removed at the hub: {many(left.erased, 'item')}")
    say(f"left the hub `{connection.name}`; removed here: {many(left.removed_here, 'item')} of it")
    if connection.is_from_environment:
        say(f"`{URL_VARIABLE}` still names it: unset it, or it is used again")


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise HoldfastError(
            "leaving asks before it removes anything, and nobody is there to answer", "add `--yes`"
        )
    click.confirm(question, abort=True, err=True)


# ---------------------------------------------------------------- sharing now


def _share(
    name: str, step: Callable[[Engine, HubLink, Callable[[], bool]], Exchanged], *, as_json: bool
) -> None:
    connected = _joined(name)
    if not connected:
        raise NotThere("this machine has joined no hub", "`holdfast hub join` joins one")
    rows: list[Row] = []
    with access.writable_engine() as engine:
        access.register_project(engine, None)  # In a fresh clone nothing is known of it yet.
        for connection in connected:
            with working(f"asking {connection.name}"), _open(engine, connection) as hub:
                result = step(engine, HubLink(connection.name, hub, _machine()), _always)
            rows.append(
                {
                    "hub": connection.name,
                    "sent": result.sent,
                    "pulled": result.pulled,
                    "waiting": result.waiting,
                    "read_only": report.notes_of(engine.store, connection.name).is_read_only,
                }
            )
    if as_json:
        give_json(rows)
        return
    for row in rows:
        waiting = f", {row['waiting']} waiting" if row["waiting"] else ""
        why = " (you may only read there)" if row["read_only"] and row["waiting"] else ""
        say(f"{row['hub']}: {row['sent']} sent, {row['pulled']} pulled{waiting}{why}")


def _always() -> bool:
    return True


@contextmanager
def _open(engine: Engine, connection: HubConnection) -> Generator[Hub]:
    """An open hub; a failure to open it is noted, as `status` shows it."""
    try:
        hub = connections.open_hub(connection)
    except HubError as error:
        exchange.note_failure(engine, connection.name, error)
        raise
    try:
        yield hub
    finally:
        hub.close()


# ---------------------------------------------------------------- which hubs


def _joined(name: str) -> list[HubConnection]:
    joined = connections.hub_connections(access.home(), os.environ)
    if name and name not in [each.name for each in joined]:
        raise NotThere(
            f"this machine has joined no hub `{name}`",
            f"joined: {', '.join(each.name for each in joined) or 'none'}",
        )
    return [each for each in joined if name in ("", each.name)]


def _one(name: str) -> HubConnection:
    joined = _joined(name)
    if not joined:
        raise NotThere("this machine has joined no hub", "`holdfast hub join` joins one")
    if len(joined) > 1:
        raise NotThere(
            "this machine has joined several hubs",
            f"say `--hub NAME`: {', '.join(each.name for each in joined)}",
        )
    return joined[0]


def _all_names(engine: Engine, joined: Sequence[str], name: str) -> list[str]:
    """The joined hubs and those of the settings, or the one that was named."""
    return [name] if name else sorted({*joined, *shared_projects(engine).hubs})


def _machine() -> Machine:
    home: Path = access.home()
    machine_id.read_or_make(home)
    return this_machine(home, config.load(home, None, None, os.environ).config)


# ---------------------------------------------------------------- printing


def _state_row(store: Store, state: HubState, joined: Sequence[HubConnection]) -> Row:
    notes = state.notes
    machines, unreachable = _machines(store, state, joined)
    return {
        "hub": state.name,
        "joined": state.is_joined,
        "person": notes.person or None,
        "team": notes.team or None,
        "read_only": notes.is_read_only,
        "projects": [
            {"name": each.name, "root": each.project.root or None, "kinds": sorted(each.policy.kinds)}
            for each in state.projects
        ],
        "waiting": state.waiting,
        "pushed_at": to_iso(notes.pushed_at) if notes.pushed_at else None,
        "pulled_at": to_iso(notes.pulled_at) if notes.pulled_at else None,
        "failing_since": to_iso(notes.failing_since) if notes.failing_since else None,
        "problem": (notes.problem or unreachable or _unjoined(state)) or None,
        "hint": notes.hint or None,
        "machines": machines,
        "conflicts": [
            _conflict_row(each)
            for each in status.conflicts(store, access.now())
            if each.held.key.hub == state.name
        ],
    }


def _conflict_row(conflict: Conflict) -> Row:
    held, other = conflict.held, conflict.other
    return {
        "kind": held.key.kind.value,
        "id": held.key.id,
        "project": held.key.project,
        "holds": _version_row(held),
        "other": _version_row(other),
    }


def _version_row(version: StoredVersion) -> Row:
    return {
        "machine": defanged(version.machine.name),
        "person": defanged(version.person),
        "at": to_iso(version.at),
        "holds": version.holds,
        "removed": version.is_removed,
    }


def _unjoined(state: HubState) -> str:
    return "" if state.is_joined else "the settings name this hub, and it was not joined on this machine"


def _machines(store: Store, state: HubState, joined: Sequence[HubConnection]) -> tuple[list[Row], str]:
    """How far each machine is, asked now; and why that could not be asked."""
    connection = next((each for each in joined if each.name == state.name), None)
    if connection is None:
        return [], ""
    try:
        hub = connections.open_hub(connection)
        try:
            progress = status.machine_progress(store, hub, state.name, state.projects)
        finally:
            hub.close()
    except HubError as error:
        return [], error.message
    return [_machine_row(each) for each in progress], ""


def _machine_row(progress: MachineProgress) -> Row:
    state = progress.state
    return {
        "project": progress.project,
        "machine": defanged(state.machine.name),
        "machine_id": state.machine.id,
        "person": defanged(state.person),
        "last_seen_at": to_iso(state.last_seen_at),
        "applied": state.applied,
        "current": progress.is_current,
    }


def _item_row(item: NextItem) -> Row:
    version, announcement = item.version, item.announcement
    return {
        "kind": announcement.kind.value,
        "id": version.key.id if version else announcement.id,
        "hub": version.key.hub if version else None,
        "project": version.key.project if version else None,
        "audience": version.audience.value if version else None,
        "recipient": (version.recipient or None) if version else None,
        "removed": version.is_removed if version else False,
        "waits": item.waits or None,
        "body": version.body if version else None,
    }


def _give_items(items: Sequence[NextItem]) -> None:
    if not items:
        say("nothing would be sent")
        return
    give_table(
        ("kind", "id", "hub", "project", "for", "characters", "text"),
        [_item_cells(each) for each in items],
        numbers=("characters",),
    )


def _item_cells(item: NextItem) -> tuple[str, ...]:
    version = item.version
    if version is None:
        return (
            item.announcement.kind,
            item.announcement.id[:ID_CHARS],
            "",
            "",
            "",
            "",
            f"waits: {item.waits}",
        )
    audience = "your machines" if version.audience is Audience.OWN else version.recipient or "the team"
    text = "(removed)" if version.is_removed else shortened(one_line(headline(version)), SHOWN_CHARS)
    return (
        version.key.kind,
        version.key.id[:ID_CHARS],
        version.key.hub,
        version.key.project,
        audience,
        str(len(version.body)),
        text,
    )


def _give_states(states: Sequence[HubState], rows: Sequence[Row]) -> None:
    if not states:
        say("no hub was joined, so nothing is shared; `holdfast hub join` joins one")
    now = access.now()
    for state, row in zip(states, rows, strict=True):
        notes = state.notes
        known_as = f" as {notes.person} of {notes.team}" if notes.person else ""
        give(f"{state.name}{known_as}{' (read only)' if notes.is_read_only else ''}")
        if row["problem"]:
            since = f" for {elapsed(now - notes.failing_since)}" if notes.failing_since else ""
            give(f"  PROBLEM{since}: {row['problem']}")
            if notes.hint:
                give(f"  fix: {notes.hint}")
        give(f"  waiting: {many(state.waiting, 'change')}")
        give(f"  pushed {_when(notes.pushed_at, now)}, pulled {_when(notes.pulled_at, now)}")
        for project in state.projects:
            kinds = ", ".join(sorted(project.policy.kinds)) or "nothing; what others share is read"
            give(f"  {'your own memories' if not project.project.project_id else project.name}: {kinds}")
        for machine in _rows(row["machines"]):
            behind = "up to date" if machine["current"] else "has not applied all changes yet"
            give(f"  {machine['machine']} of {machine['person']}, {machine['project']}: {behind}")
        for conflict in _rows(row["conflicts"]):
            give(
                f"  changed on two machines at once: {conflict['kind']} {conflict['id']}; the later one holds"
            )
            give(f"  both: `holdfast hub history {conflict['id']}`")


def _rows(value: object) -> list[Row]:
    return cast("list[Row]", value) if isinstance(value, list) else []


def _when(at: int, now: int) -> str:
    return ago(now - at) if at else "never"
