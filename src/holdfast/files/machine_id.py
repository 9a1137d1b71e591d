"""The id of a machine: a random name of this home, made once, by which others tell installations apart.

Two homes must never have the same one, so a restored home gets a new one unless it replaces itself.
"""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from pathlib import Path
from typing import Final

from holdfast import system
from holdfast.files import atomic

NAME: Final = "machine-id"
_LONGEST: Final = 64


def read(home: Path) -> str:
    """The id; empty where there is none, or no readable one."""
    path = home / NAME
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with path.open("rb") as file:
            return str(uuid.UUID(file.read(_LONGEST).decode("ascii").strip()))
    except (OSError, ValueError):
        return ""


def read_or_make(home: Path) -> str:
    """The id, which is made where there is none; processes that do so at once agree on one."""
    if id := read(home):
        return id
    path, draft = home / NAME, home / f".{NAME}.{uuid.uuid4()}"
    atomic.write(draft, f"{uuid.uuid4()}\n".encode())
    try:
        os.link(draft, path)
    except FileExistsError:
        if not read(home):  # What is there is no id.
            system.replace(draft, path)
    except OSError:  # The file system has no links.
        system.replace(draft, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
    return read(home)
