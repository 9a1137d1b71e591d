"""Repository: which project a directory is, and what its files, branch and commits look like now."""
