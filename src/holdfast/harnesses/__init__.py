"""Harnesses translate: one folder for each program an agent lives in, theirs into ours and ours into theirs.

`base.py` is the contract. A harness's name stands in its own folder and in one line of the registry,
nowhere else: deleting the folder and that line removes the harness.

Not here: decisions, storage, writing into a harness's files (`setup.py` returns the wanted entries; `files`
writes them), or one harness that imports another. Parsing never raises on content: what cannot be read
becomes `Skipped`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from holdfast.errors import HarnessUnknown
from holdfast.harnesses.base import Harness, LogReader, Movable, Reader

FOLDERS = (
    "claude_code",  # a harness is registered by this one line
    "codex",
    "openclaw",
    "gemini",
    "opencode",
)  # fmt: skip


def get(name: str) -> Harness:
    """The harness of that name, if Holdfast can be set up for it; loaded only now: most need but one."""
    found = reader(name)
    if not hasattr(found, "parse_hook"):
        hint = f"these can be set up: {', '.join(names())}"
        raise HarnessUnknown(f"{found.title} cannot be set up yet; its transcripts can be read", hint)
    return cast("Harness", found)


def here(name: str, environment: Mapping[str, str]) -> Harness:
    """The harness of that name, with its files where this environment has them."""
    found = get(name)
    return found.moved(environment) if isinstance(found, Movable) else found


def reader(name: str) -> Reader:
    """The harness of that name, if its transcripts can be read."""
    if name not in readable():
        raise HarnessUnknown(f"there is no harness `{name}`", f"one of: {', '.join(readable())}")
    found: Reader = import_module(f"{__name__}.{_folder(name)}").HARNESS
    return found


def log_reader() -> LogReader:
    """The harness in whose format our own logs are."""
    found = next(reader(name) for name in readable() if hasattr(reader(name), "read_log"))
    return cast("LogReader", found)


def names() -> tuple[str, ...]:
    """Every harness that Holdfast can be set up for, in the order in which they are shown."""
    return tuple(name for name in readable() if hasattr(reader(name), "parse_hook"))


def instruction_files() -> tuple[str, ...]:
    """The names of all files in which a harness looks for instructions, each once."""
    return tuple(dict.fromkeys(file for name in readable() for file in reader(name).instruction_files))


def dated_sessions(style: str) -> str | None:
    """The folder of session files that people keep by the habits of this harness; empty if they keep none.

    None if there is no such harness, which is known here by the first word of its name, too.
    """
    found = (name for name in readable() if style in (name, name.split("-", 1)[0]))
    return next((reader(name).dated_sessions for name in found), None)


def readable() -> tuple[str, ...]:
    """Every harness whose transcripts can be read."""
    return tuple(folder.replace("_", "-") for folder in FOLDERS)


def _folder(name: str) -> str:
    return name.replace("-", "_")
