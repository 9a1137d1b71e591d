"""The thread that asks models, so that nothing else ever waits for one.

It also saves the continuity of ended sessions, which may ask a model. It has its own connection to the store
and asks one question at a time. The daemon does not wait for it when it stops.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from holdfast.core.agent_log.summary import Failed
from holdfast.engine import models
from holdfast.engine.documents import continuity
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means
from holdfast.errors import HoldfastError


class Writing:
    """Does the pending model work, one piece at a time, until none is left."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Engine]], log: logging.Logger) -> None:
        """`opened` makes an engine for the thread that calls it."""
        self._opened = opened
        self._log = log
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start the thread, unless it is running."""
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
        while (checkpoint := models.due(engine)) is not None:
            answer = models.write(engine, checkpoint, self._means())
            if isinstance(answer, Failed):
                self._log.warning("no model wrote a checkpoint: %s", answer.reason)

    def _save_continuity(self, engine: Engine) -> None:
        while (session := continuity.session_to_save(engine)) is not None:
            try:
                continuity.auto_save(engine, session, self._means())
            except HoldfastError as error:
                self._log.warning("the continuity was not saved: %s", error.message)

    def _means(self) -> Means:
        return Means(os.environ, time.sleep, self._log.warning)


def is_due(engine: Engine) -> bool:
    """Whether a checkpoint is to be rewritten or a session's continuity to be saved."""
    return models.due(engine) is not None or continuity.session_to_save(engine) is not None
