"""The thread that speaks with hubs, so that nothing else ever waits for a network.

It has its own connection to the store and one to each hub. A round begins shortly after something changed,
and otherwise every half minute; after a failure later and later. The daemon does not wait for it when it
stops: a round that is cut off is repeated, and repeating it changes nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from holdfast.config import load
from holdfast.core.sharing.identity import Machine
from holdfast.engine.engine import Engine
from holdfast.engine.machine import this_machine
from holdfast.engine.sharing import connections
from holdfast.engine.sharing.exchange import HubLink, exchange, note_failure, prepare
from holdfast.errors import HoldfastError, HubError, HubRefused
from holdfast.stores.base import Store
from holdfast.stores.hub.base import Hub

INTERVAL: Final = 30.0
"""Seconds between two rounds while nothing changes here."""
SETTLED: Final = 2.0
"""Seconds after a change before it is sent: more often follows at once."""
LOOKED_EVERY: Final = 1.0
LONGEST_WAIT: Final = 900.0
"""The longest wait before a hub that does not answer is tried again."""
LEAVING_TIME: Final = 1.0
"""How long the daemon waits for the end of a step when it stops."""


@dataclass(frozen=True)
class HubAccess:
    """Which hubs this machine has joined, how to reach one, and which machine it is."""

    joined: Callable[[], Collection[str]]
    connect: Callable[[str], Hub]
    """Opens a connection; raises HubError."""
    machine: Callable[[], Machine]


def access_of(home: Path, environment: Mapping[str, str]) -> HubAccess:
    """The hubs that this home has joined, as its files and this environment say at each round."""

    def connect(name: str) -> Hub:
        joined = connections.hub_connections(home, environment)
        return connections.open_hub(next(each for each in joined if each.name == name))

    return HubAccess(
        lambda: [each.name for each in connections.hub_connections(home, environment)],
        connect,
        lambda: this_machine(home, load(home, None, None, environment).config),
    )


@dataclass
class _Line:
    """One hub: its connection while there is one, and when to try next."""

    hub: Hub | None = None
    failures: int = 0
    next_at: float = 0.0


class Sharing:
    """Exchanges with every joined hub, round after round, until told to stop."""

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[Engine]],
        access: HubAccess,
        log: logging.Logger,
        random: Random,
        interval: float = INTERVAL,
    ) -> None:
        """`opened` makes an engine for the thread that calls it."""
        self._opened = opened
        self._access = access
        self._log = log
        self._random = random
        self._interval = interval
        self._wakes = threading.Event()
        self._stops = threading.Event()
        self._thread: threading.Thread | None = None
        self._lines = dict[str, _Line]()
        self._logged = dict[str, str]()
        self.rounds = 0
        """How many rounds ended."""

    def begin(self) -> None:
        """Start the thread, unless it is running."""
        if self._stops.is_set() or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._run, name="sharing", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Begin a round now, whatever failed before."""
        for line in list(self._lines.values()):
            line.next_at = 0.0
        self._wakes.set()

    def stop(self) -> None:
        """Begin nothing more; what is under way ends within a moment, or with the process."""
        self._stops.set()
        self._wakes.set()
        if self._thread is not None:
            self._thread.join(LEAVING_TIME)

    def _goes_on(self) -> bool:
        return not self._stops.is_set()

    def _run(self) -> None:
        while self._goes_on():
            try:
                with self._opened() as engine:
                    self._share(engine)
            except Exception as error:  # A boundary: sharing that ended unnoticed would be worse.
                self._log_once("", error)
            self._pause(self._interval)

    def _share(self, engine: Engine) -> None:
        try:
            while self._goes_on():
                last = _last_change(engine.store)
                self._round(engine)
                self.rounds += 1
                self._wait(engine.store, last)
        finally:
            for name in list(self._lines):
                self._hang_up(name)

    def _round(self, engine: Engine) -> None:
        joined = set(self._access.joined())
        for name in self._lines.keys() - joined:
            self._hang_up(name)
            del self._lines[name]
        now = time.monotonic()
        for name in sorted({*joined, *prepare(engine).hubs}):
            line = self._lines.setdefault(name, _Line())
            if self._goes_on() and line.next_at <= now:
                self._exchange(engine, name, line, is_joined=name in joined)

    def _exchange(self, engine: Engine, name: str, line: _Line, *, is_joined: bool) -> None:
        try:
            line.hub = line.hub or self._open(engine, name, is_joined=is_joined)
            exchange(engine, HubLink(name, line.hub, self._access.machine()), self._goes_on)
        except HoldfastError as error:
            self._fail(name, line, error)
        else:
            line.failures, line.next_at = 0, time.monotonic() + self._interval
            if self._logged.pop(name, ""):
                self._log.info("the hub %s answers again", name)

    def _open(self, engine: Engine, name: str, *, is_joined: bool) -> Hub:
        try:
            if not is_joined:
                raise HubRefused(
                    f"the hub `{name}` was not joined on this machine", "run `holdfast hub join`"
                )
            return self._access.connect(name)
        except HubError as error:
            note_failure(engine, name, error)
            raise

    def _fail(self, name: str, line: _Line, error: HoldfastError) -> None:
        self._hang_up(name)
        line.failures += 1
        wait = min(self._interval * 2 ** min(line.failures - 1, 10), LONGEST_WAIT)
        # All machines that lost the same hub must not come back at the same moment.
        line.next_at = time.monotonic() + wait * self._random.uniform(0.5, 1.0)
        self._log_once(name, error)

    def _hang_up(self, name: str) -> None:
        line = self._lines[name]
        hub, line.hub = line.hub, None
        if hub is not None:
            with suppress(HubError):
                hub.close()

    def _wait(self, store: Store, last: int) -> None:
        """Wait for the next round: until something changes here, or the first hub is due again."""
        while self._goes_on():
            due = min(
                (line.next_at for line in self._lines.values()), default=time.monotonic() + self._interval
            )
            if self._pause(min(LOOKED_EVERY, self._interval, max(0.0, due - time.monotonic()))):
                return
            if time.monotonic() >= due:
                return
            if _last_change(store) != last:
                self._pause(min(SETTLED, self._interval))
                for line in self._lines.values():
                    # A hub that fails is not asked more often because there is more to send.
                    if not line.failures:
                        line.next_at = 0.0
                return

    def _pause(self, seconds: float) -> bool:
        """Wait that long; whether something woke this thread."""
        woken = self._wakes.wait(seconds)
        self._wakes.clear()
        return woken

    def _log_once(self, name: str, error: Exception) -> None:
        text = error.message if isinstance(error, HoldfastError) else f"{type(error).__name__}: {error}"
        if self._logged.get(name) == text:
            return
        self._logged[name] = text
        if isinstance(error, HoldfastError):
            self._log.warning(
                "nothing is shared%s: %s (%s)", f" through {name}" if name else "", text, error.hint
            )
        else:
            self._log.error("sharing failed", exc_info=error)


def _last_change(store: Store) -> int:
    """The revision of the last change that waits; 0 if none does."""
    return store.last_announcement()
