"""Models answer: each kind behind a small contract in `base.py`, its implementations beside it.

What a model needs to answer, weights or a program, is loaded when it is first asked for, never on import.

Not here: what the answers are worth (`core` decides that), where they are kept, and any download.
"""

from __future__ import annotations

from importlib import import_module

from holdfast.models.base import Embedder


def embedder() -> Embedder:
    """The embedder that comes with the package; loaded only now, since numpy takes longer than it does."""
    loaded: Embedder = import_module(f"{__name__}.static").load()
    return loaded
