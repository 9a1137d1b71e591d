-- The tables, functions and policies of a hub. `:owner` owns them and cannot log in; `:readers` are all members,
-- `:writers` those who may also push.
--
-- A member is who logged in: `session_user`, which neither `set role` nor a function changes. Members read tables
-- under row-level security, and write by functions alone, which run as `:owner`. That role is under row-level
-- security too: inside a function it sees and writes the rows of the member who called it, and no others.

create table holdfast_hub.schema_version (
  version integer not null
);

create table holdfast_hub.teams (
  id bigint generated always as identity primary key,
  name text not null unique
);

create table holdfast_hub.members (
  id bigint generated always as identity primary key,
  role name not null unique,
  name text not null,
  team_id bigint not null references holdfast_hub.teams,
  is_read_only boolean not null,
  invited_at bigint not null,
  revoked_at bigint not null default 0
);

create unique index members_by_name on holdfast_hub.members (lower(name));

create table holdfast_hub.projects (
  id bigint generated always as identity primary key,
  team_id bigint not null references holdfast_hub.teams,
  name text not null check (length(name) between 1 and 500),
  last_sequence bigint not null default 0,
  unique (team_id, name)
);

create table holdfast_hub.machines (
  number bigint generated always as identity primary key,
  id text not null unique check (length(id) between 1 and 500),
  name text not null check (length(name) <= 500),
  person_id bigint not null references holdfast_hub.members,
  team_id bigint not null references holdfast_hub.teams,
  last_seen_at bigint not null,
  last_revision bigint not null default 0
);

create index machines_of_person on holdfast_hub.machines (person_id);

-- One row for each item and machine that shared it. A row that is withdrawn stands for one that now goes to fewer
-- readers: those who may see it no more find it without its text.
create table holdfast_hub.versions (
  project_id bigint not null references holdfast_hub.projects,
  team_id bigint not null,
  person_id bigint not null,
  machine_number bigint not null references holdfast_hub.machines,
  kind text collate "C" not null check (kind in ('memory', 'handoff', 'continuity', 'checkpoint', 'session')),
  item_id text collate "C" not null check (length(item_id) between 1 and 500),
  revision bigint not null check (revision > 0),
  sequence bigint not null,
  at bigint not null,
  audience text collate "C" not null check (audience in ('own', 'team')),
  recipient text collate "C" not null check (length(recipient) <= 500),
  is_withdrawn boolean not null default false,
  body text not null,
  redactor text not null,
  replaces_machine text not null,
  replaces_revision bigint not null,
  -- When the audit last noted that it was changed; it notes that once an hour.
  noted_at bigint not null default 0
);

create unique index versions_by_item on holdfast_hub.versions (project_id, kind, item_id, machine_number)
  where not is_withdrawn;
create unique index versions_withdrawn
    on holdfast_hub.versions (project_id, kind, item_id, machine_number, recipient)
 where is_withdrawn;
create unique index versions_of_team on holdfast_hub.versions (project_id, sequence)
  where audience = 'team' and recipient = '';
create unique index versions_of_person on holdfast_hub.versions (project_id, person_id, sequence);
create unique index versions_for_person on holdfast_hub.versions (project_id, recipient, sequence)
  where audience = 'team' and recipient <> '';

create table holdfast_hub.applied (
  project_id bigint not null references holdfast_hub.projects,
  machine_number bigint not null references holdfast_hub.machines,
  team_id bigint not null,
  sequence bigint not null,
  primary key (project_id, machine_number)
);

-- Grows with every change, so it has a partition for each month, which `ensure_audit_month` makes.
create sequence holdfast_hub.audit_ids;

create table holdfast_hub.audit (
  id bigint not null default nextval('holdfast_hub.audit_ids'),
  at bigint not null,
  team_id bigint not null,
  person_id bigint not null,
  person text not null,
  machine text not null,
  action text not null,
  project text not null,
  kind text not null,
  item_id text not null,
  is_for_team boolean not null
) partition by range (at);

