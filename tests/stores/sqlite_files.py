"""Stores in files, for tests that look at the files themselves."""

from __future__ import annotations

from pathlib import Path

import apsw

from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.stores.codec import encode_event, encode_session, to_iso
from holdfast.stores.sql.database import Bindings
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.database import run
from holdfast.stores.sqlite.schema import Migration, shipped
from holdfast.stores.sqlite.store import open_with
from tests.stores.contract import NOON, SESSION, prompt, session

LATER = shipped()[-1].version + 1


def opened(path: Path, *steps: str, at: int = NOON) -> SqliteStore:
    """The store, with further steps after those that are shipped."""
    further = [Migration(LATER + place, sql) for place, sql in enumerate(steps)]
    return open_with(path, path.parent / "backups", at, (*shipped(), *further))


def filled(path: Path) -> None:
    """A store with something on many pages, closed."""
    store = opened(path)
    with store.writing():
        store.put_session(SESSION)
        for number in range(200):
            store.add_event(prompt(f"r{number}", text="word " * 200))
    store.close()


def first_schema(path: Path, words: str, at: int = NOON) -> None:
    """A store as the first version left it: rows that no redactor has marked, each with these words."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    connection = apsw.Connection(str(path))
    run(connection, shipped()[0].sql)
    run(connection, "pragma user_version = 1")
    known = session("s1", last_event_at=at, trail=Trail(prompts=(Utterance(f"{words} it", 3, "r1"),)))
    event = encode_event(prompt("r1", text=f"{words} it"))
    bindings: Bindings = {
        "metadata": encode_session(known),
        "data": event,
        "words": words,
        "at": at,
        "iso": to_iso(at),
    }
    run(connection, _FIRST_ROWS, bindings)
    connection.close()


def first_names(path: Path) -> None:
    """A store with the names that version 0.1.0 gave things, in its last schema."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    connection = apsw.Connection(str(path))
    for migration in shipped()[:8]:
        run(connection, migration.sql)
    run(connection, "pragma user_version = 8")
    run(connection, _FIRST_NAMES)
    connection.close()


_FIRST_NAMES = """
insert into sessions (
    key, created_at, updated_at, metadata, harness, project, project_id, worktree_id, phase, transcript
) values (
    's1', 1, 3,
    '{"key":"s1","harness":"claude-code","project":{"path":"~/shop","normalized":"/home/you/shop",'
    || '"project_id":"shop","worktree_id":"shop-main","root":"/home/you/shop"},"started_at":1,'
    || '"last_event_at":3,"waiting":[{"session":"s1","record":"letter:1-2","at":1,"origin":"human",'
    || '"agent":"main","parent":"","revision":0,"text":"Fix it","turn":""}],'
    || '"pressure":{"used":0,"answers":0,"model":"m","told":64000,"learned":0},'
    || '"trail":{"prompts":[{"text":"Fix it","at":1,"record":"letter:1-2","turn":""}]}}',
    'claude-code', '~/shop', 'shop', 'shop-main', 'live', ''
);
insert into messages (id, session_key, type, timestamp, data, record_id, revision, agent, origin) values
(
    's1#letter:1-2', 's1', 'prompt', 1,
    '{"session":"s1","record":"letter:1-2","at":1,"origin":"human","text":"Fix it","turn":""}',
    'letter:1-2', 0, 'main', 'human'
), (
    's1#b1', 's1', 'brief_seen', 2,
    '{"session":"s1","record":"b1","at":2,"origin":"ours","text":"a brief"}', 'b1', 0, 'main', 'ours'
), (
    's1#r3', 's1', 'prompt', 3,
    '{"session":"s1","record":"r3","at":3,"origin":"human",'
    || '"text":"{\\"record\\":\\"letter:9\\",\\"origin\\":\\"ours\\",\\"told\\":1}","turn":""}',
    'r3', 0, 'main', 'human'
);
insert into cursors values ('index/s1', '["letter:1-2",3]'), ('letter.jsonl', '["letter:');
"""

_FIRST_ROWS = """
insert into sessions
values ('s1', 1, :at, :metadata, 'claude-code', '~/shop', 'shop', 'shop-main', 'live', '', null, null);
insert into messages
values ('s1#r1', 's1', null, 'prompt', 3, :data, 'r1', 0, 'main', 'human');
insert into session_checkpoints
values ('c1', 's1', 'claude-code', null, null, 'periodic', :words || ' it', 1, '[]', '[]',
        :iso, 'shop', 'shop-main', 0, '');
insert into receipts
values ('b1', 's1', 0, 'compact', '', 4, 2000, :words || ' it', '[]');
insert into documents
values (1, 'c1', 'checkpoint', 'shop', '', :words || ' it', x'0000803f'),
       (2, 'c0', 'checkpoint', 'shop', '', :words || ' what was pruned', x'');
insert into cursors values ('s1.jsonl', '10');
"""


def columns(path: Path, table: str) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [str(row[1]) for row in run(connection, f"pragma table_info({table})")]
    finally:
        connection.close()
