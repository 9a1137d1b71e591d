"""Engine: what the functions of this package share, made once and passed to each of them.

It gives access to the store, the harnesses and the settings, and has no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from secrets import token_bytes

from holdfast.config import Config
from holdfast.core.brief.budget import BudgetSettings
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import Lists
from holdfast.core.session.agent_prompts import FlushPolicy
from holdfast.core.session.rolling import RollingPolicy
from holdfast.core.session.session import Policy
from holdfast.engine.redaction.forgotten import forgotten_wordings
from holdfast.engine.redaction.redactor import FOR_TAGS, SECRET_BYTES, Redactor, lists_of, readable_lists
from holdfast.harnesses.base import Harness
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Count, Embedder
from holdfast.models.known import KNOWN_MODELS
from holdfast.stores.base import Store


def no_embedder() -> None:
    """The embedder of an engine that searches by words alone."""


def no_counter() -> None:
    """The token counter of an engine that relies on the harness's counts alone."""


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
    """Returns the embedder, which is loaded on the first call."""
    counter: Callable[[], Count | None] = no_counter
    """Returns the token counter, which is loaded on the first call."""
    home: Path | None = None
    """The directory for files beside the store; None for an engine that writes no files."""

    def owns(self, project: Project) -> bool:
        """Whether Holdfast itself started what runs in a project's directory; it is never captured."""
        return self.home is not None and Path(project.normalized).is_relative_to(self.home)

    def policy(self, project: Project) -> Policy:
        """The project's settings for checkpoints and pressure, with what is known of models."""
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
            # The user's settings for a model override the built-in ones.
            (*config.pressure.windows, *KNOWN_MODELS),
        )

    def budget_settings(self, project: Project) -> BudgetSettings:
        """How much the project's settings allow an agent to be given."""
        return budget_settings_of(self.config(project))

    def is_stopped(self, project: Project) -> bool:
        """Whether an unreadable protective setting forbids storing or sharing anything of a project."""
        return self.config(project).unreadable is not None

    def redactor(self, project: Project) -> Redactor:
        """The redactor for a project's texts before they are stored or shared.

        Raises ProtectionUnreadable where that cannot be known.
        """
        return self._redactor(lists_of(self.config(project)))

    def redactor_to_show(self, project: Project) -> Redactor:
        """The redactor for stored texts before a person sees them; it never fails."""
        return self._redactor(readable_lists(self.config(project)))

    def _redactor(self, lists: Lists) -> Redactor:
        return redactor_of(self.store, lists, self.new_secret)


def redactor_of(store: Store, lists: Lists, new_secret: Callable[[], bytes]) -> Redactor:
    """The redactor for texts that go into a store; it also removes wordings that were forgotten there."""
    return Redactor(lists, store.secret(FOR_TAGS, new_secret()), forgotten_wordings(store))


def budget_settings_of(config: Config) -> BudgetSettings:
    """How much these settings allow an agent to be given."""
    continuity = config.continuity
    return BudgetSettings(
        continuity.recovery_budget_chars,
        config.brief.total_chars,
        continuity.startup_lines,
        brief_is_capped="continuity.recovery_budget_chars" in config.explicit,
    )
