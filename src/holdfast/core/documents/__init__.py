"""Documents: ledger, handoff and continuity as Markdown, read, merged and written without loss."""
