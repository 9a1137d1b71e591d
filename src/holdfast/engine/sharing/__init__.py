"""Sharing: sends to a hub what a project's settings name, and applies what arrives from it.

Start reading at `exchange.py`. Nothing here runs while a hook or a brief waits: the daemon calls it in a
thread of its own.

Not here: SQL, connections, and which version of an item holds (`core.sharing.versions`).
"""
