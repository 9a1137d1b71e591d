"""Assets: stylesheet, script and icon of all pages, each under an address with a hash of its content.

So a browser loads each once and caches it, and loads it again after an upgrade. None is a secret.
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
    """The address of an asset."""
    return f"/static/{name}?{mark(name)}"


@cache
def mark(name: str) -> str:
    """A short hash of an asset's content."""
    return blake2s(content(name), digest_size=6).hexdigest()


@cache
def content(name: str) -> bytes:
    """The bytes of an asset."""
    return files("holdfast.daemon.dashboard").joinpath("static", name).read_bytes()
