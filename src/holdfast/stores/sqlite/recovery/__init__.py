"""Recovery: a damaged database is set aside, read page by page, and merged into the one in use."""
