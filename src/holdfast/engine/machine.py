"""Machine and person: who this Holdfast is to other machines and people.

A machine has an id, which the home keeps, and a name; a person has a name. Both names are settings.
"""

from __future__ import annotations

import getpass
import os
import socket
from pathlib import Path
from typing import Final

from holdfast.config import Config
from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.provenance import is_named
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import printable
from holdfast.files import machine_id

NAME_CHARS: Final = 60
UNKNOWN: Final = "unknown"


def this_machine(home: Path, config: Config) -> Machine:
    """The machine of this home, without an id if the home has none yet; nothing is written."""
    return Machine(
        machine_id.read(home), _name(config.machine.name) or _name(socket.gethostname()) or UNKNOWN
    )


def this_person(config: Config) -> str:
    """The name of the person whose home this is."""
    return _name(config.person.name) or _name(_user_name()) or UNKNOWN


def is_here(home: Path, config: Config, person: str, machine: str) -> bool:
    """Whether this person and this machine, as somebody typed them, are those of this home."""
    here = this_machine(home, config)
    is_machine = not machine or is_named(machine, here.name, here.id)
    return is_machine and (not person or is_named(person, this_person(config)))


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        # A container may run with a number that no user has.
        return f"user {os.getuid()}" if hasattr(os, "getuid") else ""


def _name(text: str) -> str:
    return shortened(one_line(printable(text)), NAME_CHARS).strip()
