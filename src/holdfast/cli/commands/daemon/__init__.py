"""Commands about the daemon and its interfaces."""
