"""Upkeep: periodic maintenance, and recovering the contents of a damaged store."""
