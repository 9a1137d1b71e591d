"""Checkpoints in SQL, and the receipts of the briefs that were made from them."""

from __future__ import annotations

from holdfast.core.brief.compose import Reason, Receipt
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Trigger
from holdfast.stores.base import UNREDACTED
from holdfast.stores.codec import (
    decode_items,
    decode_name,
    decode_outline,
    decode_texts,
    encode_items,
    encode_outline,
    encode_texts,
    from_iso,
    to_iso,
)
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase


class Checkpoints:
    """The tables `session_checkpoints` and `receipts`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add_checkpoint(self, checkpoint: Checkpoint, redactor: str = UNREDACTED) -> None:
        self._database.write(_ADD_CHECKPOINT, {**_columns(checkpoint), "redactor": redactor})

    def put_outline(self, id: str, outline: Outline) -> None:
        self._database.write(_PUT_OUTLINE, {"id": id, "outline": encode_outline(outline)})

    def checkpoints_of_session(self, session: str, limit: int) -> list[Checkpoint]:
        return self._checkpoints(_CHECKPOINTS_OF_SESSION, {"session": session, "limit": limit})

    def checkpoints_of_project(self, project_id: str, limit: int) -> list[Checkpoint]:
        return self._checkpoints(_CHECKPOINTS_OF_PROJECT, {"project_id": project_id, "limit": limit})

    def checkpoints(self, limit: int) -> list[Checkpoint]:
        return self._checkpoints(_CHECKPOINTS, {"limit": limit})

    def trim_checkpoints(self, session: str, keep: int) -> int:
        return self._database.write(_TRIM_CHECKPOINTS, {"session": session, "keep": keep})

    def prune_checkpoints(self, before: int, newest_before: int, imported_before: int) -> int:
        bindings: Bindings = {
            "before": to_iso(before),
            "newest_before": to_iso(newest_before),
            "imported_before": to_iso(imported_before),
        }
        return self._database.write(_PRUNE_CHECKPOINTS, bindings)

    def add_receipt(self, receipt: Receipt, redactor: str = UNREDACTED) -> None:
        self._database.write(_ADD_RECEIPT, {**_receipt_columns(receipt), "redactor": redactor})

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        sql = _RECEIPTS_OF_SESSION if session else _RECEIPTS
        bindings: Bindings = {"session": session, "limit": limit}
        return [receipt_of(row) for row in self._database.rows(sql, bindings)]

    def receipts_in_window(self, session: str, window: int, limit: int) -> list[Receipt]:
        bindings: Bindings = {"session": session, "window": window, "limit": limit}
        return [receipt_of(row) for row in self._database.rows(_RECEIPTS_IN_WINDOW, bindings)]

    def _checkpoints(self, sql: str, bindings: Bindings) -> list[Checkpoint]:
        return [checkpoint_of(row) for row in self._database.rows(sql, bindings)]


def _columns(checkpoint: Checkpoint) -> Bindings:
    return {
        "id": checkpoint.id,
        "session": checkpoint.session,
        "harness": checkpoint.harness,
        "project": checkpoint.project,
        "project_normalized": checkpoint.project_normalized,
        "project_id": checkpoint.project_id,
        "worktree_id": checkpoint.worktree_id,
        "trigger": checkpoint.trigger.value,
        "digest": checkpoint.digest,
        "prompt_count": checkpoint.prompt_count,
        "memory_queries": encode_texts(checkpoint.memory_queries),
        "recent_remembers": encode_texts(checkpoint.recent_remembers),
        "window": checkpoint.window,
        "created_at": to_iso(checkpoint.created_at),
        "words": checkpoint.words,
        "outline": encode_outline(checkpoint.outline),
    }


def checkpoint_of(row: Row) -> Checkpoint:
    """In the order of `READ`, which is the order of the fields."""
    id, session, harness, project, normalized, project_id, worktree_id, trigger, digest, *rest = row
    prompt_count, queries, remembers, window, created_at, words, outline = rest
    return Checkpoint(
        id,
        session,
        harness,
        project,
        normalized,
        project_id,
        worktree_id,
        decode_name(Trigger, trigger),
        digest,
        prompt_count,
        decode_texts(queries),
        decode_texts(remembers),
        window,
        from_iso(created_at),
        words,
        decode_outline(outline),
    )


def _receipt_columns(receipt: Receipt) -> Bindings:
    return {
        "id": receipt.id,
        "session": receipt.session,
        "window": receipt.window,
        "reason": receipt.reason.value,
        "predecessor": receipt.predecessor,
        "created_at": receipt.created_at,
        "budget": receipt.budget,
        "text": receipt.text,
        "items": encode_items(receipt.items),
    }


def receipt_of(row: Row) -> Receipt:
    """In the order of `READ_RECEIPT`, which is the order of the fields."""
    id, session, window, reason, predecessor, created_at, budget, text, items = row
    return Receipt(
        id,
        session,
        window,
        decode_name(Reason, reason),
        predecessor,
        created_at,
        budget,
        text,
        decode_items(items),
    )


_ADD_CHECKPOINT = """
insert into session_checkpoints (
    id, session_key, harness, project, project_normalized, trigger, digest, prompt_count, memory_queries,
    recent_remembers, created_at, project_id, worktree_id, "window", words, outline, redactor
) values (
    :id, :session, :harness, :project, :project_normalized, :trigger, :digest, :prompt_count, :memory_queries,
    :recent_remembers, :created_at, :project_id, :worktree_id, :window, :words, :outline, :redactor
)
"""

_PUT_OUTLINE = """
update session_checkpoints
   set outline = :outline
 where id = :id
