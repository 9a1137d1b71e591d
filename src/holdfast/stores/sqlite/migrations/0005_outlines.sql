-- What a checkpoint says in fields: summary, topics, open questions, key decisions, and at how many tokens.
alter table session_checkpoints add column outline json not null default '{}';
