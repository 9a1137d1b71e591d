"""Commands about memories: remember, recall, memories."""
