"""A session that was recorded with a real harness, for the demo: what it is, and what comes of replaying it.

`scripts/record_demo.py` makes the files beside this one; the words of the harness's model are scripted there.
Telling a person about it is `cli.commands.start.demo`'s work.
"""
