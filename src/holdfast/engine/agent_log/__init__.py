"""Agent log: sessions of one's own agent loop: append, compact, inherit, export."""
