"""Settings: the one table of all that can be set, with types, defaults, bounds and what a repository may set.

Where a value comes from is `config`'s work, and what it does is that of whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeAlias, TypeVar, cast

Value: TypeAlias = bool | int | str | tuple[str, ...]
_Default = TypeVar("_Default", bool, int, str, tuple[str, ...])


def _setting(
    default: _Default,
    doc: str,
    low: int = 0,
    high: int = 0,
    *,
    choices: tuple[str, ...] = (),
    shared: bool = False,
    private: bool = False,
) -> _Default:
    """One row of the table.

    `choices`: the only texts that a text may be, if there are any. `shared`: a file that came with a
    repository may set it too. `private`: it holds words of the user's that no message repeats, and it counts
    for all projects or for none.
    """
    described: _Default = field(
        default=default,
        metadata={
            "doc": doc,
            "low": low,
            "high": high,
            "choices": choices,
            "shared": shared,
            "private": private,
        },
    )
    return described


@dataclass(frozen=True, slots=True)
class Continuity:
    """Checkpoints and recovery."""

    enabled: bool = _setting(default=True, doc="Whether sessions are watched at all.")
    prompt_interval: int = _setting(10, "Prompts between two periodic checkpoints.", 1, 1_000, shared=True)
    time_interval_ms: int = _setting(
        900_000, "Milliseconds between two periodic checkpoints.", 1_000, 86_400_000, shared=True
    )
    max_checkpoints_per_session: int = _setting(50, "Checkpoints kept of one session.", 1, 1_000)
    retention_days: int = _setting(
        7, "Days a checkpoint is kept; the newest of each session stays longer.", 1, 3_650
    )
    recovery_budget_chars: int = _setting(
        2_000, "Characters that recovery may take of a brief.", 200, 20_000, shared=True
    )
    recovery_window_hours: int = _setting(
        4, "Hours in which another session's work is still picked up.", 1, 720
    )


@dataclass(frozen=True, slots=True)
class Capture:
    """What is watched."""

    exclude: tuple[str, ...] = _setting(
        (),
        "Project paths never to capture: globs, or names of directories on the way. A shared file only adds.",
        shared=True,
    )


@dataclass(frozen=True, slots=True)
class Daemon:
    """The background process."""

    idle_exit_minutes: int = _setting(
        120, "Minutes without a session after which the daemon exits.", 1, 10_080
    )


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent is given."""

    total_chars: int = _setting(
        6_000, "Characters of everything given at the start of a session.", 500, 50_000
    )


@dataclass(frozen=True, slots=True)
class Redact:
    """What is taken for a secret."""

    allow: tuple[str, ...] = _setting((), "Texts never taken for a secret, in any project.", private=True)
    deny: tuple[str, ...] = _setting(
        (), "Texts always taken for a secret, in all projects and in what is stored already.", private=True
    )


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, each with a value."""

    continuity: Continuity = Continuity()
    capture: Capture = Capture()
    daemon: Daemon = Daemon()
    brief: Brief = Brief()
    redact: Redact = Redact()


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: a field of a section, by its full name."""

    key: str
    default: Value
    doc: str
    low: int
    high: int
    choices: tuple[str, ...]
    shared: bool
    private: bool

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
        return "a list of texts that are not empty"


def _rows() -> Iterator[Setting]:
    for section in fields(Config):
        for row in fields(cast("Any", section.default)):
            yield Setting(f"{section.name}.{row.name}", cast("Value", row.default), **row.metadata)


TABLE: Final[Mapping[str, Setting]] = {setting.key: setting for setting in _rows()}
