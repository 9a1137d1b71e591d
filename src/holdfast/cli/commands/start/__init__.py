"""Commands to get started: demo, setup, doctor, dashboard."""
