"""Memory: remember, recall and review."""
