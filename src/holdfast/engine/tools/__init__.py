"""Tools: what an agent can ask of Holdfast over MCP."""
