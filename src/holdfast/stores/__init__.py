"""Stores: one contract in `base.py`, its implementations beside it, one test suite over all of them.

This is the only package with Holdfast's SQL and the only one that imports a database driver. Callers pass ids
and times.

Not here: decisions, redaction, files that the user edits, or anything SQL-specific in `base.py`.
"""
