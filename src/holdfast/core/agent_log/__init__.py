"""Agent log: the log of an agent loop that stores its session in Holdfast, and what its model is sent."""
