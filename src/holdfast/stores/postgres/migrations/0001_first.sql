-- The first schema: the tables of SQLite's, in one step. A text without a value is ''; `rowid` is the order of arrival.
-- Texts are compared byte by byte, as SQLite does, whatever the database's own order is.
create domain plain as text collate "C";

-- Words without punctuation, which Holdfast separates itself; only their endings are removed here.
create text search dictionary stem (template = pg_catalog.snowball, language = english);
create text search configuration words (parser = pg_catalog."default");
alter text search configuration words
    add mapping for asciiword, word, numword, asciihword, hword, numhword, hword_asciipart, hword_part, hword_numpart,
                    email, protocol, url, host, url_path, file, sfloat, "float", "int", uint, version
    with stem;

-- What a session is now. `metadata` is the whole of it, as JSON; the other columns repeat what is asked for.
create table sessions (
    rowid       bigint generated always as identity unique,
    key         plain primary key,
    created_at  bigint not null,
    updated_at  bigint not null, -- the time of the last event
    metadata    plain not null,
    harness     plain not null,
    project     plain not null,
    project_id  plain not null,
    worktree_id plain not null,
    phase       plain not null,
    transcript  plain not null,
    pid         bigint, -- null where no process is known
    pid_start   bigint,
    redactor    plain not null
);

create index on sessions(updated_at desc, rowid desc);
create index on sessions(project_id, updated_at desc);
create index on sessions(pid, pid_start);
create index on sessions(phase, updated_at);
create index on sessions(redactor);

-- What happened, one row for each record at its latest revision, or a record of a log that is kept here alone.
-- The session may be put after its first event, so the reference is looked at when the transaction ends.
create table messages (
    rowid       bigint generated always as identity unique,
    id          plain primary key,
    session_key plain not null references sessions(key) deferrable initially deferred,
    parent_id   plain,
    type        plain not null,
    timestamp   bigint not null,
    data        plain not null,
    record_id   plain not null,
    revision    bigint not null,
    agent       plain not null,
    origin      plain not null,
    redactor    plain not null,
    unique (session_key, record_id)
);

create index on messages(session_key, timestamp desc, rowid desc);
create index on messages(session_key, rowid) where origin = 'record';
create index on messages(record_id, session_key);
create index on messages(redactor);

-- How far each source was read, in its harness's own words.
create table cursors (
    source plain primary key,
    cursor plain not null
);

create table session_checkpoints (
    rowid              bigint generated always as identity unique,
    id                 plain primary key,
    session_key        plain not null,
    harness            plain not null,
    project            plain,
    project_normalized plain, -- realpath-resolved for matching
    trigger            plain not null,
    digest             plain not null,
    prompt_count       bigint not null,
    memory_queries     plain, -- JSON: recent search terms
    recent_remembers   plain, -- JSON: what was to be remembered
    created_at         plain not null, -- ISO 8601, UTC, milliseconds
    project_id         plain not null,
    worktree_id        plain not null,
    "window"           bigint not null,
    words              plain not null,
    outline            plain not null,
    redactor           plain not null
);

create index on session_checkpoints(session_key, created_at desc, rowid desc);
create index on session_checkpoints(project_normalized, created_at desc);
create index on session_checkpoints(project_id, created_at desc, rowid desc);
create index on session_checkpoints(created_at desc, rowid desc);
create index on session_checkpoints(redactor);

-- Which session a session continues, and how.
create table lineage (
    child  plain primary key,
    parent plain not null,
    kind   plain not null,
    at     bigint not null
);

create index on lineage(parent);

-- The account of each brief.
create table receipts (
    rowid       bigint generated always as identity unique,
    id          plain primary key,
    session_key plain not null,
    "window"    bigint not null,
    reason      plain not null,
    predecessor plain not null,
    created_at  bigint not null,
    budget      bigint not null,
    text        plain not null,
    items       plain not null,
    redactor    plain not null
);

create index on receipts(session_key, created_at desc, rowid desc);
create index on receipts(created_at desc, rowid desc);
create index on receipts(predecessor);
create index on receipts(redactor);

-- What could not be read, counted by reason.
create table skipped (
    reason plain primary key,
    times  bigint not null
);

-- What the store knows about itself; a secret stands in hexadecimal digits.
create table facts (
    name  plain primary key,
    value plain not null
);

-- What was forgotten, without a word of it.
create table forgotten (
    name   bytea primary key, -- a hash of a session's key or of a source's name
    at     bigint not null,   -- what happened until then is not kept
    cursor plain not null     -- how far the source was read; '' for a session
);

-- Wordings of memories that were forgotten, as keyed hashes of their words.
create table forgotten_wordings (
    blocks    bytea primary key, -- the hashes of its words, block by block
    words     bigint not null,   -- how many words it has
    alone     bigint not null,   -- 1 for one that is too short to be looked for inside other texts
    at        bigint not null,   -- when it was forgotten
    lifted_at bigint not null    -- when it was remembered again; 0 if it was not
);

