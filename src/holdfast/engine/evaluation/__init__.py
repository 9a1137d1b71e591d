"""Evaluation: briefs, recall and redaction measured on transcripts and labelled data."""
