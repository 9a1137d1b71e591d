"""Evaluation: how good briefs are. It measures and decides nothing; no other part of core imports it."""
