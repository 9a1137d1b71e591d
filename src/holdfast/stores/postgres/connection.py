"""Connections to PostgreSQL: where the database is, who logs in, how safe it must be, and what went wrong.

A password is no part of an address: it comes from a file that only its owner can read, or from `~/.pgpass`.
The driver's errors become `PostgresProblem` here, which store and hub turn into errors of their own. Nothing
depends on the state of a session, so that PgBouncer may lend connections for single transactions.
"""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from holdfast import system
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import psycopg

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
"""What a column holds is settled by the schema, which no checker can see."""

CONNECT_SECONDS: Final = 10
STATEMENT_MS: Final = 30_000
LOCK_MS: Final = 10_000
IDLE_MS: Final = 60_000
"""The longest that a transaction may wait for its next statement."""
LONGEST_PASSWORD: Final = 4096


class TlsLevel(StrEnum):
    """What a connection to another machine needs at least; one to this machine needs nothing."""

    VERIFY_FULL = "verify-full"
    """It is encrypted, and the server's certificate is valid for its name."""
    VERIFY_CA = "verify-ca"
    """It is encrypted, and the certificate is valid for some name."""
    REQUIRE = "require"
    """It is encrypted, with whoever answers."""
    OFF = "off"


class ProblemKind(StrEnum):
    """What kind of thing went wrong, as far as a caller acts on it."""

    AWAY = "away"
    """The server does not answer, or no longer; it may later."""
    BUSY = "busy"
    """It answers, and could not do it in time; it may at once."""
    REFUSED = "refused"
    """A person must act: settings, password, certificate, rights."""
    UNPREPARED = "unprepared"
    """A table or function is missing."""
    FAILED = "failed"
    """Anything else that the server says."""


class PostgresProblem(HoldfastError):
    """PostgreSQL cannot be used, or not for this. Stores and hubs turn it into their own errors."""

    def __init__(self, kind: ProblemKind, message: str, hint: str = "", state: str = "") -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.state = state
        """PostgreSQL's code of the error; empty if it has none."""


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a database is and how to log in; safe to print."""

    url: str
    """`postgresql://USER@HOST:PORT/DATABASE?…`, without a password."""
    password_file: str = ""
    """A file that only its owner can read, with the password on its first line; empty for `~/.pgpass`."""
    tls: TlsLevel = TlsLevel.VERIFY_FULL
    application: str = "holdfast"
    """How the server's administrator sees the connection."""
    connect_seconds: int = CONNECT_SECONDS
    """How long an attempt to connect may take."""

    @property
    def place(self) -> str:
        """Server and database for a message, without anything secret."""
        return place_of(self.url)


@dataclass(frozen=True, slots=True)
class UrlParts:
    """The parts of a URL of PostgreSQL."""

    user: str
    hosts: tuple[str, ...]
    ports: str
    database: str
    options: Mapping[str, str]

    @property
    def is_local(self) -> bool:
        """Whether every host that it names is this machine, by loopback or a Unix socket."""
        return bool(self.hosts) and all(is_local_host(host) for host in self.hosts)


