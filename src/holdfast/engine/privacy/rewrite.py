"""Rewrite: what an older redactor wrote is redacted again, a little at a time, while nobody waits.

Rows, the index and the vectors behind them, then the logs; copies of the store cannot be rewritten, and go. A
step that is cut off is taken again; one that was finished is not. What is a secret, `core.redaction.redact`
knows.
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
"""What one step takes on at most: a letter that comes meanwhile waits for less than a tenth of a second."""
FILES: Final = "files"
"""The fact that says which redactor the home's other files went through."""


def rewrite(store: Store, home: Path, redactor: Redactor, at: int) -> bool:
    """Take one step; whether there may be another to take at once."""
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
    """What was rewritten or pruned is still in the database's pages and log, and in copies of it."""
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
            # In place: the daemon has its log open, and goes on at the end of it.
            log.write_text(redacted, encoding="utf-8", errors="surrogateescape")
