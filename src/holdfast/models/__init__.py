"""Models: each kind behind a small contract in `base.py`, its implementations beside it.

A model's weights or SDK are loaded on first use, never on import.

Not here: what the answers are worth (`core` decides that), where they are stored, and any download.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from holdfast.errors import ModelError
from holdfast.models.base import Address, Count, Embedder, Writer

APIS: Final = ("anthropic", "openai")
"""The kinds of APIs behind which a model can be asked, each an extra of the package."""


def embedder() -> Embedder:
    """The embedder that comes with the package; loaded only now: no hook needs it."""
    loaded: Embedder = import_module(f"{__name__}.static").load()
    return loaded


def counter() -> Count:
    """What counts tokens; loaded only now, since its ranks take 35 MB. ModelError if it cannot be."""
    try:
        loaded: Count = import_module(f"{__name__}.tokens").load()
    except ImportError as error:
        raise ModelError(f"tokens cannot be counted: {error}", "reinstall Holdfast") from error
    return loaded


def writer(kind: str, model: str, address: Address) -> Writer:
    """A model that writes, behind an API of that kind; loaded only now. ModelError if it cannot be."""
    if kind not in APIS:
        kinds = ", ".join(f"`{api}/…`" for api in APIS)
        raise ModelError(f"there is no kind of model `{kind}`", f"one of: {kinds}, or `command`")
    try:
        loaded: Writer = import_module(f"{__name__}.{kind}_api").load(model, address)
    except ImportError as error:
        needed = f"`uv tool install 'holdfast[{kind}]'`, `pipx inject holdfast {kind}`"
        library = f"for the library `pip install 'holdfast[{kind}]'`"
        hint = f"install it with {needed}, or {library}"
        raise ModelError(f"models of `{kind}` need a package that is not there: {error}", hint) from error
    return loaded
