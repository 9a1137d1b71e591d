"""Session: the stored state of one conversation, and how each event changes it."""
