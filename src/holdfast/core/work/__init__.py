"""Work: the state of a session's work, which every document about it renders."""
