"""Work: what a ledger and a handoff say about a session."""
