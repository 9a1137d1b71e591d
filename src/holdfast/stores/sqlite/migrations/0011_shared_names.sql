-- The names by which other machines and people know a project: `host/owner/name` of its remote now and before, and what
-- its user chose. They stay when the remote is renamed, so that what was shared under a former name is still found.
create table shared_names (
    project_id    text not null,
    name          text not null,
    is_bound      integer not null, -- whether the user chose it
    first_seen_at integer not null,
    last_seen_at  integer not null,
    primary key (project_id, name)
) without rowid;

create index idx_shared_names_name on shared_names(name);
