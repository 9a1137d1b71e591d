"""Redaction as it is in force: the redactor of the settings, and what stays known of forgotten texts."""
