"""The daemon listens: doors for hooks, the watch on transcripts, and the loop that keeps house.

`main.py` is the composition root: what lives long is made there and passed on. This is the only room with
`async`. `client.py` is the other end of the wire and all that `cli` may import from here; it stays with the
standard library.

Not here: SQL, decisions about events, or anything heavy before the hook's door is open. This file stays empty
of imports, because every client of the daemon loads it.
"""
