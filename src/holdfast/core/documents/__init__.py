"""Documents: ledger, handoff and continuity as text: read, merged and written without loss."""
