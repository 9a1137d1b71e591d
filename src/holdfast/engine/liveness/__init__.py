"""Liveness: whether processes, sessions' harnesses and the daemon of a home are still there."""
