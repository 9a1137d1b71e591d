"""Settings: the one table of all settings, with types, defaults, bounds and what a repository may set.

`config` reads the values; the code that uses a setting decides what it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from typing import Final, TypeAlias, TypeVar, cast

from holdfast.core.session.pressure import THRESHOLDS, Delivery, KnownModel, Threshold
from holdfast.lazy_dataclass import dataclass

Value: TypeAlias = (
    bool | int | str | tuple[str, ...] | tuple[int, ...] | tuple[Threshold, ...] | tuple[KnownModel, ...]
)
_Default = TypeVar("_Default", bool, int, str, tuple[str, ...])
_Item = TypeVar("_Item")
_UNMARKED: Final = dict.fromkeys(("shared", "private", "protects", "deletes"), False)


def _setting(
    default: _Default,
    doc: str,
    low: int = 0,
    high: int = 0,
    *,
    choices: tuple[str, ...] = (),
    **marks: bool,
) -> _Default:
    """One row of the table.

    `choices`: the only allowed texts, if limited. Flags: `shared`: a file that came with a repository may set
    it too. `private`: it holds the user's own words, which no message repeats, and it applies to all projects
    or to none. `protects`: it keeps something from being captured, stored or shared; while it cannot be read,
    nothing is. `deletes`: what exceeds it is deleted, so an unusable value counts as the largest one.
    """
    described: _Default = field(
        default=default,
        metadata={
            "doc": doc,
            "low": low,
            "high": high,
            "of": str,
            "choices": choices,
            **_UNMARKED,
            **marks,
        },
    )
    return described


def _list(default: tuple[_Item, ...], of: type[_Item], doc: str, low: int, high: int) -> tuple[_Item, ...]:
    """One row of the table whose value is a list of something other than texts."""
    described: tuple[_Item, ...] = field(
        default=default, metadata={"doc": doc, "low": low, "high": high, "of": of, "choices": (), **_UNMARKED}
    )
    return described


@dataclass(frozen=True, slots=True)
class Continuity:
    """Checkpoints and recovery."""

    enabled: bool = _setting(default=True, doc="Whether sessions are watched at all.", protects=True)
    prompt_interval: int = _setting(10, "Prompts between two periodic checkpoints.", 1, 1_000)
    time_interval_ms: int = _setting(
        900_000, "Milliseconds between two periodic checkpoints.", 1_000, 86_400_000
    )
    max_checkpoints_per_session: int = _setting(
        50, "Checkpoints kept of one session.", 1, 1_000, deletes=True
    )
    retention_days: int = _setting(
        7, "Days a checkpoint is kept; the newest of each session stays longer.", 1, 3_650, deletes=True
    )
    recovery_budget_chars: int = _setting(
        2_000,
        "Characters reserved for a brief. Unless it is set, a brief at a start without history (a new "
        "session, `/clear`, after a crash) may also use what is left of `brief.total_chars`.",
        200,
        20_000,
    )
    recovery_window_hours: int = _setting(
        4, "Hours during which another session's work is still picked up.", 1, 720
    )
    local_path_style: str = _setting(
        "holdfast",
        "How a worktree's own continuity is kept: `holdfast` for one file in `.holdfast/sessions/`, or the "
        "name of a harness for the same, unless its users keep a file for each day.",
    )
    extractor: str = _setting(
        "heuristic",
        "Who writes a session's contribution to the continuity: `heuristic` for the rules alone, or `model` "
        "for the one that `checkpoint.model` names, with the rules standing in for it.",
        choices=("heuristic", "model"),
    )
    startup_lines: int = _setting(60, "Lines that the continuity block may take at a start.", 5, 500)
    auto_load: bool = _setting(
        default=False, doc="Whether a starting session is given the continuity beside its brief."
    )
    auto_save: bool = _setting(
        default=False, doc="Whether what a session did is merged into the continuity when it is over."
    )


@dataclass(frozen=True, slots=True)
class Dream:
    """Candidates for lasting knowledge, listed beside the continuity."""

    auto_build: bool = _setting(
        default=False, doc="Whether `holdfast run` lists them anew before it starts a harness."
    )


@dataclass(frozen=True, slots=True)
class Capture:
    """What is watched."""

    exclude: tuple[str, ...] = _setting(
        (),
        "Project paths never to capture: globs, or names of directories in them. A shared file only adds.",
        shared=True,
        protects=True,
    )


@dataclass(frozen=True, slots=True)
class Daemon:
    """The background process."""

    idle_exit_minutes: int = _setting(
        120, "Minutes without a session after which the daemon exits; 0: never.", 0, 10_080
    )
    backup_quiet_seconds: int = _setting(
        60, "Seconds without a hook event or another request before the backup of the day is made.", 0, 86_400
    )
    http_port: int = _setting(
        7_433,
        "The port of the HTTP listener on the loopback address; another if it is taken, 0 for none.",
        0,
        65_535,
    )
    http_host: str = _setting(
        "127.0.0.1", "The address of that listener; one that other machines can reach requires TLS."
    )
    http_names: tuple[str, ...] = _setting(
        (), "Further host names that the listener accepts, without the port."
    )
    tls_certificate: str = _setting("", "The certificate of the HTTP listener, a file in PEM.")
    tls_key: str = _setting("", "The private key of that certificate, a file in PEM.")


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent is given."""

    inject: bool = _setting(
        default=True,
        doc="Whether sessions are given their brief unasked; `holdfast brief`, the agent's tools and "
        "handoffs give it without this, too.",
    )
    total_chars: int = _setting(
        6_000, "Characters of everything given at the start of a session.", 500, 50_000
    )


