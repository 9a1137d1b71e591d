"""The entry point of the command line: runs a command; errors become a sentence and an exit status.

The commands are in modules of their own, listed in `command_list`.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from holdfast import __version__, environment
from holdfast.cli.command_list import LazyGroup
from holdfast.errors import Declined, HoldfastError, ProtectionUnreadable
from holdfast.home import home

INTERRUPTED = 130
_SILENT: Final = ("hook", "mcp", "statusline", "recover-store")
"""Commands without the note about damaged stores: those that programs run, and the one about such stores."""
LOG_BYTES = 1_000_000

_WITHOUT_RENEWAL: Final = frozenset(
    {
        *_SILENT,
        "hook-command",
        "completion",
        "help",
        "demo",
        "setup",
        "unsetup",
        "plugin",
        "doctor",
        "restore",
    }
)
"""Commands that do not renew what setup wrote: programs run them, or they are about that themselves."""
_WITHOUT_WARNING: Final = frozenset({"hook", "hook-command", "mcp", "demo"})
"""Commands without the warning: those that programs run, which must be quick or silent, and the demo."""
_MAKE_ROOM = "make room on that disk, or name another home in HOLDFAST_HOME"
_LET_IN = "look at the permissions of the file and its directory; the disk may be read-only"
_REFUSALS: Final = {
    errno.EACCES: _LET_IN,
    errno.EPERM: _LET_IN,
    errno.EROFS: _LET_IN,
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
}
"""System errors that any command may meet and that are no bug of Holdfast, with a hint for each."""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`holdfast help all` lists all commands by topic, `holdfast help COMMAND` explains one.",
)
@click.version_option(__version__, prog_name="holdfast", message="%(prog)s %(version)s")
@click.pass_context
def holdfast(context: click.Context) -> None:
    """Holdfast keeps a coding agent's work alive when its context window dies."""
    if context.invoked_subcommand not in _WITHOUT_WARNING:
        from holdfast.cli.warning import warn_where_stopped

        warn_where_stopped()


def main(words: Sequence[str] | None = None) -> None:
    """Run the command that the arguments name, and exit with its status."""
    words = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A transcript may hold anything; what cannot be written is shown as an escape, never a crash.
            stream.reconfigure(errors="backslashreplace")
    try:
        _finish_restoring()
        _name_set_aside(words)
        _renew_if_outdated(words)
        status = _status(words)
        sys.stdout.flush()
    except BrokenPipeError:
        status = _discard_output()
    except Exception as error:  # Outermost boundary: a person gets a sentence, the log the traceback.
        if isinstance(error, OSError) and error.errno in _REFUSALS:
            status = _report_refusal(error, _REFUSALS[error.errno])
        else:
            status = _report_unexpected(error)
    # Any status but 0 of a hook may make a harness block the action.
    sys.exit(0 if words[:1] == ["hook"] else status)


def _status(words: Sequence[str]) -> int:
    try:
        return int(holdfast.main(list(words), prog_name="holdfast", standalone_mode=False) or 0)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as error:
        return _report_usage(error)
    except click.ClickException as error:
        return _report(error.format_message(), "")
    except ProtectionUnreadable as error:
        from holdfast.cli.warning import where_stopped

        if where_stopped().startswith(error.message):
            # The warning has said it all.
            return _report("refused until these settings can be read", "")
        return _report(error.message, error.hint)
    except Declined as answer:
        from holdfast.cli.printing import say

        say(answer.message)
        return 1
    except HoldfastError as error:
        return _report(error.message, error.hint)


def _finish_restoring() -> None:
    """Finish a restoration that was killed when neither the old home nor the new was in its place."""
    where = home(os.environ)
    if not where.exists() and where.with_name(f"{where.name}.restored").exists():
        from holdfast.engine.backup.restore import finish_interrupted

        finish_interrupted(where)


