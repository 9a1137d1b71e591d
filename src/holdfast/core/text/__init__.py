"""Text: strings, names, paths and patterns, and making untrusted text harmless. No events here."""
