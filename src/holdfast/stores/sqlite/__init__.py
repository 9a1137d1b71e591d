"""The embedded store: one SQLite file, no server. The only room that knows this dialect."""

from holdfast.stores.sqlite.aside import copies, damaged, drop_copies, set_aside
from holdfast.stores.sqlite.rewriting import rewriting
from holdfast.stores.sqlite.store import SqliteStore, open_store
from holdfast.stores.sqlite.texts import texts_of_copy

__all__ = [
    "SqliteStore",
    "copies",
    "damaged",
    "drop_copies",
    "open_store",
    "rewriting",
    "set_aside",
    "texts_of_copy",
]
