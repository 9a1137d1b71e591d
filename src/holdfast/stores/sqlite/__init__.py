"""The embedded store: one SQLite file, no server. The only room that knows this dialect."""

from holdfast.stores.sqlite.aside import drop_copies, set_aside
from holdfast.stores.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "drop_copies", "open_store", "set_aside"]