-- What someone said to keep, until it is forgotten.
create table memories (
    rowid         bigint generated always as identity unique,
    id            plain primary key,
    project_id    plain not null, -- '' for what holds in every project
    worktree_id   plain not null, -- '' for what holds in every worktree
    scope         plain not null,
    kind          plain not null,
    created_at    bigint not null,
    importance    double precision not null,
    pinned        bigint not null,
    seen          bigint not null,
    seen_at       bigint not null,
    found         bigint not null,
    found_at      bigint not null,
    superseded_by plain not null,
    stretch       plain not null, -- the first of those that were said one shortly after the other
    place         bigint not null, -- and where among them
    source        plain not null,
    session_key   plain not null,
    labels        plain not null, -- JSON, as the tags
    tags          plain not null,
    identity      bytea not null,
    subject       bytea not null, -- empty where it gives no value to anything
    redactor      plain not null,
    text          plain not null
);

create index on memories(project_id, worktree_id, identity);
create index on memories(project_id, worktree_id, subject) where subject <> '';
create index on memories(created_at desc, rowid desc);
create index on memories(project_id, worktree_id, created_at);
create index on memories(stretch, place) where stretch <> '';
create index on memories(session_key) where session_key <> '';
create index on memories(superseded_by) where superseded_by <> '';
create index on memories(redactor);

-- Wordings that a memory had before it was edited: they are forgotten with it.
create table memory_wordings (
    memory_id plain not null,
    blocks    bytea not null,
    words     bigint not null,
    alone     bigint not null,
    primary key (memory_id, blocks)
);

-- Texts that can be found again. `terms` are their words for the index, `length` is how many those are.
create table documents (
    number      bigint generated always as identity primary key,
    id          plain not null unique,
    kind        plain not null,
    project_id  plain not null,
    worktree_id plain not null, -- '' for what holds in every worktree
    session_key plain not null,
    at          bigint not null,
    place       bigint not null,
    vectored    bigint not null, -- whether it was given a vector, if only an empty one
    length      bigint not null,
    redactor    plain not null,
    source      plain not null,
    text        plain not null,
    terms       tsvector not null
);

create index on documents(project_id, at desc);
create index on documents(at desc, number desc);
create index on documents(session_key, kind, place);
create index on documents(redactor);
create index on documents(number) where vectored = 0;
create index on documents using gin(terms);

-- Where a document's text points, one byte a dimension. A row never changes and no number comes back, so that
-- whoever holds some of them in memory has only to ask for those behind the last, and how many went since.
create table vectors (
    number      bigint generated always as identity primary key,
    document    bigint not null unique references documents(number) on delete cascade,
    project_id  plain not null,
    worktree_id plain not null,
    kind        plain not null,
    at          bigint not null,
    vector      bytea not null
);

create table vectors_dropped (
    times bigint not null
);

insert into vectors_dropped values (0);

-- How many documents there are, and words in them: a search weighs its words by these.
create table documents_in_all (
    documents bigint not null,
    words     bigint not null
);

insert into documents_in_all values (0, 0);

-- Sessions of which something was said that cannot be found yet, and since when.
create table unindexed (
    session_key plain primary key,
    since       bigint not null
);

create index on unindexed(since);

-- How each session went; no text, only counts.
create table session_scores (
    session_key         plain primary key,
    harness             plain not null,
    project_id          plain not null,
    scored_at           bigint not null,
    start               plain not null, -- recovered or cold
    agent_events        bigint not null,
    brief_items         bigint not null,
    brief_items_used    bigint not null,
    needed              bigint not null,
    rediscovered        bigint not null,
    novel_context_count bigint not null,
    memories_recalled   bigint not null,
    memories_used       bigint not null
);

create index on session_scores(scored_at desc);

-- What an agent was told when it asked, by the id of the document; when first.
create table recalls (
    session_key plain not null,
    document_id plain not null,
    at          bigint not null,
    primary key (session_key, document_id)
);

-- Where each project is, and where it was before.
create table sites (
    location      plain not null,  -- the real path of the common git directory; outside git of the directory
    project_id    plain not null,
    anchor        plain not null,  -- the path that the ids of worktrees are derived from
    root          plain not null,  -- the top of the main worktree; outside git the directory
    is_git        bigint not null,
    device        plain not null,
    inode         plain not null,
    born          bigint not null, -- when the directory was created, in nanoseconds since 1970; 0 for unknown
    first_entry   plain not null,  -- a hash of the first entry in HEAD's reflog
    began_at      bigint not null, -- when that entry was written, in seconds since 1970; 0 if it is not the first ever
    remotes       plain not null,  -- hashes of the addresses of the remotes, as JSON
    first_seen_at bigint not null,
    last_seen_at  bigint not null,
    left_at       bigint not null, -- 0 while the project was last seen here
    moved_from    plain not null,
    primary key (location, project_id)
);

