"""The hub: a PostgreSQL database through which machines and people share what they chose to share.

`base.py` is the contract, with one test suite over its implementations. SQL is here and in the stores only.

Not here: what is shared, redaction, and which version of an item holds.
"""
