"""Briefing: which session a starting one continues, what it is given, and warnings while it works."""
