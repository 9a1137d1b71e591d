"""The embedded store: one SQLite file, no server. The only package with SQLite's dialect."""

from holdfast.stores.sqlite.recovery.backups import (
    back_up_daily,
    copies,
    damaged,
    drop_copies,
    drop_set_aside,
    is_being_made,
    is_daily_backup_due,
    newest_backup,
    set_aside,
    snapshot,
)
from holdfast.stores.sqlite.rewriting import rewriting
from holdfast.stores.sqlite.schema import latest
from holdfast.stores.sqlite.store import SqliteStore, open_in_memory, open_store
from holdfast.stores.sqlite.texts import texts_of_copy

__all__ = [
    "SqliteStore",
    "back_up_daily",
    "copies",
    "damaged",
    "drop_copies",
    "drop_set_aside",
    "is_being_made",
    "is_daily_backup_due",
    "latest",
    "newest_backup",
    "open_in_memory",
    "open_store",
    "rewriting",
    "set_aside",
    "snapshot",
    "texts_of_copy",
]
