"""Survival: whether a brief contains what the agent needs after its context window is gone.

A session is cut. The facts that the agent names by itself after the cut, and that occurred before it, are
those that it needed. So is the last state of the work: the last failure, the last changed file, the open to-
dos, the deleted files. Pure functions over events and texts, independent of the evidence that a brief is made
from: no model judges, and the same session always gets the same result.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from holdfast.core.evaluation.facts import (
    Fact,
    constraints_in,
    facts_in,
    facts_in_command,
    holds,
    is_name,
    quoted_commands,
)
from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Compacted,
    Event,
    Origin,
    Prompt,
    Replied,
    Todo,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.evidence.commands.purpose import Purpose, purpose_of
from holdfast.core.evidence.trail import COMPLETED, with_todo
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

AGENT_EVENTS_AFTER = 60
LEAST_STRETCH = 160
LEAST_NEEDED = 15
LEAST_BEFORE = 40
VIRTUAL_PLACES = (0.5, 0.75)
RECENT_SHARE = 0.25
DETAIL_END = 1_000
"""How many characters of a call's arguments count, at the beginning and at the end."""


class CutKind(StrEnum):
    REAL = "real"
    """The harness compacted here."""
    VIRTUAL = "virtual"
    """Nothing happened here, so that no summary influenced what the agent did next."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a session is cut: events before `at` are known; those from `resumed` to `until` show the need."""

    kind: CutKind
    at: int
    resumed: int
    until: int
    summary: str = ""
    """The harness's own summary, if it can be read."""


@dataclass(frozen=True, slots=True)
class FactSighting:
    """How often a fact was named before a cut, and how many events before the cut it was last named."""

    times: int
    ago: int


@dataclass(frozen=True, slots=True)
class Need:
    """The facts by which a brief is measured at one cut."""

    seen: Mapping[Fact, FactSighting]
    events_before: int
    needed: frozenset[Fact]
    rediscovered: frozenset[Fact]
    used: frozenset[Fact]
    """Every fact that the agent named after the cut, even if others named it first."""
    constraints: tuple[str, ...] = ()

    @property
    def old(self) -> frozenset[Fact]:
        """The needed facts that were not named in the last quarter before the cut."""
        recent = self.events_before * RECENT_SHARE
        return frozenset(fact for fact in self.needed if self.seen[fact].ago >= recent)


@dataclass(frozen=True, slots=True)
class Score:
    """The result of one brief at one cut; None where there was nothing to measure."""

    survival: float
    survival_old: float | None
    survival_without_names: float | None
    """The survival of files, folders, commands and references only."""
    precision: float | None
    constraints: float | None


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many of all sessions each fact occurs."""

    sessions: int
    frequency: Mapping[Fact, int] = field(default_factory=lambda: {})

    def weight(self, fact: Fact) -> float:
        """The weight of a fact: the fewer sessions name it, the higher."""
        return math.log((1 + self.sessions) / (self.frequency.get(fact, 0) + 0.5))

    def weigh(self, facts: Iterable[Fact]) -> float:
        """The total weight of these facts."""
        # Sorted, because a sum of floats depends on the order, and a set has none.
        return sum(self.weight(fact) for fact in sorted(facts))


@dataclass(frozen=True, slots=True)
class LastState:
    """The state of the work at a cut; fields are empty if there was nothing of the kind."""

    failing: str
    """The last command that failed and has not passed since, except one that only reads or searches."""
    edited: str
    """The file that was changed last."""
    todos: tuple[str, ...]
    """The open to-dos."""

    def held(self, brief: str) -> tuple[bool, ...]:
        """For each part of the state, whether a brief contains it."""
        text = one_line(brief)
        command = one_line(_PAGED.sub("", _WENT_THERE.sub("", self.failing)))
        return (
            *((command[:COMMAND_CHARS] in text or holds(text, command),) if self.failing else ()),
            *((_name(self.edited) in text,) if self.edited else ()),
            *(holds(text, todo) for todo in self.todos),
        )


def rarity(sessions: Iterable[Iterable[frozenset[Fact]]]) -> Rarity:
    """The rarity of all facts over sessions, each given as the facts of its events."""
    count, frequency = 0, Counter[Fact]()
    for session in sessions:
        count += 1
        frequency.update(frozenset[Fact]().union(*session))
    return Rarity(count, frequency)


def is_conversation(event: Event) -> bool:
    """Whether an event is part of the main agent's own window."""
    kinds = Prompt | AssistantText | ToolCalled | ToolReturned | Replied | TodosChanged | TodoChanged
    if isinstance(event, ToolReturned) and event.handle:
        return False  # the agent read it in the result of the call that asked for it
    return isinstance(event, kinds) and event.agent == MAIN and event.origin is not Origin.HOLDFAST


def is_by_agent(event: Event) -> bool:
    """Whether the agent itself wrote the event's text."""
    return isinstance(event, AssistantText | ToolCalled | TodosChanged | TodoChanged)


