-- Sessions of which something was said that cannot be found yet, and since when. An event that only a subagent
-- or the harness tells changes nothing in what is found.
create table unindexed (
    session_key text primary key,
    since       integer not null
) without rowid;

create index idx_unindexed_since on unindexed(since);

create trigger messages_added after insert on messages when new.agent = 'main' and new.type <> 'usage' begin
    insert into unindexed (session_key, since)
    values (new.session_key, new.timestamp)
    on conflict (session_key) do nothing;
end;

insert into unindexed (session_key, since)
select key, created_at
  from sessions;

-- How each session went; no text, only counts.
create table session_scores (
    session_key         text primary key,
    harness             text not null,
    project_id          text not null,
    scored_at           integer not null,
    start               text not null, -- recovered or cold
    agent_events        integer not null,
    brief_items         integer not null,
    brief_items_used    integer not null,
    needed              integer not null,
    rediscovered        integer not null,
    novel_context_count integer not null,
    memories_recalled   integer not null,
    memories_used       integer not null
) without rowid;

create index idx_session_scores_scored on session_scores(scored_at desc);

-- What an agent was told when it asked, by the id of the document; when first.
create table recalls (
    session_key text not null,
    document_id text not null,
    at          integer not null,
    primary key (session_key, document_id)
) without rowid;

-- What belongs to a session alone goes with it.
create trigger sessions_dropped after delete on sessions begin
    delete from unindexed      where session_key = old.key;
    delete from session_scores where session_key = old.key;
    delete from recalls        where session_key = old.key;
    delete from cursors        where source = 'index/' || old.key;
end;

-- A fork repeats what its parent said: the same text once more changes nothing in the index.
drop trigger documents_replaced;

create trigger documents_replaced after update of text on documents when old.text <> new.text begin
    insert into documents_text(documents_text, rowid, text) values ('delete', old.number, old.text);
    insert into documents_text(rowid, text) values (new.number, new.text);
end;
