"""Scope: which texts a search from a project covers, and which of them an id names.

A project sees its own texts, those of the current worktree, and the user's; all others only on request.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.events.world import Project
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError
from holdfast.stores.base import EVERYWHERE, Document, Within

USER: Final = ""
"""The project id of memories that apply to every project."""
SHORTEST_PREFIX: Final = 6


def within(project: Project, *, all_projects: bool = False) -> Within:
    """The texts that can be seen from this project."""
    return EVERYWHERE if all_projects else Within((project.project_id, USER), project.worktree_id)


def named(engine: Engine, id: str, where: Within) -> Document | None:
    """The document with that id, or the only one whose id begins with it; None if there is none.

    Raises HoldfastError if several match.
    """
    documents = engine.store.documents_beginning(id, where, 2) if id else []
    if any(document.id == id for document in documents):
        return next(document for document in documents if document.id == id)
    if not documents or len(id) < SHORTEST_PREFIX:
        return None
    if len(documents) > 1:
        raise HoldfastError(f"several ids begin with `{id}`", "write a few more of its characters")
    return documents[0]
