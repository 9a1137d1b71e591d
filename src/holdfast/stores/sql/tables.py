"""All tables of a store, over any database: what is left to each is opening, health, and what is its own."""

from __future__ import annotations

from contextlib import AbstractContextManager

from holdfast.stores.sql.checkpoints import Checkpoints
from holdfast.stores.sql.database import SqlDatabase
from holdfast.stores.sql.documents import Documents
from holdfast.stores.sql.events import Events, Logs
from holdfast.stores.sql.file_edits import FileEdits
from holdfast.stores.sql.forgetting import COUNT_SKIPPED, Erasing, Forgetting
from holdfast.stores.sql.indexing import Records
from holdfast.stores.sql.memories import Memories
from holdfast.stores.sql.pages import Pages
from holdfast.stores.sql.redactor_versions import Redactions
from holdfast.stores.sql.sessions import Sessions, Sites
from holdfast.stores.sql.shared import SharedRows
from holdfast.stores.sql.words import TextIndex


class Tables(
    Sessions,
    Events,
    Checkpoints,
    Documents,
    Memories,
    Records,
    FileEdits,
    Logs,
    Pages,
    Redactions,
    Forgetting,
    Erasing,
    Sites,
    SharedRows,
):
    """Every operation of the contract that is nothing but statements."""

    def __init__(self, database: SqlDatabase, index: TextIndex) -> None:
        Sessions.__init__(self, database)
        Documents.__init__(self, database, index)

    def writing(self) -> AbstractContextManager[None]:
        return self._database.writing()

    def writing_durably(self) -> AbstractContextManager[None]:
        return self._database.writing_durably()

    def count_skipped(self, reason: str, times: int) -> None:
        self._database.write(COUNT_SKIPPED, {"reason": reason, "times": times})

    def skipped(self) -> dict[str, int]:
        return {str(reason): int(times) for reason, times in self._database.rows(_SKIPPED)}


_SKIPPED = """
select reason, times
  from skipped
 order by reason
"""
