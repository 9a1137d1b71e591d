"""The list of commands: a summary and the module of each.

Listing them loads none; only the called command is loaded, so that every command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: the module and the name that hold it, and its line in the list."""

    module: str
    name: str
    summary: str

    def load(self) -> click.Command:
        """The command itself."""
        loaded: click.Command = getattr(import_module(f"{__package__}.commands.{self.module}"), self.name)
        return loaded


SECTIONS: Final = {
    "Get started": {
        "demo": Entry("demo", "demo", "See it work: a recorded session loses its context and gets it back."),
        "setup": Entry("setup", "setup", "Connect the harnesses on this machine to Holdfast."),
        "unsetup": Entry("setup", "unsetup", "Undo setup: every file is again what it was."),
        "plugin": Entry(
            "setup",
            "plugin",
            "Write hooks, tools, skills and commands as a plugin that a harness loads.",
        ),
        "status": Entry("status", "status", "Show how things stand: problems first."),
        "doctor": Entry("doctor", "doctor", "Check that everything works, with a real round trip."),
        "dashboard": Entry("daemon.http_access", "dashboard", "Open the dashboard in your browser."),
    },
    "What is watched and kept": {
        "sessions": Entry("sessions", "sessions", "List the sessions that were seen."),
        "show": Entry("sessions", "show", "Show what was done in a session, and where it stands."),
        "why": Entry("why", "why", "Show which sessions changed a file, what was asked, and why."),
        "checkpoints": Entry("sessions", "checkpoints", "List checkpoints, the newest first."),
        "checkpoint": Entry("checkpoint", "checkpoint", "Take a checkpoint of a session now."),
        "brief": Entry("brief", "brief", "Show what the next session would be given back."),
        "stats": Entry("stats", "stats", "Show what was kept, given back and used, and what it cost."),
        "statusline": Entry("daemon.harness_commands", "statusline", "Print the status line of a session."),
        "import": Entry(
            "import_export", "import_", "Bring in the sessions that harnesses kept before Holdfast came."
        ),
        "project": Entry(
            "project", "project", "List the projects that are known, or bind a directory to one."
        ),
        "forget": Entry("privacy", "forget", "Remove for good what is kept of sessions, or a memory."),
        "prune": Entry("privacy", "prune", "Remove what has served its time."),
        "audit": Entry(
            "privacy",
            "audit",
            "Look through what is kept: for secrets, and for memories that are of no use.",
        ),
    },
    "Memory": {
        "remember": Entry(
            "memory",
            "remember",
            "Keep something until it is forgotten, word for word but for secrets.",
        ),
        "recall": Entry(
            "recall",
            "recall",
            "Find what was remembered, written down or said before, the best first.",
        ),
        "expand": Entry(
            "recall",
            "expand",
            "Show the whole text of what `recall` found, by its id or how that begins.",
        ),
        "memories": Entry(
            "memory",
            "memories",
            "Look after what was remembered: list, show, edit, pin, unpin, forget.",
        ),
    },
    "State that you pass on": {
        "session": Entry(
            "documents.session", "session", "Keep a project's working state as Markdown that you can edit."
        ),
        "run": Entry(
            "documents.run", "run", "Start a harness with its continuity, and save it when the harness ends."
        ),
        "exec": Entry(
            "documents.run", "exec_", "Have a harness answer one prompt, with its continuity as for `run`."
        ),
        "resume": Entry(
            "documents.run",
            "resume",
            "Go on with a harness's earlier session, with its continuity as for `run`.",
        ),
        "dream": Entry(
            "documents.dream", "dream_group", "Review what of the continuity is worth keeping for good."
        ),
        "ledger": Entry(
            "documents.ledger", "ledger", "Keep a worktree's state in a file that you and the agent edit."
        ),
        "handoff": Entry("documents.handoff", "handoff", "Pass work on to another session, on purpose."),
    },
    "The daemon": {
        "up": Entry("daemon.daemon", "up", "Start the daemon."),
        "down": Entry("daemon.daemon", "down", "Stop the daemon."),
        "restart": Entry("daemon.daemon", "restart", "Stop the daemon and start it again."),
        "recover-store": Entry(
            "daemon.recover_store", "recover_store", "Bring back what can be read in a damaged store."
        ),
        "service": Entry("daemon.service", "service", "Have the daemon started when you log in."),
        "logs": Entry("daemon.daemon", "logs", "Print the end of the daemon's log."),
        "config": Entry("daemon.config", "config", "Show the settings in effect and where each comes from."),
        "token": Entry(
            "daemon.http_access", "token", "Show or renew the tokens by which programs use the HTTP API."
        ),
    },
    "For programs": {
        "hook": Entry(
            "daemon.harness_commands", "hook", "Deliver one hook event from stdin, as a harness would."
        ),
        "hook-command": Entry(
            "daemon.harness_commands", "hook_command", "Print the command line that setup gives to a harness."
        ),
        "mcp": Entry(
            "daemon.harness_commands", "mcp", "Speak MCP on stdin and stdout: the server of our tools."
        ),
        "redact": Entry("redact", "redact", "Copy stdin to stdout without the values of secrets."),
        "export": Entry(
            "import_export", "export", "Write a session of your own agent in the format of a harness."
        ),
        "models": Entry("daemon.models", "models", "Look at the models that Holdfast asks by itself."),
        "eval": Entry("eval", "evaluate", "Measure what briefs hold of what agents need."),
    },
}
"""The commands in sections, as a person looks for them."""

COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

_WIDEST: Final = max(map(len, COMMANDS))
"""Aligns the columns of all sections."""


class LazyGroup(click.Group):
    """Knows its commands by name and loads the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = COMMANDS.get(cmd_name)
        return entry.load() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{_WIDEST}}", entry.summary) for name, entry in commands.items()])
