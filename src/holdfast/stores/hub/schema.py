"""Schema of a hub: the roles it needs, and the numbered steps from an empty database to the latest tables."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from typing import Final

from holdfast.errors import HubRefused
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.postgres.connection import Connection

LONGEST_ROLE: Final = 63
"""PostgreSQL's own limit for a name, in bytes."""
_NAME: Final = re.compile(r"(?P<version>\d{4})_\w+\.sql")
_ROLE: Final = re.compile(r":(owner|readers|writers)\b")


@dataclass(frozen=True, slots=True)
class HubRoles:
    """The roles of the hub in a database; they begin with its name, as databases share a server's."""

    database: str

    @property
    def owner(self) -> str:
        """The owner of tables and functions, who cannot log in."""
        return self._role("hub_owner")

    @property
    def readers(self) -> str:
        """The group of all members."""
        return self._role("hub_readers")

    @property
    def writers(self) -> str:
        """The group of those who may push."""
        return self._role("hub_writers")

    def team(self, name: str) -> str:
        """The group of a team."""
        return self._role(f"team_{name}")

    def person(self, name: str) -> str:
        """The role that a person logs in as."""
        return self._role(f"person_{name}")

    def _role(self, name: str) -> str:
        whole = f"{self.database}_{name}"
        encoded = whole.encode()
        if len(encoded) <= LONGEST_ROLE:
            return whole
        digest = hashlib.sha256(encoded).hexdigest()[:16]
        return f"{encoded[: LONGEST_ROLE - 17].decode(errors='ignore')}_{digest}"


@dataclass(frozen=True, slots=True)
class HubMigration:
    """One step: the version it leads to, and how."""

    version: int
    sql: str


def shipped() -> tuple[HubMigration, ...]:
    """The steps that come with this version, in order."""
    steps = [
        HubMigration(int(name["version"]), file.read_text(encoding="utf-8"))
        for file in files("holdfast.stores.hub").joinpath("migrations").iterdir()
        if (name := _NAME.fullmatch(file.name))
    ]
    return tuple(sorted(steps, key=lambda step: step.version))


def refuse_other(version: int, place: str) -> None:
    """HubRefused if a hub's schema is not the one that this program knows; nothing is sent to another one."""
    own = shipped()[-1].version
    if version == 0:
        raise HubRefused(f"`{place}` is no hub", "its owner makes it one with `holdfast hub init`")
    if version > own:
        raise HubRefused(
            f"the hub at `{place}` was prepared by a later version of Holdfast"
            f" (schema {version}, this is {own})",
            "upgrade with `uv tool upgrade holdfast`",
        )
    if version < own:
        raise HubRefused(
            f"the hub at `{place}` was prepared by an earlier version of Holdfast"
            f" (schema {version}, this is {own})",
            "its owner brings it up to date with `holdfast hub init`",
        )


def migrate(connection: Connection, roles: HubRoles, version: int) -> bool:
    """Take the steps from that version, as the owner's role; returns whether there were any."""
    steps = [step for step in shipped() if step.version > version]
    for step in steps:
        connection.execute(_with_roles(step.sql, roles).encode())
    if steps:
        connection.execute(b"delete from holdfast_hub.schema_version")
        connection.execute(
            b"insert into holdfast_hub.schema_version (version) values (%s)", (steps[-1].version,)
        )
    return bool(steps)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _with_roles(sql: str, roles: HubRoles) -> str:
    names = {"owner": roles.owner, "readers": roles.readers, "writers": roles.writers}
    return _ROLE.sub(lambda match: quoted(names[match[1]]), sql)
