"""The daemon's life: up, down, restart, status, and logs."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path
from typing import Any, TextIO

import click

from holdfast.cli import daemon_requests
from holdfast.cli.options import command, inherit_option, json_option
from holdfast.cli.printing import give, give_json, say, working
from holdfast.daemon.local import client
from holdfast.engine.liveness import (
    have_store_checked,
    is_alive,
    lock_holder,
    start_of,
)
from holdfast.errors import DaemonAway
from holdfast.stores.store_files import RECOVER, set_aside_stores

STOP_TIME = 10.0
CHECK_TIME = 600.0
"""How long a store of very many gigabytes may take to be read through."""


@command("holdfast up", "holdfast up --inherit")
@inherit_option
@json_option()
def up(*, take: bool, as_json: bool) -> None:
    """Start the daemon.

    Hooks start it by themselves when it is away; this is for those who want to see it.
    """
    from holdfast.cli.commands.import_export import inherit_or_offer

    pid = start(daemon_requests.home())
    if as_json:
        give_json({"running": True, "pid": pid})
    inherit_or_offer(take=take)


@command("holdfast down")
@json_option()
def down(*, as_json: bool) -> None:
    """Stop the daemon.

    Returns when its process is gone. The next hook starts it again; `holdfast unsetup` takes the hooks away.
    """
    pid = stop(daemon_requests.home())
    if as_json:
        give_json({"running": False, "stopped_pid": pid or None})


@command("holdfast restart")
@json_option()
def restart(*, as_json: bool) -> None:
    """Stop the daemon and start it again.

    It then reads the whole store before it uses it. A damaged one is set aside, as it is, and a new one is
    begun.
    """
    where = daemon_requests.home()
    known = set_aside_stores(where / "store.db")
    stop(where)
    # Slow to load, and only this command needs it.
    from holdfast.engine.home_store import is_on_server, there_is_one

    if there_is_one(where) and not is_on_server(where):
        have_store_checked(where)
    pid = start(where)
    with working("checking the store"):
        _wait_for_store(where)
    aside = [store for store in set_aside_stores(where / "store.db") if store not in known]
    for store in aside:
        say(f"note: {store}, and a new one was begun; {RECOVER}")
    if as_json:
        give_json({"running": True, "pid": pid, "set_aside": [str(store.path) for store in aside]})


def start(where: Path) -> int:
    """Have the daemon of this home run, and say so; its process."""
    if (answer := _status(where)) is not None:
        say(f"the daemon is up already, process {answer['pid']}")
        return int(answer["pid"])
    if holder := lock_holder(where):
        raise _stuck(holder)
    with working("starting the daemon"):
        client.start(where)
        answer = client.ask(where, "status")
    say(f"the daemon is up, process {answer['pid']}")
    return int(answer["pid"])


def _wait_for_store(where: Path) -> None:
    """Return once the daemon has opened its store."""
    until = time.monotonic() + CHECK_TIME
    while not client.ask(where, "status")["started_at"]:
        if time.monotonic() > until:
            say("note: the store is still being checked; `holdfast logs` says what comes of it")
            return
        time.sleep(0.02)


def stop(where: Path) -> int:
    """Have the daemon of this home gone, and say so; the process that it was, or 0."""
    answer = _status(where)
    if answer is None:
        if holder := lock_holder(where):
            raise _stuck(holder)
        say("the daemon is not running")
        return 0
    pid = int(answer["pid"])
    start = start_of(pid)
    with working("stopping the daemon"):
        client.ask(where, "stop")
        until = time.monotonic() + STOP_TIME
        while is_alive(pid, start):
            if time.monotonic() > until:
                raise DaemonAway(f"the daemon (process {pid}) takes long to stop", "look at `holdfast logs`")
            time.sleep(0.01)
    say(f"the daemon is down; it was process {pid}")
    return pid


def _status(where: Path) -> dict[str, Any] | None:
    """The daemon's status; waits, with a spinner, for one that is being started."""
    with working("asking the daemon"):
        return daemon_requests.daemon_status(where)


def _stuck(holder: int) -> DaemonAway:
    return DaemonAway(
        f"the daemon (process {holder}) does not answer",
        f"wait, or end it with `kill -9 {holder}`; nothing that was acknowledged is lost",
    )


PAUSE = 0.25


@command("holdfast logs -n 20", "holdfast logs -f")
@click.option(
    "-n",
    "--lines",
    default=50,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="How many lines.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added, until Ctrl-C.")
def logs(*, lines: int, follow: bool) -> None:
    """Print the end of the daemon's log."""
    log = daemon_requests.home() / "logs" / "daemon.log"
    if log.is_symlink() or not log.is_file():
        say(f"there is no log yet at {log}")
        return
    tail: int | None = lines
    while True:
        with log.open(encoding="utf-8", errors="replace") as file:
            for line in deque(file, maxlen=tail):
                give(line.rstrip("\n"))
            if not follow:
                return
            _print_until_rotated(log, file)
        tail = None


def _print_until_rotated(log: Path, file: TextIO) -> None:
    while True:
        # Asked first: what was written before the log was rotated is still printed.
        rotated = not _is_still(log, file)
        for line in file:
            give(line.rstrip("\n"))
        if rotated:
            return
        time.sleep(PAUSE)


def _is_still(log: Path, file: TextIO) -> bool:
    try:
        return os.path.samestat(log.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return True  # in the moment between the old log and the new one
