"""MCP: calls of agents' tools, over the socket or HTTP."""
