"""Upkeep: what time alone calls for, and bringing back what a damaged store holds."""
