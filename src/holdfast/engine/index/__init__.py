"""Index: documents and vectors by which sessions, memories and files are found."""
