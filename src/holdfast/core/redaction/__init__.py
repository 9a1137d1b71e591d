"""Redaction: which parts of a text are secrets. `redact.py` is the entry; `rules.py` lists the rules."""
