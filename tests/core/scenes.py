"""Values that tests of the core share: one session in one project, at noon."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.event import (
    Action,
    AssistantText,
    Event,
    Origin,
    Prompt,
    Replied,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.events.world import Project
from holdfast.core.session.session import Policy, Session, advance, begin

NOON = 1_800_000_000_000
MINUTE = 60_000
KEY = "0f0f0f0f-1111-4222-8333-444444444444"
PROJECT = Project("/home/you/app", "/home/you/app", "p1", "w1", "/home/you/app")
POLICY = Policy()


def session() -> Session:
    return begin(KEY, "some-harness", PROJECT, NOON)


def prompt(text: str, record: str, at: int = NOON, turn: str = "", agent: str = "main") -> Prompt:
    return Prompt(session=KEY, record=record, at=at, origin=Origin.HUMAN, text=text, turn=turn, agent=agent)


def said(text: str, record: str, at: int = NOON) -> AssistantText:
    return AssistantText(session=KEY, record=record, at=at, origin=Origin.ASSISTANT, text=text)


def called(call: str, action: Action, subject: str, at: int = NOON, agent: str = "main") -> ToolCalled:
    return ToolCalled(
        session=KEY,
        record=f"call-{call}",
        at=at,
        origin=Origin.ASSISTANT,
        agent=agent,
        call=call,
        tool="tool",
        action=action,
        subject=subject,
    )


def returned(
    call: str, *, ok: bool = True, text: str = "", exit_status: int | None = None, at: int = NOON
) -> ToolReturned:
    return ToolReturned(
        session=KEY,
        record=f"return-{call}",
        at=at,
        origin=Origin.TOOL,
        call=call,
        ok=ok,
        text=text,
        exit_status=exit_status,
    )


def ran(command: str, *, ok: bool = True, text: str = "", at: int = NOON) -> tuple[Event, Event]:
    """A command that was run, with its outcome."""
    call = f"{command}:{ok}:{at}"
    return called(call, Action.RUN, command, at), returned(
        call, ok=ok, text=text, exit_status=int(not ok), at=at
    )


def touched(path: str, action: Action = Action.EDIT, at: int = NOON) -> tuple[Event, Event]:
    """A file that was read or changed."""
    place = path if path.startswith("/") else f"{PROJECT.root}/{path}"
    call = f"{action}:{path}:{at}"
    return called(call, action, place, at), returned(call, at=at)


def replied(text: str, question: str = "", call: str = "c1", record: str = "r1") -> Replied:
    return Replied(
        session=KEY, record=record, at=NOON, origin=Origin.HUMAN, call=call, text=text, question=question
    )


def after(before: Session, *events: Event) -> Session:
    """The session after these events, whatever effects they call for."""
    for event in events:
        before, _ = advance(before, event, POLICY)
    return before


def worked() -> Session:
    """A session with a bit of everything in it."""
    return after(
        session(),
        prompt("Fix the flaky retry test in tests/test_retry.py, never touch the vendored client", "p1"),
        called("c1", Action.READ, "/home/you/app/src/retry.py"),
        returned("c1"),
        called("c2", Action.EDIT, "/home/you/app/src/retry.py"),
        returned("c2"),
        called("c3", Action.RUN, "pytest tests/test_retry.py"),
        returned("c3", ok=False, exit_status=1, text="E   RetryExhausted: gave up after 3 tries\n1 failed"),
        said("The backoff starts at zero, so the third try comes too early.", "a1"),
        prompt("use a monotonic clock instead", "p2", NOON + MINUTE),
    )


def at(moment: int, before: Session) -> Session:
    """The same session, last heard of at another moment."""
    return replace(before, last_event_at=moment)
