"""The wrapper: starts a harness with its continuity and saves it afterwards, with no hook installed.

`engine.briefing.wrapper` decides what is given and saved, by settings that are off by default.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from holdfast import harnesses
from holdfast.cli import access
from holdfast.cli.options import command
from holdfast.cli.printing import say, working
from holdfast.core.events.world import Project
from holdfast.engine.briefing import wrapper
from holdfast.engine.briefing.wrapper import Ready
from holdfast.engine.health import connections
from holdfast.engine.models import Means
from holdfast.engine.recording.transcripts import unread_transcripts
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Harness, Way, Wrapped

HOOK_TIME = 30.0


@command("holdfast run HARNESS", "holdfast run HARNESS --model some-model", passes_on=True)
@click.argument("name", metavar="HARNESS")
@click.argument("words", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def run(*, name: str, words: tuple[str, ...]) -> None:
    """Start a harness with its continuity, and save it when the harness ends.

    For harnesses without hooks, and for people who want none installed. With `continuity.auto_load` the
    session is told where the last one stood; with `continuity.auto_save` its transcript is read when it
    ends, and the continuity saved. Both are off until you set them. All that follows the harness's name is
    passed on to it, and its exit status is ours.
    """
    _wrapped(name, Way.RUN, words)


@command('holdfast exec HARNESS "run the tests and mend what fails"', passes_on=True)
@click.argument("name", metavar="HARNESS")
@click.argument("words", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def exec_(*, name: str, words: tuple[str, ...]) -> None:
    """Have a harness answer one prompt, with its continuity as for `run`."""
    _wrapped(name, Way.EXEC, words)


@command("holdfast resume HARNESS", "holdfast resume HARNESS SESSION", passes_on=True)
@click.argument("name", metavar="HARNESS")
@click.argument("words", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def resume(*, name: str, words: tuple[str, ...]) -> None:
    """Go on with a harness's earlier session, with its continuity as for `run`.

    Without more words, with the last one.
    """
    _wrapped(name, Way.RESUME, words)


def _wrapped(name: str, way: Way, words: Sequence[str]) -> NoReturn:
    harness, project, began = harnesses.get(name), access.project_at(None), access.now()
    if not isinstance(harness, Wrapped):
        raise HoldfastError(f"{harness.title} cannot be started by us", f"run `holdfast setup {name}`")
    program = shutil.which(harness.program)
    if program is None:
        raise HoldfastError(f"`{harness.program}` is not on your search path", f"install {harness.title}")
    hooked = connections.is_connected(access.home(), harness, Path.home())
    ready = _start_text(harness, project, is_told=hooked, takes_text=harness.takes_text)
    status = _run_harness([program, *harness.command_line(way, words, ready.text)])
    _save(harness, harness, project, began, ready, is_told=hooked)
    sys.exit(status)


def _start_text(harness: Harness, project: Project, *, is_told: bool, takes_text: bool) -> Ready:
    """The text to give to the session; none if a hook gives it."""
    with access.writable_engine() as engine:
        wants = engine.config(project).continuity
        ready = wrapper.before(engine, project, harness)
    if not (wants.auto_load or wants.auto_save):
        say(
            "note: neither continuity.auto_load nor continuity.auto_save is set; this only starts the harness"
        )
    for note in ready.notes:
        say(f"note: {note}")
    if ready.text and not is_told and not takes_text:
        remedy = f"`holdfast setup {harness.name}` installs hooks that can"
        say(f"note: {harness.title} can be told nothing when it starts; {remedy}")
    return ready if takes_text and not is_told else Ready()


def _run_harness(command_line: Sequence[str]) -> int:
    """Run the harness until it ends; its exit status, as a shell reports it."""
    # Ctrl-C at the terminal is for the harness, and SIGTERM is passed on to it. Both get functions, since a
    # child process inherits signals that are ignored.
    before = signal.signal(signal.SIGINT, _ignore_signal)
    try:
        with subprocess.Popen(command_line) as child:

            def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
                child.terminate()

            signal.signal(signal.SIGTERM, end)
            status = child.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, before)
    return status if status >= 0 else 128 - status


def _ignore_signal(number: int, frame: FrameType | None) -> None:
    """Do nothing: the harness gets the signal too."""


def _save(
    harness: Harness, voice: Wrapped, project: Project, began: int, ready: Ready, *, is_told: bool
) -> None:
    """Record what the session did and save its continuity, if the settings say so."""
    with access.stored_engine() as engine:
        if not engine.config(project).continuity.auto_save:
            return
        missed = unread_transcripts(engine.store, harness, project, began, Path.home(), os.environ)
        missed_sessions = [] if is_told else [*missed]
        wrapper.begin(engine, project, harness, ready, missed_sessions)
    for session in missed_sessions:
        _deliver(harness, voice.session_end_event(session.key, str(session.path), session.cwd))
    with access.current_engine() as engine, working("saving the continuity"):
        outcome = wrapper.after(engine, project, began, Means(os.environ, time.sleep))
    if outcome is not None:
        say("the continuity is saved; `holdfast continuity load` shows it")
    elif missed_sessions:
        # The daemon was told of the session's end, and was quicker.
        say("the daemon saves the continuity; `holdfast continuity status` shows how it came about")


def _deliver(harness: Harness, payload: bytes) -> None:
    """Send a hook event to the daemon, as a hook would."""
    subprocess.run(
        [sys.executable, "-m", "holdfast.cli", "hook", "--harness", harness.name],
        input=payload,
        stdout=subprocess.DEVNULL,
        timeout=HOOK_TIME,
        check=False,
    )
