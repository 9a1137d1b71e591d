"""Commands about state that is passed on: continuity, ledger, handoff."""
