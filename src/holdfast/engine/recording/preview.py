"""Preview: the brief for a session that continues a given transcript, made from that file alone.

The path is that of a hook event: the harness reads, `record` folds, the core composes. But the store is
temporary, there is no clock, and files and git are not checked, so the same file always gives the same brief.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, TypeAlias

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.agent_log.summary import Failed, answer, question
from holdfast.core.brief.brief_input import NO_ANSWER, NOTHING_KEPT, left_out_items
from holdfast.core.brief.budget import FILE_CHARS, Budget
from holdfast.core.brief.compose import Brief, BriefInput, Reason, compose_for_start
from holdfast.core.events.event import MAIN, Event
from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import Utterance
from holdfast.core.session.session import Session
from holdfast.core.work.answer import RejectedSentence
from holdfast.engine.engine import Engine
from holdfast.engine.models import material_of
from holdfast.engine.recording.record import Arrival, record
from holdfast.errors import TranscriptUnreadable
from holdfast.harnesses.base import Batch, KeptInRows, Reader
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.sqlite import open_in_memory

BATCH_BYTES = 16 << 20
"""Larger than the daemon's, because no hook waits for this store."""
HEAD_BYTES = 1 << 20
"""How much of a transcript is read to see whether a subagent wrote it."""
DETECTION_LINES = 50
"""How many lines are read to find out which harness wrote a transcript."""
EVERY = 1_000_000
ANSWERED = "the answer in a file"
"""The author of a handover whose model is not known."""
NOWHERE = Project("", "", "", "", "")
"""The project of a transcript that does not say where its session worked; its paths are shown unchanged."""

_Read: TypeAlias = Callable[[Path, str, str, int], Batch]
"""A reader's method: path, session, cursor, limit."""


@dataclass(frozen=True, slots=True)
class Previewed:
    """A brief, and the session that it was made from."""

    brief_input: BriefInput
    brief: Brief


def preview(
    harness: Reader,
    path: Path,
    session: str = "",
    until_line: int | None = None,
    at: int | None = None,
    budget: int = FILE_CHARS,
    answer_text: str | None = None,
) -> Previewed:
    """The brief after this transcript, or its first lines; ages count from `at`, or from its last record.

    `answer_text` is what a model wrote when it was asked `handover_question`.
    """
    folded, events = _session_and_events(harness, path, session, until_line, at or 0)
    # Only a transcript that ends with a compaction was just compacted.
    just_compacted = bool(folded.compactions) and folded.compactions[-1].at >= folded.changed_at
    reason = Reason.COMPACT if just_compacted else Reason.STARTUP
    harness_keeps = harness.kept_by_harness if just_compacted else NOTHING_KEPT
    brief_input = BriefInput(
        reason, folded, at if at is not None else folded.last_event_at, kept_by_harness=harness_keeps
    )
    if answer_text is not None:
        brief_input = _with_answer(brief_input, answer_text, events())
    brief = compose_for_start(brief_input, Budget(budget, budget))
    return Previewed(brief_input, replace(brief, items=(*brief.items, *left_out_items(brief_input))))


def handover_question(harness: Reader, path: Path, session: str = "", until_line: int | None = None) -> str:
    """What a configured model would be asked after this transcript, or its first lines."""
    folded, events = _session_and_events(harness, path, session, until_line, 0)
    return question(material_of(folded, events()))


def _with_answer(brief_input: BriefInput, text: str, events: Sequence[Event]) -> BriefInput:
    """The input with what holds of a model's answer; a refused answer is noted, and the rules stand in."""
    session = brief_input.session
    # The answer comes from a file: whatever is in it, no secret gets into the brief.
    redact = _temporary_engine(0).redactor(session.project).of_session(session.key)
    checked = answer(redact(text), material_of(session, events), ANSWERED)
    if isinstance(checked, Failed):
        return replace(brief_input, model_left_out=(RejectedSentence(NO_ANSWER, checked.reason),))
    words = Utterance(checked.text, session.last_event_at, author=checked.model)
    return replace(brief_input, words=(words,), model_left_out=checked.left_out)


def fold(
    harness: Reader, path: Path, session: str = "", until_line: int | None = None, at: int = 0
) -> Session:
    """The session after this transcript, or its first lines, with what its subagents did until then."""
    return _session_and_events(harness, path, session, until_line, at)[0]


def _session_and_events(
    harness: Reader, path: Path, session: str, until_line: int | None, at: int
) -> tuple[Session, Callable[[], list[Event]]]:
    """The session, and what lists its redacted events: few callers need these."""
    transcript = transcript_file(path)
    key = session or _key(harness, transcript)
    engine = _temporary_engine(at)
    with _first_lines(harness, transcript, until_line) as main:
        folded = _folded(engine, harness, key, main) or _refuse(harness, path)
    seen_until = folded.last_event_at if until_line else None
    for beside in harness.subagent_transcripts(transcript):
        folded = _recorded(engine, harness, key, beside, harness.read_transcript, seen_until) or folded
    return folded, lambda: engine.store.events(key, EVERY)


