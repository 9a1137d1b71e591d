"""Tokens: the secrets that give access to the HTTP listener, each in a file that only its owner can read.

Which token may do what is not decided here.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from holdfast import system
from holdfast.files import atomic

LEAST: Final = 32
"""A shorter text is no secret."""


def read(path: Path) -> str:
    """The token in the file; empty where there is none, or one that others could have read."""
    try:
        token = path.read_text(encoding="ascii").strip()
        exposed = system.is_exposed(path.stat())
    except (OSError, ValueError):
        return ""
    return token if len(token) >= LEAST and not exposed else ""


def read_or_make(path: Path) -> str:
    """The token in the file, which gets a new one where there is none."""
    return read(path) or renew(path)


def renew(path: Path) -> str:
    """A new token in place of the one in the file, whole or not at all: somebody may be reading."""
    token = secrets.token_urlsafe(32)
    atomic.make_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.touch(mode=0o600)
        beside.write_text(f"{token}\n", encoding="ascii")
        system.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    return token
