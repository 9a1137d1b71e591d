"""Transcripts: which may be opened, reading one on from its cursor, and finding those that no hook reported.

A hook event can name any path; only a regular file under one of the harness's own roots is ever opened.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from holdfast.core.events.world import Project
from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.repository import projects
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

BATCH_BYTES = 1 << 20
HEAD_BYTES: Final = 1 << 18
"""How much of a transcript is read to find its session's directory."""


@dataclass(frozen=True, slots=True)
class ReadableTranscript:
    """A transcript that may be opened."""

    path: Path


@dataclass(frozen=True, slots=True)
class MissingTranscript:
    """A transcript that does not exist yet."""

    path: Path


@dataclass(frozen=True, slots=True)
class RefusedTranscript:
    """A path that is not opened; the hook events are the source."""

    reason: str


TranscriptAccess: TypeAlias = ReadableTranscript | MissingTranscript | RefusedTranscript


def transcript_access(path: str, roots: Iterable[Path]) -> TranscriptAccess:
    """Whether the path that a hook event named may be opened."""
    if not path:
        return RefusedTranscript("no transcript was named")
    if "\0" in path or not Path(path).is_absolute():
        return RefusedTranscript("the transcript's path is not absolute")
    real = os.path.realpath(path)
    if not any(_under(real, root) for root in roots):
        return RefusedTranscript("the transcript is outside the harness's own directories")
    try:
        file = _file_of(Path(path))
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return MissingTranscript(Path(path))
    except OSError as error:
        return RefusedTranscript(f"the transcript cannot be looked at: {error.strerror}")
    if not stat.S_ISREG(mode):
        return RefusedTranscript("the transcript is not a regular file")
    if not os.access(file, os.R_OK):
        return RefusedTranscript("the transcript may not be read")
    return ReadableTranscript(Path(path))


def _file_of(path: Path) -> Path:
    """The file that holds a transcript; the path of a session in a database goes on after the file."""
    return path.parent if path.parent.is_file() else path


def transcript_bytes(path: str) -> int:
    """How large a transcript's file is, with the log beside a database; 0 if there is none to look at."""
    if not path or "\0" in path:
        return 0
    file, size = _file_of(Path(path)), 0
    for each in (file, file.with_name(f"{file.name}-wal")):
        with contextlib.suppress(OSError):
            size += each.lstat().st_size
    return size


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
            ).session
    return session


@dataclass(frozen=True, slots=True)
class UnreadTranscript:
    """A session that no hook reported, its transcript and its directory."""

    key: str
    path: Path
    cwd: str


def unread_transcripts(
    store: Store, reader: Reader, project: Project, since: int, home: Path, environment: Mapping[str, str]
) -> Iterator[UnreadTranscript]:
    """The sessions of this worktree whose transcripts were written since a time."""
    for root in reader.transcript_roots(home, environment):
        for path in reader.transcripts(root):
            if not _written_since(path, since):
                continue
            key = reader.session_of(path)
            cwd = reader.read_transcript(path, key, "", HEAD_BYTES).cwd if key else ""
            if cwd and projects.resolve(store, cwd).project.worktree_id == project.worktree_id:
                yield UnreadTranscript(key, path, cwd)


def _written_since(path: Path, since: int) -> bool:
    try:
        return path.stat().st_mtime_ns >= since * 1_000_000
    except OSError:
        return False
