"""Engine: what the functions of this package share, made once and passed to each of them.

It holds ways to reach things and no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from secrets import token_bytes

from holdfast.config import Config
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import Lists
from holdfast.core.session.flush import FlushPolicy
from holdfast.core.session.rolling import RollingPolicy
from holdfast.core.session.session import Policy
from holdfast.engine.redaction.forgotten import forgotten_wordings
from holdfast.engine.redaction.redactor import FOR_TAGS, SECRET_BYTES, Redactor, lists_of, readable_lists
from holdfast.harnesses.base import Harness
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Count, Embedder
from holdfast.models.known import KNOWN
from holdfast.stores.base import Store


def no_embedder() -> None:
    """For an engine at which texts are found by their words alone."""


def no_counter() -> None:
    """For an engine at which nothing is counted that a harness has not counted."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A store, the harnesses, a project's settings, the user's home, a clock, sources of ids and secrets."""

    store: Store
    harness: Callable[[str], Harness]
    config: Callable[[Project], Config]
    user_home: Path
    clock: Callable[[], int]
    new_id: Callable[[], str]
    new_secret: Callable[[], bytes] = partial(token_bytes, SECRET_BYTES)
    embedder: Callable[[], Embedder | None] = no_embedder
    """Loads it when it is first asked for, and keeps it."""
    counter: Callable[[], Count | None] = no_counter
    """The same for what counts tokens."""
    home: Path | None = None
    """Where Holdfast keeps what stands in files beside the store; None for an engine that keeps no files."""

    def owns(self, project: Project) -> bool:
        """Whether a directory is ours: whatever works there, we started it, and it is never captured."""
        return self.home is not None and Path(project.normalized).is_relative_to(self.home)

    def policy(self, project: Project) -> Policy:
        """What the settings say about checkpoints and pressure here, and what is known of models."""
        config = self.config(project)
        rolling, asking = config.checkpoint, config.memory_flush
        return Policy(
            config.continuity.prompt_interval,
            config.continuity.time_interval_ms,
            RollingPolicy(
                rolling.enabled,
                rolling.token_threshold_percents,
                rolling.turn_threshold,
                rolling.min_tokens_for_gen,
            ),
            FlushPolicy(
                asking.enabled, asking.show_in_system_prompt, asking.once_per_window, asking.thresholds
            ),
            # What the user says of a model goes before what is known of one by the same name.
            (*config.pressure.windows, *KNOWN),
        )

    def is_stopped(self, project: Project) -> bool:
        """Whether nothing of a project may be kept or shared: a setting that protects is unreadable."""
        return self.config(project).unreadable is not None

    def redactor(self, project: Project) -> Redactor:
        """How the texts of a project's sessions are redacted now, before they are stored or shared.

        Raises ProtectionUnreadable where that cannot be known.
        """
        return self._redactor(lists_of(self.config(project)))

    def redactor_to_show(self, project: Project) -> Redactor:
        """How stored texts are redacted once more before a person is shown them; it never fails."""
        return self._redactor(readable_lists(self.config(project)))

    def _redactor(self, lists: Lists) -> Redactor:
        return redactor_of(self.store, lists, self.new_secret)


def redactor_of(store: Store, lists: Lists, new_secret: Callable[[], bytes]) -> Redactor:
    """What redacts by these lists what goes into a store, without what was forgotten there."""
    return Redactor(lists, store.secret(FOR_TAGS, new_secret()), forgotten_wordings(store))
