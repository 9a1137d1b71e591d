"""The desk: what the engine's verbs share, made once and passed to each of them.

It holds ways to reach things and no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_bytes

from holdfast.config import Config
from holdfast.core.session import Policy
from holdfast.core.world import Project
from holdfast.engine.redactor import FOR_TAGS, SECRET_BYTES, Redactor, lists_of
from holdfast.harnesses.base import Harness
from holdfast.stores.base import Store


@dataclass(frozen=True, slots=True)
class Desk:
    """A store, the harnesses, a project's settings, the user's home, a clock, sources of ids and secrets."""

    store: Store
    harness: Callable[[str], Harness]
    config: Callable[[Project], Config]
    user_home: Path
    clock: Callable[[], int]
    new_id: Callable[[], str]
    new_secret: Callable[[], bytes] = partial(token_bytes, SECRET_BYTES)

    def policy(self, project: Project) -> Policy:
        """What the settings say about checkpoints in this project."""
        continuity = self.config(project).continuity
        return Policy(continuity.prompt_interval, continuity.time_interval_ms)

    def redactor(self, project: Project) -> Redactor:
        """How the texts of a project's sessions are redacted now."""
        lists = lists_of(self.config(project))
        return Redactor(lists, self.store.secret(FOR_TAGS, self.new_secret()))
