-- The first schema. A text without a value is '' in our own columns; only the seeds' columns may be null.

-- What a session is now. `metadata` is the whole of it; the other columns repeat what is asked for.
create table sessions (
    key         text primary key,
    created_at  integer not null,
    updated_at  integer not null, -- the time of the last event
    metadata    json not null,
    harness     text not null,
    project     text not null,
    project_id  text not null,
    worktree_id text not null,
    phase       text not null,
    transcript  text not null,
    pid         integer, -- null where no process is known
    pid_start   integer
);

create index idx_sessions_updated on sessions(updated_at desc);
create index idx_sessions_project on sessions(project_id, updated_at desc);
create index idx_sessions_process on sessions(pid, pid_start);
create index idx_sessions_phase on sessions(phase, updated_at);

-- What happened, one row for each record at its latest revision. `data` is the whole event.
-- The session may be put after its first event, so the reference is looked at when the transaction ends.
create table messages (
    id          text primary key,
    session_key text not null,
    parent_id   text,
    type        text not null,
    timestamp   integer not null,
    data        json not null,
    record_id   text not null,
    revision    integer not null,
    agent       text not null,
    origin      text not null,
    unique (session_key, record_id),
    foreign key (session_key) references sessions(key) deferrable initially deferred
);

create index idx_messages_session on messages(session_key, timestamp);
create index idx_messages_parent on messages(parent_id);
create index idx_messages_record on messages(record_id, session_key);

-- How far each source was read, in its harness's own words.
create table cursors (
    source text primary key,
    cursor text not null
) without rowid;

create table session_checkpoints (
    id                 text primary key,
    session_key        text not null,
    harness            text not null,
    project            text,
    project_normalized text, -- realpath-resolved for matching
    trigger            text not null,
    digest             text not null,
    prompt_count       integer not null,
    memory_queries     text, -- JSON: recent search terms
    recent_remembers   text, -- JSON: what was to be remembered
    created_at         text not null, -- ISO 8601, UTC, milliseconds
    project_id         text not null,
    worktree_id        text not null,
    window             integer not null,
    words              text not null
);

create index idx_checkpoints_session on session_checkpoints(session_key, created_at desc);
create index idx_checkpoints_project on session_checkpoints(project_normalized, created_at desc);
create index idx_checkpoints_project_id on session_checkpoints(project_id, created_at desc);
create index idx_checkpoints_created on session_checkpoints(created_at desc);

-- Which session a session continues, and how.
create table lineage (
    child  text primary key,
    parent text not null,
    kind   text not null,
    at     integer not null
) without rowid;

-- The account of each brief.
create table receipts (
    id          text primary key,
    session_key text not null,
    window      integer not null,
    reason      text not null,
    predecessor text not null,
    created_at  integer not null,
    budget      integer not null,
    text        text not null,
    items       json not null
);

create index idx_receipts_session on receipts(session_key, created_at desc);
create index idx_receipts_created on receipts(created_at desc);

-- What could not be read, counted by reason.
create table skipped (
    reason text primary key,
    times  integer not null
) without rowid;

-- Texts that can be found again. `vector` is float32 at length one, empty where there is none.
create table documents (
    number      integer primary key,
    id          text not null unique,
    kind        text not null,
    project_id  text not null,
    session_key text not null,
    text        text not null,
    vector      blob not null
);

create index idx_documents_project on documents(project_id);
create index idx_documents_session on documents(session_key);

create virtual table documents_text using fts5(
    text,
    content = 'documents',
    content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- What is dropped leaves no trace in the index.
insert into documents_text(documents_text, rank) values ('secure-delete', 1);

create trigger documents_added after insert on documents begin
    insert into documents_text(rowid, text) values (new.number, new.text);
end;

create trigger documents_dropped after delete on documents begin
    insert into documents_text(documents_text, rowid, text) values ('delete', old.number, old.text);
end;

create trigger documents_replaced after update on documents begin
    insert into documents_text(documents_text, rowid, text) values ('delete', old.number, old.text);
    insert into documents_text(rowid, text) values (new.number, new.text);
end;
