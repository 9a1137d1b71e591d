"""Transcripts: which may be opened, and reading one on from its cursor.

A hook event can name any path; only a regular file under one of the harness's own roots is ever opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from holdfast.core.events.world import Project
from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import Arrival, record
from holdfast.lazy_dataclass import dataclass

BATCH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Readable:
    """A transcript that may be opened."""

    path: Path


@dataclass(frozen=True, slots=True)
class Missing:
    """A transcript that does not exist yet."""

    path: Path


@dataclass(frozen=True, slots=True)
class Refused:
    """A path that is not opened; the hook events are the source."""

    reason: str


TranscriptAccess: TypeAlias = Readable | Missing | Refused


def find(path: str, roots: Iterable[Path]) -> TranscriptAccess:
    """Whether the path that a hook event named may be opened."""
    if not path:
        return Refused("no transcript was named")
    if "\0" in path or not Path(path).is_absolute():
        return Refused("the transcript's path is not absolute")
    real = os.path.realpath(path)
    if not any(_under(real, root) for root in roots):
        return Refused("the transcript is outside the harness's own directories")
    try:
        file = _file_of(Path(path))
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return Missing(Path(path))
    except OSError as error:
        return Refused(f"the transcript cannot be looked at: {error.strerror}")
    if not stat.S_ISREG(mode):
        return Refused("the transcript is not a regular file")
    if not os.access(file, os.R_OK):
        return Refused("the transcript may not be read")
    return Readable(Path(path))


def _file_of(path: Path) -> Path:
    """The file that holds a transcript; the path of a session in a database goes on after the file."""
    return path.parent if path.parent.is_file() else path


def _under(real: str, root: Path) -> bool:
    return real.startswith(os.path.realpath(root).rstrip(os.sep) + os.sep)


def read_on(
    engine: Engine, key: str, harness_name: str, project: Project, path: Path, in_time: Callable[[], bool]
) -> Session | None:
    """Read a session's transcript, and its subagents', to the end or until time is up.

    Returns None if there was nothing to read.
    """
    harness = engine.harness(harness_name)
    session = None
    for source in (path, *harness.subagent_transcripts(path)):
        done = False
        while not done and in_time():
            cursor = engine.store.cursor(str(source))
            batch = harness.read_transcript(source, key, cursor, BATCH_BYTES)
            done = batch.done
            if batch.cursor == cursor and not batch.events:
                break
            session = record(
                engine,
                Arrival(
                    session=key,
                    harness=harness_name,
                    project=project,
                    events=batch.events,
                    source=str(source),
                    cursor=batch.cursor,
                    skipped=batch.skipped,
                    transcript=str(path),
                ),
            )
    return session
