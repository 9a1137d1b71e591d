"""Writing: the thread in which models are asked, so that nothing else ever waits for one.

It has its own way to the store, and one question at a time. When the daemon goes, it is not waited for.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from holdfast.core.summary import Failed
from holdfast.engine.desk import Desk
from holdfast.engine.summarize import Means
from holdfast.engine.write_better import due, write
from holdfast.errors import HoldfastError


class Writing:
    """Asks for one checkpoint after the other, as long as there is one to ask for."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Desk]], log: logging.Logger) -> None:
        """`opened` gives a desk of its own to the thread that calls it."""
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
            with self._opened() as desk:
                while (checkpoint := due(desk)) is not None:
                    answer = write(desk, checkpoint, Means(os.environ, time.sleep))
                    if isinstance(answer, Failed):
                        self._log.warning("no model wrote a checkpoint: %s", answer.reason)
        except HoldfastError as error:
            self._log.warning("no model was asked: %s", error.message)
