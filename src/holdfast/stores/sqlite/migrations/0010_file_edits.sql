-- Which session changed which file, by which call, what was asked, and the sentence nearest to it that says why.
-- A row is known by session, record and path. It outlives its session as passages do.
create table file_edits (
    number      integer primary key,
    session_key text not null,
    record_id   text not null,
    path        text not null,    -- relative to the worktree if it is inside
    project_id  text not null,
    call        text not null,
    action      text not null,
    at          integer not null,
    agent       text not null,
    renamed_to  text not null,
    asked_at    integer not null,
    strength    integer not null, -- how much the reason says why
    done        integer not null, -- whether the call is known to have succeeded
    marks       blob not null,    -- short hashes of the lines that it wrote
    redactor    text not null,
    asked       text not null,
    reason      text not null,
    unique (session_key, record_id, path)
);

create index idx_file_edits_path on file_edits(project_id, path, at desc);
create index idx_file_edits_renamed on file_edits(project_id, renamed_to) where renamed_to <> '';
create index idx_file_edits_open on file_edits(session_key, call) where done = 0;
create index idx_file_edits_at on file_edits(at);
create index idx_file_edits_redactor on file_edits(redactor);

-- Imported sessions, and how large their transcript was, and when it had changed, as their work was derived from it;
-- '' while that is still to be done.
create table imported_work (
    session_key text primary key,
    at          integer not null, -- the time of the session's last event
    extent      text not null
) without rowid;

create index idx_imported_work_waiting on imported_work(at desc) where extent = '';

insert into imported_work (session_key, at, extent)
select key, updated_at, ''
  from sessions
 where phase = 'ended'
   and json_extract(metadata, '$.end_reason') = 'imported';

create trigger imported_work_dropped after delete on sessions begin
    delete from imported_work where session_key = old.key;
end;
