"""Writing: the thread in which models are asked, so that nothing else ever waits for one.

What sessions that are over did is saved here too, for a model may be asked for that. It has its own way to
the store, and one question at a time. When the daemon goes, it is not waited for.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from holdfast.core.agent_log.summary import Failed
from holdfast.engine.documents import auto_save
from holdfast.engine.engine import Engine
from holdfast.engine.models import rewrite_checkpoints
from holdfast.engine.models.summarize import Means
from holdfast.errors import HoldfastError


class Writing:
    """Asks for one thing after the other, as long as there is one to ask for."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Engine]], log: logging.Logger) -> None:
        """`opened` gives an engine of its own to the thread that calls it."""
        self._opened = opened
        self._log = log
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Ask, unless somebody is being asked already."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._ask, name="writing", daemon=True)
            self._thread.start()

    def _ask(self) -> None:
        try:
            with self._opened() as engine:
                self._write_checkpoints(engine)
                self._save_continuity(engine)
        except HoldfastError as error:
            self._log.warning("no model was asked: %s", error.message)

    def _write_checkpoints(self, engine: Engine) -> None:
        while (checkpoint := rewrite_checkpoints.due(engine)) is not None:
            answer = rewrite_checkpoints.write(engine, checkpoint, self._means())
            if isinstance(answer, Failed):
                self._log.warning("no model wrote a checkpoint: %s", answer.reason)

    def _save_continuity(self, engine: Engine) -> None:
        while (session := auto_save.due(engine)) is not None:
            try:
                auto_save.save(engine, session, self._means())
            except HoldfastError as error:
                self._log.warning("the continuity was not saved: %s", error.message)

    def _means(self) -> Means:
        return Means(os.environ, time.sleep, self._log.warning)


def is_due(engine: Engine) -> bool:
    """Whether there is something to write that nobody waits for."""
    return rewrite_checkpoints.due(engine) is not None or auto_save.due(engine) is not None
