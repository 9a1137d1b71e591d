"""Which hubs this home has joined, and how to open one: in its files, or in the environment of a container.

    hubs/NAME/hub.json    where the hub is and who logs in; no password
    hubs/NAME/password    for its owner's eyes alone
    hubs/NAME/ca.crt      who signed the server's certificate, if the invitation says so
    hubs/NAME/owner.json  where the hub is for whoever owns its database; no password

An invitation is one line of text that holds a password. It is read from stdin, never from an argument.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from holdfast.core.sharing.identity import Machine
from holdfast.engine.sharing.hubs import FOLDER, URL_VARIABLE
from holdfast.errors import HoldfastError, HubRefused
from holdfast.files import atomic
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.hub.base import Hub, HubOwner, Identification, Invitation
from holdfast.stores.postgres.connection import PostgresAddress, PostgresProblem, TlsLevel, parse_url

LOGIN_FILE_VARIABLE: Final = "HOLDFAST_HUB_PASSWORD_FILE"
TLS_VARIABLE: Final = "HOLDFAST_HUB_TLS"
NAME_VARIABLE: Final = "HOLDFAST_HUB_NAME"
USUAL_NAME: Final = "hub"

RECORD: Final = "hub.json"
LOGIN_FILE: Final = "password"
AUTHORITY: Final = "ca.crt"
OWNER_RECORD: Final = "owner.json"

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_PREFIX: Final = "holdfast-hub-1."
_LONGEST_LINE: Final = 64 * 1024
# Options of a URL that hold for every machine; files of a certificate do not.
_COMMON_OPTIONS: Final = frozenset(
    {"sslmode", "sslnegotiation", "sslsni", "channel_binding", "target_session_attrs", "load_balance_hosts"}
)


@dataclass(frozen=True, slots=True)
class HubConnection:
    """A hub that this home uses, and as whom."""

    name: str
    """By which settings and commands name it."""
    address: PostgresAddress
    person: str = ""
    """Empty for one from the environment, which is known once it answered."""
    team: str = ""
    joined_at: int = 0
    """0 for one from the environment."""

    @property
    def is_from_environment(self) -> bool:
        """Whether variables name it, as in a container."""
        return self.joined_at == 0


@dataclass(frozen=True, slots=True)
class OwnedHub:
    """A hub whose database this person owns."""

    name: str
    address: PostgresAddress


@dataclass(frozen=True, slots=True)
class InvitationLine:
    """What a person needs to join: where the hub is, who logs in, and the password."""

    url: str
    invitation: Invitation
    tls: TlsLevel
    authority: str = ""
    """The certificates that the server's is checked with, if they are not well known."""


def hub_connections(home: Path, environment: Mapping[str, str]) -> list[HubConnection]:
    """The hubs of this home, by name, and the one in the environment; HubRefused if one cannot be read."""
    joined = {name: _read(home, name) for name in _names(home, RECORD)}
    named = _from_environment(environment)
    if named:
        joined[named.name] = named
    return [joined[name] for name in sorted(joined)]


def open_hub(connection: HubConnection) -> Hub:
    """Connect to a hub; HubAway if it does not answer, HubRefused if a person must act. Close it."""
    # The driver is an extra, and slow to load; nothing but this needs it.
    from holdfast.stores.hub.postgres import PostgresHub  # noqa: PLC0415

    return PostgresHub(connection.address)


def join(
    home: Path, name: str, line: InvitationLine, tls: TlsLevel, machine: Machine, at: int
) -> tuple[HubConnection, Identification]:
    """Join the hub of an invitation under that name. It is asked first, and nothing is left if it refuses."""
    name = checked_hub_name(name)
    folder = home / FOLDER / name
    if (folder / RECORD).exists():
        raise HoldfastError(
            f"this home has joined a hub `{name}` already", "`--name NAME` joins another one beside it"
        )
    with ExitStack() as undo:
        undo.callback(_forget_connection, folder, keep_folder=folder.exists())
        atomic.write(folder / LOGIN_FILE, f"{line.invitation.password}\n".encode())
        if line.authority:
            atomic.write(folder / AUTHORITY, line.authority.encode())
        address = _address_in(folder, line.url, tls)
        known = identify(HubConnection(name, address), machine)
        row = {"url": line.url, "tls": tls.value, "person": known.person, "team": known.team, "joined_at": at}
        atomic.write(folder / RECORD, _json(row))
        undo.pop_all()
    return HubConnection(name, address, known.person, known.team, at), known


