"""Access over HTTP: `token` shows and renews the tokens of programs, `dashboard` lets a browser in."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Final

import click

from holdfast.cli import access
from holdfast.cli.options import Option, command, group, json_option
from holdfast.cli.printing import give, give_json, say, working
from holdfast.daemon.local import client
from holdfast.errors import HoldfastError
from holdfast.files import tokens

FILES: Final = {"full": "token", "read": "token-read"}


@group("holdfast token show", "holdfast token rotate --scope read")
def token() -> None:
    """Show or renew the tokens by which programs use the HTTP API.

    `full` may do everything; `read` may look at everything and change nothing.
    """


def _scope_option() -> Option:
    says = "Which of the two."
    kinds = click.Choice(list(FILES))
    return click.option("--scope", type=kinds, default="full", show_default=True, help=says)


@command("holdfast token show", 'curl --oauth2-bearer "$(holdfast token show)" localhost:7433/api/stats')
@_scope_option()
@json_option()
def show(*, scope: str, as_json: bool) -> None:
    """Print a token; it is made if there is none yet."""
    text = tokens.read_or_make(_path(scope))
    if as_json:
        give_json({"scope": scope, "token": text})
    else:
        give(text)


@command("holdfast token rotate", "holdfast token rotate --scope read")
@_scope_option()
@json_option()
def rotate(*, scope: str, as_json: bool) -> None:
    """Put a new token in place of one; the old one counts no longer.

    With the full one, every browser that came by `holdfast dashboard` has to come by it again.
    """
    tokens.renew(_path(scope))
    if as_json:
        give_json({"scope": scope, "renewed": True})
    say(f"the {scope} token is a new one; `holdfast token show --scope {scope}` prints it")


def _path(scope: str) -> Path:
    return access.home() / "http" / FILES[scope]


token.add_command(show)
token.add_command(rotate)


@command("holdfast dashboard", "holdfast dashboard --print", "holdfast dashboard --hub")
@click.option("--print", "only_print", is_flag=True, help="Print the link, and open nothing.")
@click.option("--hub", "shows_team", is_flag=True, help="Begin with what others shared with this machine.")
@json_option("Print the link as one JSON document, and open nothing.")
def dashboard(*, only_print: bool, shows_team: bool, as_json: bool) -> None:
    """Open the dashboard in your browser.

    By a link that works once, within two minutes; it lets this browser in for a week. The daemon is started
    if it is away.
    """
    where = access.home()
    with working("starting the daemon"):
        if access.daemon_status(where) is None:
            client.start(where)
        url = str(client.ask(where, "link").get("url", ""))
    if not url:
        raise HoldfastError(
            "the daemon has no HTTP listener", "set `daemon.http_port`, then `holdfast restart`"
        )
    url = f"{url}&page=team" if shows_team else url
    if as_json:
        give_json({"url": url})
    elif only_print or not webbrowser.open(url):
        give(url)
        say("open this within two minutes; it works once")
    else:
        say("the dashboard is open in your browser")
