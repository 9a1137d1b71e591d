"""Agent log: the log of an agent loop that keeps its session here, and what its model is sent."""
