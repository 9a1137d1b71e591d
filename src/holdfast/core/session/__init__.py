"""Session: the durable state of one conversation, and what follows from each event."""