def identify(connection: HubConnection, machine: Machine) -> Identification:
    """Who this machine's person is at a hub; connects for that alone."""
    hub = open_hub(connection)
    try:
        return hub.identify(machine)
    finally:
        hub.close()


def leave(home: Path, name: str) -> None:
    """Forget how to reach a hub; what is stored there stays there."""
    folder = home / FOLDER / checked_hub_name(name)
    _forget_connection(folder, keep_folder=(folder / OWNER_RECORD).exists())


def owned_hub(home: Path, name: str) -> OwnedHub:
    """The hub of that name that this person owns; without a name, the only one."""
    names = _names(home, OWNER_RECORD)
    if not name and len(names) != 1:
        hint = "`holdfast hub init URL` prepares one" if not names else f"name one: {', '.join(names)}"
        raise HoldfastError(
            "this home owns no hub" if not names else "this home owns several hubs", f"{hint} (`--hub NAME`)"
        )
    name = name or names[0]
    if name not in names:
        raise HoldfastError(
            f"this home owns no hub `{name}`", "`holdfast hub init URL --name NAME` prepares one"
        )
    path = home / FOLDER / name / OWNER_RECORD
    row = _record(path)
    address = PostgresAddress(_text(path, row, "url"), _text(path, row, "password_file"), _tls(path, row))
    return OwnedHub(name, address)


def keep_owned_hub(home: Path, owned: OwnedHub) -> None:
    """Note where a hub is that this person owns."""
    path = home / FOLDER / checked_hub_name(owned.name) / OWNER_RECORD
    address = owned.address
    row = {"url": address.url, "password_file": address.password_file, "tls": address.tls.value}
    atomic.write(path, _json(row))


def open_owner(owned: OwnedHub) -> HubOwner:
    """Connect as the owner of the database. Close it."""
    from holdfast.stores.hub.owner import PostgresHubOwner  # noqa: PLC0415 - as in `open_hub`

    return PostgresHubOwner(owned.address)


def invitation_line(owned: OwnedHub, invitation: Invitation, host: str) -> str:
    """The one line that a person joins with; it holds a password.

    `host` is where that person reaches the server, if not where its owner does.
    """
    parts = parse_url(owned.address.url)
    authority = parts.options.get("sslrootcert", "")
    options = {name: value for name, value in parts.options.items() if name in _COMMON_OPTIONS}
    places = host or ",".join(
        _place(*each) for each in zip(parts.hosts, _ports(parts.ports, parts.hosts), strict=True)
    )
    if places.startswith(("/", "@")):
        options |= {"host": ",".join(parts.hosts), "port": parts.ports or "5432"}
        places = ""
    query = "&".join(f"{quote(name)}={quote(value, safe='/,')}" for name, value in options.items())
    url = f"postgresql://{quote(invitation.login, safe='')}@{places}/{quote(parts.database, safe='')}"
    row = {
        "url": f"{url}?{query}" if query else url,
        "login": invitation.login,
        "password": invitation.password,
        "tls": owned.address.tls.value,
        "authority": Path(authority).read_text(encoding="utf-8") if authority not in ("", "system") else "",
    }
    return _PREFIX + base64.urlsafe_b64encode(_json(row)).decode().rstrip("=")


