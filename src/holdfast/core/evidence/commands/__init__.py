"""Commands: what a command line does, its purpose, and the meaning of its exit status."""
