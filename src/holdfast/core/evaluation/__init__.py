"""Evaluation: measures how good briefs are. It decides nothing; no other part of core imports it."""