create index on sites(project_id);
create index on sites(root);
create index on sites(inode);
create index on sites(first_entry) where first_entry <> '';

-- The names by which other machines and people know a project.
create table shared_names (
    project_id    plain not null,
    name          plain not null,
    is_bound      bigint not null, -- whether the user chose it
    first_seen_at bigint not null,
    last_seen_at  bigint not null,
    primary key (project_id, name)
);

create index on shared_names(name);

-- Which session changed which file, by which call, what was asked, and the sentence nearest to it that says why.
create table file_edits (
    number      bigint generated always as identity primary key,
    session_key plain not null,
    record_id   plain not null,
    path        plain not null,  -- relative to the worktree if it is inside
    project_id  plain not null,
    call        plain not null,
    action      plain not null,
    at          bigint not null,
    agent       plain not null,
    renamed_to  plain not null,
    asked_at    bigint not null,
    strength    bigint not null, -- how much the reason says why
    done        bigint not null, -- whether the call is known to have succeeded
    marks       bytea not null,  -- short hashes of the lines that it wrote
    redactor    plain not null,
    asked       plain not null,
    reason      plain not null,
    unique (session_key, record_id, path)
);

create index on file_edits(project_id, path, at desc);
create index on file_edits(project_id, renamed_to) where renamed_to <> '';
create index on file_edits(session_key, call) where done = 0;
create index on file_edits(at);
create index on file_edits(redactor);

-- Imported sessions, and of how much of their transcript their work was derived; '' while that is still to be done.
create table imported_work (
    session_key plain primary key,
    at          bigint not null, -- the time of the session's last event
    extent      plain not null
);

create index on imported_work(at desc) where extent = '';

-- What follows from a change.

create function note_unindexed() returns trigger language plpgsql as $$
begin
    insert into unindexed (session_key, since)
    values (new.session_key, new.timestamp)
    on conflict (session_key) do nothing;
    return null;
end $$;

create trigger messages_added after insert on messages
    for each row when (new.agent = 'main' and new.type <> 'usage') execute function note_unindexed();

-- What makes a checkpoint findable goes with it.
create function drop_document_of_checkpoint() returns trigger language plpgsql as $$
begin
    delete from documents where id = old.id and kind = 'checkpoint';
    return null;
end $$;

create trigger checkpoints_dropped after delete on session_checkpoints
    for each row execute function drop_document_of_checkpoint();

-- What a memory has superseded holds again when it is gone.
create function let_superseded_hold_again() returns trigger language plpgsql as $$
begin
    delete from documents where id = old.id and kind = 'memory';
    delete from memory_wordings where memory_id = old.id;
    update memories
       set superseded_by = '',
           labels        = (select coalesce(json_agg(label order by place), '[]')::text
                              from json_array_elements_text(labels::json) with ordinality as each(label, place)
                             where label <> 'superseded')
     where superseded_by = old.id
       and superseded_by <> '';
    return null;
end $$;

create trigger memories_dropped after delete on memories
    for each row execute function let_superseded_hold_again();

-- What belongs to a session alone goes with it.
create function drop_what_belongs_to_session() returns trigger language plpgsql as $$
begin
    delete from unindexed      where session_key = old.key;
    delete from session_scores where session_key = old.key;
    delete from recalls        where session_key = old.key;
    delete from imported_work  where session_key = old.key;
    delete from cursors        where source = 'index/' || old.key;
    return null;
end $$;

create trigger sessions_dropped after delete on sessions
    for each row execute function drop_what_belongs_to_session();

create function count_vectors_dropped() returns trigger language plpgsql as $$
begin
    update vectors_dropped set times = times + (select count(*) from dropped);
    return null;
end $$;

create trigger vectors_dropped_some after delete on vectors
    referencing old table as dropped for each statement execute function count_vectors_dropped();

create function count_documents_added() returns trigger language plpgsql as $$
begin
    update documents_in_all
       set documents = documents + (select count(*) from added),
           words     = words + (select coalesce(sum(length), 0) from added);
    return null;
end $$;

create trigger documents_added after insert on documents
    referencing new table as added for each statement execute function count_documents_added();

create function count_documents_dropped() returns trigger language plpgsql as $$
begin
    update documents_in_all
       set documents = documents - (select count(*) from dropped),
           words     = words - (select coalesce(sum(length), 0) from dropped);
    return null;
end $$;

create trigger documents_dropped after delete on documents
    referencing old table as dropped for each statement execute function count_documents_dropped();

create function count_words_changed() returns trigger language plpgsql as $$
begin
    update documents_in_all
       set words = words + (select coalesce(sum(length), 0) from added)
                         - (select coalesce(sum(length), 0) from dropped);
    return null;
end $$;

create trigger documents_changed after update on documents
    referencing old table as dropped new table as added for each statement execute function count_words_changed();
