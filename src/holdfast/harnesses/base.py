"""The contract of a harness: what only a harness knows, in Holdfast's own types.

Each harness has a folder with `hooks.py` (hook events in, replies out), `transcript.py` (records in) and
`setup.py` (what to install), whose functions fill the contract directly: the class in the folder's
`__init__.py` binds them. They only translate: nothing there stores, decides or writes.
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
from holdfast.core.events.install_request import InstallEntry, Skill, WantedCopy, WantedEntry, WantedMember
from holdfast.core.session.pressure import AutoCompact
from holdfast.core.session.session import Process
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the hook adds to a hook event: which harness sent it, when, and from which process."""

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
    """A session starts: the reply may be a brief."""
    PROMPT = "prompt"
    """A prompt was sent: the reply may be a brief that never arrived."""
    COMPACTION = "compaction"
    """A compaction is about to start: what happened so far must be stored before the reply."""
    STOP = "stop"
    """The agent stopped: the reply may ask it to continue."""
    REQUEST = "request"
    """A request goes to the model. The harness keeps no injected text, so the reply repeats this window's."""
    TOOLS = "tools"
    """Tools have returned in the middle of a turn: the reply may add text to their output."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """A parsed hook event. The transcript, where there is one, has the rest."""

    session: str
    cwd: str
    transcript: str
    ask: Ask
    events: tuple[Event, ...]
    """Known from the hook event alone; recorded whether or not there is a transcript."""
    stand_ins: tuple[Event, ...] = ()
    """Also in the transcript: recorded from the hook event only if there is no transcript to read."""
    source: Source | None = None
    previous: str = ""


@dataclass(frozen=True, slots=True)
class StatusInput:
    """What a harness reports about a session when it asks for its status line; unknown numbers are 0."""

    session: str
    cwd: str
    used: int = 0
    window: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Events from a part of a transcript, and the cursor after it. `done`: no complete record is left."""

    events: tuple[Event, ...]
    skipped: tuple[Skipped, ...]
    cursor: str
    done: bool
    cwd: str = ""
    """The directory that the session works in, if the records say it."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a transcript is, roughly in bytes, and when it last changed."""

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
    """The session's own id: a database holds many sessions, and a key may be reassigned to another one."""
    updated_at: int


@dataclass(frozen=True, slots=True)
class SetupBlocker:
    """Why a harness does not call Holdfast's hooks although they are installed, and what the user can do."""

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Opening:
    """The command lines that start a harness with a first prompt."""

    at_terminal: tuple[str, ...]
    """For an interactive session."""
    alone: tuple[str, ...]
    """Without a terminal: it answers that prompt and exits."""


class Reader(Protocol):
    """A harness whose transcripts can be read."""

    name: str
    title: str
    kept_by_harness: KeptByHarness
    """What the harness itself gives its model again after a compaction."""
    instruction_files: tuple[str, ...]
    """The files at the top of a worktree in which it looks for instructions."""
    dated_sessions: str
    """The folder of a worktree in which its users keep one session file per day; empty if none."""
    own_arguments: tuple[str, ...]
    """Arguments that it makes its model add to every tool call, including calls of Holdfast's tools."""

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        """The directories that hold its transcripts. A hook event cannot have a file outside them opened."""
        ...

    def transcripts(self, folder: Path) -> Iterator[Path]:
        """The files below a folder that may be transcripts, each once, without those of subagents."""
        ...

    def session_of(self, path: Path) -> str:
        """The key of this transcript's session, as in hook events; empty if it belongs to none."""
        ...

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        """Transcripts of the subagents of the session at this path."""
        ...

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        """Other transcripts that hold the beginning of the session at this path."""
        ...

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """The records after the cursor (empty: from the start), about `limit` bytes; never raises."""
        ...

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """The same for a subagent's transcript, with that subagent as the main agent."""
        ...

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:
        """The key of the session whose agent calls one of Holdfast's tools; empty if unknown.

        `environment` is that of the process which the harness started for the tools, `meta` what came with
        the call itself. The process may have been started for a session that has ended since.
        """
        ...

    def call_id(self, meta: Mapping[str, object]) -> str:
        """The transcript's id of the tool call that `meta` came with; empty if unknown."""
        ...

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        """When it compacts by itself, according to its own settings and the environment of its hooks."""
        ...


