"""The daemon's log in the home: redacted and rotated."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from copy import copy
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from holdfast import config
from holdfast.core.redaction.redact import NO_LISTS, redact
from holdfast.core.text.untrusted import printable
from holdfast.engine.redaction.redactor import lists_of
from holdfast.errors import ConfigError

LOG_BYTES = 1_000_000
LOGS_KEPT = 3


class _Redacting(logging.Formatter):
    """Formats and redacts a whole record, with its traceback, before any of it is written."""

    def __init__(self, home: Path) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._home = home
        self._lists = NO_LISTS

    def format(self, record: logging.LogRecord) -> str:
        # While the settings cannot be read, the lists that were read last apply, and tracebacks, which may
        # repeat a user's text, are left out.
        try:
            self._lists = lists_of(config.load(self._home, None, None, os.environ).config)
        except ConfigError:
            record = copy(record)
            record.exc_info = record.exc_text = None
        # Hidden characters go first: they could split a secret. Continuation lines are indented.
        return redact(printable(super().format(record)), lists=self._lists).replace("\n", "\n  ")


class _OwnFile(RotatingFileHandler):
    """Writes to a regular file only: a link or anything else at its path is replaced, never followed."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(path.lstat().st_mode):
                path.unlink()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


def open_log(home: Path) -> logging.Logger:
    """The daemon's logger, writing to the home."""
    directory = home / "logs"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = _OwnFile(
        directory / "daemon.log",
        maxBytes=LOG_BYTES,
        backupCount=LOGS_KEPT,
        encoding="utf-8",
        errors="replace",
    )
    handler.setFormatter(_Redacting(home))
    logger = logging.getLogger("holdfast.daemon")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [handler]
    return logger
