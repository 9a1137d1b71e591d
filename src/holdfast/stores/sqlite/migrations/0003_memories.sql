-- What someone said to keep, until it is forgotten. Two that say the same, or say something of the same subject,
-- are found by hashes, so that no second copy of the text is kept.
create table memories (
    id            text primary key,
    project_id    text not null, -- '' for what holds in every project
    worktree_id   text not null, -- '' for what holds in every worktree
    scope         text not null,
    kind          text not null,
    created_at    integer not null,
    importance    real not null,
    pinned        integer not null,
    seen          integer not null,
    seen_at       integer not null,
    found         integer not null,
    found_at      integer not null,
    superseded_by text not null,
    stretch       text not null, -- the first of those that were said one shortly after the other
    place         integer not null, -- and where among them
    source        text not null,
    session_key   text not null,
    labels        json not null,
    tags          json not null,
    identity      blob not null,
    subject       blob not null, -- empty where it gives no value to anything
    redactor      text not null,
    text          text not null
);

create index idx_memories_identity on memories(project_id, worktree_id, identity);
create index idx_memories_subject on memories(project_id, worktree_id, subject) where subject <> x'';
create index idx_memories_created on memories(created_at desc);
create index idx_memories_last on memories(project_id, worktree_id, created_at);
create index idx_memories_stretch on memories(stretch, place) where stretch <> '';
create index idx_memories_session on memories(session_key) where session_key <> '';
create index idx_memories_superseded on memories(superseded_by) where superseded_by <> '';
create index idx_memories_redactor on memories(redactor);

-- Documents know when they were said, where in their session, and where they hold. What a search asks of every
-- row stands before the text, and vectors stand apart: a text may fill many pages.
drop trigger checkpoints_dropped;
drop trigger documents_added;
drop trigger documents_dropped;
drop trigger documents_replaced;

create table documents_of_now (
    number      integer primary key,
    id          text not null unique,
    kind        text not null,
    project_id  text not null,
    worktree_id text not null, -- '' for what holds in every worktree
    session_key text not null,
    at          integer not null,
    place       integer not null,
    vectored    integer not null, -- whether it was given a vector, if only an empty one
    redactor    text not null,
    source      text not null,
    text        text not null
);

insert into documents_of_now
select documents.number,
       documents.id,
       documents.kind,
       documents.project_id,
       '',
       documents.session_key,
       coalesce(cast(round(unixepoch(session_checkpoints.created_at, 'subsec') * 1000) as integer), 0),
       0,
       0,
       documents.redactor,
       coalesce('session ' || substr(session_checkpoints.session_key, 1, 8), ''),
       documents.text
  from documents
  left join session_checkpoints
    on session_checkpoints.id = documents.id
   and documents.kind = 'checkpoint';

drop table documents;
alter table documents_of_now rename to documents;

create index idx_documents_project on documents(project_id, at desc);
create index idx_documents_at on documents(at desc);
create index idx_documents_session on documents(session_key, kind, place);
create index idx_documents_redactor on documents(redactor);
create index idx_documents_bare on documents(number) where vectored = 0;

create trigger documents_added after insert on documents begin
    insert into documents_text(rowid, text) values (new.number, new.text);
end;

create trigger documents_dropped after delete on documents begin
    insert into documents_text(documents_text, rowid, text) values ('delete', old.number, old.text);
    delete from vectors where document = old.number;
end;

create trigger documents_replaced after update of text on documents begin
    insert into documents_text(documents_text, rowid, text) values ('delete', old.number, old.text);
    insert into documents_text(rowid, text) values (new.number, new.text);
end;

create trigger checkpoints_dropped after delete on session_checkpoints begin
    delete from documents where id = old.id and kind = 'checkpoint';
end;

-- What a memory has superseded holds again when it is gone.
create trigger memories_dropped after delete on memories begin
    delete from documents where id = old.id and kind = 'memory';
    update memories
       set superseded_by = '',
           labels        = (select json_group_array(value) from json_each(labels) where value <> 'superseded')
     where superseded_by = old.id
       and superseded_by <> '';
end;

-- Where a document's text points, one byte a dimension. A row never changes and no number comes back, so that
-- whoever holds some of them in memory has only to ask for those behind the last, and how many went since.
create table vectors (
    number      integer primary key autoincrement,
    document    integer not null unique,
    project_id  text not null,
    worktree_id text not null,
    kind        text not null,
    at          integer not null,
    vector      blob not null
);

create table vectors_dropped (
    times integer not null
);

insert into vectors_dropped values (0);

create trigger vectors_dropped_one after delete on vectors begin
    update vectors_dropped set times = times + 1;
end;
