"""The repairs of `doctor --fix`, each announced as it is done.

Only repairs that cannot lose anything: what needs a decision is left to the user.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from holdfast.cli import access
from holdfast.cli.commands.daemon.daemon import start, stop
from holdfast.cli.commands.start import setup
from holdfast.cli.printing import say
from holdfast.engine.health import doctor
from holdfast.engine.health.doctor import Mend
from holdfast.engine.liveness import is_alive, start_of
from holdfast.errors import HoldfastError

END_TIME = 5.0
"""Seconds in which a daemon that does not answer may still end by itself."""


def mended(home: Path, mends: Collection[Mend]) -> None:
    """Do each of these repairs, in an order in which none hinders another."""
    for mend in Mend:
        if mend in mends:
            say(f"doctor: {mend}")
            try:
                _do(home, mend)
            except (HoldfastError, OSError) as error:
                say(f"doctor: could not {mend}: {error}")


def _do(home: Path, mend: Mend) -> None:
    match mend:
        case Mend.CLOSE:
            doctor.close_to_others(home)
        case Mend.SETUP:
            setup.renew(home)
        case Mend.RESTART:
            _end_silent(home)
            stop(home)
            start(home)
        case Mend.END:
            _end_silent(home)
        case Mend.COUNT:
            doctor.count_anew(home)


def _end_silent(home: Path) -> None:
    """End the daemons that cannot be reached; what they acknowledged is stored already."""
    for pid in doctor.leftovers(home, access.daemon_answering(home)):
        began = start_of(pid)
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(pid, how)
            until = time.monotonic() + END_TIME
            while is_alive(pid, began) and time.monotonic() < until:
                time.sleep(0.05)
