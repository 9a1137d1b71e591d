"""Local: the socket that hooks and commands use, its wire format, spool and lock."""
