"""What every SQL database does in the same words: one set of statements over the tables of a store.

`database.py` says what a database must offer. Where the dialects differ, a statement is written as SQLite
has it, and `stores/postgres/dialect.py` says how PostgreSQL does.

Not here: drivers, schemas and migrations, full text, and what is done about damage: that is each
database's own.
"""
