"""The HTTP API for programs and the dashboard, one module for each subject.

Routes parse the request, have the engine do it, and shape the answer. Not here: who may ask (`access.guard`),
and decisions (the engine).
"""
