"""Core decides: values and pure functions that say what an event means and what should follow.

Not here: files, sockets, SQL, the clock, randomness, the environment, logging, or the name of any harness.
Time and ids are arguments; nothing here can look at the world, so nothing can fail because of it. Core
imports only itself and `holdfast.lazy_dataclass`.
"""