def parse_url(url: str) -> UrlParts:
    """The parts of the URL; PostgresProblem if it is none, holds a password, or has an unknown option."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _bad_url(f"it cannot be read: {error}") from error
    if parts.scheme not in _SCHEMES:
        raise _bad_url("it does not begin with `postgresql://`")
    login, _, place = parts.netloc.rpartition("@")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if ":" in login or _SECRET_OPTIONS & options.keys():
        raise PostgresProblem(
            ProblemKind.REFUSED,
            "the URL of the database holds a password",
            "leave it out, and write it into a file that only you can read; it may be in a log already,"
            " so change it",
        )
    if unknown := sorted(options.keys() - _OPTIONS):
        raise _bad_url(f"`{unknown[0]}` is no option that can be set in it")
    hosts, ports = _hosts_and_ports(place)
    if not hosts and (host := options.get("host")):
        hosts, ports = tuple(host.split(",")), options.get("port", "")
    if not hosts:
        raise _bad_url("it names no server; for a Unix socket write `?host=/run/postgresql`")
    rest = {name: value for name, value in options.items() if name not in ("host", "port", "user", "dbname")}
    return UrlParts(
        unquote(login) or options.get("user", ""),
        hosts,
        ports,
        unquote(parts.path.lstrip("/")) or options.get("dbname", ""),
        rest,
    )


def place_of(url: str) -> str:
    """Server and database of a URL for a message, without anything secret, also of a URL that is none."""
    try:
        parts = parse_url(url)
    except PostgresProblem:
        return "the database"
    return f"{','.join(parts.hosts)}/{parts.database}"


def is_local_host(host: str) -> bool:
    """Whether the host is this machine's loopback or the folder of a Unix socket."""
    if host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_password(path: Path) -> str:
    """The first line of a file that only its owner can read; PostgresProblem if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _refused(f"`{path}` is not a regular file", "name a file that holds the password")
            if system.is_exposed(status) or not system.is_own(status):
                raise _refused(f"others may read the password in `{path}`", f"run `chmod 600 {path}`")
            password = file.read(LONGEST_PASSWORD).partition(b"\n")[0].removesuffix(b"\r").decode()
    except OSError as error:
        raise _refused(
            f"the password cannot be read from `{path}`: {error.strerror}", "name another file"
        ) from error
    except UnicodeDecodeError as error:
        raise _refused(f"`{path}` is not UTF-8 text", "name another file") from error
    if not password:
        raise _refused(f"the first line of `{path}` is empty", "write the password there")
    return password


def connect(address: PostgresAddress) -> Connection:
    """A connection, with which each statement commits unless it is inside `transaction`. Close it."""
    driver = require_driver()
    parameters = connection_parameters(address)
    with translated(address.place):
        connection: Connection = driver.connect(
            **parameters,
            autocommit=True,
            # PgBouncer may run the next transaction elsewhere, where nothing was prepared.
            prepare_threshold=None,
        )
        return connection


def connection_parameters(address: PostgresAddress) -> dict[str, Any]:
    """The parameters for the driver, password included; PostgresProblem if the address cannot be used."""
    parts = parse_url(address.url)
    parameters: dict[str, Any] = {
        **parts.options,
        "host": ",".join(parts.hosts),
        # An address in the environment would come before the host.
        "hostaddr": "",
        "port": parts.ports or "5432",
        **_tls_parameters(parts, address.tls),
        # The other encryption that a server may offer verifies no name.
        "gssencmode": "disable",
        "client_encoding": "utf8",
        "application_name": address.application,
        "connect_timeout": address.connect_seconds,
        **_KEEPALIVES,
    }
    if parts.user:
        parameters["user"] = parts.user
    if parts.database:
        parameters["dbname"] = parts.database
    if address.password_file:
        parameters["password"] = read_password(Path(address.password_file))
    return parameters


@contextmanager
def transaction(connection: Connection, place: str) -> Generator[None]:
    """One transaction, with limits on how long its statements and locks take; raises PostgresProblem."""
    with translated(place), connection.transaction():
        connection.execute(_LIMITS)
        yield


def require_driver() -> Any:  # noqa: ANN401 - the module of the driver, which is an extra of the package
    """The driver's module, loaded now; PostgresProblem if it is not installed."""
    try:
        import psycopg  # noqa: PLC0415 - an extra of the package, and slow to load
    except ImportError as error:
        raise PostgresProblem(
            ProblemKind.REFUSED,
            f"PostgreSQL needs a package that is not there: {error}",
            "install it with `uv tool install 'holdfast[postgres]'`, or `pipx inject holdfast"
            " 'psycopg[binary]' psycopg-pool`",
        ) from error
    return psycopg


@contextmanager
def translated(place: str) -> Generator[None]:
    """Turn the driver's errors into PostgresProblem, which names the place."""
    import psycopg  # noqa: PLC0415 - an extra of the package, loaded by `require_driver` before

    try:
        yield
    except psycopg.Error as error:
        raise _problem(place, error) from error


def _problem(place: str, error: psycopg.Error) -> PostgresProblem:
    state = error.sqlstate or ""
    # What libpq says before the server's own words names the place again.
    detail = _PLACE_AGAIN.sub("", " ".join((error.diag.message_primary or str(error)).split()))
    if not state:
        return _without_state(place, detail)
    for kind, states, hint in _STATES:
        if state.startswith(states):
            verb = _VERBS[kind]
            return PostgresProblem(kind, f"PostgreSQL at `{place}` {verb}: {detail}", hint, state)
    return PostgresProblem(ProblemKind.FAILED, f"PostgreSQL at `{place}` failed: {detail}", state=state)


def _without_state(place: str, detail: str) -> PostgresProblem:
    """What went wrong before there was a session, or ended it: then only its words tell one from another."""
    for words, hint in _REFUSALS:
        if any(word in detail for word in words):
            return PostgresProblem(ProblemKind.REFUSED, f"PostgreSQL at `{place}` refused: {detail}", hint)
    return PostgresProblem(
        ProblemKind.AWAY,
        f"PostgreSQL at `{place}` does not answer: {detail}",
        "is the server running, and reachable from here?",
    )


def _hosts_and_ports(place: str) -> tuple[tuple[str, ...], str]:
    """`a:1,b:2` as (a, b) and `1,2`; an IPv6 address stands in brackets."""
    hosts: list[str] = []
    ports: list[str] = []
    for each in place.split(",") if place else ():
        host, separator, port = each.rpartition(":")
        if not separator or host.count("[") != host.count("]"):
            host, port = each, ""
        hosts.append(unquote(host).strip("[]"))
        ports.append(port or "5432")
    return tuple(hosts), ",".join(ports)


