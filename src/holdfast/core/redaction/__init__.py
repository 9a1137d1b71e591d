"""Redaction: which parts of a text are secrets. `redact.py` is the entry, `scan.py` runs the rules."""
