"""HTTP: the loopback listener, and the server that it loads on the first connection."""
