"""The demo's recorded session of a real harness, its replay, and questions about it.

`scripts/record_demo.py` makes the files beside this one; the words of the harness's model are scripted there.
Telling a person about it is `cli.commands.demo`'s work.
"""