"""

READ = """
select id, session_key, harness, project, project_normalized, project_id, worktree_id, trigger, digest,
       prompt_count, memory_queries, recent_remembers, "window", created_at, words, outline
  from session_checkpoints
"""

_CHECKPOINTS_OF_SESSION = f"""
{READ}
 where session_key = :session
 order by created_at desc, rowid desc
 limit :limit
"""

_CHECKPOINTS_OF_PROJECT = f"""
{READ}
 where project_id = :project_id
 order by created_at desc, rowid desc
 limit :limit
"""

_CHECKPOINTS = f"""
{READ}
 order by created_at desc, rowid desc
 limit :limit
"""

_TRIM_CHECKPOINTS = """
delete from session_checkpoints
 where id in (
       select id
         from (select id, row_number() over (order by created_at desc, rowid desc) as place
                 from session_checkpoints
                where session_key = :session) as own
        where place > :keep
       )
"""

# Only what is past its days is looked at, by an index: a million that are not cost nothing.
_PRUNE_CHECKPOINTS = """
delete from session_checkpoints as old
 where created_at < :before
   and (
       created_at < :newest_before
       and (
           created_at < :imported_before
           or session_key not in (select session_key from imported_work)
           )
       or exists (
          select true
            from session_checkpoints
           where session_key = old.session_key
             and (created_at, rowid) > (old.created_at, old.rowid)
          )
       )
"""

_ADD_RECEIPT = """
insert into receipts (
    id, session_key, "window", reason, predecessor, created_at, budget, text, items, redactor
) values (
    :id, :session, :window, :reason, :predecessor, :created_at, :budget, :text, :items, :redactor
)
"""

READ_RECEIPT = """
select id, session_key, "window", reason, predecessor, created_at, budget, text, items
  from receipts
"""

_RECEIPTS_OF_SESSION = f"""
{READ_RECEIPT}
 where session_key = :session
 order by created_at desc, rowid desc
 limit :limit
"""

_RECEIPTS_IN_WINDOW = f"""
{READ_RECEIPT}
 where session_key = :session
   and "window" = :window
 order by created_at desc, rowid desc
 limit :limit
"""

_RECEIPTS = f"""
{READ_RECEIPT}
 order by created_at desc, rowid desc
 limit :limit
"""
