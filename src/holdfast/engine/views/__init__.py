"""Views: what is stored, as programs and pages are shown it."""
