"""Policy: what a project shares, with whom, and through which hub; everything else stays on the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from holdfast.core.sharing.items import Audience, SharedKind
from holdfast.lazy_dataclass import dataclass

PERSONAL: Final = "~"
"""The name under which memories of no project are shared. No project can have it: it has no letter."""


@dataclass(frozen=True, slots=True)
class SharingPolicy:
    """What one project shares. The default is nothing."""

    hub: str = ""
    """The hub's name in the settings; empty if the project has none."""
    handoffs: bool = False
    continuity: bool = False
    team_memories: bool = False
    """Those that a person marked."""
    own_memories: bool = False
    checkpoints: bool = False
    own_sessions: bool = False

    @property
    def kinds(self) -> frozenset[SharedKind]:
        """The kinds whose changes are to be announced."""
        if not self.hub:
            return frozenset()
        is_shared = {
            SharedKind.HANDOFF: self.handoffs,
            SharedKind.CONTINUITY: self.continuity,
            SharedKind.MEMORY: self.team_memories or self.own_memories,
            SharedKind.CHECKPOINT: self.checkpoints or self.own_sessions,
            SharedKind.SESSION: self.own_sessions,
        }
        return frozenset(kind for kind, is_set in is_shared.items() if is_set)

    @property
    def checkpoint_audience(self) -> Audience:
        """Who may read this project's checkpoints, if anyone."""
        return Audience.TEAM if self.checkpoints else Audience.OWN


def hub_for(rules: Sequence[str], names: Sequence[str]) -> str:
    """The hub of the first rule `NAME: PATTERN` that matches one of a project's names; empty if none does.

    A pattern without a wildcard also matches everything below it: `github.com/acme` is `github.com/acme/*`.
    """
    for rule in rules:
        hub, separator, pattern = rule.partition(":")
        hub, pattern = hub.strip(), pattern.strip().rstrip("/")
        if not separator or not hub or not pattern:
            continue
        if any(_matches(name.casefold(), pattern.casefold()) for name in names):
            return hub
    return ""


def rule_problem(rule: str) -> str:
    """Why a rule can match nothing; empty if it can."""
    hub, separator, pattern = rule.partition(":")
    return "" if separator and hub.strip() and pattern.strip() else "it is not `NAME: PATTERN`"


def _matches(name: str, pattern: str) -> bool:
    """Whether a name is what the pattern says, where `*` stands for any text, or something below it."""
    text = ".*".join(map(re.escape, pattern.split("*")))
    return re.fullmatch(f"{text}(?:/.*)?", name) is not None
