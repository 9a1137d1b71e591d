"""The machines that share in these tests."""

from tests.engine.sharing.machines import fleet

__all__ = ["fleet"]
