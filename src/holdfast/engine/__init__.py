"""The engine does: it carries out what core decided, through a harness, a store and files.

`record` is the only path by which an event changes anything, and the place where text is redacted. The caller
passes the clock, the ids and the store.

Not here: SQL, the name of a harness, sockets, `async`, printing, or a second place where core's decisions are
made.
"""
