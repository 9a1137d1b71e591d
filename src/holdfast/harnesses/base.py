"""The contract of a harness: what only a harness knows, in our own words.

Each harness has a folder with `hooks.py` (letters in, replies out), `transcript.py` (records in) and
`setup.py` (what to install). Nothing here or there stores, decides or writes: theirs becomes ours, and ours
becomes theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from holdfast.core.agent_log.records import Log, Record
from holdfast.core.brief.brief_input import KeptByHarness
from holdfast.core.events.event import Event, Skipped, Source
from holdfast.core.events.guidance import Skill
from holdfast.core.events.install_request import Wanted, WantedCopy, WantedEntry, WantedMember
from holdfast.core.session.pressure import AutoCompact
from holdfast.core.session.session import Process
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the hook says about a letter: who sent it, when, and from which process."""

    id: str
    harness: str
    at: int
    process: Process | None = None
    previous: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: {})


class Ask(StrEnum):
    """What the harness waits for."""

    NOTHING = "nothing"
    START = "start"
    """A session starts: a brief may be given back."""
    PROMPT = "prompt"
    """A prompt was sent: a brief that never arrived may be given back."""
    COMPACTION = "compaction"
    """The window is about to die: what was seen must be safe before we answer."""
    STOP = "stop"
    """The agent stopped: it may be asked to go on."""
    REQUEST = "request"
    """A request goes to the model, and the harness keeps nothing: what the window was given goes along."""
    TOOLS = "tools"
    """In the middle of a turn tools have returned: something may be said to the agent beside their output."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """A letter, understood. The transcript, where there is one, tells the rest."""

    session: str
    cwd: str
    transcript: str
    ask: Ask
    events: tuple[Event, ...]
    """Told by the letter alone; recorded whether or not there is a transcript."""
    stand_ins: tuple[Event, ...] = ()
    """Also in the transcript: recorded from the letter only where there is no transcript to read."""
    source: Source | None = None
    previous: str = ""


@dataclass(frozen=True, slots=True)
class StatusInput:
    """What a harness says of a session when it asks for its status line; numbers are 0 where it says none."""

    session: str
    cwd: str
    used: int = 0
    window: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of a transcript, translated, and the cursor behind it. `done`: nothing whole is left to read."""

    events: tuple[Event, ...]
    skipped: tuple[Skipped, ...]
    cursor: str
    done: bool
    cwd: str = ""
    """The directory that the session works in, where the records say it."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a transcript is, in bytes or about so, and when it was last added to."""

    size: int
    changed_at: int


def file_extent(path: Path) -> Extent | None:
    """The extent of a transcript that is a file; None if there is none."""
    try:
        state = path.stat(follow_symlinks=False)
    except (OSError, ValueError):
        return None
    return Extent(state.st_size, state.st_mtime_ns // 1_000_000)


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A session's log that can be read whole: its key, and where it is."""

    key: str
    path: Path
    session: str
    """The session's own id: a database holds many, and a key may be given to another one."""
    updated_at: int


@dataclass(frozen=True, slots=True)
class SetupBlocker:
    """What keeps a harness from calling our hooks though they are in its files, and what its user can do."""

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Opening:
    """The command lines that start a harness with a first prompt."""

    at_terminal: tuple[str, ...]
    """For a person who goes on talking with it."""
    alone: tuple[str, ...]
    """Where nobody sits at a terminal: it answers that prompt and ends."""


class Reader(Protocol):
    """A harness whose transcripts can be read."""

    name: str
    title: str
    kept: KeptByHarness
    """What it gives its model back by itself after a compaction."""
    instruction_files: tuple[str, ...]
    """The files at the top of a worktree in which it looks for instructions."""
    dated_sessions: str
    """The folder of a worktree in which people keep a session file of theirs for each day; empty if none."""
    own_arguments: tuple[str, ...]
    """What it has its model put among the arguments of every tool, for itself; our tools are sent it too."""

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        """The directories that it keeps transcripts in; none outside is opened because a letter named it."""
        ...

    def transcripts(self, folder: Path) -> Iterator[Path]:
        """The files below a folder that may be transcripts, each once; those of subagents are left out."""
        ...

    def session_of(self, path: Path) -> str:
        """The key of the session that this transcript is of, as letters give it; empty if it is of none."""
        ...

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        """Transcripts of subagents that belong to the session at this path."""
        ...

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        """Other transcripts in which the beginning of the session at this path stands."""
        ...

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """The records behind the cursor (empty: from the start), about `limit` bytes; never raises."""
        ...

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """The same of a subagent's transcript, with that subagent as the main agent."""
        ...

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:
        """The key of the session whose agent calls one of our tools; empty if it cannot be told.

        `environment` is that of the process which the harness started for our tools, `meta` what came with
        the call itself. The process may have been started for a session that is over by now.
        """
        ...

    def call_id(self, meta: Mapping[str, object]) -> str:
        """Under which id the transcript shows the tool call that `meta` came with; empty if it says none."""
        ...

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        """When it compacts by itself, as its own settings and the environment of its hooks say."""
        ...


class Harness(Reader, Protocol):
    """A harness that Holdfast can be set up for: its letters are understood and its briefs delivered."""

    program: str
    """The command by which a person starts it; with `--version` it prints its version."""
    recorded_with: str
    """The version with which what we know of it was recorded."""
    carried: tuple[str, ...]
    """Environment variables that the hook may carry; one that ends in `_PID` names the harness's process."""
    quiet: tuple[str, ...]
    """Hook events that are seldom answered: the hook gives an answer but a moment to come."""
    answer_limit: int
    """How large an answer the harness takes from one hook, as `answer_size` measures it."""
    stores_injected_text: bool
    """Whether injected text stays in the conversation and is sent once, or must go with every request."""

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        """What a hook's letter says."""
        ...

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        """What the hook prints so that the model sees the brief; empty for an empty brief."""
        ...

    def answer_size(self, answer: str) -> int:
        """How large an answer is to the harness, in its own unit."""
        ...

    def is_shared(self, command: Sequence[str]) -> bool:
        """Whether a process with this command line is at home to many sessions at once, and outlives them."""
        ...

    def present(self, home: Path, search_path: str) -> bool:
        """Whether this harness seems to be installed for the user whose home this is."""
        ...

    def opening(self, prompt: str) -> Opening:
        """How it is started with this prompt, which does not begin with a hyphen."""
        ...

    def hurdle(self, home: Path, hook_command: str) -> SetupBlocker | None:
        """What its user has to do in the harness itself before our hooks run; None if nothing."""
        ...

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry | WantedMember, ...]:
        """The entries that setup puts into the harness's own files, first one that holds the command."""
        ...


