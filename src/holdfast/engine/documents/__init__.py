"""Documents: ledger, handoff and continuity in a project's files."""
