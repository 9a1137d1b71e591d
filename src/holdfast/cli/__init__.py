"""The command line answers a person: parse, call the engine or the daemon, print.

Data goes to stdout and everything else to stderr. Each command imports what it needs when it runs, so the
others start fast.

Not here: decisions, SQL, the name of a harness, or the inside of the daemon: `cli` speaks to it through
`holdfast.daemon.local.client` and starts it as `python -m holdfast.daemon`.
"""
