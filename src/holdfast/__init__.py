"""Holdfast keeps a coding agent's work alive when its context window dies.

Only the version is defined here. Each package's docstring says what it holds and what must not be in it.
"""

__version__ = "0.2.0.dev0"
