"""Access to the HTTP listener: who may use it, for what, and how often.

A page in a browser can send requests to the loopback address, also under a host name of its own. So the guard
checks the host name first, then the origin, then the key, and then the rate, all before the body is read.
Each answer gets headers that let a browser do no more than show it. Not here: the routes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import math
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from enum import StrEnum
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Final, TypeAlias

from holdfast.files import tokens
from holdfast.lazy_dataclass import dataclass

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

COOKIE: Final = "holdfast"
OPEN_PATH: Final = "/open"
"""The path of a one-time login link; the key is in the link."""
BODY_TIME: Final = 10.0
"""Seconds between two pieces of a request's body."""
LINGER: Final = 2.0
"""Seconds for which the body of a refused request is read and discarded."""
BODY_MOST: Final = 1 << 20
HOOK_EVENT_MOST: Final = 16 << 20
LONG_BODIES: Final = ("/mcp", "/api/hooks/")
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PROTECTION: Final = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and what its sender can do."""

    status: int
    why: str
    hint: str = ""
    wait: int = 0


@dataclass(frozen=True, slots=True)
class Names:
    """The host names of this server, each with its port, and whether it uses TLS."""

    hosts: tuple[str, ...]
    tls: bool = False

    def is_own_host(self, host: bytes) -> bool:
        """Whether a `Host` is one of them."""
        return host.lower().decode("latin-1") in self.hosts

    def is_own_page(self, origin: bytes) -> bool:
        """Whether an `Origin` is this server."""
        scheme = b"https://" if self.tls else b"http://"
        return origin.lower().startswith(scheme) and self.is_own_host(origin[len(scheme) :])


class Guard:
    """Admits a request to this server's name, from no other site, with a key, and within the limits."""

    def __init__(self, app: App, names: Names, keys: Keys, limits: Limits) -> None:
        self._app = app
        self._names = names
        self._keys = keys
        self._limits = limits

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        head = _Head(scope["method"], scope["path"], scope["headers"])
        verdict = self._check(head)
        if isinstance(verdict, Refusal):
            await _refuse(receive, _protected(send), verdict, head)
            return
        most = HOOK_EVENT_MOST if head.path.startswith(LONG_BODIES) else BODY_MOST
        if head.announced > most:
            too_long = Refusal(413, f"more than {most:,} bytes are not taken")
            await _refuse(receive, _protected(send), too_long, head)
            return
        scope["holdfast.pass"] = verdict
        await self._app(scope, _bounded(receive, most), _protected(send))

    def _check(self, head: _Head) -> Pass | Refusal:
        hosts = head.every(b"host")
        if len(hosts) != 1 or not self._names.is_own_host(hosts[0]):
            return Refusal(421, "this is not the name of this server")
        origins = head.every(b"origin")
        if not all(map(self._names.is_own_page, origins)):
            return Refusal(403, "requests from another site are not answered")
        if head.path == OPEN_PATH and head.method == "GET":
            return Pass("link", Scope.READ)
        granted = self._pass(head)
        if granted is None:
            return Refusal(
                401,
                "there is no key, or a wrong one",
                "`holdfast dashboard` opens a browser; "
                "programs send the token in `http/token` in the Holdfast home as a bearer",
            )
        return self._allowed(head, granted, from_own_page=bool(origins))

    def _pass(self, head: _Head) -> Pass | None:
        proofs = head.every(b"authorization")
        if proofs:
            kind, _, token = proofs[0].partition(b" ")
            return self._keys.of_token(token) if len(proofs) == 1 and kind.lower() == b"bearer" else None
        cookie = _cookie(head.every(b"cookie"))
        return self._keys.of_cookie(cookie) if cookie else None

    def _allowed(self, head: _Head, granted: Pass, *, from_own_page: bool) -> Pass | Refusal:
        """Check what this key may do, from where it is used, and how often."""
        changes = head.method not in SAFE
        if changes and granted.scope is not Scope.FULL:
            return Refusal(403, "this token may look, and change nothing", "use the token in `http/token`")
        if granted.is_browser and ((changes and not from_own_page) or head.is_foreign):
            # To a browser, another server on this machine is the same site, and its pages send this cookie.
            return Refusal(403, "a browser may ask this only from a page of Holdfast")
        wait = self._limits.wait(granted.holder, head.method, head.path)
        return Refusal(429, "too many requests", "come back later", wait) if wait else granted


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a request."""

    method: str
    path: str
    headers: Iterable[tuple[bytes, bytes]]

    def every(self, header: bytes) -> list[bytes]:
        return [value for name, value in self.headers if name.lower() == header]

    @property
    def announced(self) -> int:
        """The announced length of the body."""
        length = (self.every(b"content-length") or [b""])[0]
        return int(length) if length.isdigit() else 0

    @property
    def is_foreign(self) -> bool:
        """Whether a browser says that another site sent this, other than by a link that a person follows."""
        site = (self.every(b"sec-fetch-site") or [b"none"])[0]
        follows = self.every(b"sec-fetch-mode") == [b"navigate"] and self.every(b"sec-fetch-dest") == [
            b"document"
        ]
        return site in (b"cross-site", b"same-site") and not (self.method in SAFE and follows)

    @property
    def wants_a_page(self) -> bool:
        return not self.path.startswith(("/api", "/mcp")) and any(
            b"text/html" in value for value in self.every(b"accept")
        )


def _cookie(headers: list[bytes]) -> str:
    try:
        morsel = SimpleCookie("; ".join(value.decode("latin-1") for value in headers)).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


async def _refuse(receive: Receive, send: Send, refusal: Refusal, head: _Head) -> None:
    if head.wants_a_page:
        kind, body = (
            b"text/html; charset=utf-8",
            _PAGE.format(why=refusal.why[:1].upper() + refusal.why[1:]).encode(),
        )
    else:
        kind, body = b"application/json", json.dumps({"error": refusal.why, "hint": refusal.hint}).encode()
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *(((b"www-authenticate", b"Bearer"),) if refusal.status == 401 else ()),
        *(((b"retry-after", str(refusal.wait).encode()),) if refusal.wait else ()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await _discard_body(receive)
    await send({"type": "http.response.body", "body": b""})


async def _discard_body(receive: Receive) -> None:
    """Read the body for a while: closing earlier would reset the connection, and the answer would be lost."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            while (await receive()).get("more_body"):
                pass