create index audit_of_team on holdfast_hub.audit (team_id, id) where is_for_team;
create index audit_of_person on holdfast_hub.audit (person_id, id);


-- Who is it? -----------------------------------------------------------------------------------------------------

create function holdfast_hub.me() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select id from holdfast_hub.members where role = session_user and revoked_at = 0
$$;

create function holdfast_hub.my_name() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select name from holdfast_hub.members where role = session_user and revoked_at = 0
$$;

create function holdfast_hub.my_team() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select team_id from holdfast_hub.members where role = session_user and revoked_at = 0
$$;

create function holdfast_hub.clock_ms() returns bigint
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;


-- Rights ---------------------------------------------------------------------------------------------------------

do $$
declare
  named text;
begin
  foreach named in array array[
    'schema_version', 'teams', 'members', 'projects', 'machines', 'versions', 'applied', 'audit'
  ] loop
    execute format('alter table holdfast_hub.%I enable row level security', named);
    execute format('alter table holdfast_hub.%I force row level security', named);
  end loop;
end
$$;

create policy see on holdfast_hub.schema_version for select to :readers
  using ((select holdfast_hub.me()) is not null);
create policy see on holdfast_hub.teams for select to :readers
  using (id = (select holdfast_hub.my_team()));
create policy see on holdfast_hub.members for select to :readers
  using (team_id = (select holdfast_hub.my_team()));
-- A project of which a member sees nothing is not even named to them. Each question below is answered by the first
-- row of an index; `exists` might be planned as a table of all that there are.
create policy see on holdfast_hub.projects for select to :readers
  using (
    team_id = (select holdfast_hub.my_team())
    and coalesce(
      (select true from holdfast_hub.versions v
        where v.project_id = projects.id and v.audience = 'team' and v.recipient = '' limit 1),
      (select true from holdfast_hub.versions v
        where v.project_id = projects.id and v.person_id = (select holdfast_hub.me()) limit 1),
      (select true from holdfast_hub.versions v
        where v.project_id = projects.id and v.recipient = (select holdfast_hub.my_name())
          and v.audience = 'team' and v.recipient <> '' limit 1),
      (select true
         from holdfast_hub.machines m
         join holdfast_hub.applied a on a.machine_number = m.number
        where m.person_id = (select holdfast_hub.me()) and a.project_id = projects.id limit 1),
      false
    )
  );
create policy see on holdfast_hub.machines for select to :readers
  using (team_id = (select holdfast_hub.my_team()));
create policy see on holdfast_hub.versions for select to :readers
  using (
    team_id = (select holdfast_hub.my_team())
    and (
      person_id = (select holdfast_hub.me())
      or (audience = 'team' and (recipient = '' or recipient = (select holdfast_hub.my_name())))
    )
  );
create policy see on holdfast_hub.applied for select to :readers
  using (
    team_id = (select holdfast_hub.my_team())
    and coalesce(
      (select true from holdfast_hub.machines m
        where m.number = machine_number and m.person_id = (select holdfast_hub.me()) limit 1),
      (select true from holdfast_hub.versions v
        where v.project_id = applied.project_id and v.audience = 'team' and v.recipient = '' limit 1),
      false
    )
  );
create policy see on holdfast_hub.audit for select to :readers
  using (
    team_id = (select holdfast_hub.my_team())
    and (is_for_team or person_id = (select holdfast_hub.me()))
  );

-- Who owns the hub invites and revokes; a member, inside a function, does not.
create policy look_up on holdfast_hub.schema_version for select to :owner using (true);
create policy look_up on holdfast_hub.teams for select to :owner using (true);
create policy look_up on holdfast_hub.members for select to :owner using (true);
create policy prepare on holdfast_hub.schema_version to :owner
  using ((select holdfast_hub.me()) is null) with check ((select holdfast_hub.me()) is null);
create policy invite on holdfast_hub.teams for insert to :owner
  with check ((select holdfast_hub.me()) is null);
