"""Files that the user may edit too: read with care, changed in place, written whole or not at all.

Not here: what is to be written (`harnesses` and `core` say so), and anything in a database.
"""