def _protected(send: Send) -> Send:
    """The same `send`, with the headers that every answer has; by default browsers store nothing."""

    async def send_protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if not any(name.lower() == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*headers, *PROTECTION]}
        await send(message)

    return send_protected


def _bounded(receive: Receive, most: int) -> Receive:
    """The same `receive`, but a body that stalls or is too long ends with an error or a disconnect.

    After the body, it waits for a disconnect without a limit.
    """
    reading, size = True, 0

    async def receive_bounded() -> Message:
        nonlocal reading, size
        if not reading:
            return await receive()
        async with asyncio.timeout(BODY_TIME):
            message = await receive()
        size += len(message.get("body", b""))
        reading = message["type"] == "http.request" and bool(message.get("more_body"))
        if size > most:
            reading = False
            return {"type": "http.disconnect"}
        return message

    return receive_bounded


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
</head><body><main><h1>Holdfast</h1><p>{why}.</p>
<p>Run <code>holdfast dashboard</code> in a terminal: it opens this page with a link that lets you in.
A link works once.</p>
</main></body></html>
"""


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


@dataclass(frozen=True, slots=True)
class Rate:
    """The size of a bucket, and how fast it refills."""

    per_second: float
    burst: int


LOOKING: Final = Rate(30, 300)
CHANGING: Final = Rate(5, 60)
SEARCHING: Final = Rate(10, 60)
HOOK_EVENTS: Final = Rate(100, 1_000)
_BY_PREFIX: Final = (
    ("/api/hooks", HOOK_EVENTS),
    ("/mcp", HOOK_EVENTS),
    ("/api/memories/search", SEARCHING),
    ("/api/audit", Rate(1, 10)),
)
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
BUCKETS_MOST: Final = 1_000
"""The most buckets that are held; beyond that the oldest is dropped."""


class Limits:
    """The buckets of all keys and routes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` returns seconds from any starting point."""
        self._clock = clock
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    def wait(self, holder: str, method: str, path: str) -> int:
        """In how many seconds the holder may ask this; 0 for now, which counts as a request."""
        route, rate = _route(method, path)
        now = self._clock()
        tokens, since = self._buckets.pop((holder, route), (float(rate.burst), now))
        tokens = min(float(rate.burst), tokens + (now - since) * rate.per_second)
        wait = 0 if tokens >= 1 else math.ceil((1 - tokens) / rate.per_second)
        self._buckets[holder, route] = (tokens if wait else tokens - 1, now)
        if len(self._buckets) > BUCKETS_MOST:
            self._buckets.pop(next(iter(self._buckets)))
        return wait


def _route(method: str, path: str) -> tuple[str, Rate]:
    """The name under which a request is counted, and its rate."""
    for prefix, rate in _BY_PREFIX:
        if path == prefix or path.startswith(f"{prefix}/"):
            return prefix, rate
    place = "/".join(path.split("/", 3)[:3])
    return (place, LOOKING) if method in SAFE else (f"change {place}", CHANGING)