@dataclass(frozen=True, slots=True)
class Redact:
    """What is treated as a secret."""

    allow: tuple[str, ...] = _setting(
        (), "Texts never treated as a secret, in any project.", private=True, protects=True
    )
    deny: tuple[str, ...] = _setting(
        (),
        "Texts always treated as a secret, in all projects and in what is stored already.",
        private=True,
        protects=True,
    )


@dataclass(frozen=True, slots=True)
class Inherit:
    """Taking over another program's session as the beginning of one whose log is stored here."""

    enabled: bool = _setting(
        default=False,
        doc="Whether `holdfast setup`, `holdfast up` and a new session take over the sessions that "
        "another program keeps; its own are only read. Short: `inherit = true` in `[session]`.",
    )
    source: str = _setting(
        "", "The folder, file or database that holds these logs; empty: that program's usual place."
    )
    format: str = _setting("", "Their format; empty: any.", choices=("", "jsonl", "sqlite"))


@dataclass(frozen=True, slots=True)
class Session:
    """The ledger: a worktree's state, in a file that a person may edit."""

    ledger: bool = _setting(
        default=False,
        doc="Whether the ledger is saved before a compaction and on `/clear`, and leads the next brief. "
        "Unless it is set, `session.ledger` in a project's `.agents.yml` allows all but saving by itself.",
    )
    store: str = _setting(
        "",
        "Where the library (`holdfast.embed`) keeps sessions: `sqlite` in a file, `postgres` in a database, "
        "or `jsonl` to only read another program's logs; empty: where everything else is.",
        choices=("", "sqlite", "postgres", "jsonl"),
    )
    path: str = _setting(
        "",
        "For `sqlite` the file, for `postgres` the URL as in `store.url`, for `jsonl` the folder or file of "
        "the logs; empty: `store.db` in Holdfast's home, `store.url`, or that program's usual place.",
        private=True,
    )
    default_key: str = _setting(
        "agent:main:main",
        "The session that is inherited where none is named; what is written goes to the same key under "
        "`holdfast:`.",
    )
    inherit: Inherit = Inherit()
    ledger_path: str = _setting(
        "", "The ledger, below the worktree; empty: what `.agents.yml` says, or `.agents/session_ledger.md`."
    )


