"""Brief use: how many of the names and files of a brief the agent then named itself.

What it says or calls first after the brief counts. An agent may know a name from elsewhere too: the share
says that the brief told what was needed, not that nothing else did.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from holdfast.core.evaluation.facts import Fact, facts_in
from holdfast.core.evaluation.scores import own_calls
from holdfast.core.evaluation.survival import AGENT_EVENTS_AFTER, facts_of_event, is_by_agent, is_conversation
from holdfast.core.events.event import Event, ToolCalled
from holdfast.core.session.score import BriefUse

AGENT_EVENTS_LEAST = 5
"""With fewer events of the agent after it, it is not known what a brief was good for."""


def brief_use(events_after: Iterable[Event], texts: Iterable[str]) -> BriefUse:
    """How many names the texts of a brief hold, and how many of them the agent used in the next events."""
    named = frozenset[Fact]().union(*map(facts_in, texts))
    events = tuple(events_after)
    own = own_calls(events)
    by_agent = (
        event
        for event in events
        if is_conversation(event)
        and is_by_agent(event)
        and not (isinstance(event, ToolCalled) and event.call in own)
    )
    following = tuple(islice(by_agent, AGENT_EVENTS_AFTER))
    if len(following) < AGENT_EVENTS_LEAST:
        return BriefUse(len(named), None)
    spoken = frozenset[Fact]().union(*map(facts_of_event, following))
    return BriefUse(len(named), len(named & spoken))
