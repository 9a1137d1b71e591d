"""Commands about sessions: list, show, brief, import."""
