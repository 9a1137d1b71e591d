-- Some sessions have their whole log here: rows of `messages` with the origin 'record', whose `data` is a record
-- as it was given. This index holds them in the order in which they came, and nothing of other sessions.
create index idx_messages_logs on messages(session_key) where origin = 'record';
