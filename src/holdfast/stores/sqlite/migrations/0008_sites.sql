-- Where each project is, and where it was before: a project keeps its id when its repository moves, and another
-- repository at the same path is another project. Projects that have no row yet are known by their path alone.
create table sites (
    location      text not null,    -- the real path of the common git directory; outside git of the directory
    project_id    text not null,
    anchor        text not null,    -- the path that the ids of worktrees are derived from
    root          text not null,    -- the top of the main worktree; outside git the directory
    is_git        integer not null,
    device        text not null,
    inode         text not null,
    born          integer not null, -- when the directory was created, in nanoseconds since 1970; 0 for unknown
    first_entry   text not null,    -- a hash of the first entry in HEAD's reflog
    began_at      integer not null, -- when that entry was written, in seconds since 1970; 0 if it is not the first ever
    remotes       json not null,    -- hashes of the addresses of the remotes
    first_seen_at integer not null,
    last_seen_at  integer not null,
    left_at       integer not null, -- 0 while the project was last seen here
    moved_from    text not null,
    primary key (location, project_id)
) without rowid;

create index idx_sites_project on sites(project_id);
create index idx_sites_root on sites(root);
create index idx_sites_inode on sites(inode);
create index idx_sites_first_entry on sites(first_entry) where first_entry <> '';
