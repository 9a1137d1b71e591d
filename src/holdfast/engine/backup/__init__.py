"""Backup: the whole home in one encrypted file, and a home put back from one.

`archive.py` is the stream of files inside, `write.py` makes a backup, `restore.py` puts one back.

Not here: encryption (`files.sealed`), and copies of the store that the daemon makes by itself.
"""
