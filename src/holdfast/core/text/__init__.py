"""Text: strings, names, paths and patterns, and how text from elsewhere is made harmless. No events here."""
