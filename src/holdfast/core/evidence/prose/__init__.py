"""Prose: what people and agents state in a text, read by rule."""
