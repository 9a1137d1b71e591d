"""Holdfast keeps a coding agent's work alive when its context window dies.

Only the version is here. Each room says at its own door what it is for and what may not be in it.
"""

__version__ = "0.1.0"
