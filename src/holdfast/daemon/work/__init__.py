"""Work: the thread that runs the engine, who gives it jobs, and what runs on a schedule."""
