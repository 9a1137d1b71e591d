"""Background: what Claude Code reports about commands and agents that run in the background.

Its id is in the result of the call that left it running. How it ended is in a notification, which `tools`
reads, or in the result of a tool that checked or stopped it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from holdfast.core.events.event import Event, LeftRunning, Origin, ToolReturned
from holdfast.core.evidence.commands.exit_meaning import STOPPED
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import capped, mapping, status_of, text
from holdfast.harnesses.frame import Frame

_STOPPED: Final = frozenset({"killed", "stopped"})
_OVER: Final = frozenset({"completed", "failed", *_STOPPED})
_DONE: Final = "Successfully "
"""How a message begins that says that something was killed or stopped."""


def goes_on(outcome: Mapping[str, object]) -> bool:
    """Whether a result only says that its call is still running."""
    return bool(text(outcome, "backgroundTaskId")) or outcome.get("status") == "async_launched"


def left_running(call: str, outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The id of a call that is still running."""
    if handle := text(outcome, "backgroundTaskId", "agentId"):
        yield LeftRunning(**frame.part(Origin.TOOL, "running"), call=call, handle=handle)


def ended(outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """How something in the background ended, if a tool's result says that it has."""
    task = mapping(outcome.get("task")) or outcome
    handle, status = text(task, "task_id", "shellId", "shell_id"), text(task, "status")
    if text(outcome, "message").startswith(_DONE):
        status = "killed"
    if not handle or status not in _OVER:
        return
    exit_status = status_of(task.get("exitCode"))
    printed = "\n".join(filter(None, (text(task, "output", "stdout"), text(task, "stderr"))))
    yield ToolReturned(
        **frame.part(Origin.TOOL, "background"),
        call="",
        handle=handle,
        ok=status == "completed" and not exit_status,
        exit_status=exit_status,
        text=STOPPED if status in _STOPPED else capped(without_injected_text(printed)),
    )