def session_and_events(harness: Reader, path: Path, session: str = "") -> tuple[Session, tuple[Event, ...]]:
    """The session of a transcript, and all of its events, redacted, oldest first."""
    transcript = transcript_file(path)
    key = session or _key(harness, transcript)
    engine = _temporary_engine(0)
    folded = _folded(engine, harness, key, transcript) or _refuse(harness, path)
    return folded, tuple(engine.store.events(key, EVERY))


def is_transcript_of(harness: Reader, path: Path) -> bool:
    """Whether the harness can read events in the first lines of this file; never of a database."""
    transcript = transcript_file(path)
    try:
        with _first_lines(harness, transcript, DETECTION_LINES) as head:
            return _folded(_temporary_engine(0), harness, transcript.stem, head) is not None
    except TranscriptUnreadable:
        return False


def _refuse(harness: Reader, path: Path) -> NoReturn:
    raise TranscriptUnreadable(
        f"`{path}` holds no record of {harness.title}", "is it the transcript of another harness?"
    )


def _key(harness: Reader, transcript: Path) -> str:
    """The session to use if none is named: in a database, the one that changed last."""
    return (_holds_many(harness, transcript) and harness.session_of(transcript)) or transcript.stem


def _holds_many(harness: Reader, transcript: Path) -> bool:
    """Whether this is a database, in which each session has a path of its own."""
    return isinstance(harness, KeptInRows) and harness.extent(transcript) is None


def _temporary_engine(at: int) -> Engine:
    numbers = itertools.count(1)
    return Engine(
        store=open_in_memory(),
        harness=harnesses.get,
        config=lambda _: Config(),
        user_home=Path(os.devnull),
        clock=lambda: at,
        new_id=lambda: f"preview-{next(numbers)}",
        new_secret=lambda: b"preview",  # the same file gives the same tags
    )


def _folded(engine: Engine, harness: Reader, key: str, source: Path) -> Session | None:
    """The session of this transcript; None if it has no events. A subagent's counts as its own session."""
    by_subagent = all(event.agent != MAIN for event in _first_events(harness, key, source))
    read = harness.read_subagent if by_subagent else harness.read_transcript
    return _recorded(engine, harness, key, source, read, None)


def _first_events(harness: Reader, key: str, source: Path) -> tuple[Event, ...]:
    """The first events of a transcript, enough to see which agent wrote it."""
    cursor, done = "", False
    while not done:
        batch = harness.read_transcript(source, key, cursor, HEAD_BYTES)
        if batch.events:
            return batch.events
        done = batch.done or batch.cursor == cursor
        cursor = batch.cursor
    return ()


def _recorded(
    engine: Engine, harness: Reader, key: str, source: Path, read: _Read, until: int | None
) -> Session | None:
    """The session after this source, or after its events up to a time; None if it has no events."""
    session, cursor, done = None, "", False
    while not done:
        batch = read(source, key, cursor, BATCH_BYTES)
        done = batch.done or batch.cursor == cursor
        cursor = batch.cursor
        events = tuple(event for event in batch.events if until is None or event.at <= until)
        if events:
            session = record(
                engine, Arrival(key, harness.name, _project(batch.cwd), events=events, is_history=True)
            ).session
    return session


def _project(cwd: str) -> Project:
    """The project by what the records say alone: no directory is looked at."""
    return Project(cwd, cwd, "", "", cwd) if cwd else NOWHERE


def transcript_file(path: Path) -> Path:
    """The real path of the file that the user named; raises an error if it cannot be a transcript."""
    hint = "name the transcript file that the harness writes"
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
    except FileNotFoundError:
        raise TranscriptUnreadable(f"there is no file `{path}`", hint) from None
    except (OSError, ValueError) as error:
        raise TranscriptUnreadable(f"`{path}` cannot be examined: {error}", hint) from error
    if stat.S_ISDIR(status.st_mode):
        raise TranscriptUnreadable(f"`{path}` is a directory", hint)
    if not stat.S_ISREG(status.st_mode):
        raise TranscriptUnreadable(f"`{path}` is not a regular file", hint)
    if not status.st_size:
        raise TranscriptUnreadable(f"`{path}` is empty", hint)
    if not os.access(real, os.R_OK):
        raise TranscriptUnreadable(f"`{path}` may not be read", "look at its permissions")
    return real


@contextmanager
def _first_lines(harness: Reader, transcript: Path, count: int | None) -> Generator[Path]:
    """The transcript, or a temporary copy of its first lines."""
    if count is None:
        yield transcript
        return
    if _holds_many(harness, transcript):
        raise TranscriptUnreadable(
            f"`{transcript}` is not written line by line", "leave out --until-line; --session chooses one"
        )
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        copy = Path(folder, transcript.name)
        with transcript.open("rb") as lines, copy.open("wb") as first:
            first.writelines(itertools.islice(lines, count))
        for earlier in harness.earlier_transcripts(transcript):
            shutil.copyfile(earlier, Path(folder, earlier.name))
        yield copy
