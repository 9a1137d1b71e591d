"""The stage and the library, set anew for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.library import library
from tests.engine.stage import Stage

__all__ = ["library"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)
