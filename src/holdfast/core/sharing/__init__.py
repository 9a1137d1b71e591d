"""Sharing: by which names machines and people know projects and each other."""
