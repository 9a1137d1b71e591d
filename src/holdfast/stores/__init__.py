"""Stores keep: one contract in `base.py`, its implementations beside it, one test suite over all of them.

This is the only room with our SQL and the only one that imports a database driver. Callers give ids and
times.

Not here: decisions, redaction, files that a person edits, or anything of a dialect in `base.py`.
"""