def parse_invitation(text: str) -> InvitationLine:
    """The invitation that such a line holds; HoldfastError, which repeats nothing of it, if it is none."""
    line = text.strip()
    encoded = line.removeprefix(_PREFIX)
    if not line.startswith(_PREFIX) or len(line) > _LONGEST_LINE:
        raise _no_invitation()
    try:
        row = json.loads(base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True))
        values = {name: row[name] for name in ("url", "login", "password", "tls", "authority")}
        if not all(isinstance(value, str) for value in values.values()):
            raise _no_invitation()
        parse_url(values["url"])
        invitation = Invitation(values["login"], values["password"])
        return InvitationLine(values["url"], invitation, TlsLevel(values["tls"]), values["authority"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _no_invitation() from None
    except PostgresProblem as problem:
        raise HubRefused(problem.message, "ask the hub's owner for another line") from None


def checked_hub_name(name: str) -> str:
    """The name of a hub, as settings and commands use it; HoldfastError if it cannot be one."""
    if not _NAME.fullmatch(name):
        raise HoldfastError(
            f"`{name}` cannot be the name of a hub", "use up to 32 lower-case letters, digits and `-`"
        )
    return name


def _from_environment(environment: Mapping[str, str]) -> HubConnection | None:
    url = environment.get(URL_VARIABLE, "")
    if not url:
        return None
    tls = environment.get(TLS_VARIABLE, TlsLevel.VERIFY_FULL)
    if tls not in list(TlsLevel):
        raise HubRefused(f"`{TLS_VARIABLE}` is `{tls}`", f"one of: {', '.join(TlsLevel)}")
    address = PostgresAddress(url, environment.get(LOGIN_FILE_VARIABLE, ""), TlsLevel(tls))
    return HubConnection(checked_hub_name(environment.get(NAME_VARIABLE) or USUAL_NAME), address)


def _names(home: Path, record: str) -> list[str]:
    """The hubs that have such a record."""
    folder = home / FOLDER
    if not folder.is_dir():
        return []
    return sorted(
        each.name for each in folder.iterdir() if _NAME.fullmatch(each.name) and (each / record).exists()
    )


def _read(home: Path, name: str) -> HubConnection:
    path = home / FOLDER / name / RECORD
    row = _record(path)
    joined_at = row.get("joined_at")
    if not isinstance(joined_at, int) or joined_at < 1:
        raise _unreadable(path)
    address = _address_in(path.parent, _text(path, row, "url"), _tls(path, row))
    return HubConnection(name, address, _text(path, row, "person"), _text(path, row, "team"), joined_at)


def _record(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(atomic.read(path) or b"")
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise _unreadable(path)
    return cast("dict[str, Any]", row)


def _tls(path: Path, row: Mapping[str, Any]) -> TlsLevel:
    tls = _text(path, row, "tls")
    if tls not in list(TlsLevel):
        raise _unreadable(path)
    return TlsLevel(tls)


def _text(path: Path, row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise _unreadable(path)
    return value


def _address_in(folder: Path, url: str, tls: TlsLevel) -> PostgresAddress:
    """The address with the files beside it, wherever the home is now."""
    authority = folder / AUTHORITY
    if authority.exists():
        url += f"{'&' if '?' in url else '?'}sslrootcert={quote(str(authority))}"
    return PostgresAddress(url, str(folder / LOGIN_FILE), tls)


def _json(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, indent=2).encode() + b"\n"


def _place(host: str, port: str) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if not host.startswith("/") else host


def _ports(ports: str, hosts: tuple[str, ...]) -> list[str]:
    listed = ports.split(",") if ports else ["5432"]
    return listed if len(listed) == len(hosts) else [listed[0]] * len(hosts)


def _forget_connection(folder: Path, *, keep_folder: bool) -> None:
    for name in (RECORD, LOGIN_FILE, AUTHORITY):
        if folder.is_dir():
            atomic.remove(folder / name)
    if folder.is_dir() and not keep_folder:
        shutil.rmtree(folder)


def _unreadable(path: Path) -> HubRefused:
    return HubRefused(
        f"`{path}` cannot be read, so nothing is shared", "`holdfast hub leave` and `hub join` make it anew"
    )


def _no_invitation() -> HoldfastError:
    return HoldfastError(
        "this is no invitation to a hub",
        f"it is one line that begins with `{_PREFIX}`; `holdfast hub invite` makes it",
    )
