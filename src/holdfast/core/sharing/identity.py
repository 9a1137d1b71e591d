"""Shared identity: the name by which all machines and people know a project, made from a remote's address.

`git@github.com:acme/shop.git` and `https://github.com/acme/shop/` are both `github.com/acme/shop`. A plain
name that a person chose has no slash, so it never meets one made from an address. Reading `.git` is not here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import unquote, urlsplit

from holdfast.core.text.untrusted import printable
from holdfast.lazy_dataclass import dataclass

LONGEST_NAME: Final = 300
ORIGIN: Final = "origin"


@dataclass(frozen=True, slots=True)
class Machine:
    """An installation of Holdfast, with a home of its own."""

    id: str
    """Empty while its home has none."""
    name: str


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name by which a project is or was known, as it is stored."""

    project_id: str
    name: str
    first_seen_at: int
    last_seen_at: int
    is_bound: bool = False
    """Whether a person chose it; such a name comes before that of the remote."""


@dataclass(frozen=True, slots=True)
class SharedIdentity:
    """The name of a project now, and those it had before; without a name, it stays on its machine."""

    name: str = ""
    former: tuple[str, ...] = ()
    is_bound: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which others may know the project, the current one first."""
        return (self.name, *self.former) if self.name else self.former


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """Where a remote is: its host in lower case, and its path; without credentials, port and `.git`."""

    host: str
    """Empty for a path on this machine."""
    path: str


def parse_address(address: str) -> RemoteAddress:
    """The parts of a remote's address, as git understands it."""
    short = None if "://" in address else _SCP_LIKE.fullmatch(address)
    if short:
        host, path = short["plain"] or _without_port(short["bracketed"]), short["path"]
    else:
        try:
            parts = urlsplit(address)
            host, path = parts.hostname or "", unquote(parts.path)
        except ValueError:
            host, path = "", address
    return RemoteAddress(host.lower().strip("[]").rstrip("."), _without_suffix(path))


def shared_name(address: str) -> str:
    """The shared identity that this address of a remote gives, as `host/owner/name`.

    Empty if it gives none: a path or a server of this machine alone, a remote helper, or what is no address.
    """
    if len(address) > LONGEST_NAME * 4 or _REMOTE_HELPER.match(address) or _has_unshared_scheme(address):
        return ""
    parsed = parse_address(address)
    host = _ALIASES.get(parsed.host, parsed.host)
    host = _ascii_host(host)
    parts = [part for part in unicodedata.normalize("NFC", parsed.path).split("/") if part not in ("", ".")]
    if not host or _is_this_machine(host) or not parts or ".." in parts:
        return ""
    if host == _AZURE:
        parts = _azure_parts(parts)
    path = "/".join(parts)
    name = f"{host}/{path.lower() if host in _IGNORING_CASE else path}"
    is_plain = printable(name) == name and name.isprintable() and not _UNFIT.search(name)
    return name if is_plain and len(name) <= LONGEST_NAME else ""


def bound_name(text: str) -> str:
    """The identity that a person means: a plain name, or an address or `host/owner/name` of a remote.

    Empty if it is neither.
    """
    text = unicodedata.normalize("NFC", text.strip())
    if _PLAIN_NAME.fullmatch(text):
        return text
    if "://" in text or _SCP_LIKE.fullmatch(text):
        return shared_name(text)
    return shared_name(f"https://{text}") if _HOST_AND_PATH.match(text) else ""


def choose_remote(addresses: dict[str, str], tracked: str) -> str:
    """The address of a repository: that of `origin`, else of the tracked remote, else of the only one."""
    for name in (ORIGIN, tracked):
        if name in addresses:
            return addresses[name]
    return next(iter(addresses.values())) if len(addresses) == 1 else ""


def identity_of(names: list[SharedName], from_remote: str) -> SharedIdentity:
    """The identity of a project from its stored names and the one that its remote gives now.

    Where the remote gives none any more, the latest stored name still counts: a project whose remote was
    removed is the same one.
    """
    latest = sorted(names, key=lambda each: (-each.last_seen_at, each.name))
    bound = next((each.name for each in latest if each.is_bound), "")
    name = bound or from_remote or next((each.name for each in latest), "")
    others = dict.fromkeys((from_remote, *(each.name for each in latest)))
    former = tuple(each for each in others if each not in ("", name))
    return SharedIdentity(name, former, bool(bound))


def _without_port(bracketed: str) -> str:
    """The host in `[login@host:port]:path`; an IPv6 address in brackets has several colons and no port."""
    bracketed = bracketed.rpartition("@")[2]
    return bracketed.partition(":")[0] if bracketed.count(":") == 1 else bracketed


def _without_suffix(path: str) -> str:
    path = path.strip("/")
    while path.endswith(".git"):
        path = path.removesuffix(".git").rstrip("/")
    return path


def _ascii_host(host: str) -> str:
    """The host as resolvers know it; empty if it is none."""
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    return host if _HOST.fullmatch(host) else ""


def _is_this_machine(host: str) -> bool:
    """Whether the host means another machine to everyone who uses it."""
    return host in _OWN_HOSTS or host.endswith(".localhost") or bool(_LOOPBACK.match(host))


def _has_unshared_scheme(address: str) -> bool:
    scheme, separator, _ = address.partition("://")
    return bool(separator) and scheme.lower() not in _SCHEMES


def _azure_parts(parts: list[str]) -> list[str]:
    """Azure writes one repository as `v3/org/project/name` for ssh and `org/project/_git/name` for https."""
    if len(parts) == 4 and parts[0] == "v3":
        return parts[1:]
    return [part for part in parts if part != "_git"] if len(parts) == 4 else parts


_SCHEMES: Final = frozenset({"ssh", "git", "http", "https", "git+ssh", "ssh+git", "git+https", "git+http"})
_ALIASES: Final = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
"""Other names of well-known hosts, such as those for ssh through a firewall."""
_AZURE: Final = "dev.azure.com"
_IGNORING_CASE: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", _AZURE})
"""Hosts at which `Acme/Shop` and `acme/shop` are one repository."""
_SCP_LIKE: Final = re.compile(
    r"(?:[^@/\s\[]+@)?(?:\[(?P<bracketed>[^\]/\s]+)\]|(?P<plain>[^:/\s@\[\]]{2,})):(?P<path>[^\s].*)"
)
_REMOTE_HELPER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")
_OWN_HOSTS: Final = frozenset({"localhost", "::1", "::", "0.0.0.0"})  # noqa: S104 - nothing listens there
_LOOPBACK: Final = re.compile(r"127(?:\.\d+){1,3}\Z")
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f\\\u2028\u2029?#%]")
_PLAIN_NAME: Final = re.compile(r"\w[\w .-]{0,98}\w|\w")
_HOST_AND_PATH: Final = re.compile(r"[^\s/@:]+\.[^\s/@:]+/\S")
