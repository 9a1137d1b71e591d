"""Keys: who may use HTTP, and for what.

A token from a file in the home, or the cookie of a browser that used a one-time link. The files are read for
each request, so that a renewed token takes effect at once. A cookie is signed with the token and expires with
it.
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
    """What a key allows."""

    FULL = "full"
    READ = "read"
    """Read everything, change nothing."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Permission for a request: by which key, and for what."""

    holder: str
    scope: Scope
    is_browser: bool = False


class Keys:
    """The keys of one home, and the login links that were issued and not used yet."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        """`clock` returns seconds since 1970: a cookie outlives the daemon that issued it."""
        self._folder = folder
        self._clock = clock
        self._links: dict[str, float] = {}
        for scope in Scope:
            tokens.read_or_make(token_path(folder, scope))

    def of_token(self, proof: bytes) -> Pass | None:
        """What this token permits; None if it is wrong."""
        granted = None
        # All are compared, so that the time taken does not reveal which was nearly right.
        for scope in Scope:
            token = tokens.read(token_path(self._folder, scope))
            if hmac.compare_digest(proof, token.encode()) and token:
                granted = Pass(scope.value, scope)
        return granted

    def of_cookie(self, cookie: str) -> Pass | None:
        """What this cookie permits; None if it is expired or not signed with the current token."""
        until, _, rest = cookie.partition(".")
        id, _, sign = rest.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) <= 12 and sign.isascii()):
            return None
        right = hmac.compare_digest(sign, self._signature(f"{until}.{id}"))
        return Pass("browser", Scope.FULL, is_browser=True) if right and int(until) > self._clock() else None

    def link(self) -> str:
        """The key of a new login link: valid once, for a short time."""
        now = self._clock()
        waiting = [(key, until) for key, until in self._links.items() if until > now]
        self._links = dict(waiting[-(LINKS_MOST - 1) :])
        key = secrets.token_urlsafe(32)
        self._links[key] = now + LINK_SECONDS
        return key

    def spend(self, key: str) -> str:
        """The cookie for this link's key; empty if it was used, is too old, or was never issued."""
        until = self._links.pop(key, 0.0)
        if until <= self._clock():
            return ""
        claim = f"{int(self._clock()) + COOKIE_DAYS * _DAY}.{secrets.token_urlsafe(16)}"
        return f"{claim}.{self._signature(claim)}"

    def _signature(self, claim: str) -> str:
        token = tokens.read(token_path(self._folder, Scope.FULL)) or secrets.token_urlsafe(32)
        return hmac.new(token.encode(), b"cookie:" + claim.encode(errors="replace"), sha256).hexdigest()


def token_path(folder: Path, scope: Scope) -> Path:
    """The token file of a scope in the folder of the HTTP listener."""
    return folder / ("token" if scope is Scope.FULL else "token-read")
