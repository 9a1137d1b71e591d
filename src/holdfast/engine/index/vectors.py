"""Vectors: each document is given one when someone looks for what texts mean, not when it is kept.

They are derived, and loading what derives them takes longer than a hook may take. So whoever recalls gives
the newest documents theirs first, and whoever brings in many gives all of them theirs at once.
"""

from __future__ import annotations

from typing import Final

from holdfast.engine.engine import Engine
from holdfast.models.base import Embedder

MODEL: Final = "embedder"
"""The fact that says whose vectors the store holds: those of two models cannot be compared."""


def catch_up(engine: Engine, embedder: Embedder, most: int) -> int:
    """Give documents that have none their vectors, at most so many of them; how many were given."""
    store = engine.store
    if store.fact(MODEL) == embedder.name and not store.without_vector(1):
        return 0
    # What is read inside is what the vector is for, whoever else writes.
    with store.writing():
        if store.fact(MODEL) != embedder.name:
            store.drop_vectors()
            store.put_fact(MODEL, embedder.name)
        waiting = store.without_vector(most)
        vectors = embedder.embed([document.text for document in waiting])
        for document, vector in zip(waiting, vectors, strict=True):
            store.put_vector(document.id, vector)
    return len(waiting)
