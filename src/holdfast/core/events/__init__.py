"""Events: what happens in a session, projects and git states, and what setup asks to have written."""
