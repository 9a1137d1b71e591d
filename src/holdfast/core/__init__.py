"""Core decides: values and pure functions that say what an event means and what should follow.

Not here: files, sockets, SQL, the clock, randomness, the environment, logging, or the name of any harness.
Time and ids are arguments; nothing in this room can look at the world, so nothing in it can fail because of
the world. It imports only itself and `holdfast.errors`.
"""
