"""The dashboard: a link to it that works once, opened in the browser or printed."""

from __future__ import annotations

import webbrowser

import click

from holdfast.cli import access
from holdfast.cli.options import command
from holdfast.cli.printing import give, say, working
from holdfast.daemon.local import client
from holdfast.errors import HoldfastError


@command("holdfast dashboard", "holdfast dashboard --print")
@click.option("--print", "only_print", is_flag=True, help="Print the link, and open nothing.")
def dashboard(*, only_print: bool) -> None:
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
    if only_print or not webbrowser.open(url):
        give(url)
        say("open this within two minutes; it works once")
    else:
        say("the dashboard is open in your browser")
