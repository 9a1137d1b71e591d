"""Evidence: what a session's events amount to, derived by rule. No choice of what to tell."""
