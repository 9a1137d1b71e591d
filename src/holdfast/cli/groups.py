"""Groups of commands: loaded on first use, with a suggestion for a mistyped name.

A group that is called without a command prints its help, which is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "setup": ("init", "install", "connect", "enable"),
    "unsetup": ("uninstall", "disconnect", "disable", "deinit"),
    "recall": ("search", "find", "grep", "query", "ask"),
    "remember": ("note", "save-memory", "learn"),
    "sessions": ("list", "ls", "history"),
    "brief": ("context", "summary", "recover"),
    "forget": ("delete", "rm", "remove", "purge"),
    "up": ("start", "daemon", "serve"),
    "down": ("stop", "quit", "kill"),
    "status": ("info", "state"),
    "doctor": ("check", "health", "diagnose", "verify"),
    "dashboard": ("ui", "web", "open", "gui"),
    "why": ("blame", "log-file"),
    "config": ("settings", "set", "preferences", "options"),
    "stats": ("metrics", "usage"),
    "completion": ("completions", "autocomplete"),
    "continuity save": ("save",),
    "continuity load": ("load",),
    "checkpoints take": ("snapshot",),
    "--version": ("version",),
}
"""Words that other programs use for what a command does."""
_OF_SYNONYMS: Final = {word: name for name, words in SYNONYMS.items() for word in words}
_ALIKE: Final = 0.65


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


class MistypedName(click.UsageError):
    """A command or option that is not there; the message is the whole sentence."""


class SuggestingGroup(click.Group):
    """Names the command that was probably meant; called without one, it prints its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit(0)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if self.get_command(ctx, word) is None and not ctx.resilient_parsing and not word.startswith("-"):
            raise MistypedName(self._sentence(ctx, word), ctx)
        return super().resolve_command(ctx, args)

    def _sentence(self, ctx: click.Context, word: str) -> str:
        # In the language of errors: `holdfast memories` is said of a group, nothing of the program itself.
        own = "" if ctx.parent is None else f" in `{ctx.command_path}`"
        near = self.nearest_command(ctx, word)
        if near:
            return f"there is no command `{word}`{own}; did you mean `{ctx.command_path} {near}`?"
        listing = "holdfast help all" if ctx.parent is None else f"{ctx.command_path} --help"
        return f"there is no command `{word}`{own}; `{listing}` lists those there are"

    def nearest_command(self, ctx: click.Context, word: str) -> str:
        """The command that was probably meant; empty if none is alike."""
        return nearest(word, self.list_commands(ctx))


class Commands(SuggestingGroup):
    """Lists its commands in the order in which they were added, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def summaries(self) -> dict[str, str]:
        """Each command that is listed, with its first sentence."""
        return {
            name: " ".join((command.help or "").partition("\n\n")[0].split())
            for name, command in self.commands.items()
            if not command.hidden
        }

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [
            *completions(self.summaries(), incomplete),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]


class ListingGroup(Commands):
    """A command that lists, with commands beside it that are loaded when they are called."""

    def __init__(self, listing: click.Command, entries: Mapping[str, Entry]) -> None:
        super().__init__(
            name=listing.name,
            callback=_unless_more_is_called(listing.callback),
            params=listing.params,
            help=listing.help,
            epilog=listing.epilog,
            invoke_without_command=True,
            subcommand_metavar="[COMMAND]",
        )
        self.entries: Final = entries

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = self.entries.get(cmd_name)
        return entry.load() if entry else None

    def summaries(self) -> dict[str, str]:
        return {name: entry.summary for name, entry in self.entries.items()}


def _unless_more_is_called(callback: Callable[..., None] | None) -> Callable[..., None]:
    def list_rows(**values: Any) -> None:  # noqa: ANN401 - what the options give
        if click.get_current_context().invoked_subcommand is None and callback is not None:
            callback(**values)

    return list_rows


def nearest(word: str, names: Iterable[str]) -> str:
    """The name that was probably meant by a word; empty if none is alike."""
    # Loaded only after a mistake.
    from difflib import get_close_matches

    known = list(names)
    meant = _OF_SYNONYMS.get(word.lower(), "")
    if meant.startswith("-") or meant.split(" ")[0] in known:
        return meant
    matches = get_close_matches(word.lower(), known, n=1, cutoff=_ALIKE)
    return matches[0] if matches else ""


def option_sentence(error: click.NoSuchOption) -> str:
    """The sentence about an option that is not there."""
    if error.ctx is None:
        return error.format_message()
    # Without the dashes, which would make any two options alike.
    known = {
        option.lstrip("-"): option
        for param in error.ctx.command.get_params(error.ctx)
        for option in (*param.opts, *param.secondary_opts)
        if option.startswith("--")
    }
    path = error.ctx.command_path
    near = known.get(nearest(error.option_name.lstrip("-"), known), "")
    then = f"did you mean `{near}`?" if near else f"`{path} --help` lists those there are"
    return f"`{path}` has no option `{error.option_name}`; {then}"


def completions(summaries: Mapping[str, str], incomplete: str) -> list[CompletionItem]:
    """What a shell offers for the beginning of a command's name."""
    # Only a shell that completes needs it.
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=summary)
        for name, summary in summaries.items()
        if name.startswith(incomplete)
    ]
