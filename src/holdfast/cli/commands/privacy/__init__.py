"""Commands about what must not be kept: forget, prune, audit, redact, recover-store."""
