"""Assets: stylesheet, script and sign of all pages, each under an address that says what is in it.

So a browser asks for them once and keeps them, and after an upgrade it asks for others. None is a secret.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2s
from importlib.resources import files
from typing import Final

TYPES: Final = {
    "style.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
KEPT: Final = "private, max-age=31536000, immutable"
ASKED_AGAIN: Final = "private, no-cache"


def address(name: str) -> str:
    """Where a page finds it."""
    return f"/static/{name}?{mark(name)}"


@cache
def mark(name: str) -> str:
    """What is in it, in a few letters."""
    return blake2s(content(name), digest_size=6).hexdigest()


@cache
def content(name: str) -> bytes:
    """All of it."""
    return files("holdfast.daemon.dashboard").joinpath("static", name).read_bytes()
