"""Backup and restore: the whole home in one encrypted file, and back."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Final

import click

from holdfast import config, system
from holdfast.cli import access
from holdfast.cli.commands.daemon.daemon import stop
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give_json, home_path, say
from holdfast.cli.progress import progress_bar
from holdfast.core.text.strings import quantity
from holdfast.engine.backup.restore import Restored, holds_something
from holdfast.engine.backup.restore import restore as put_back
from holdfast.engine.backup.write import write_backup
from holdfast.engine.home_store import refuse_server
from holdfast.engine.liveness import lock_holder
from holdfast.engine.machine import this_machine
from holdfast.errors import HoldfastError
from holdfast.files import machine_id
from holdfast.stores.codec import to_iso

LONGEST_PASSPHRASE: Final = 4096

passphrase_file = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the passphrase from the first line of this file, which only you may read; else you are asked.",
)


@command(
    "holdfast backup ~/holdfast.backup",
    "holdfast backup /mnt/holdfast.backup --passphrase-file ~/passphrase --yes",
)
@click.argument("file", type=click.Path(path_type=Path))
@passphrase_file
@click.option("--yes", "agreed", is_flag=True, help="Replace the file if it is there.")
@json_option()
def backup(*, file: Path, passphrase_file: Path | None, agreed: bool, as_json: bool) -> None:
    """Write the whole home into one encrypted file.

    The daemon may run meanwhile. The file is read back, decrypted and compared before it takes its place.
    Nobody can read it without the passphrase, not even you: keep that elsewhere. What belongs to this machine
    alone is not in it: the hook, what `holdfast setup` changed in other programs, and tokens.
    """
    home = access.home()
    if not holds_something(home):
        raise HoldfastError(f"there is nothing at `{home}` to back up", "HOLDFAST_HOME names another home")
    refuse_server(home, "a backup of the home would not hold it", "back up the database, as with `pg_dump`")
    if file.exists() and not agreed:
        _ask(f"Replace `{file}`?", f"`{file}` is there already", "`--yes` replaces it")
    passphrase = _passphrase(passphrase_file, is_new=True)
    machine_id.read_or_make(home)
    machine = this_machine(home, config.load(home, None, None, os.environ).config)
    with progress_bar() as progress:
        written = write_backup(home, file, passphrase, machine, access.now(), progress)
    if as_json:
        give_json(
            {
                "file": str(written.file),
                "files": written.files,
                "bytes": written.bytes,
                "size": written.size,
                "left_out": list(written.left_out),
                "checked": True,
            }
        )
        return
    for name in written.left_out:
        say(f"note: left out `{name}`, which is no file")
    held = f"{quantity(written.files, 'file')}, {written.bytes / 1e6:,.1f} MB"
    say(f"wrote `{written.file}` ({written.size / 1e6:,.1f} MB) and read it back: {held}")


@command(
    "holdfast restore ~/holdfast.backup",
    "holdfast restore ~/holdfast.backup --passphrase-file ~/passphrase --yes",
)
@click.argument("file", type=click.Path(path_type=Path))
@passphrase_file
@click.option(
    "--replace", "--yes", "agreed", is_flag=True, help="Put aside the home that is there, without asking."
)
@json_option()
def restore(*, file: Path, passphrase_file: Path | None, agreed: bool, as_json: bool) -> None:
    """Put back a home from a file that `backup` wrote.

    A home that is there is replaced only if you agree, in one step, and stays beside the new one. A running
    daemon is stopped for that. What you forgot since the backup stays forgotten. On another machine, run
    `holdfast setup` afterwards: it connects the harnesses that are there.
    """
    home = access.home()
    if not file.is_file():
        raise HoldfastError(f"there is no file `{file}`", "name a file that `holdfast backup` wrote")
    refuse_server(home, "what is in a backup would not be used", "unset `store.url` first")
    is_there = holds_something(home)
    if is_there and not agreed:
        _ask(
            f"Replace the home `{home}`? It stays beside the new one.",
            f"there is a home at `{home}` already",
            "`--replace` puts it aside; HOLDFAST_HOME names another place",
        )
    passphrase = _passphrase(passphrase_file, is_new=False)
    with progress_bar() as progress:
        restored = put_back(
            file, home, passphrase, access.now(), progress, lambda: stop(home) if lock_holder(home) else None
        )
    _tell(restored, as_json=as_json)


def _tell(restored: Restored, *, as_json: bool) -> None:
    description = restored.description
    if as_json:
        give_json(
            {
                "home": str(restored.home),
                "files": restored.files,
                "written_at": to_iso(description.at),
                "written_on": description.machine_name,
                "aside": str(restored.aside) if restored.aside else None,
                "is_same_machine": restored.is_same_machine,
            }
        )
        return
    when, where = to_iso(description.at)[:16].replace("T", " "), description.machine_name
    say(f"restored {quantity(restored.files, 'file')} to `{restored.home}`, as of {when} UTC on {where}")
    if restored.aside:
        aside = home_path(str(restored.aside))
        say(f"the home of before is at `{aside}`; `forget` does not reach it: remove it once you are content")
    if not restored.is_same_machine:
        say("this home counts as a new machine; `holdfast setup` connects the harnesses that are here")


def _ask(question: str, message: str, hint: str) -> None:
    """Have the user agree; without a terminal to ask, it is refused."""
    if not sys.stdin.isatty():
        raise HoldfastError(message, hint)
    click.confirm(question, abort=True, err=True)


def _passphrase(file: Path | None, *, is_new: bool) -> str:
    if file is not None:
        return _read_passphrase(file)
    if not sys.stdin.isatty():
        raise HoldfastError(
            "there is no terminal to ask for the passphrase", "name a file with --passphrase-file"
        )
    prompted: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=is_new, err=True)
    return prompted


def _read_passphrase(file: Path) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as source:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise HoldfastError(
                    f"`{file}` is not a regular file", "name a file that holds the passphrase"
                )
            if system.is_exposed(status) or not system.is_own(status):
                raise HoldfastError(f"others may read or change `{file}`", f"run `chmod 600 {file}`")
            line = source.read(LONGEST_PASSPHRASE).partition(b"\n")[0].removesuffix(b"\r")
            passphrase = line.decode()
    except OSError as error:
        raise HoldfastError(f"`{file}` cannot be read: {error.strerror}", "name another file") from error
    except UnicodeDecodeError as error:
        raise HoldfastError(f"`{file}` is not UTF-8 text", "name another file") from error
    if not passphrase.strip():
        raise HoldfastError(f"the first line of `{file}` is empty", "write the passphrase there")
    return passphrase
