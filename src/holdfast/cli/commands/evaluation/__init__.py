"""Evaluation on the command line: how good briefs, recall and redaction are."""
