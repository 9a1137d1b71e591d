"""Evidence: facts derived from a session's events by rule. What of them is shown is decided elsewhere."""
