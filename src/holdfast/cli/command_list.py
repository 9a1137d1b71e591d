"""The list of commands: a summary and the module of each.

Listing them loads none; only the called command is loaded, so that every command starts fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.groups import Entry, SuggestingGroup, completions, nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ALIASES", "COMMANDS", "DAILY", "SECTIONS", "Entry", "LazyGroup", "all_commands"]

SECTIONS: Final = {
    "Get started": {
        "demo": Entry("demo", "demo", "See it work: a recorded session loses its context and gets it back."),
        "setup": Entry("setup", "setup", "Connect the harnesses on this machine to Holdfast."),
        "unsetup": Entry("setup", "unsetup", "Undo setup: every file is again what it was."),
        "plugin": Entry(
            "plugin",
            "plugin",
            "Write the plugins by which harnesses install Holdfast themselves.",
        ),
        "status": Entry("health.status", "status", "Show how things stand: problems first."),
        "doctor": Entry("health.doctor", "doctor", "Check that everything works, with a real round trip."),
        "dashboard": Entry("daemon.http_access", "dashboard", "Open the dashboard in your browser."),
        "help": Entry("help", "help_", "Explain a command, or list all of them by topic."),
        "completion": Entry("completion", "completion", "Have your shell complete commands and options."),
    },
    "What is watched and kept": {
        "sessions": Entry("sessions", "sessions", "List the sessions that were seen."),
        "show": Entry("sessions", "show", "Show what was done in a session, and where it stands."),
        "why": Entry("why", "why", "Show which sessions changed a file, what was asked, and why."),
        "checkpoints": Entry("sessions", "checkpoints", "List checkpoints, the newest first."),
        "brief": Entry("brief", "brief", "Show what the next session would be given back."),
        "stats": Entry("health.stats", "stats", "Show what was kept, given back and used, and what it cost."),
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
            "Keep something until you forget it, without its secrets.",
        ),
        "recall": Entry(
            "recall",
            "recall",
            "Find what was remembered, written down or said before.",
        ),
        "expand": Entry(
            "recall",
            "expand",
            "Show the whole text of what `recall` found, by its id or how that begins.",
        ),
        "memories": Entry(
            "memory",
            "memories",
            "Look after what was remembered: list, show, edit, pin, unpin, share, unshare, forget.",
        ),
    },
    "State that you pass on": {
        "continuity": Entry(
            "documents.continuity",
            "continuity_group",
            "Keep a project's working state as Markdown that you can edit.",
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
    "Other machines": {
        "hub": Entry("hub", "hub", "Share with other machines and people, through a database of yours."),
        "backup": Entry("backup", "backup", "Write the whole home into one encrypted file."),
        "restore": Entry("backup", "restore", "Put back a home from a file that `backup` wrote."),
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
        "config": Entry("daemon.config", "config", "Show, explain and change the settings."),
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
            "daemon.harness_commands", "mcp", "Speak MCP on stdin and stdout: the server of Holdfast's tools."
        ),
        "statusline": Entry("daemon.harness_commands", "statusline", "Print the status line of a session."),
        "redact": Entry("redact", "redact", "Copy stdin to stdout without the values of secrets."),
        "export": Entry(
            "import_export", "export", "Write a session of your own agent in the format of a harness."
        ),
        "models": Entry("daemon.models", "models", "Look at the models that Holdfast asks by itself."),
        "eval": Entry("evaluation.eval", "evaluate", "Measure what briefs hold of what agents need."),
    },
}
"""The commands in sections, as a person looks for them."""

COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

ALIASES: Final[Mapping[str, Entry]] = {
    "session": COMMANDS["continuity"],
    "checkpoint": Entry("checkpoint", "take", "Take a checkpoint of a session now."),
}
"""Former names, which work and are listed nowhere."""

DAILY: Final = tuple(
    name
    for name in (
        *("setup", "status", "sessions", "show", "why", "brief", "recall", "remember"),
        *("handoff", "stats", "dashboard", "doctor", "forget"),
    )
    if name in COMMANDS
)
"""The commands that `holdfast` alone lists."""


class LazyGroup(SuggestingGroup):
    """Knows its commands by name and loads the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = COMMANDS.get(cmd_name) or ALIASES.get(cmd_name)
        return entry.load() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands of daily use"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in DAILY])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The commands first: they are what a person looks for.
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def nearest_command(self, ctx: click.Context, word: str) -> str:  # noqa: ARG002
        # Of two that are equally alike, the one of daily use.
        return nearest(word, (*DAILY, *(name for name in COMMANDS if name not in DAILY)))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        summaries = {name: entry.summary for name, entry in COMMANDS.items()}
        return [*completions(summaries, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]


def all_commands(ctx: click.Context) -> str:
    """Every command by topic, as `holdfast help all` prints them."""
    widest = max(map(len, COMMANDS))  # Aligns the columns of all topics.
    formatter = ctx.make_formatter()
    for title, commands in SECTIONS.items():
        with formatter.section(title):
            formatter.write_dl([(f"{name:{widest}}", entry.summary) for name, entry in commands.items()])
    return formatter.getvalue().strip("\n")
