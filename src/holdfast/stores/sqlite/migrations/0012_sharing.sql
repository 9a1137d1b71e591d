-- Of which projects and kinds changes are announced. The settings decide, and by default there is no row.
create table announced_kinds (
    project_id text not null,
    kind       text not null,
    primary key (project_id, kind)
) without rowid;

-- What changed and was not acknowledged by a hub yet, by kind and id alone. `revision` grows with each change.
create table announcements (
    kind       text not null,
    item_id    text not null,
    project_id text not null,
    revision   integer not null,
    at         integer not null, -- 0 until someone notes the time
    primary key (kind, item_id)
) without rowid;

create unique index idx_announcements_revision on announcements(revision);

-- The revision of the last change; one row.
create table last_revision (
    revision integer not null
);

insert into last_revision values (0);

-- Memories that a person marked for the team.
create table team_memories (
    memory_id text primary key,
    at        integer not null
) without rowid;

-- Every machine's version of each shared item, also this machine's own. `holds` is derived from the others.
create table shared_versions (
    number            integer primary key,
    hub               text not null,
    project           text not null, -- its shared name
    kind              text not null,
    item_id           text not null,
    machine_id        text not null,
    machine_name      text not null,
    person            text not null,
    is_mine           integer not null,
    revision          integer not null,
    at                integer not null,
    audience          text not null,
    recipient         text not null,
    is_removed        integer not null,
    replaces_machine  text not null, -- '' where it replaces none
    replaces_revision integer not null,
    sequence          integer not null,
    received_at       integer not null,
    holds             integer not null,
    redactor          text not null,
    body              json not null,
    unique (hub, project, kind, item_id, machine_id)
);

create index idx_shared_versions_newest on shared_versions(at desc) where holds = 1 and body <> '';
create index idx_shared_versions_project on shared_versions(project, kind, at desc) where holds = 1 and body <> '';
create index idx_shared_versions_item on shared_versions(kind, item_id);
create index idx_shared_versions_recipient on shared_versions(recipient, at desc) where recipient <> '';
create index idx_shared_versions_redactor on shared_versions(redactor);

-- Which version a row of this store is, where one came from another machine or was sent.
create table shared_bases (
    kind       text not null,
    item_id    text not null,
    machine_id text not null,
    revision   integer not null,
    primary key (kind, item_id)
) without rowid;

-- How far the changes of a project at a hub were applied.
create table pull_cursors (
    hub      text not null,
    project  text not null,
    sequence integer not null,
    primary key (hub, project)
) without rowid;

-- A row is announced where its project announces that kind, and where the item is known to a hub already: what was
-- shared once is removed at the hub, whatever the settings say by then. Its revision is the next one.
create trigger memories_announced after insert on memories
when exists (select true from announced_kinds where project_id = new.project_id and kind = 'memory')
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'memory', new.id, new.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

create trigger memories_changed after update on memories
when (   old.text <> new.text or old.kind <> new.kind or old.scope <> new.scope or old.tags <> new.tags
      or old.project_id <> new.project_id or old.worktree_id <> new.worktree_id or old.pinned <> new.pinned
      or old.importance <> new.importance or old.superseded_by <> new.superseded_by)
 and exists (select true from announced_kinds where project_id = new.project_id and kind = 'memory')
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'memory', new.id, new.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

-- Of a deleted row no text is left in its versions: they only know that there was one.
create trigger memories_removed after delete on memories
when exists (select true from shared_versions
              where kind = 'memory' and item_id in (old.id, 'team:' || old.id) and is_mine = 1 and is_removed = 0)
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'memory', old.id, old.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
    update shared_versions
       set body = ''
     where kind = 'memory' and item_id in (old.id, 'team:' || old.id) and is_mine = 1;
end;

create trigger memories_unmarked after delete on memories begin
    delete from team_memories where memory_id = old.id;
end;

create trigger team_memories_marked after insert on team_memories begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'memory', memories.id, memories.project_id, last_revision.revision, 0
      from memories, last_revision
     where memories.id = new.memory_id
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

create trigger team_memories_unmarked after delete on team_memories begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'memory', memories.id, memories.project_id, last_revision.revision, 0
      from memories, last_revision
     where memories.id = old.memory_id
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

create trigger checkpoints_announced after insert on session_checkpoints
when exists (select true from announced_kinds where project_id = new.project_id and kind = 'checkpoint')
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'checkpoint', new.id, new.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

create trigger checkpoints_changed after update on session_checkpoints
when (old.digest <> new.digest or old.words <> new.words or old.outline <> new.outline)
 and exists (select true from announced_kinds where project_id = new.project_id and kind = 'checkpoint')
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'checkpoint', new.id, new.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

create trigger checkpoints_removed after delete on session_checkpoints
when exists (select true from shared_versions
              where kind = 'checkpoint' and item_id = old.id and is_mine = 1 and is_removed = 0)
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'checkpoint', old.id, old.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
    update shared_versions set body = '' where kind = 'checkpoint' and item_id = old.id and is_mine = 1;
end;

create trigger sessions_announced after insert on sessions
when exists (select true from announced_kinds where project_id = new.project_id and kind = 'session')
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'session', new.key, new.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

-- Every event updates its session: to compare what it was would cost each of them, also where nothing is shared.
create trigger sessions_changed after update on sessions
when exists (select true from announced_kinds where project_id = new.project_id and kind = 'session')
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'session', new.key, new.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end;

create trigger sessions_removed after delete on sessions
when exists (select true from shared_versions
              where kind = 'session' and item_id = old.key and is_mine = 1 and is_removed = 0)
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select 'session', old.key, old.project_id, revision, 0 from last_revision where true
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
    update shared_versions set body = '' where kind = 'session' and item_id = old.key and is_mine = 1;
end;
