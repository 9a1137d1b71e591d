"""The reference store: plain dictionaries that say what every store must do.

For tests and for work that leaves nothing behind. It keeps nothing when the process ends, and it is not fast.
"""

from holdfast.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
