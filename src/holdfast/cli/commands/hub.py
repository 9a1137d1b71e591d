"""Hub: what is shared with other machines and people, and by which name they know a project."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli import access
from holdfast.cli.commands.sharing.join import join
from holdfast.cli.commands.sharing.member import history, leave, pull, push, show_status
from holdfast.cli.commands.sharing.owner import init, invite, members, revoke
from holdfast.cli.options import command, group, json_option, project_option
from holdfast.cli.printing import give_json, home_path, say
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import SharedIdentity
from holdfast.engine.repository import projects, shared_identity
from holdfast.engine.views.serialisation import shared_identity_row
from holdfast.errors import HoldfastError


@group(
    "holdfast hub init postgresql://me@db.example/hub",
    "holdfast hub invite ann",
    "holdfast hub join",
    "holdfast hub bind 'shop notes'",
)
def hub() -> None:
    """Share with other machines and people, through a database of yours.

    `bind` says by which name others know a project. By itself that is its git remote, as in
    `github.com/acme/shop`, whichever way the address is written. A project without a remote is known on this
    machine only, unless you give it a name.
    """


@command(
    "holdfast hub bind 'shop notes'",
    "holdfast hub bind github.com/acme/shop",
    "holdfast hub bind notes --project ~/notes",
)
@click.argument("name", metavar="NAME")
@project_option()
@json_option()
def bind(*, name: str, project: Path | None, as_json: bool) -> None:
    """Choose the name by which other machines and people know a project.

    For a project without a remote, or one whose remote has an address that others do not use, such as an
    alias in your ssh settings: then NAME is the address that they use. Give it the same name on each machine.
    It comes before the remote. What was shared under a former name is still found.
    """
    with access.writable_engine() as engine:
        here = access.register_project(engine, project)
        if not engine.store.sites_of(here.project_id):
            raise HoldfastError(
                f"nothing is captured of `{home_path(here.root)}`, so there is nothing to share",
                "`holdfast config capture.exclude` shows which projects are excluded",
            )
        identity = shared_identity.bind(engine.store, here, name, access.now())
    _tell(here, identity, as_json=as_json)


@command("holdfast hub unbind", "holdfast hub unbind gitlab.com/acme/old-name")
@click.argument("name", metavar="[NAME]", required=False, default="")
@project_option()
@json_option()
def unbind(*, name: str, project: Path | None, as_json: bool) -> None:
    """Take back the name that you chose; with NAME, forget a former name of the project.

    What was shared under that name no longer reaches this project.
    """
    with access.writable_engine() as engine:
        where = access.project_at(project)
        here = projects.project_named(engine, where.project_id)
        identity = shared_identity.unbind(engine.store, here, name)
    _tell(where, identity, as_json=as_json)


def _tell(project: Project, identity: SharedIdentity, *, as_json: bool) -> None:
    if as_json:
        give_json({"root": project.root, **shared_identity_row(project.project_id, identity)})
        return
    known = f"as `{identity.name}`" if identity.name else "on this machine only"
    say(f"`{home_path(project.root)}` is known {known}")
    if identity.former:
        say(f"former names: {', '.join(identity.former)}; `holdfast hub unbind NAME` removes one")


hub.add_command(show_status, "status")
for each in (push, pull, history, leave, init, invite, revoke, members, join, bind, unbind):
    hub.add_command(each)
