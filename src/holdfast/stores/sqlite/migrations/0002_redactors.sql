-- Every row that holds text carries the redactor which that text went through, so that what an older one let
-- pass is found by an index and redacted again. '0' is nobody's: all rows from before this step.
alter table sessions            add column redactor text not null default '0';
alter table messages            add column redactor text not null default '0';
alter table session_checkpoints add column redactor text not null default '0';
alter table receipts            add column redactor text not null default '0';
alter table documents           add column redactor text not null default '0';

create index idx_sessions_redactor on sessions(redactor);
create index idx_messages_redactor on messages(redactor);
create index idx_checkpoints_redactor on session_checkpoints(redactor);
create index idx_receipts_redactor on receipts(redactor);
create index idx_documents_redactor on documents(redactor);

-- A brief is made of another session's words, and goes when that session is forgotten.
create index idx_receipts_predecessor on receipts(predecessor);

-- What the store knows about itself: its secrets, and what is still to be done with it.
create table facts (
    name  text primary key,
    value blob not null
) without rowid;

-- What was forgotten, without a word of it: reading its transcript once more must not bring it back.
create table forgotten (
    name   blob primary key, -- a hash of a session's key or of a source's name
    at     integer not null, -- what happened until then is not kept
    cursor text not null     -- how far the source was read; '' for a session
) without rowid;

-- A redactor that only leaves its mark on a row has changed nothing in the index.
drop trigger documents_replaced;

create trigger documents_replaced after update of text on documents begin
    insert into documents_text(documents_text, rowid, text) values ('delete', old.number, old.text);
    insert into documents_text(rowid, text) values (new.number, new.text);
end;

-- What makes a checkpoint findable goes with it.
create trigger checkpoints_dropped after delete on session_checkpoints begin
    delete from documents where id = old.id and kind = 'checkpoint';
end;

delete from documents
 where kind = 'checkpoint'
   and id not in (select id from session_checkpoints);
