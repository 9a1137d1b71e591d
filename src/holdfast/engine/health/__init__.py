"""Health: checks that everything works, each with what to do where it does not."""