@runtime_checkable
class KeptInRows(Protocol):
    """A harness that keeps several sessions in one database: the path of each is no file's."""

    def extent(self, path: Path) -> Extent | None:
        """The extent of the transcript at this path; None if there is none."""
        ...


@runtime_checkable
class Plugged(Protocol):
    """A harness that calls no command: a plugin of ours, which it loads, carries letters and answers."""

    def wanted_plugin(self, holdfast: Path, home: Path) -> tuple[WantedCopy, ...]:
        """The files of the plugin that serves this home of Holdfast."""
        ...


@runtime_checkable
class Movable(Protocol):
    """A harness that can be told by its environment to keep its own files elsewhere."""

    def moved(self, environment: Mapping[str, str]) -> Harness:
        """The same harness, whose files are where this environment says."""
        ...


@runtime_checkable
class InProject(Protocol):
    """A harness with settings for a single project that are its user's own, and not the project's."""

    def in_project(self, root: Path) -> Harness:
        """The same harness, with the settings of the project whose top this is.

        It wants its hooks there, and our tools if there is a place for them; nothing else.
        """
        ...


@runtime_checkable
class Searching(Protocol):
    """A harness that makes memory files findable by itself."""

    def searched(self, home: Path) -> tuple[Path, ...]:
        """The files and directories that it looks through; none if that is off."""
        ...


@runtime_checkable
class StatusLine(Protocol):
    """A harness that shows a line which a command writes."""

    def parse_status(self, payload: bytes) -> StatusInput | Skipped:
        """What it says when it asks for its status line."""
        ...

    def wanted_status_line(self, command: str, home: Path) -> tuple[WantedMember, ...]:
        """What has this command draw the status line, unless something draws it already."""
        ...


@runtime_checkable
class Rehearsed(Protocol):
    """A harness whose letters we can write ourselves, to see that they go their way."""

    def rehearsal(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        """The letters of a session that is given this prompt and cleared, and of the one that follows.

        The answer to the last of them holds a brief with the prompt in it.
        """
        ...


class Way(StrEnum):
    """How a person starts a harness."""

    RUN = "run"
    """At a terminal."""
    EXEC = "exec"
    """For one prompt, without a terminal."""
    RESUME = "resume"
    """To go on with an earlier session."""


@runtime_checkable
class Wrapped(Protocol):
    """A harness that can be started by us, and be told something without a hook."""

    takes_text: bool
    """Whether a text can be put before its model when it starts."""

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:
        """What follows the program's name so that it starts in this way, with the person's words and a text.

        An empty text is none.
        """
        ...

    def farewell(self, session: str, transcript: str, cwd: str) -> bytes:
        """The letter that a session writes when it ends, for one that has no hooks to write it."""
        ...


@runtime_checkable
class MidTurn(Protocol):
    """A harness that can be told something in the middle of a turn."""

    def wanted_mid_turn(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        """The entries that have the hook called then too."""
        ...


@runtime_checkable
class Tooled(Protocol):
    """A harness whose agents can have our tools."""

    def wanted_tools(self, relay: Sequence[str], home: Path) -> tuple[Wanted, ...]:
        """The entries that start the tools' server by this command line, whose fourth word is the relay."""
        ...

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The files from which its agents learn when to use them: these skills, and what it has besides."""
        ...


@runtime_checkable
class Pluggable(Protocol):
    """A harness that can load all that setup gives it from one folder, with its settings left alone."""

    def plugin(
        self, hook_command: str, relay: Sequence[str], skills: Sequence[Skill], version: str
    ) -> tuple[WantedCopy, ...]:
        """The files of that folder, by their places in it; the first tells whose plugin it is."""
        ...


class LogReader(Reader, Protocol):
    """A harness in whose format our own logs are: its sessions can be taken over record by record."""

    log_formats: tuple[str, ...]
    """The names of the ways in which it keeps logs."""

    def log_sources(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        """Where it keeps logs by itself, the place of its newest version first."""
        ...

    def find_logs(self, source: Path, log_format: str) -> tuple[FoundLog, ...]:
        """The logs at a place, the latest first; of one format, or of all if none is named. Never raises."""
        ...

    def read_log(self, found: FoundLog) -> Log:
        """A log as a tree of records; the file that it is in stays as it is. Never raises."""
        ...

    def events_of(self, session: str, record: Record) -> tuple[Event, ...]:
        """What a record of ours tells, in our own words."""
        ...
