"""Commands: what a command line does, what it is for, and how its end is to be read."""
