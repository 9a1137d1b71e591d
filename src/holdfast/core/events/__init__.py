"""Events: what happens in a session, the world around it, and what setup asks to have written."""
