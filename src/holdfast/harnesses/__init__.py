"""Harnesses translate: one folder for each program an agent lives in, theirs into ours and ours into theirs.

`base.py` is the contract. A harness's name stands in its own folder and in one line of the registry,
nowhere else: deleting the folder and that line removes the harness.

Not here: decisions, storage, writing into a harness's files (`setup.py` returns the wanted entries; `files`
writes them), or one harness that imports another. Parsing never raises on content: what cannot be read
becomes `Skipped`.
"""

from __future__ import annotations

from importlib import import_module

from holdfast.errors import HarnessUnknown
from holdfast.harnesses.base import Harness

FOLDERS = (
    "claude_code",  # a harness is registered by this one line
)  # fmt: skip


def get(name: str) -> Harness:
    """The harness of that name; loaded only now, since most commands need one at most."""
    if name not in names():
        raise HarnessUnknown(f"there is no harness `{name}`", f"one of: {', '.join(names())}")
    harness: Harness = import_module(f"{__name__}.{_folder(name)}").HARNESS
    return harness


def names() -> tuple[str, ...]:
    """Every harness there is, in the order in which they are shown."""
    return tuple(folder.replace("_", "-") for folder in FOLDERS)


def _folder(name: str) -> str:
    return name.replace("-", "_")