@dataclass(frozen=True, slots=True)
class Records:
    """What was said in past sessions, for recall."""

    retention_days: int = _setting(
        365, "Days that a session's conversation can be found.", 1, 3_650, deletes=True
    )
    max_mb: int = _setting(
        200, "Megabytes of text stored for that; the oldest is deleted first.", 1, 100_000, deletes=True
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """How past conversations are searched."""

    vectors: bool = _setting(
        default=True, doc="Whether texts are also found by meaning, not by their words alone."
    )
    inject: bool = _setting(
        default=False,
        doc="Whether up to 500 characters of well-matching memories are added to a prompt, unasked.",
    )


@dataclass(frozen=True, slots=True)
class Pressure:
    """How full the context window is."""

    show_in_context: bool = _setting(
        default=True, doc="Whether the model is told with prompts how full its window is."
    )
    show_from_percent: int = _setting(
        50, "How full the window must be for that, in percent; 0 says it with every prompt.", 0, 100
    )
    advice: bool = _setting(default=True, doc="Whether the agent is told when a fresh start would be better.")
    mid_turn: bool = _setting(
        default=False,
        doc="Whether `setup` adds a hook behind every batch of tools, so that a threshold that is passed in "
        "the middle of a turn is not told only with the next prompt.",
    )
    windows: tuple[KnownModel, ...] = _list(
        (),
        KnownModel,
        "Window sizes in tokens of models that Holdfast does not know, or knows wrongly, by name prefix.",
        1_000,
        100_000_000,
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Checkpoints while the window fills."""

    enabled: bool = _setting(default=True, doc="Whether checkpoints are taken while the window fills.")
    token_threshold_percents: tuple[int, ...] = _list(
        (25, 50, 75), int, "How full the window must be for one, in percent; once in each window.", 1, 100
    )
    turn_threshold: int = _setting(
        15, "Prompts after which one is taken, however full the window is.", 1, 1_000
    )
    model: str = _setting(
        "",
        "The model that writes at them, in the background after the turn, what a session hands over: "
        "`anthropic/NAME`, `openai/NAME`, or `command`; empty: none, rules write it.",
    )
    fallback_to_main: bool = _setting(
        default=True,
        doc="Whether the session's own model is asked if that one cannot answer.",
        protects=True,
    )
    min_tokens_for_gen: int = _setting(
        10_000, "None is taken with fewer tokens in the window.", 0, 10_000_000
    )


@dataclass(frozen=True, slots=True)
class MemoryFlush:
    """Asking the agent to write down what must last."""

    enabled: bool = _setting(default=True, doc="Whether the agent is asked at all.")
    show_in_system_prompt: bool = _setting(
        default=True, doc="Whether what is to be given as `system` is given; the rest always is."
    )
    hold_agent: bool = _setting(
        default=True,
        doc="Whether an agent that has to answer is kept from stopping until it did, once in a window.",
    )
    once_per_window: bool = _setting(
        default=True, doc="Whether each is given once in a window, not with every prompt."
    )
    thresholds: tuple[Threshold, ...] = _list(
        THRESHOLDS,
        Threshold,
        "From which share of the window on the agent is asked what, and how: `system` beside the user's "
        "words, `user` so that it has to answer, `marked` the same behind `[SYSTEM: memory flush]`.",
        1,
        100,
    )


@dataclass(frozen=True, slots=True)
class Compaction:
    """When a session whose log is stored here is compacted, and what stays of it."""

    reserve_tokens: int = _setting(4_000, "Tokens of the window that stay free for an answer.", 0, 1_000_000)
    prefer_checkpoint: bool = _setting(
        default=True,
        doc="Whether a checkpoint that covers more than half of the window replaces a new summary.",
    )
    keep_percent: int = _setting(20, "How many of the window's messages stay unchanged, in percent.", 0, 90)
    keep_messages: int = _setting(6, "The least number of messages that stay unchanged.", 0, 1_000)


@dataclass(frozen=True, slots=True)
class Models:
    """How a model is asked, where `checkpoint.model` names one."""

    base_url: str = _setting(
        "", "The address of its API; empty: the vendor's. Any compatible server works.", protects=True
    )
    key: str = _setting("", "The key for that API.", private=True)
    key_variable: str = _setting(
        "HOLDFAST_MODEL_KEY", "The environment variable that holds the key if `models.key` is empty."
    )
    command: tuple[str, ...] = _setting(
        (),
        "The command to run for `command`: the question on stdin, the answer on stdout. "
        "The word `{schema}` becomes the path of the answer's JSON Schema.",
    )
    timeout_seconds: int = _setting(60, "Seconds to wait for an answer.", 1, 600)
    retries: int = _setting(2, "How often a model that is busy is asked again.", 0, 10)
    answer_tokens: int = _setting(2_000, "Tokens that an answer may have.", 100, 32_000)
    daily_tokens: int = _setting(
        1_000_000, "Tokens a day, sent and received; beyond this, rules are used instead.", 0, 1_000_000_000
    )
    daily_cents: int = _setting(100, "Cents a day, where the prices below are set.", 0, 1_000_000)
    sent_cents: int = _setting(0, "Cost of a million tokens sent, in cents.", 0, 1_000_000)
    given_cents: int = _setting(0, "Cost of a million tokens received, in cents.", 0, 1_000_000)


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """How this machine is called where others see it."""

    name: str = _setting("", "The name of this machine; empty: its host name.")


@dataclass(frozen=True, slots=True)
class PersonSettings:
    """How you are called where others see it."""

    name: str = _setting("", "Your name; empty: your user name on this machine.")


@dataclass(frozen=True, slots=True)
class Sharing:
    """What is shared through a hub. By default nothing is; set it for all projects, or for one."""

    hubs: tuple[str, ...] = _setting(
        (),
        "Which hub is for which projects, as `NAME: PATTERN`, such as `work: github.com/acme/*`; the first "
        "that matches counts. `NAME: *` is for all, and `NAME: ~` for memories of no project. A project "
        "that matches none shares nothing.",
        protects=True,
    )
    handoffs: bool = _setting(default=False, doc="Whether the team is given handoffs.", protects=True)
    continuity: bool = _setting(
        default=False,
        doc="Whether the team is given the shared layer of the continuity.",
        protects=True,
    )
    memories: str = _setting(
        "none",
        "Which memories the team is given: `none`, or `team` for those that a person marked "
        "(`holdfast memories share`, `holdfast remember --team`).",
        choices=("none", "team"),
        protects=True,
    )
    own: bool = _setting(
        default=False, doc="Whether your other machines, and nobody else, get your memories.", protects=True
    )
    checkpoints: bool = _setting(default=False, doc="Whether the team is given checkpoints.", protects=True)
    sessions: str = _setting(
        "none",
        "Whose machines get the state of your sessions: `none`, or `own` for your other ones, so that you "
        "can go on there. Transcripts stay on this machine.",
        choices=("none", "own"),
        protects=True,
    )


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where everything is stored. It counts for all projects, and from the next start of the daemon on."""

    url: str = _setting(
        "",
        "A database of PostgreSQL to store everything in, as `postgresql://USER@HOST:PORT/DATABASE`, without "
        "a password; empty: the file `store.db` in Holdfast's home.",
        protects=True,
        private=True,
    )
    password_file: str = _setting(
        "",
        "A file that only you can read, with the password on its first line; empty: `~/.pgpass`, or "
        "`PGPASSWORD` in the environment.",
        private=True,
    )
    tls: str = _setting(
        "verify-full",
        "What a connection to a database on another machine must have at least.",
        choices=("verify-full", "verify-ca", "require", "off"),
        private=True,
        protects=True,
    )
    schema: str = _setting(
        "holdfast",
        "The schema of the database that holds the tables. Each home has its own.",
        private=True,
        protects=True,
    )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A protecting setting that cannot be read: what is wrong and where, and how to fix it."""

    problem: str
    fix: str
    everywhere: bool
    """Whether it is in a file for all projects, so that it stops all of them."""

    @property
    def consequence(self) -> str:
        """What follows from it, and why."""
        where = "" if self.everywhere else " of this project"
        return f"nothing{where} is captured, stored or shared: {self.problem}"

    @property
    def notice(self) -> str:
        """The consequence and the fix, in one line."""
        return f"{self.consequence}; to go on, {self.fix}"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, each with a value.

    While `unreadable` is set, the protecting settings cannot be relied on, and the values only serve to show
    what is stored already.
    """

    continuity: Continuity = Continuity()
    capture: Capture = Capture()
    daemon: Daemon = Daemon()
    brief: Brief = Brief()
    redact: Redact = Redact()
    records: Records = Records()
    recall: Recall = Recall()
    session: Session = Session()
    dream: Dream = Dream()
    pressure: Pressure = Pressure()
    checkpoint: Checkpoint = Checkpoint()
    memory_flush: MemoryFlush = MemoryFlush()
    compaction: Compaction = Compaction()
    models: Models = Models()
    machine: MachineSettings = MachineSettings()
    person: PersonSettings = PersonSettings()
    sharing: Sharing = Sharing()
    store: StoreSettings = StoreSettings()
    unreadable: Unreadable | None = None
    explicit: frozenset[str] = field(default=frozenset(), compare=False)
    """The keys that are set, not left at their default."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: a field of a section, by its full name."""

    key: str
    default: Value
    doc: str
    low: int
    high: int
    of: type
    choices: tuple[str, ...]
    shared: bool
    private: bool
    protects: bool
    deletes: bool

    @property
    def table(self) -> str:
        return self.key.rpartition(".")[0]

    @property
    def variable(self) -> str:
        return "HOLDFAST_" + self.key.upper().replace(".", "_")

    @property
    def allowed(self) -> str:
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int):
            return f"a whole number from {self.low:_} to {self.high:_}"
        if isinstance(self.default, str):
            return " or ".join(f'"{choice}"' for choice in self.choices) or "a text"
        return self._list_allowed

    @property
    def _list_allowed(self) -> str:
        bounds = f"from {self.low:_} to {self.high:_}"
        if self.of is int:
            return f"a list of whole numbers {bounds}"
        if self.of is KnownModel:
            return f"a table that gives each name a whole number {bounds}"
        if self.of is Threshold:
            kinds = ", ".join(f"`{kind}`" for kind in Delivery)
            return f"a list of tables, each with `percent` ({bounds}), `prompt` and `inject_as` ({kinds})"
        return "a list of texts that are not empty"


def _rows(table: type, above: str = "") -> Iterator[Setting]:
    for row in fields(table):
        if is_dataclass(row.default):
            yield from _rows(type(row.default), f"{above}{row.name}.")
        elif row.metadata:
            yield Setting(f"{above}{row.name}", cast("Value", row.default), **row.metadata)


TABLE: Final[Mapping[str, Setting]] = {setting.key: setting for setting in _rows(Config)}
