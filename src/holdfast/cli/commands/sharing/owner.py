"""What the owner of a hub's database does: prepare it, invite and revoke people, list them."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli import access
from holdfast.cli.options import Option, command, json_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.text.strings import quantity
from holdfast.engine.sharing import connections
from holdfast.engine.sharing.connections import OwnedHub
from holdfast.stores.codec import to_iso
from holdfast.stores.hub.base import Member
from holdfast.stores.postgres.connection import PostgresAddress, TlsLevel, is_local_host, parse_url

USUAL_TEAM = "team"


def tls_option(says: str) -> Option:
    """`--tls`, given as `tls`."""
    levels = click.Choice([level.value for level in TlsLevel])
    return click.option("--tls", type=levels, default=TlsLevel.VERIFY_FULL.value, help=says)


def hub_option() -> Option:
    """`--hub`, given as `name`: which of several hubs that one owns."""
    return click.option("--hub", "name", default="", metavar="NAME", help="Which hub, if you own several.")


@command(
    "holdfast hub init postgresql://me@db.example/hub --password-file FILE",
    "holdfast hub init 'postgresql://postgres@/holdfast?host=/run/postgresql'",
)
@click.argument("url", metavar="URL")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the password from the first line of this file, which only you may read; else from ~/.pgpass.",
)
@click.option("--name", default=connections.USUAL_NAME, metavar="NAME", help="How commands name this hub.")
@tls_option("What the connection to another machine needs at least.")
@json_option()
def init(*, url: str, password_file: Path | None, name: str, tls: str, as_json: bool) -> None:
    """Make a PostgreSQL database a hub. Once, by whoever owns the database.

    URL names the database and who logs in, without a password. The login needs no superuser: it must own the
    database and may create roles. What is in the database already stays as it is; a later version of Holdfast
    brings the hub up to date by the same command.
    """
    file = str(password_file.expanduser().absolute()) if password_file else ""
    owned = OwnedHub(connections.checked_hub_name(name), PostgresAddress(url, file, TlsLevel(tls)))
    owner = connections.open_owner(owned)
    try:
        has_changed = owner.prepare()
        people = [member for member in owner.members() if not member.revoked_at]
    finally:
        owner.close()
    connections.keep_owned_hub(access.home(), owned)
    place = owned.address.place
    if as_json:
        give_json({"name": owned.name, "place": place, "has_changed": has_changed, "members": len(people)})
        return
    if has_changed:
        say(f"`{place}` is a hub now: a schema `holdfast_hub`, its roles and the rights of each are there")
    else:
        say(f"`{place}` was a hub already, and is up to date")
    if people:
        say(f"{quantity(len(people), 'person', 'people')} may use it; `holdfast hub members` lists them")
    else:
        say("nobody may use it yet; `holdfast hub invite NAME` prints a line with which one joins")


@command(
    "holdfast hub invite ann",
    "holdfast hub invite bob --team shop --read-only",
    "holdfast hub invite ann --host db.example:5432",
)
@click.argument("person", metavar="NAME")
@click.option("--team", default=USUAL_TEAM, metavar="TEAM", help="With whom the person shares.")
@click.option("--read-only", "is_read_only", is_flag=True, help="The person sees what others share, no more.")
@click.option(
    "--host",
    default="",
    metavar="HOST[:PORT]",
    help="Where the person reaches the database, if elsewhere than you do.",
)
@hub_option()
def invite(*, person: str, team: str, is_read_only: bool, host: str, name: str) -> None:
    """Let a person use the hub: makes their role, and prints the line with which they join.

    The line holds a new password, which is stored nowhere else: send it over a safe channel, and to that
    person alone. It works on each of their machines. Inviting somebody again gives them a new password and
    these rights.
    """
    owned = connections.owned_hub(access.home(), name)
    owner = connections.open_owner(owned)
    try:
        invitation = owner.invite(person, team, is_read_only=is_read_only)
    finally:
        owner.close()
    give(connections.invitation_line(owned, invitation, host))
    say(f"`{person}` may use the hub, in the team `{team}`{', to read' if is_read_only else ''}")
    say("the line holds a password: send it over a safe channel; `holdfast hub join` asks for it")
    places = [host] if host else parse_url(owned.address.url).hosts
    if all(is_local_host(each.rpartition(":")[0] or each) for each in places):
        say("note: it works on this machine only; `--host HOST` says where others reach the database")


@command("holdfast hub revoke ann")
@click.argument("person", metavar="NAME")
@hub_option()
@json_option()
def revoke(*, person: str, name: str, as_json: bool) -> None:
    """End a person's access at once, also on connections that are open.

    What they shared stays. `holdfast hub invite` lets them in again, with a new password.
    """
    owner = connections.open_owner(connections.owned_hub(access.home(), name))
    try:
        owner.revoke(person)
    finally:
        owner.close()
    if as_json:
        give_json({"revoked": person})
        return
    say(f"`{person}` can no longer use the hub; what they shared stays")


@command("holdfast hub members", "holdfast hub members --json")
@hub_option()
@json_option()
def members(*, name: str, as_json: bool) -> None:
    """List everyone who was invited to a hub that you own."""
    owner = connections.open_owner(connections.owned_hub(access.home(), name))
    try:
        everyone = owner.members()
    finally:
        owner.close()
    if as_json:
        give_json([_row(member) for member in everyone])
    elif everyone:
        give_table(
            ("name", "team", "rights", "invited", "revoked"),
            [
                (
                    member.name,
                    member.team,
                    "read" if member.is_read_only else "read, share",
                    to_iso(member.invited_at)[:10],
                    to_iso(member.revoked_at)[:10] if member.revoked_at else "",
                )
                for member in everyone
            ],
        )
    else:
        say("nobody was invited yet; `holdfast hub invite NAME` invites somebody")


def _row(member: Member) -> dict[str, object]:
    return {
        "name": member.name,
        "team": member.team,
        "is_read_only": member.is_read_only,
        "invited_at": to_iso(member.invited_at),
        "revoked_at": to_iso(member.revoked_at) if member.revoked_at else None,
    }
