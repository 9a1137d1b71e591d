"""How a machine joins a hub: by the line of an invitation, or by what a container's environment says."""

from __future__ import annotations

import os
import sys

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.commands.sharing.owner import tls_option
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give_json, say
from holdfast.core.sharing.identity import Machine
from holdfast.engine.machine import this_machine
from holdfast.engine.sharing import connections
from holdfast.engine.sharing.hubs import URL_VARIABLE
from holdfast.errors import HoldfastError
from holdfast.files import atomic, machine_id
from holdfast.stores.hub.base import Identification
from holdfast.stores.postgres.connection import TlsLevel


@command(
    "holdfast hub join",
    "holdfast hub join < invitation.txt",
    "holdfast hub join --name work",
)
@click.option("--name", default=connections.USUAL_NAME, metavar="NAME", help="How settings name this hub.")
@tls_option("What the connection to another machine needs at least.")
@json_option()
def join(*, name: str, tls: str, as_json: bool) -> None:
    """Join a hub, with the line that its owner sent you.

    The line is asked for, or read from stdin; it holds a password, so never give it as an argument. The hub
    is asked first; then the connection is written into the home, and the password into a file of its own that
    only you can read. Nothing is shared until the settings of `[sharing]` name it.

    In a container, HOLDFAST_HUB_URL and HOLDFAST_HUB_PASSWORD_FILE are enough: then this command only checks
    that the hub lets you in.
    """
    home = access.home()
    atomic.make_folder(home)
    machine_id.read_or_make(home)
    machine = this_machine(home, config.load(home, None, None, os.environ).config)
    if os.environ.get(URL_VARIABLE):
        _check_environment(machine, as_json=as_json)
        return
    line = connections.parse_invitation(_line())
    connection, known = connections.join(home, name, line, TlsLevel(tls), machine, access.now())
    _tell(connection.name, known, as_json=as_json)


def _check_environment(machine: Machine, *, as_json: bool) -> None:
    (connection,) = (
        each for each in connections.hub_connections(access.home(), os.environ) if each.is_from_environment
    )
    _tell(connection.name, connections.identify(connection, machine), as_json=as_json)


def _line() -> str:
    if sys.stdin.isatty():
        prompted: str = click.prompt("The line of your invitation", hide_input=True, err=True)
        return prompted
    line = sys.stdin.readline()
    if not line.strip():
        raise HoldfastError(
            "there is no invitation on stdin", "`holdfast hub join < FILE`, or run it in a terminal"
        )
    return line


def _tell(name: str, known: Identification, *, as_json: bool) -> None:
    if as_json:
        row = {"person": known.person, "team": known.team, "is_read_only": known.is_read_only}
        give_json({"name": name, **row})
        return
    rights = ", to read" if known.is_read_only else ""
    say(f"joined `{name}` as `{known.person}`, in the team `{known.team}`{rights}")
    say("nothing is shared until `[sharing]` in the settings says what")
