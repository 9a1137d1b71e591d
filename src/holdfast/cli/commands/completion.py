"""Completion: the lines by which a shell completes Holdfast's commands, printed or installed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
from click.shell_completion import get_completion_class

from holdfast.cli import access
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, say
from holdfast.core.events.install_request import WantedCopy
from holdfast.errors import HoldfastError
from holdfast.files import install

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_HOLDFAST_COMPLETE"


@command(
    "holdfast completion --install",
    "holdfast completion bash",
    'eval "$(holdfast completion zsh)"  # in ~/.zshrc, below compinit',
)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", "is_installed", is_flag=True, help="Write it where the shell looks for it.")
@json_option("Print one JSON document: {shell, path, script}.")
def completion(*, shell: str | None, is_installed: bool, as_json: bool) -> None:
    """Have your shell complete commands and options.

    Prints the lines for the shell, or writes them with --install: for bash and fish to where both load them
    by themselves, for zsh into a directory that `fpath` must name. Without a name it is the shell of $SHELL.
    `holdfast unsetup` removes what was installed.
    """
    chosen = shell or _own_shell(os.environ)
    script = completion_script(chosen)
    path = completion_path(chosen, os.environ)
    if is_installed:
        _install(path, script)
    if as_json:
        give_json({"shell": chosen, "path": str(path) if is_installed else None, "script": script})
    elif is_installed:
        give(str(path))
        say(_next_step(chosen, path))
    else:
        give(script.rstrip("\n"))


def _install(path: Path, script: str) -> None:
    copy = WantedCopy(path, script.encode())
    report = install.apply(install.plan_setup((), (copy,), access.home(), access.now()))
    if report.left:
        raise HoldfastError(f"`{path}` was changed since Holdfast wrote it", "move it away and try again")


def completion_script(shell: str) -> str:
    """The lines that a shell reads."""
    made = get_completion_class(shell)
    if made is None:
        raise HoldfastError(f"there is no completion for `{shell}`", f"there is for {', '.join(SHELLS)}")
    root = click.get_current_context().find_root()
    writer = made(root.command, {}, "holdfast", _VARIABLE)
    return f"{(writer.source_template % writer.source_vars()).strip()}\n"


def completion_path(shell: str, environment: Mapping[str, str]) -> Path:
    """Where a shell looks for completions of the user's own."""
    user = Path(environment.get("HOME") or Path.home())
    shared = Path(environment.get("XDG_DATA_HOME") or user / ".local" / "share")
    if shell == "fish":
        own = Path(environment.get("XDG_CONFIG_HOME") or user / ".config")
        return own / "fish" / "completions" / "holdfast.fish"
    if shell == "zsh":
        return shared / "zsh" / "site-functions" / "_holdfast"
    return shared / "bash-completion" / "completions" / "holdfast"


def _own_shell(environment: Mapping[str, str]) -> str:
    name = Path(environment.get("SHELL", "")).name
    if name not in SHELLS:
        raise HoldfastError(
            f"there is no completion for `{name}`" if name else "$SHELL does not say which shell you use",
            "name one: `holdfast completion bash`, `zsh` or `fish`",
        )
    return name


def _next_step(shell: str, path: Path) -> str:
    if shell == "zsh":
        line = f"fpath=({path.parent} $fpath)"
        return f"\nnext: put `{line}` into ~/.zshrc, above `compinit`; then open a new shell"
    if shell == "bash":
        return (
            "\nnext: open a new shell; where the package bash-completion is missing, put "
            f"`source {path}` into ~/.bashrc"
        )
    return "\nnext: open a new shell"
