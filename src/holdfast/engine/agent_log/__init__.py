"""Agent log: sessions of your own agent loop: append, compact, inherit, export."""
