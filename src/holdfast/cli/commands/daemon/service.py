"""The service: has the system start the daemon when its user logs in. Optional: hooks start it too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from holdfast.cli import access
from holdfast.cli.commands.daemon.daemon import stop
from holdfast.cli.options import command, group, json_option
from holdfast.cli.printing import give, give_json, say
from holdfast.errors import HoldfastError
from holdfast.files import atomic
from holdfast.files.service_text import LABEL, MARK, UNIT, Service, launchd_agent, systemd_unit
from holdfast.lazy_dataclass import dataclass

TIME_LIMIT = 30.0
Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class System:
    """The system's service manager: Holdfast's file for it, and its commands to add, remove and show it."""

    program: str
    file: Path
    text: str
    take_on: tuple[Words, ...]
    drop: tuple[Words, ...]
    show: Words


@group("holdfast service install", "holdfast service remove")
def service() -> None:
    """Have the daemon started when you log in.

    It is not needed: a hook starts the daemon when it is away, and it leaves when nobody needs it. With
    systemd or launchd.
    """


@command("holdfast service install --dry-run", "holdfast service install")
@click.option("--dry-run", is_flag=True, help="Only print the file that would be written.")
@json_option()
def install(*, dry_run: bool, as_json: bool) -> None:
    """Write the service's file and start it.

    A daemon that runs already is stopped first. Where the file can be written but the service cannot be
    started, as where nobody is logged in, it says what to run.
    """
    system = _system(access.home(), os.environ)
    if dry_run and as_json:
        give_json(_row(system) | {"text": system.text})
        return
    if dry_run:
        give(system.text.rstrip("\n"))
        say(f"would be written to {system.file}")
        return
    _check_ours(system.file)
    stop(access.home())
    atomic.write(system.file, system.text.encode())
    say(f"{system.file}: written")
    _run(system.program, system.take_on, "the daemon is started now and whenever you log in")
    if as_json:
        give_json(_row(system))


@command("holdfast service remove")
@json_option()
def remove(*, as_json: bool) -> None:
    """Stop the service and remove its file."""
    system = _system(access.home(), os.environ)
    if atomic.read(system.file) is None:
        say("nothing to remove: there is no service of ours")
    else:
        _check_ours(system.file)
        _run(system.program, system.drop, "the daemon is started by hooks again")
        atomic.remove(system.file)
        say(f"{system.file}: removed")
    if as_json:
        give_json(_row(system))


@command("holdfast service status", "holdfast service status --json")
@json_option()
def status(*, as_json: bool) -> None:
    """Say whether there is a service, and what the system says of it."""
    system = _system(access.home(), os.environ)
    if as_json:
        give_json(_row(system))
        return
    if atomic.read(system.file) is None:
        give("there is no service; hooks start the daemon")
        return
    give(f"{system.file}: installed")
    if shutil.which(system.program):
        done = subprocess.run(
            list(system.show), capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
        give((done.stdout or done.stderr).strip())


def _row(system: System) -> dict[str, object]:
    is_installed = atomic.read(system.file) is not None
    return {"manager": system.program, "file": str(system.file), "installed": is_installed}


def _system(home: Path, environment: Mapping[str, str]) -> System:
    """What starts services on this system."""
    # The interpreter of this installation: the daemon needs the package.
    service = Service(sys.executable, str(home))
    if sys.platform == "darwin":
        file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{os.getuid()}"
        return System(
            "launchctl",
            file,
            launchd_agent(service),
            (("launchctl", "bootstrap", domain, str(file)),),
            (("launchctl", "bootout", f"{domain}/{LABEL}"),),
            ("launchctl", "print", f"{domain}/{LABEL}"),
        )
    if sys.platform == "win32":
        raise HoldfastError("there is no service for this system", "hooks start the daemon when it is away")
    folder = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    own = ("systemctl", "--user")
    return System(
        "systemctl",
        folder / "systemd" / "user" / UNIT,
        systemd_unit(service),
        ((*own, "daemon-reload"), (*own, "enable", "--now", UNIT)),
        ((*own, "disable", "--now", UNIT),),
        (*own, "--no-pager", "--lines=0", "status", UNIT),
    )


def _check_ours(file: Path) -> None:
    """Raise HoldfastError if a file of that name exists that Holdfast did not write."""
    present = atomic.read(file)
    if present is not None and MARK.encode() not in present:
        raise HoldfastError(f"`{file}` is there already, and it is not ours", "move it away and try again")


def _run(program: str, commands: Sequence[Words], then: str) -> None:
    """Run these commands; if one fails, say what the user has to do."""
    for number, words in enumerate(commands):
        problem = _failed(words) if shutil.which(program) else f"there is no `{program}` here"
        if problem:
            left = "; ".join(" ".join(rest) for rest in commands[number:])
            say(f"note: {problem}\nleft to you: {left}")
            return
    say(then)


def _failed(words: Words) -> str:
    """The error output of a command that failed; empty if it succeeded."""
    try:
        done = subprocess.run(
            list(words),
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr or done.stdout or f"`{' '.join(words)}` failed").strip() if done.returncode else ""


for each in (install, remove, status):
    service.add_command(each)