def _tls_parameters(parts: UrlParts, least: TlsLevel) -> dict[str, str]:
    """How the connection is encrypted; PostgresProblem if the URL asks for less than is demanded."""
    mode = parts.options.get("sslmode", "")
    if mode and mode not in _MODES:
        raise _bad_url(f"`sslmode` is one of {', '.join(_MODES)}")
    if parts.is_local:
        mode = mode or "prefer"
    else:
        demanded = "disable" if least is TlsLevel.OFF else least.value
        mode = mode or ("prefer" if least is TlsLevel.OFF else demanded)
        if _MODES.index(mode) < _MODES.index(demanded):
            raise _refused(
                f"the URL of `{','.join(parts.hosts)}` asks for `sslmode={mode}`,"
                f" and `{demanded}` is demanded of a server on another machine",
                "remove `sslmode` from the URL; if the network between is safe, set `tls` to what it offers",
            )
    if not mode.startswith("verify-") or "sslrootcert" in parts.options:
        return {"sslmode": mode}
    return {"sslmode": mode, "sslrootcert": _root_certificates()}


def _root_certificates() -> str:
    """The file of the authorities that may sign a server's certificate: the user's own, else the system's."""
    import ssl  # noqa: PLC0415 - for a connection to another machine alone

    own = Path("~/.postgresql/root.crt").expanduser()
    if own.exists():
        return str(own)
    paths = ssl.get_default_verify_paths()
    for each in (paths.cafile, *_BUNDLES):
        if each and Path(each).exists():
            return each
    raise _refused(
        "there are no root certificates to check the server's with",
        "add `?sslrootcert=FILE` to the URL, with the authority that signed the server's certificate",
    )


def _bad_url(reason: str) -> PostgresProblem:
    return _refused(
        f"the URL of the database cannot be used: {reason}", "write `postgresql://USER@HOST:PORT/DATABASE`"
    )


def _refused(message: str, hint: str) -> PostgresProblem:
    return PostgresProblem(ProblemKind.REFUSED, message, hint)


_SCHEMES: Final = ("postgresql", "postgres")
_SECRET_OPTIONS: Final = frozenset({"password", "passfile", "sslpassword"})
_OPTIONS: Final = frozenset(
    {"host", "port", "user", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslsni"}
    | {"sslnegotiation", "channel_binding", "target_session_attrs", "load_balance_hosts"}
)
"""What a URL may set. Not `options`, which PgBouncer refuses, nor `hostaddr`, which hides where it leads."""
_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
"""From the weakest to the strongest."""
_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_KEEPALIVES: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A network that drops everything is noticed after a minute."""
_LIMITS: Final = (
    f"select set_config('statement_timeout', '{STATEMENT_MS}', true),"
    f" set_config('lock_timeout', '{LOCK_MS}', true),"
    f" set_config('idle_in_transaction_session_timeout', '{IDLE_MS}', true)"
).encode()

_PLACE_AGAIN: Final = re.compile(
    r'\A(?:connection (?:failed|is bad): )?connection to server (?:at|on socket) "[^"]*"(?: \([^)]*\))?'
    r"(?:, port \d+)? failed: (?:FATAL: +)?"
)
_PREPARE_HINT: Final = "the owner of the database prepares it"
_STATES: Final = (
    (ProblemKind.REFUSED, ("42501", "28"), "ask whoever owns the database for the rights"),
    (ProblemKind.REFUSED, ("3D000",), "is the name of the database right?"),
    (ProblemKind.UNPREPARED, ("42P01", "42883", "3F000", "42704"), _PREPARE_HINT),
    (ProblemKind.BUSY, ("57014", "55P03", "40", "25P03"), "try again in a moment"),
    (ProblemKind.AWAY, ("53", "57P", "08", "25006", "XX"), "it may work again later"),
)
"""PostgreSQL's codes by their beginnings: what they mean here, and what to do."""
_VERBS: Final = {
    ProblemKind.REFUSED: "refused",
    ProblemKind.UNPREPARED: "is not prepared",
    ProblemKind.BUSY: "was too busy",
    ProblemKind.AWAY: "stopped answering",
}
_REFUSALS: Final = (
    (("pg_hba.conf", "permission denied"), "ask whoever owns the database to let this machine in"),
    (
        ("certificate", "does not support SSL", "sslmode"),
        "the server must offer TLS with a valid certificate; `sslrootcert=FILE` in the URL says whose",
    ),
    (
        ("password authentication failed", "no password supplied", "SASL", "SCRAM"),
        "is the password right, and the person still invited?",
    ),
    (
        ("is not permitted to log in", "does not exist", "no such user", "no such database"),
        "is the person still invited, and the database still there?",
    ),
)
"""How libpq words what a person must act on; a server that words it otherwise is taken to be away."""
