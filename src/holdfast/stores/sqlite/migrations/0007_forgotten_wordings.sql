-- Wordings of memories that were forgotten, as keyed hashes of their words: read once more in a transcript, or
-- found in a backup, they are recognised. Whoever remembers the same again lifts that.
create table forgotten_wordings (
    blocks    blob primary key, -- the hashes of its words, block by block
    words     integer not null, -- how many words it has
    alone     integer not null, -- 1 for one that is too short to be looked for inside other texts
    at        integer not null, -- when it was forgotten
    lifted_at integer not null  -- when it was remembered again; 0 if it was not
) without rowid;

-- Wordings that a memory had before it was edited, in the same hashes: they are forgotten with it.
create table memory_wordings (
    memory_id text not null,
    blocks    blob not null,
    words     integer not null,
    alone     integer not null,
    primary key (memory_id, blocks)
) without rowid;

create trigger memory_wordings_dropped after delete on memories begin
    delete from memory_wordings where memory_id = old.id;
end;
