"""Privacy: forgetting, auditing, and redacting anew what an older redactor wrote."""
