-- Sharing: what is announced to hubs, and every machine's version of each shared item.

-- Of which projects and kinds changes are announced. The settings decide, and by default there is no row.
create table announced_kinds (
    project_id plain not null,
    kind       plain not null,
    primary key (project_id, kind)
);

-- What changed and was not acknowledged by a hub yet, by kind and id alone. `revision` grows with each change.
create table announcements (
    kind       plain not null,
    item_id    plain not null,
    project_id plain not null,
    revision   bigint not null,
    at         bigint not null, -- 0 until someone notes the time
    primary key (kind, item_id)
);

create unique index on announcements(revision);

-- The revision of the last change; one row.
create table last_revision (
    revision bigint not null
);

insert into last_revision values (0);

-- Memories that a person marked for the team.
create table team_memories (
    memory_id plain primary key,
    at        bigint not null
);

-- Every machine's version of each shared item, also this machine's own. `holds` is derived from the others.
create table shared_versions (
    number            bigint generated always as identity primary key,
    hub               plain not null,
    project           plain not null, -- its shared name
    kind              plain not null,
    item_id           plain not null,
    machine_id        plain not null,
    machine_name      plain not null,
    person            plain not null,
    is_mine           bigint not null,
    revision          bigint not null,
    at                bigint not null,
    audience          plain not null,
    recipient         plain not null,
    is_removed        bigint not null,
    replaces_machine  plain not null, -- '' where it replaces none
    replaces_revision bigint not null,
    sequence          bigint not null,
    received_at       bigint not null,
    holds             bigint not null,
    redactor          plain not null,
    body              plain not null,
    unique (hub, project, kind, item_id, machine_id)
);

create index on shared_versions(at desc) where holds = 1 and body <> '';
create index on shared_versions(project, kind, at desc) where holds = 1 and body <> '';
create index on shared_versions(kind, item_id);
create index on shared_versions(recipient, at desc) where recipient <> '';
create index on shared_versions(redactor);

-- Which version a row of this store is, where one came from another machine or was sent.
create table shared_bases (
    kind       plain not null,
    item_id    plain not null,
    machine_id plain not null,
    revision   bigint not null,
    primary key (kind, item_id)
);

-- How far the changes of a project at a hub were applied.
create table pull_cursors (
    hub      plain not null,
    project  plain not null,
    sequence bigint not null,
    primary key (hub, project)
);

-- The revision of an announced row is the next one.
create function announce(changed_kind text, changed_id text, changed_project text) returns void language plpgsql as $$
begin
    update last_revision set revision = revision + 1;
    insert into announcements (kind, item_id, project_id, revision, at)
    select changed_kind, changed_id, changed_project, revision, 0 from last_revision
    on conflict (kind, item_id) do update
       set project_id = excluded.project_id, revision = excluded.revision, at = 0;
end $$;

create function is_announced(changed_kind text, changed_project text) returns boolean language sql stable as $$
    select exists (select true from announced_kinds where project_id = changed_project and kind = changed_kind)
$$;

-- What was shared once is removed at the hub, whatever the settings say by then. Of a deleted row no text is left in
-- its versions: they only know that there was one.
create function announce_removal(removed_kind text, removed_id text, removed_project text, ids text[]) returns void
language plpgsql as $$
begin
    if exists (select true from shared_versions
                where kind = removed_kind and item_id = any(ids) and is_mine = 1 and is_removed = 0) then
        perform announce(removed_kind, removed_id, removed_project);
        update shared_versions set body = '' where kind = removed_kind and item_id = any(ids) and is_mine = 1;
    end if;
end $$;

create function announce_memory() returns trigger language plpgsql as $$
begin
    if is_announced('memory', new.project_id) then
        perform announce('memory', new.id, new.project_id);
    end if;
    return null;
end $$;

create trigger memories_announced after insert on memories for each row execute function announce_memory();

create trigger memories_changed after update on memories for each row
when (   old.text <> new.text or old.kind <> new.kind or old.scope <> new.scope or old.tags <> new.tags
      or old.project_id <> new.project_id or old.worktree_id <> new.worktree_id or old.pinned <> new.pinned
      or old.importance <> new.importance or old.superseded_by <> new.superseded_by)
execute function announce_memory();

create function announce_memory_removed() returns trigger language plpgsql as $$
begin
    perform announce_removal('memory', old.id, old.project_id, array[old.id::text, 'team:' || old.id]);
    delete from team_memories where memory_id = old.id;
    return null;
end $$;

create trigger memories_removed after delete on memories for each row execute function announce_memory_removed();

create function announce_team_memory() returns trigger language plpgsql as $$
declare
    marked text := coalesce(new.memory_id, old.memory_id);
    its_project text;
begin
    select project_id into its_project from memories where id = marked;
    if found then
        perform announce('memory', marked, its_project);
    end if;
    return null;
end $$;

create trigger team_memories_marked after insert or delete on team_memories
    for each row execute function announce_team_memory();

create function announce_checkpoint() returns trigger language plpgsql as $$
begin
    if is_announced('checkpoint', new.project_id) then
        perform announce('checkpoint', new.id, new.project_id);
    end if;
    return null;
end $$;

create trigger checkpoints_announced after insert on session_checkpoints
    for each row execute function announce_checkpoint();

create trigger checkpoints_changed after update on session_checkpoints for each row
when (old.digest <> new.digest or old.words <> new.words or old.outline <> new.outline)
execute function announce_checkpoint();

create function announce_checkpoint_removed() returns trigger language plpgsql as $$
begin
    perform announce_removal('checkpoint', old.id, old.project_id, array[old.id::text]);
    return null;
end $$;

create trigger checkpoints_removed after delete on session_checkpoints
    for each row execute function announce_checkpoint_removed();

create function announce_session() returns trigger language plpgsql as $$
begin
    if is_announced('session', new.project_id) then
        perform announce('session', new.key, new.project_id);
    end if;
    return null;
end $$;

create trigger sessions_announced after insert on sessions for each row execute function announce_session();

-- Every event updates its session: to compare what it was would cost each of them, also where nothing is shared.
create trigger sessions_changed after update on sessions for each row execute function announce_session();

create function announce_session_removed() returns trigger language plpgsql as $$
begin
    perform announce_removal('session', old.key, old.project_id, array[old.key::text]);
    return null;
end $$;

create trigger sessions_removed after delete on sessions for each row execute function announce_session_removed();