create policy invite on holdfast_hub.members for insert to :owner
  with check ((select holdfast_hub.me()) is null);
create policy change on holdfast_hub.members for update to :owner
  using ((select holdfast_hub.me()) is null) with check ((select holdfast_hub.me()) is null);

create policy own on holdfast_hub.projects to :owner
  using (team_id = (select holdfast_hub.my_team())) with check (team_id = (select holdfast_hub.my_team()));
create policy own on holdfast_hub.machines to :owner
  using (person_id = (select holdfast_hub.me()))
  with check (person_id = (select holdfast_hub.me()) and team_id = (select holdfast_hub.my_team()));
create policy own on holdfast_hub.versions to :owner
  using (person_id = (select holdfast_hub.me()))
  with check (person_id = (select holdfast_hub.me()) and team_id = (select holdfast_hub.my_team()));
create policy own on holdfast_hub.applied to :owner
  using (team_id = (select holdfast_hub.my_team())) with check (team_id = (select holdfast_hub.my_team()));
create policy note on holdfast_hub.audit for insert to :owner
  with check (person_id = coalesce((select holdfast_hub.me()), 0));


-- What members do ------------------------------------------------------------------------------------------------

create function holdfast_hub.require_member() returns holdfast_hub.members
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  member holdfast_hub.members;
begin
  select * into member from holdfast_hub.members where role = session_user and revoked_at = 0;
  if not found then
    raise insufficient_privilege using message = format('%s is not invited to this hub', session_user);
  end if;
  return member;
end
$$;

create function holdfast_hub.require_machine(machine text) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  own bigint;
begin
  update holdfast_hub.machines
     set last_seen_at = holdfast_hub.clock_ms()
   where id = machine
     and person_id = holdfast_hub.me()
  returning number into own;
  if not found then
    raise insufficient_privilege using message = format('the machine %s is not yours at this hub', machine);
  end if;
  return own;
end
$$;

-- The project's row, which stays locked until the transaction ends: so numbers are in the order of commits.
create function holdfast_hub.lock_project(member holdfast_hub.members, project text)
returns holdfast_hub.projects
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  locked holdfast_hub.projects;
begin
  insert into holdfast_hub.projects (team_id, name)
  select member.team_id, project
   where not exists (
     select from holdfast_hub.projects where team_id = member.team_id and name = project
   )
  on conflict do nothing;
  select * into locked
    from holdfast_hub.projects
   where team_id = member.team_id and name = project
     for update;
  return locked;
end
$$;

create function holdfast_hub.ensure_audit_month(at bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  month timestamp := date_trunc('month', to_timestamp(at / 1000.0) at time zone 'UTC');
  partition text := 'audit_' || to_char(month, 'YYYY_MM');
begin
  if to_regclass('holdfast_hub.' || partition) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('holdfast_hub.audit', 0));
  if to_regclass('holdfast_hub.' || partition) is not null then
    return;
  end if;
  -- Attaching, unlike creating as a partition, lets others go on writing.
  execute format('create table holdfast_hub.%I (like holdfast_hub.audit including defaults)', partition);
  execute format('alter table holdfast_hub.%I enable row level security', partition);
  execute format('alter table holdfast_hub.%I force row level security', partition);
  execute format(
    'alter table holdfast_hub.audit attach partition holdfast_hub.%I for values from (%s) to (%s)',
    partition,
    floor(extract(epoch from month at time zone 'UTC') * 1000)::bigint,
    floor(extract(epoch from (month + interval '1 month') at time zone 'UTC') * 1000)::bigint
  );
end
$$;