def _name_set_aside(words: Sequence[str]) -> None:
    """Name the damaged stores that the user has not dealt with, whatever the command."""
    if not words or words[0] in _SILENT or words[0].startswith("-"):
        return
    where = home(os.environ)
    # Checked before anything more is loaded.
    if next(where.glob("store.corrupt-*"), None) is None:
        return
    from holdfast.core.text.untrusted import printable
    from holdfast.stores.store_files import set_aside_stores

    for store in set_aside_stores(where / "store.db"):
        click.echo(f"note: {printable(str(store))}; {store.advice}", err=True)


def _renew_if_outdated(words: Sequence[str]) -> None:
    """After an update or a move of Holdfast, bring what setup wrote up to date, and say so."""
    if not words or words[0] in _WITHOUT_RENEWAL or words[0].startswith("-"):
        return
    where = home(os.environ)
    if environment.is_due(where):
        # All harnesses are loaded for it, once after each update.
        from holdfast.cli.renewal import renew_and_say

        renew_and_say(where)


def _report(message: str, hint: str) -> int:
    from holdfast.cli.printing import say

    say(f"error: {message}")
    if hint:
        say(f"\nhint: {hint}")
    return 1


def _report_usage(error: click.UsageError) -> int:
    """Report that a command was called wrongly: one sentence, and where to look if that says too little."""
    from holdfast.cli.groups import MistypedName, option_sentence

    hint = ""
    if isinstance(error, MistypedName):
        message = error.message
    elif isinstance(error, click.NoSuchOption):
        message = option_sentence(error)
    else:
        message = error.format_message()
        hint = f"`{error.ctx.command_path} --help` says how it is called" if error.ctx else ""
    _report(message, hint)
    return error.exit_code


def _discard_output() -> int:
    """Send stdout to the null device: the reader is gone, and the final flush would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _report_refusal(error: OSError, hint: str) -> int:
    """Report that the disk is full or not writable; stdout is discarded, as it may be on that disk."""
    where = f"`{error.filename}`: " if error.filename else ""
    _discard_output()
    return _report(f"{where}{error.strerror}", hint)


def _report_unexpected(error: Exception) -> int:
    from holdfast.core.text.untrusted import printable

    try:
        redacted = _redact()
    except ProtectionUnreadable:
        click.echo(f"error: this should not have happened: {type(error).__name__}", err=True)
        click.echo("\nhint: no traceback is kept while the settings cannot be read", err=True)
        return 1
    where, what = _keep_traceback(redacted), printable(redacted(f"{type(error).__name__}: {error}"))
    click.echo(f"error: this should not have happened: {what}", err=True)
    click.echo(f"\nhint: {where}; please report it", err=True)
    return 1


def _redact() -> Callable[[str], str]:
    """A function that redacts by the user's lists; ProtectionUnreadable if they cannot be read."""
    from functools import partial

    from holdfast import config
    from holdfast.engine.redaction.redactor import lists_of, redact_as_seen

    lists = lists_of(config.load(home(os.environ), None, None, os.environ).config)
    return partial(redact_as_seen, lists=lists)


def _keep_traceback(redacted: Callable[[str], str]) -> str:
    """Write the current exception's traceback to the log; a sentence that says where it is."""
    import traceback
    from datetime import UTC, datetime

    from holdfast.core.text.untrusted import printable

    # Continuation lines are indented, so that only a record begins a line.
    record = printable(redacted(traceback.format_exc().rstrip())).replace("\n", "\n  ")
    text = f"{datetime.now(UTC).isoformat(timespec='seconds')} {record}\n"
    try:
        log = home(os.environ) / "logs" / "cli.log"
        _append(log, text)
    except (OSError, HoldfastError) as error:
        return f"the traceback could not be written: {error}"
    return f"the traceback is in `{log}`"


def _append(log: Path, text: str) -> None:
    from holdfast.files import atomic

    atomic.make_folder(log.parent)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))
    log.touch(mode=0o600)
    with log.open("a", encoding="utf-8") as file:
        file.write(text)
