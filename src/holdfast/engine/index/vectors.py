"""Vectors: documents are embedded when a search by meaning needs them, not when they are stored.

Loading the embedder takes longer than a hook may take. So a recall embeds the newest documents first, and an
import embeds all of its own at once.
"""

from __future__ import annotations

from typing import Final

from holdfast.engine.engine import Engine
from holdfast.models.base import Embedder

MODEL: Final = "embedder"
"""The fact that says which model made the store's vectors: those of two models cannot be compared."""


def catch_up(engine: Engine, embedder: Embedder, most: int) -> int:
    """Embed at most so many documents that have no vector; returns how many were embedded."""
    store = engine.store
    if store.fact(MODEL) == embedder.name and not store.without_vector(1):
        return 0
    # Read inside the transaction, so that the vector belongs to this text even if another process writes.
    with store.writing():
        if store.fact(MODEL) != embedder.name:
            store.drop_vectors()
            store.put_fact(MODEL, embedder.name)
        waiting = store.without_vector(most)
        vectors = embedder.embed([document.text for document in waiting])
        for document, vector in zip(waiting, vectors, strict=True):
            store.put_vector(document.id, vector)
    return len(waiting)