create function holdfast_hub.identify(machine text, machine_name text)
returns table (person text, team text, is_read_only boolean, now_ms bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  member holdfast_hub.members := holdfast_hub.require_member();
  own_machine bigint;
begin
  insert into holdfast_hub.machines (id, name, person_id, team_id, last_seen_at)
  select machine, machine_name, member.id, member.team_id, holdfast_hub.clock_ms()
   where not exists (select from holdfast_hub.machines m where m.id = machine)
  on conflict do nothing;
  own_machine := holdfast_hub.require_machine(machine);
  update holdfast_hub.machines m
     set name = machine_name
   where m.number = own_machine and m.name <> machine_name;
  return query
  select member.name, t.name, member.is_read_only, holdfast_hub.clock_ms()
    from holdfast_hub.teams t
   where t.id = member.team_id;
end
$$;

create function holdfast_hub.push(
  project text, machine text, kinds text[], ids text[], revisions bigint[], ats bigint[], audiences text[],
  recipients text[], bodies text[], redactors text[], replaced_machines text[], replaced_revisions bigint[]
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  member holdfast_hub.members := holdfast_hub.require_member();
  own_machine bigint := holdfast_hub.require_machine(machine);
  here holdfast_hub.projects;
  stored holdfast_hub.versions;
  now_ms bigint;
  is_new boolean;
  is_noted boolean;
begin
  if member.is_read_only then
    raise insufficient_privilege using message = format('%s may only read at this hub', member.name);
  end if;
  here := holdfast_hub.lock_project(member, project);
  now_ms := holdfast_hub.clock_ms();
  perform holdfast_hub.ensure_audit_month(now_ms);
  for i in 1 .. coalesce(cardinality(ids), 0) loop
    select * into stored
      from holdfast_hub.versions v
     where v.project_id = here.id
       and v.kind = kinds[i]
       and v.item_id = ids[i]
       and v.machine_number = own_machine
       and not v.is_withdrawn;
    is_new := not found;
    continue when not is_new and revisions[i] <= stored.revision;
    is_noted := is_new or bodies[i] = '' or stored.noted_at <= now_ms - 3600000;
    here.last_sequence := here.last_sequence + 1;
    if is_new then
      insert into holdfast_hub.versions
      values (here.id, member.team_id, member.id, own_machine, kinds[i], ids[i], revisions[i],
              here.last_sequence, ats[i], audiences[i], recipients[i], false, bodies[i], redactors[i],
              replaced_machines[i], replaced_revisions[i]);
    else
      if (stored.audience, stored.recipient) is distinct from (audiences[i], recipients[i]) then
        perform holdfast_hub.withdraw(stored, here.last_sequence, audiences[i], recipients[i]);
        here.last_sequence := here.last_sequence + 1;
      end if;
      update holdfast_hub.versions v
         set revision = revisions[i], sequence = here.last_sequence, at = ats[i], audience = audiences[i],
             recipient = recipients[i], body = bodies[i], redactor = redactors[i],
             replaces_machine = replaced_machines[i], replaces_revision = replaced_revisions[i],
             noted_at = case when is_noted then now_ms else noted_at end
       where v.project_id = here.id
         and v.kind = kinds[i]
         and v.item_id = ids[i]
         and v.machine_number = own_machine
         and not v.is_withdrawn;
    end if;
    if bodies[i] = '' then
      update holdfast_hub.versions v
         set body = ''
       where v.project_id = here.id
         and v.kind = kinds[i]
         and v.item_id = ids[i]
         and v.person_id = member.id
         and not v.is_withdrawn
         and v.body <> '';
    end if;
    continue when not is_noted;
    insert into holdfast_hub.audit
      (at, team_id, person_id, person, machine, action, project, kind, item_id, is_for_team)
    values
      (now_ms, member.team_id, member.id, member.name, machine,
       case when bodies[i] = '' then 'removed' when is_new then 'shared' else 'changed' end,
       project, kinds[i], ids[i], audiences[i] = 'team' and recipients[i] = '');
  end loop;
  update holdfast_hub.projects p set last_sequence = here.last_sequence where p.id = here.id;
  update holdfast_hub.machines m
     set last_revision = greatest(m.last_revision, (select max(sent) from unnest(revisions) sent))
   where m.number = own_machine;
end
$$;

-- Leave a row without a text to those who saw this version, where the next one goes to others.
create function holdfast_hub.withdraw(
  stored holdfast_hub.versions, sequence bigint, next_audience text, next_recipient text
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if next_audience = 'team' then
    delete from holdfast_hub.versions v
     where v.project_id = stored.project_id
       and v.kind = stored.kind
       and v.item_id = stored.item_id
       and v.machine_number = stored.machine_number
       and v.recipient = next_recipient
       and v.is_withdrawn;
  end if;
  if stored.audience = 'team' then
    stored.sequence := sequence;
    stored.is_withdrawn := true;
    stored.body := '';
    insert into holdfast_hub.versions select stored.*;
  end if;
end
$$;

create function holdfast_hub.confirm(project text, machine text, sequence bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  member holdfast_hub.members := holdfast_hub.require_member();
  own_machine bigint := holdfast_hub.require_machine(machine);
begin
  insert into holdfast_hub.projects (team_id, name)
  select member.team_id, project
   where not exists (
     select from holdfast_hub.projects p where p.team_id = member.team_id and p.name = project
   )
  on conflict do nothing;
  insert into holdfast_hub.applied as stored (project_id, machine_number, team_id, sequence)
  select p.id, own_machine, member.team_id, confirm.sequence
    from holdfast_hub.projects p
   where p.team_id = member.team_id and p.name = project
  on conflict (project_id, machine_number) do update
     set sequence = greatest(stored.sequence, excluded.sequence);
end
$$;

-- Remove the texts of everything that this member shared, of one project or, if it is null, of all.
create function holdfast_hub.erase_own(project text) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  member holdfast_hub.members := holdfast_hub.require_member();
  here holdfast_hub.projects;
  stored record;
  now_ms bigint := holdfast_hub.clock_ms();
  erased bigint := 0;
begin
  perform holdfast_hub.ensure_audit_month(now_ms);
  for here in
    select *
      from holdfast_hub.projects p
     where p.team_id = member.team_id and (erase_own.project is null or p.name = erase_own.project)
     order by p.id
       for update
  loop
    select erased + count(distinct (v.kind, v.item_id)) into erased
      from holdfast_hub.versions v
     where v.project_id = here.id and v.person_id = member.id and v.body <> '';
    for stored in
      select v.ctid as place, v.kind, v.item_id, v.audience, v.recipient, m.id as machine
        from holdfast_hub.versions v
        join holdfast_hub.machines m on m.number = v.machine_number
       where v.project_id = here.id and v.person_id = member.id and v.body <> ''
       order by v.sequence
    loop
      here.last_sequence := here.last_sequence + 1;
      update holdfast_hub.versions v
         set body = '', sequence = here.last_sequence
       where v.ctid = stored.place;
      insert into holdfast_hub.audit
        (at, team_id, person_id, person, machine, action, project, kind, item_id, is_for_team)
      values
        (now_ms, member.team_id, member.id, member.name, stored.machine, 'removed', here.name, stored.kind,
         stored.item_id, stored.audience = 'team' and stored.recipient = '');
    end loop;
    update holdfast_hub.projects p set last_sequence = here.last_sequence where p.id = here.id;
  end loop;
  return erased;
end
$$;


-- Grants: members read, and write by functions alone ----------------------------------------------------------------

revoke all on all functions in schema holdfast_hub from public;
grant usage on schema holdfast_hub to :readers;
grant select on holdfast_hub.schema_version, holdfast_hub.teams, holdfast_hub.members, holdfast_hub.projects,
  holdfast_hub.machines, holdfast_hub.versions, holdfast_hub.applied, holdfast_hub.audit to :readers;
grant execute on function holdfast_hub.me(), holdfast_hub.my_name(), holdfast_hub.my_team(),
  holdfast_hub.identify(text, text), holdfast_hub.confirm(text, text, bigint), holdfast_hub.erase_own(text)
  to :readers;
grant execute on function holdfast_hub.push(
  text, text, text[], text[], bigint[], bigint[], text[], text[], text[], text[], text[], bigint[]
) to :writers;
