"""Prose: what users and agents state in a text, read by rule."""
