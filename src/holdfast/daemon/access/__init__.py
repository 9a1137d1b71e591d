"""Access: who may use the HTTP listener, how often, and for what."""
