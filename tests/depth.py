"""How far hypothesis searches: shallow while one works, deep in CI."""

from __future__ import annotations

import os
from typing import Final

DEEP: Final = bool(os.environ.get("CI"))
EXAMPLES: Final = 100
"""What hypothesis itself takes for enough."""
_SHARE: Final = 5
_FEWEST: Final = 5


def examples(deep: int) -> int:
    """So many examples in CI, and a fifth of them elsewhere."""
    return deep if DEEP else max(deep // _SHARE, _FEWEST)
