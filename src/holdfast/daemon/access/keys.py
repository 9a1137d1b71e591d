"""Keys: who may come in by the HTTP door, and how far.

A token from a file of the home, or the cookie of a browser that came by a one-time link. The files are read
whenever somebody knocks, so that a token that was renewed counts at once, and the old one no longer. A cookie
is signed with the token and goes with it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final

from holdfast.files import tokens
from holdfast.lazy_dataclass import dataclass

COOKIE_DAYS: Final = 7
LINK_SECONDS: Final = 120
LINKS_MOST: Final = 16
_DAY: Final = 86_400


class Scope(StrEnum):
    """How far a key opens."""

    FULL = "full"
    READ = "read"
    """To look, and to change nothing."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Who is let in: by which key, and how far."""

    holder: str
    scope: Scope
    is_browser: bool = False


class Keys:
    """The keys of one home's door, and the links that were given out and not used yet."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        """`clock` tells seconds since 1970: a cookie outlives the daemon that gave it."""
        self._folder = folder
        self._clock = clock
        self._links: dict[str, float] = {}
        for scope in Scope:
            tokens.read_or_make(token_path(folder, scope))

    def of_token(self, proof: bytes) -> Pass | None:
        """Whom this token lets in."""
        granted = None
        # All are compared, so that the time it takes does not tell which was nearly right.
        for scope in Scope:
            token = tokens.read(token_path(self._folder, scope))
            if hmac.compare_digest(proof, token.encode()) and token:
                granted = Pass(scope.value, scope)
        return granted

    def of_cookie(self, cookie: str) -> Pass | None:
        """Whom this cookie lets in: whoever came by a link not too long ago, with the token of now."""
        until, _, rest = cookie.partition(".")
        id, _, sign = rest.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) <= 12 and sign.isascii()):
            return None
        right = hmac.compare_digest(sign, self._signature(f"{until}.{id}"))
        return Pass("browser", Scope.FULL, is_browser=True) if right and int(until) > self._clock() else None

    def link(self) -> str:
        """What a link holds that lets a browser in, once and soon."""
        now = self._clock()
        waiting = [(key, until) for key, until in self._links.items() if until > now]
        self._links = dict(waiting[-(LINKS_MOST - 1) :])
        key = secrets.token_urlsafe(32)
        self._links[key] = now + LINK_SECONDS
        return key

    def spend(self, key: str) -> str:
        """The cookie that this link gives; empty if it was used, is too old, or never was one."""
        until = self._links.pop(key, 0.0)
        if until <= self._clock():
            return ""
        claim = f"{int(self._clock()) + COOKIE_DAYS * _DAY}.{secrets.token_urlsafe(16)}"
        return f"{claim}.{self._signature(claim)}"

    def _signature(self, claim: str) -> str:
        token = tokens.read(token_path(self._folder, Scope.FULL)) or secrets.token_urlsafe(32)
        return hmac.new(token.encode(), b"cookie:" + claim.encode(errors="replace"), sha256).hexdigest()


def token_path(folder: Path, scope: Scope) -> Path:
    """Where the token of that scope stands, below the folder of the door."""
    return folder / ("token" if scope is Scope.FULL else "token-read")
