"""The HTTP API: what programs and the dashboard can ask the daemon, one file for each thing they ask about.

Routes read what was asked, have the engine do it, and shape the answer. Who may ask is for the guard to say;
what is true is for the engine.
"""
