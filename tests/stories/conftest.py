"""Stories run in a real daemon's home."""

from tests.daemon.conftest import lodging

__all__ = ["lodging"]