class Harness(Reader, Protocol):
    """A harness that Holdfast can be set up for: its hook events can be parsed and briefs delivered to it."""

    program: str
    """The command that starts it; with `--version` it prints its version."""
    recorded_with: str
    """The version of the harness that this code was tested with."""
    hook_variables: tuple[str, ...]
    """Environment variables that the hook may carry; one that ends in `_PID` names the harness's process."""
    rarely_answered: tuple[str, ...]
    """Hook events that are seldom answered: the hook waits only briefly for an answer."""
    answer_limit: int
    """The largest answer that the harness accepts from one hook, in the unit of `answer_size`."""
    stores_injected_text: bool
    """Whether injected text stays in the conversation and is sent once, or must go with every request."""

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        """Parse a hook event."""
        ...

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        """What the hook prints so that the model sees the brief; empty for an empty brief."""
        ...

    def answer_size(self, answer: str) -> int:
        """An answer's size, in the harness's own unit."""
        ...

    def is_shared(self, command: Sequence[str]) -> bool:
        """Whether a process with this command line serves many sessions at once, and outlives them."""
        ...

    def present(self, home: Path, search_path: str) -> bool:
        """Whether this harness seems to be installed for the user whose home this is."""
        ...

    def opening(self, prompt: str) -> Opening:
        """How it is started with this prompt, which does not begin with a hyphen."""
        ...

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:
        """What its user has to do in the harness itself before Holdfast's hooks run; None if nothing."""
        ...

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry | WantedMember, ...]:
        """The entries that setup adds to the harness's own files; the first holds the command."""
        ...


@runtime_checkable
class KeptInRows(Protocol):
    """A harness that stores several sessions in one database: a session's path is not that of a file."""

    def extent(self, path: Path) -> Extent | None:
        """The extent of the transcript at this path; None if there is none."""
        ...


@runtime_checkable
class Plugged(Protocol):
    """A harness that calls no command: it loads Holdfast's plugin, which carries hook events and answers."""

    def plugin_files(self, holdfast: Path, home: Path) -> tuple[WantedCopy, ...]:
        """The plugin's files, made for this Holdfast home."""
        ...


@runtime_checkable
class Movable(Protocol):
    """A harness whose environment can place its own files elsewhere."""

    def for_environment(self, environment: Mapping[str, str]) -> Harness:
        """The same harness, with its files where this environment says."""
        ...


@runtime_checkable
class InProject(Protocol):
    """A harness with per-project settings that belong to its user, not to the repository."""

    def in_project(self, root: Path) -> Harness:
        """The same harness, with the settings of the project at this root.

        Its wanted entries are the hooks, and Holdfast's tools if there is a place for them; nothing else.
        """
        ...


@runtime_checkable
class Searching(Protocol):
    """A harness that searches memory files by itself."""

    def memory_search_paths(self, home: Path) -> tuple[Path, ...]:
        """The files and directories that it searches; none if that is off."""
        ...


@runtime_checkable
class StatusLine(Protocol):
    """A harness whose status line is printed by a command."""

    def parse_status(self, payload: bytes) -> StatusInput | Skipped:
        """Parse what it sends when it asks for its status line."""
        ...

    def status_line_entries(self, command: str, home: Path) -> tuple[WantedMember, ...]:
        """The settings that make this command print the status line, unless another command does already."""
        ...


@runtime_checkable
class SelfTestable(Protocol):
    """A harness whose hook events Holdfast can generate, to test the path that they take."""

    def self_test_events(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        """The hook events of a session with this prompt that is cleared, and of the session that follows.

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
    """A harness that Holdfast can start, with a text for the model that needs no hook."""

    takes_text: bool
    """Whether its model can be given a text when it starts."""

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:
        """The arguments that start it in this way, with the user's own arguments and a text for its model.

        An empty text adds nothing.
        """
        ...

    def session_end_event(self, session: str, transcript: str, cwd: str) -> bytes:
        """The hook event of a session's end, for a session that has no hooks to send it."""
        ...


@runtime_checkable
class MidTurn(Protocol):
    """A harness that accepts text for its model in the middle of a turn."""

    def mid_turn_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        """The entries that make it call the hook then, too."""
        ...


@runtime_checkable
class Tooled(Protocol):
    """A harness whose agents can use Holdfast's tools."""

    def tool_entries(self, relay: Sequence[str], home: Path) -> tuple[InstallEntry, ...]:
        """The entries that start the tool server with this command line, whose fourth word is the relay."""
        ...

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The files that tell its agents when to use them: these skills, and any others it has."""
        ...


@runtime_checkable
class Pluggable(Protocol):
    """A harness that can install Holdfast by itself, as a plugin that is the same on every machine."""

    def plugin(self, skills: Sequence[Skill], version: str) -> tuple[WantedCopy, ...]:
        """The plugin's files, with paths below the one folder that holds the plugins of all harnesses."""
        ...

    def install_commands(self, folder: str) -> tuple[str, ...]:
        """The command lines by which its user installs the plugin from that folder."""
        ...

    def has_plugin(self, home: Path) -> bool:
        """Whether the plugin is installed and turned on in its user's settings."""
        ...


class LogReader(Reader, Protocol):
    """A harness whose log format Holdfast uses itself: its sessions can be taken over record by record."""

    log_formats: tuple[str, ...]
    """The names of its log formats."""

    def log_sources(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        """Where it stores logs by default, the newest version's place first."""
        ...

    def find_logs(self, source: Path, log_format: str) -> tuple[FoundLog, ...]:
        """The logs at a path, the latest first; of one format, or of all if none is named. Never raises."""
        ...

    def read_log(self, log: FoundLog) -> Log:
        """A log as a tree of records; its file is not changed. Never raises."""
        ...

    def events_of(self, session: str, record: Record) -> tuple[Event, ...]:
        """The events of one log record."""
        ...