def facts_of_event(event: Event) -> frozenset[Fact]:
    """The facts that an event of the conversation names."""
    if not is_conversation(event):
        return frozenset()
    match event:
        case ToolCalled(action=Action.RUN, subject=command, detail=detail):
            return facts_in_command(command) | facts_in(_ends(detail))
        case ToolCalled(subject=subject, detail=detail):
            return facts_in(f"{subject}\n{_ends(detail)}")
        case TodosChanged(todos=todos):
            return facts_in("\n".join(todo.text for todo in todos))
        case TodoChanged(todo=todo):
            return facts_in(todo.text)
        case Prompt(text=text) | AssistantText(text=text) | ToolReturned(text=text) | Replied(text=text):
            return facts_in(text)
        case _:
            return frozenset()


def _ends(detail: str) -> str:
    """The beginning and end of a call's arguments: a whole file would name hundreds of things in passing."""
    if len(detail) <= 2 * DETAIL_END:
        return detail
    return f"{detail[:DETAIL_END]}\n{detail[-DETAIL_END:]}"


def cuts(events: Sequence[Event]) -> tuple[Cut, ...]:
    """Every place to cut a session, in order; `need` decides which of them have enough to measure.

    Each cut's need extends to the next cut, whatever its kind.
    """
    places: list[Cut] = []
    real = compactions(events)
    starts = [0, *(resumed for _, resumed, _ in real)]
    ends = [*(at for at, _, _ in real), len(events)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        stretch = [place for place in range(start, end) if is_conversation(events[place])]
        if len(stretch) >= LEAST_STRETCH:
            for share in VIRTUAL_PLACES:
                at = stretch[round(len(stretch) * share)]
                places.append(Cut(CutKind.VIRTUAL, at, at, end))
        if number < len(real):
            at, resumed, summary = real[number]
            places.append(Cut(CutKind.REAL, at, resumed, ends[number + 1], summary))
    # Events after the next cut belong to that cut, so that none counts twice.
    following = (*(cut.at for cut in places[1:]), len(events))
    return tuple(replace(cut, until=min(cut.until, at)) for cut, at in zip(places, following, strict=False))


def compactions(events: Sequence[Event]) -> list[tuple[int, int, str]]:
    """For each compaction: the index of its first event, of the first event after it, and its summary."""
    compacted: list[tuple[int, int, str]] = []
    for place, event in enumerate(events):
        if not isinstance(event, Compacted) or event.agent != MAIN:
            continue
        if compacted and not any(is_conversation(between) for between in events[compacted[-1][1] : place]):
            at, _, summary = compacted[-1]
            compacted[-1] = (at, place + 1, summary or event.summary)
        else:
            compacted.append((place, place + 1, event.summary))
    return compacted


def need(
    events: Sequence[Event], mentions: Sequence[frozenset[Fact]], cut: Cut, recurring: int = 1
) -> Need | None:
    """The need at a cut; None if there is too little before it or too little needed after it.

    An identifier counts if at least `recurring` events before the cut name it.
    """
    before = [place for place in range(cut.at) if is_conversation(events[place])]
    if len(before) < LEAST_BEFORE:
        return None
    named = _seen([mentions[place] for place in before])
    seen = {fact: seen for fact, seen in named.items() if seen.times >= recurring or not is_name(fact)}
    after = _named_after(events, mentions, cut)
    needed = after.by_agent & seen.keys()
    if len(needed) < LEAST_NEEDED:
        return None
    rules = constraints_in(human_texts(events[: cut.at]))
    return Need(seen, len(before), needed, after.brought & seen.keys(), after.used, rules)


@dataclass(frozen=True, slots=True)
class _After:
    """The facts named after a cut: first by the agent, first by others, and by the agent at any time."""

    by_agent: frozenset[Fact]
    brought: frozenset[Fact]
    used: frozenset[Fact]


def _named_after(events: Sequence[Event], mentions: Sequence[frozenset[Fact]], cut: Cut) -> _After:
    by_agent, brought, used = set[Fact](), set[Fact](), set[Fact]()
    agent_events = 0
    for place in range(cut.resumed, cut.until):
        if not is_conversation(events[place]):
            continue
        fresh = mentions[place] - by_agent - brought
        if not is_by_agent(events[place]):
            brought |= fresh
            continue
        by_agent |= fresh
        used |= mentions[place]
        agent_events += 1
        if agent_events == AGENT_EVENTS_AFTER:
            break
    return _After(frozenset(by_agent), frozenset(brought), frozenset(used))


def human_texts(events: Iterable[Event]) -> list[str]:
    """What the user typed, as a prompt or in answer to a tool."""
    return [
        event.text
        for event in events
        if isinstance(event, Prompt | Replied) and event.origin is Origin.HUMAN and event.agent == MAIN
    ]


def _seen(rows: Sequence[frozenset[Fact]]) -> dict[Fact, FactSighting]:
    times, last = Counter[Fact](), dict[Fact, int]()
    for place, facts in enumerate(rows):
        times.update(facts)
        last.update(dict.fromkeys(facts, place))
    return {fact: FactSighting(times[fact], len(rows) - 1 - place) for fact, place in last.items()}


def score(brief: str, need: Need, rarity: Rarity) -> Score:
    """The score of a brief at a cut."""
    held = facts_in(brief) | (quoted_commands(brief) & need.seen.keys())
    unnamed = frozenset(fact for fact in need.needed if not is_name(fact))
    constraints_held = [holds(brief, sentence) for sentence in need.constraints]

    def survived(needed: frozenset[Fact]) -> float | None:
        return rarity.weigh(needed & held) / rarity.weigh(needed) if needed else None

    return Score(
        survival=survived(need.needed) or 0.0,
        survival_old=survived(need.old),
        survival_without_names=survived(unnamed),
        precision=len(held & need.used) / len(held) if held else None,
        constraints=sum(constraints_held) / len(constraints_held) if constraints_held else None,
    )


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, its standard error, and the number of values; None if there were none."""

    value: float | None
    error: float | None
    n: int


def mean(values: Iterable[float | None]) -> Mean:
    """The mean of the values that are not None."""
    present = [value for value in values if value is not None]
    if not present:
        return Mean(None, None, 0)
    error = statistics.stdev(present) / math.sqrt(len(present)) if len(present) > 1 else None
    return Mean(statistics.fmean(present), error, len(present))


COMMAND_CHARS = 40
"""How many characters of a command are enough to recognise it."""
_WENT_THERE = re.compile(r"^\s*cd \S+\s*&&\s*")
_PAGED = re.compile(r"\s*(?:2>&1)?(?:\s*\|\s*(?:head|tail)\b[^|;&\n]*)?$")
"""A pipe that only limits the output is not part of the failed command."""
_SEGMENT = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_NO_MORE = re.compile(r"\b(?:deleted?|gone|moved|no longer|removed?|renamed?)\b|→|->", re.IGNORECASE)


def last_state(events: Iterable[Event]) -> LastState:
    """The state of the work after these events."""
    failing: dict[str, None] = {}
    edited, todos, calls = "", tuple[Todo, ...](), dict[str, ToolCalled]()
    for event in events:
        match event:
            case ToolCalled(agent="main", call=call):
                calls[call] = event
            case ToolReturned(agent="main", call=call, ok=ok) if call in calls:
                tool_call = calls.pop(call)
                if tool_call.action is Action.RUN:
                    failing.pop(tool_call.subject, None)
                    # A search without a result leaves nothing undone, so a brief need not mention it.
                    failing |= (
                        {}
                        if ok or purpose_of(tool_call.subject) is Purpose.LOOK
                        else {tool_call.subject: None}
                    )
                elif ok and tool_call.action in (Action.WRITE, Action.EDIT):
                    edited = tool_call.subject
            case TodosChanged(agent="main"):
                todos = event.todos
            case TodoChanged(agent="main", todo=todo):
                todos = with_todo(todos, todo)
            case _:
                pass
    still_open = tuple(todo.text for todo in todos if todo.status != COMPLETED)
    return LastState(next(reversed(failing), ""), edited, still_open)


def deleted_file_names(events: Iterable[Event]) -> frozenset[str]:
    """The names of files that were deleted or renamed, and not created again."""
    deleted: set[str] = set()
    calls: dict[str, ToolCalled] = {}
    for event in events:
        if isinstance(event, ToolCalled):
            calls[event.call] = event
        elif isinstance(event, ToolReturned) and event.ok and event.call in calls:
            deleted = _deleted_after(deleted, calls.pop(event.call))
    return frozenset(deleted)


def offered_as_present(brief: str, name: str) -> bool:
    """Whether a brief names a deleted file without saying that it is gone."""
    return any(name in facts_in(line) and not _NO_MORE.search(line) for line in brief.splitlines())


def _deleted_after(deleted: set[str], call: ToolCalled) -> set[str]:
    """The names of deleted files after one more call."""
    match call.action:
        case Action.DELETE:
            return deleted | {_name(call.subject)}
        case Action.READ | Action.WRITE | Action.EDIT:
            return deleted - {_name(call.subject)}
        case Action.RUN:
            for segment in _SEGMENT.split(call.subject):
                deleted = _deleted_in_shell(deleted, segment.removeprefix("git ").split())
            return deleted
        case _:
            return deleted


def _deleted_in_shell(deleted: set[str], words: Sequence[str]) -> set[str]:
    names = [_name(word.strip("\"'")) for word in words[1:] if not word.startswith("-")]
    if words[:1] == ["rm"]:
        return deleted.union(filter(_is_file, names))
    # A file that is moved into a directory keeps its name.
    if words[:1] == ["mv"] and len(names) == 2 and all(map(_is_file, names)):
        return (deleted | {names[0]}) - {names[1]}
    return deleted


def _is_file(name: str) -> bool:
    return name in facts_in(name)


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
