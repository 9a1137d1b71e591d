"""Round trip: trial hook events through the installed command line, into the store and back.

Part of `doctor`. The hook gets a session as its harness would report it, in a temporary folder, and what was
stored of it is dropped again.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.engine.health.doctor import CheckResult, Mend, fine, wrong
from holdfast.harnesses.base import Envelope, Harness, SelfTestable
from holdfast.stores.base import Store

HOOK_TIMEOUT: Final = 10.0
ATTEMPTS: Final = 3
"""How often to try: a hook waits only a moment, which may be too short on a busy machine."""
UNREADABLE: Final = b'"holdfast doctor"'
"""No harness sends such a hook event: it is received, counted as unreadable, and changes nothing else."""

OpenStore = Callable[[], AbstractContextManager[Store]]


def check_round_trip(
    harness: Harness, command: str, stored: OpenStore, now: Callable[[], int]
) -> CheckResult:
    """Check that a hook event through this command line returns a brief, or at least reaches the store."""
    check = f"round trip of {harness.name}"
    if os.environ.get("HOLDFAST_DISABLE") == "1":
        return wrong(check, "HOLDFAST_DISABLE=1 turns the hook off", "unset HOLDFAST_DISABLE")
    began = time.monotonic()
    try:
        problem = (
            _brief_fault(harness, harness, command, stored, now)
            if isinstance(harness, SelfTestable)
            else _store_fault(harness, command, stored)
        )
    except _NotSilent as error:
        return wrong(check, str(error), "run `holdfast setup` again", Mend.SETUP)
    took = round((time.monotonic() - began) * 1000)
    if problem:
        return wrong(check, f"{problem} in {took} ms", "look at `holdfast logs`")
    way = "hook event to brief" if isinstance(harness, SelfTestable) else "hook event to store"
    return fine(check, f"from {way}, through hook and daemon, in {took} ms")


def trial_reason(harness: Harness) -> str:
    """The reason under which the trial hook event is counted."""
    skipped = harness.parse_hook(UNREADABLE, Envelope(id="doctor", harness=harness.name, at=0))
    return f"hook event: {skipped.reason}" if isinstance(skipped, Skipped) else ""


class _NotSilent(Exception):
    """The hook failed or printed what it never should."""


def _brief_fault(
    harness: Harness, voice: SelfTestable, command: str, stored: OpenStore, now: Callable[[], int]
) -> str:
    """What went wrong between a prompt and the brief that has it; empty if nothing did."""
    # The same names each time, because the store notes every forgotten session.
    keys = [f"holdfast-doctor-{harness.name}-{number}" for number in range(ATTEMPTS + 1)]
    words = f"holdfast doctor looks whether this comes back ({now()})"
    place = ""
    try:
        with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
            place = Path(folder).name
            for second in keys[1:]:
                answers = [
                    _carried(harness, command, payload)
                    for payload in voice.self_test_events(keys[0], second, folder, words)
                ]
                if words.encode() in answers[-1]:
                    return ""
    finally:
        with stored() as store, store.writing():
            store.forget(keys, now())
            _forget_folder(store, place)
    return "a hook event did not come back as a brief"


def _forget_folder(store: Store, name: str) -> None:
    """Drop the trial's folder from the known projects: by its name, because its path may go through links."""
    for site in store.sites():
        if name and Path(site.root).name == name:
            store.forget_sites(site.project_id)


def _store_fault(harness: Harness, command: str, stored: OpenStore) -> str:
    """What kept a hook event from the store; empty if it is there."""
    before = _counted(harness, stored)
    if _carried(harness, command, UNREADABLE):
        raise _NotSilent("the hook answered a hook event that has no content")
    return "" if _counted(harness, stored) > before else "a hook event did not reach the store"


def _counted(harness: Harness, stored: OpenStore) -> int:
    with stored() as store:
        return store.skipped().get(trial_reason(harness), 0)


def _carried(harness: Harness, command: str, payload: bytes) -> bytes:
    """What the hook prints for a hook event."""
    try:
        done = subprocess.run(
            shlex.split(command),
            input=payload,
            capture_output=True,
            timeout=HOOK_TIMEOUT,
            check=False,
            env=_environment(harness.hook_variables),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _NotSilent(f"the hook could not be run: {error}") from error
    if done.returncode or done.stderr:
        raise _NotSilent(f"the hook was not silent (exit {done.returncode})")
    return done.stdout


def _environment(carried: Sequence[str]) -> dict[str, str]:
    """The process's environment without variables of the session in which the doctor may run."""
    own = {"HOLDFAST_PREVIOUS_SESSION", "HOLDFAST_INTERNAL", *carried}
    return {name: value for name, value in os.environ.items() if name not in own}
