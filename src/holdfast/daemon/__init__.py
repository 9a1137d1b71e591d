"""The daemon listens: endpoints for hooks, commands and HTTP, the watch on transcripts, and housekeeping.

`main.py` is the composition root: long-lived objects are made there and passed on. This is the only package
with `async`. `local/client.py` is the client's side and all that `cli` may import from here; it uses the
standard library only.

Not here: SQL, decisions about events, or anything heavy before the hook's endpoint is open. This file imports
nothing, because every client of the daemon loads it.
"""
