"""Work: what a ledger and a handoff say of a session."""
