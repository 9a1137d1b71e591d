"""Known models: how large their windows are and how they count, as the table beside this file says.

A table, not code: what vendors sell changes more often than what is done with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.session.pressure import KnownModel


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    models: tuple[KnownModel, ...]


def read_table() -> tuple[KnownModel, ...]:
    """Every model in the table that comes with the package."""
    text = Path(__file__).with_name("known.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_Table).models


KNOWN_MODELS: Final = read_table()
