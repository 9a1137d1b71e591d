"""Harnesses translate between Holdfast and the programs that agents run in: one folder for each program.

`base.py` is the contract. A harness's name stands in its own folder and in one line of the registry,
nowhere else: deleting the folder and that line removes the harness.

Not here: decisions, storage, writing into a harness's files (`setup.py` returns the wanted entries; `files`
writes them), or imports of one harness by another. Parsing never raises on content: what cannot be read
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
    """The harness with that name, if Holdfast can be set up for it. Loaded on first use."""
    harness = reader(name)
    if not hasattr(harness, "parse_hook"):
        hint = f"these can be set up: {', '.join(names())}"
        raise HarnessUnknown(f"{harness.title} cannot be set up yet; its transcripts can be read", hint)
    return cast("Harness", harness)


def here(name: str, environment: Mapping[str, str]) -> Harness:
    """The harness with that name, with its files where this environment says they are."""
    harness = get(name)
    return harness.for_environment(environment) if isinstance(harness, Movable) else harness


def reader(name: str) -> Reader:
    """The harness with that name, if its transcripts can be read."""
    if name not in readable():
        raise HarnessUnknown(f"there is no harness `{name}`", f"one of: {', '.join(readable())}")
    harness: Reader = import_module(f"{__name__}.{_folder(name)}").HARNESS
    return harness


def log_reader() -> LogReader:
    """The harness whose format Holdfast's own session logs use."""
    harness = next(reader(name) for name in readable() if hasattr(reader(name), "read_log"))
    return cast("LogReader", harness)


def names() -> tuple[str, ...]:
    """Every harness that Holdfast can be set up for, in display order."""
    return tuple(name for name in readable() if hasattr(reader(name), "parse_hook"))


def instruction_files() -> tuple[str, ...]:
    """The names of all files in which a harness looks for instructions, each once."""
    return tuple(dict.fromkeys(file for name in readable() for file in reader(name).instruction_files))


def dated_sessions(style: str) -> str | None:
    """The folder in which users of this harness keep dated session files; empty if they keep none.

    None if there is no such harness. The first word of a harness's name is enough.
    """
    matches = (name for name in readable() if style in (name, name.split("-", 1)[0]))
    return next((reader(name).dated_sessions for name in matches), None)


def readable() -> tuple[str, ...]:
    """Every harness whose transcripts can be read."""
    return tuple(folder.replace("_", "-") for folder in FOLDERS)


def _folder(name: str) -> str:
    return name.replace("-", "_")
