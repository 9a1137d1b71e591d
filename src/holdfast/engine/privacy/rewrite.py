"""Rewrite: redacts again what an older redactor wrote, step by step in the background.

First rows with their index and vectors, then the logs. Copies of the store are removed, because they are not
rewritten. An interrupted step is repeated. `core.redaction.redact` decides what is a secret.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.engine.privacy import forget
from holdfast.engine.redaction.redactor import Redactor
from holdfast.files import atomic, ledger
from holdfast.stores.base import Store

ROWS: Final = 200
CHARACTERS: Final = 1 << 20
"""Rows of one step: a hook event that arrives meanwhile waits for less than a tenth of a second."""
FILES: Final = "files"
"""The fact that says which redactor the home's other files went through."""


def rewrite(store: Store, home: Path, redactor: Redactor, at: int) -> bool:
    """Take one step; returns whether another may be due at once."""
    with store.writing():
        written = store.rewrite(redactor.mark, redactor.redacted, ROWS, CHARACTERS)
        if written.changed:
            _owe(store)
    if written.rows:
        return True
    if store.fact(FILES) != redactor.mark:
        _rewrite_logs(home, redactor)
        _rewrite_ledgers(home, redactor)
        with store.writing():
            store.put_fact(FILES, redactor.mark)
            _owe(store)
    forget.clear(store, home, at)
    return False


def _owe(store: Store) -> None:
    """Note that old texts are still in the database's free pages and log, and in its copies."""
    if not store.fact(forget.OWED):
        store.put_fact(forget.OWED, forget.AFTER_REWRITING)


def _rewrite_ledgers(home: Path, redactor: Redactor) -> None:
    """Past versions of ledgers; the files themselves stand in the worktrees and are the user's."""
    for path in [path for folder in ledger.folders(home) for path in ledger.texts(folder)]:
        before = atomic.read(path) or b""
        after = redactor.redacted("", before.decode("utf-8", "replace")).encode(errors="replace")
        if after != before:
            atomic.write(path, after)


def _rewrite_logs(home: Path, redactor: Redactor) -> None:
    for log in forget.logs(home):
        text = log.read_text(encoding="utf-8", errors="surrogateescape")
        redacted = redactor.redacted("", text)
        if redacted != text:
            # In place, because the daemon has its log open and appends to it.
            log.write_text(redacted, encoding="utf-8", errors="surrogateescape")
