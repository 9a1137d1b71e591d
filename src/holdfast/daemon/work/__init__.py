"""Work: the thread that runs the engine, the dispatcher that gives it jobs, and scheduled jobs."""
