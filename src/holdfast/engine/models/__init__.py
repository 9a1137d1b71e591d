"""Models: asking a configured model, within what it may cost."""
