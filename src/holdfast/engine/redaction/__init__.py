"""Redaction: the redactor that the settings ask for, and hashes of forgotten texts."""
