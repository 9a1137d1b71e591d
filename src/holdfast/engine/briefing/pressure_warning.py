"""Pressure warning: what an agent is told about its window before it is full.

How full it is, what to write down now, and when a fresh start is better. The pending request is counted too,
if that could make a difference. A warning counts as given only if the reply can still be in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeGuard

from holdfast import hook
from holdfast.core.events.event import MAIN, Event, Origin, Prompt, ToolReturned, Usage
from holdfast.core.session import agent_prompts
from holdfast.core.session.agent_prompts import Advice
from holdfast.core.session.pressure import Threshold, capacity, factor_of, gauge, percent
from holdfast.core.session.session import Policy, Session
from holdfast.engine.documents import ledger
from holdfast.engine.engine import Engine
from holdfast.harnesses.base import Ask, HookEvent
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Count
from holdfast.settings import Pressure

EVENTS_LOOKED_AT: Final = 200
NEAR: Final = 50
"""From this fill on, a stopping agent waits a moment for its last token count to arrive."""
PATIENCE_MS: Final[Mapping[Ask, int]] = {
    Ask.PROMPT: int(hook.ANSWER_TIME * 900),
    Ask.TOOLS: int(hook.ANSWER_TIME * 900),
    Ask.STOP: int(hook.QUIET_TIME * 900),
}
"""How old a hook event may be to be answered; its hook does not wait much longer."""


@dataclass(frozen=True, slots=True)
class Fill:
    """How full a window is, with the pending request."""

    used: int
    capacity: int

    @property
    def percent(self) -> int:
        return percent(self.used, self.capacity)


@dataclass(frozen=True, slots=True)
class _Due:
    """The warnings that are due, and what to store about them."""

    threshold: Threshold | None = None
    advice: tuple[Advice, ...] = ()


def warn(
    engine: Engine, hook_event: HookEvent, session: Session, at: int, fits: Callable[[str], bool]
) -> str:
    """The warning to add to the reply to a hook event, if it fits; empty if there is none."""
    if hook_event.ask not in PATIENCE_MS:
        return ""
    config, policy = engine.config(session.project), engine.policy(session.project)
    if hook_event.ask is Ask.STOP and not config.memory_flush.hold_agent:
        return ""
    fill = fill_after(engine, session, hook_event, policy)
    due = _due(session, hook_event, policy, fill, _advice(engine, session) if config.pressure.advice else ())
    if engine.clock() - at > PATIENCE_MS[hook_event.ask]:
        due = _Due()
    shows = hook_event.ask is Ask.PROMPT and session.pressure.used > 0 and is_shown(fill, config.pressure)
    text = _text(due, gauge(fill.used, fill.capacity) if shows else "")
    if not text or not fits(text):
        return ""
    _remember(engine, session, policy, due)
    return text


def _advice(engine: Engine, session: Session) -> tuple[Advice, ...]:
    """The rows of advice for this project."""
    return agent_prompts.LEDGER_ADVICE if ledger.is_enabled(engine, session.project) else agent_prompts.ADVICE


def is_shown(fill: Fill, wish: Pressure) -> bool:
    """Whether the model is told how full its window is; while it is nearly empty, that would be noise."""
    return wish.show_in_context and fill.percent >= wish.show_from_percent


def fill_after(engine: Engine, session: Session, hook_event: HookEvent, policy: Policy) -> Fill:
    """How full the window will be with what this hook event adds."""
    used, most = session.pressure.used, capacity(session.pressure, policy.models)
    marks = [one.percent * most // 100 for one in policy.flush.thresholds]
    pending = list(_pending(engine, session, hook_event)) if used else []
    factor = factor_of(session.pressure.model, policy.models)
    # No text has more tokens than bytes. Most prompts are far from every threshold, and need no counting.
    bound = used + int(sum(_size(event) for event in pending) * factor)
    if not any(used < mark <= bound for mark in marks):
        return Fill(used, most)
    count = engine.counter()
    added = sum(_tokens(event, count) for event in pending) if count else 0
    return Fill(used + int(added * factor), most)


def is_behind(engine: Engine, hook_event: HookEvent, session: Session) -> bool:
    """Whether an agent with a window that may be full stopped, and its last token count is still missing."""
    if hook_event.ask is not Ask.STOP or not session.pressure.used:
        return False
    policy = engine.policy(session.project)
    full = percent(session.pressure.used, capacity(session.pressure, policy.models))
    if full < NEAR or not any(_is_open(session, one) for one in policy.flush.thresholds):
        return False
    return any(True for _ in _pending(engine, session, hook_event))


def _is_open(session: Session, threshold: Threshold) -> bool:
    """Whether the threshold asks the agent for something that it was not asked in this window."""
    return threshold.is_urgent and threshold.percent not in session.flush.asked


def _due(
    session: Session, hook_event: HookEvent, policy: Policy, fill: Fill, table: tuple[Advice, ...]
) -> _Due:
    threshold = (
        agent_prompts.due_threshold(session.flush, policy.flush, fill.percent)
        if session.pressure.used
        else None
    )
    # The same request never blocks a stop twice, whatever the settings say.
    if threshold is not None and hook_event.ask is Ask.STOP and not _is_open(session, threshold):
        threshold = None
    if hook_event.ask is not Ask.PROMPT:
        return _Due(threshold)
    prompt = "\n".join(event.text for event in hook_event.stand_ins if isinstance(event, Prompt))
    return _Due(
        threshold, agent_prompts.due_advice(session.advised, fill.percent, session.window, table, prompt)
    )


def _text(due: _Due, gauge_line: str) -> str:
    request = due.threshold.text if due.threshold else ""
    return "\n\n".join(filter(None, (gauge_line, *(row.text for row in due.advice), request)))


def _remember(engine: Engine, session: Session, policy: Policy, due: _Due) -> None:
    if due == _Due():
        return
    with engine.store.writing():
        stored_session = engine.store.session(session.key) or session
        if due.threshold is not None:
            flush_state = agent_prompts.after_asking(
                stored_session.flush, policy.flush, due.threshold, engine.clock()
            )
            stored_session = replace(stored_session, flush=flush_state)
        advised = agent_prompts.marks_after(stored_session.advised, due.advice, stored_session.window)
        engine.store.put_session(replace(stored_session, advised=advised))


def _pending(engine: Engine, session: Session, hook_event: HookEvent) -> Iterator[Prompt | ToolReturned]:
    """What the next request adds: prompts and tool outputs since the last count."""
    calls: set[str] = set()
    yield from session.waiting
    for event in engine.store.events_backwards(session.key, EVENTS_LOOKED_AT):
        if isinstance(event, Usage) and event.agent == MAIN:
            break
        if _is_sent(event):
            calls |= {event.call} if isinstance(event, ToolReturned) else set()
            yield event
    # The transcript may not show the hook event's content yet; such prompts wait with the session.
    for stand_in in hook_event.stand_ins:
        if isinstance(stand_in, ToolReturned) and stand_in.call not in calls:
            yield stand_in


def _is_sent(event: Event) -> TypeGuard[Prompt | ToolReturned]:
    if event.agent != MAIN:
        return False
    return isinstance(event, ToolReturned) or (isinstance(event, Prompt) and event.origin is Origin.HUMAN)


def _size(event: Prompt | ToolReturned) -> int:
    whole = event.size if isinstance(event, ToolReturned) else 0
    return max(len(event.text.encode(errors="replace")), whole * 4)


def _tokens(event: Prompt | ToolReturned, count: Count) -> float:
    """The tokens of the stored text, scaled up to the length of the original."""
    tokens = count((event.text,))
    whole = event.size if isinstance(event, ToolReturned) else 0
    return tokens * whole / len(event.text) if whole and event.text else tokens
