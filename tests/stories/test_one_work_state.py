"""Whatever happened in a session, nothing that speaks of it says done where another says open.

The same over real transcripts, if HOLDFAST_DATA names a folder of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast import harnesses
from holdfast.core.agent_log.summary import Material, question
from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import compose
from holdfast.core.documents.continuity import (
    ContinuityPart,
    LayerName,
    LayerSummary,
    WrittenItems,
    blank,
    item_subject,
    merge_summary,
    summary_of,
)
from holdfast.core.documents.continuity_startup import LayerContent, StartupInput, StartupLimits, startup
from holdfast.core.documents.continuity_summary import generated
from holdfast.core.documents.handoff import TITLES, HandoffHead
from holdfast.core.documents.handoff_content import HandoffWords, fill_handoff
from holdfast.core.documents.ledger_content import SessionContent, fill_ledger
from holdfast.core.documents.promotion import candidates
from holdfast.core.events.event import Action, Event, Origin, Todo, TodosChanged
from holdfast.core.session.checkpoint import take
from holdfast.core.session.session import Policy, Session, Trigger, advance, begin, work_of
from holdfast.core.work.settled import statement_key
from holdfast.engine.views.serialisation import work_row
from tests.core.scenes import KEY, MINUTE, NOON, PROJECT, called, prompt, returned, said, session

DATA: Final = os.environ.get("HOLDFAST_DATA", "")
SHOWN: Final = 180
"""How much of a text is compared: some documents show less of it than others."""


@dataclass(frozen=True)
class Claims:
    """What a document says is done, and what it says is not."""

    done: frozenset[str]
    open: frozenset[str]


def claims(done: Iterable[str], still_open: Iterable[str]) -> Claims:
    return Claims(frozenset(map(_key, done)) - {""}, frozenset(map(_key, still_open)) - {""})


def _key(text: str) -> str:
    return statement_key(text)[:SHOWN].rstrip("…. ")


def documents(of: Session, events: Iterable[Event]) -> dict[str, Claims]:
    """The claims of everything that speaks of a session, by name."""
    layers = generated(of).layers
    merged = {name: _merged(name, layer) for name, layer in layers.items()}
    content = SessionContent(of, work_of(of))
    ledger = fill_ledger(content)
    handoff = fill_handoff(content, list(events), HandoffHead("go on"), HandoffWords())
    parts = dict(zip(TITLES, handoff.sections, strict=True))
    checkpoint = take(of, Trigger.PERIODIC, "", "c1", of.last_event_at)[1]
    work = work_row(work_of(of))
    brief = compose(BriefInput(Reason.COMPACT, of, of.last_event_at), 6_000).text
    return {
        "brief": _by_heading(brief, ("Done",), ("Now", "Next", "Questions")),
        "digest": _by_heading(checkpoint.digest, ("Done",), ("Now", "Next", "Questions")),
        "outline": claims((), (*checkpoint.outline.open_questions, *_outlined(checkpoint.outline.summary))),
        "continuity": _of_layers(layers.values()),
        "merged continuity": _of_layers(merged.values()),
        "startup block": _startup(merged),
        "question to a model": _by_heading(
            question(Material("", (), of.trail)),
            (),
            ("Next steps that were named", "Ideas that were named and not tried"),
        ),
        "API": claims(
            (str(row["text"]) for row in work["done"]),
            (str(row["text"]) for name in ("now", "next", "questions") for row in work[name]),
        ),
        "ledger": claims(
            (entry.text for entry in ledger.done), (entry.text for entry in (*ledger.now, *ledger.next))
        ),
        "handoff": claims(parts["Problems Solved"], (*parts["Pending"], *parts["Next Step"])),
    }


def _merged(name: LayerName, layer: LayerSummary) -> LayerSummary:
    return summary_of(merge_summary(blank(name), layer, WrittenItems()).document)


def _of_layers(layers: Iterable[LayerSummary]) -> Claims:
    rows = list(layers)
    done = [item for layer in rows for item in layer.of(ContinuityPart.CONFIRMED)]
    open_parts = (ContinuityPart.NEXT, ContinuityPart.UNTRIED)
    return claims(done, (item for layer in rows for part in open_parts for item in layer.of(part)))


def _startup(layers: Mapping[LayerName, LayerSummary]) -> Claims:
    contents = tuple(LayerContent(name, f"{name}.md", layer) for name, layer in layers.items())
    text = startup(StartupInput(contents, ()), StartupLimits(200)).text
    return _by_heading(text, ("Confirmed working",), ("Incomplete / next", "Not yet tried"))


def _outlined(summary: str) -> Iterator[str]:
    for line in summary.splitlines():
        label, _, texts = line.partition(": ")
        if label in ("Now", "Next"):
            yield from texts.split("; ")


def _by_heading(text: str, done: Iterable[str], still_open: Iterable[str]) -> Claims:
    rows: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if heading := _HEADING.fullmatch(line):
            title = heading[1]
        elif line.startswith("- "):
            rows.setdefault(title, []).append(line.removeprefix("- "))
    return claims(
        (row for name in done for row in rows.get(name, ())),
        (row for name in still_open for row in rows.get(name, ())),
    )


_HEADING: Final = re.compile(r"#{2,3} (.+)")


def disagreements(of: Session, events: Iterable[Event]) -> list[str]:
    """Each text that one document calls done and another open, with their names."""
    every = documents(of, events)
    return [
        f"{text!r} is done in the {one} and open in the {other}"
        for one, sure in every.items()
        for other, doubtful in every.items()
        for text in sorted(sure.done & doubtful.open)
    ]


def outcome_disputes(of: Session) -> list[str]:
    """Each command that the continuity counts as working and as failing."""
    layers = generated(of).layers.values()
    subjects = {
        part: {item_subject(item) for layer in layers for item in layer.of(part) if "`" in item}
        for part in (ContinuityPart.CONFIRMED, ContinuityPart.FAILED)
    }
    commands = {item_subject(f"`{run.command}`") for run in of.trail.commands}
    return sorted(subjects[ContinuityPart.CONFIRMED] & subjects[ContinuityPart.FAILED] & commands)


def passing_candidates(of: Session, events: Iterable[Event]) -> list[str]:
    """Each candidate for a memory that some document calls done or open."""
    every = documents(of, events).values()
    passing = {text for one in every for text in (*one.done, *one.open)}
    layers = generated(of).layers.items()
    put_up = {one.text for name, layer in layers for one in candidates(layer, name, (), blocked=False, at=0)}
    return sorted(text for text in put_up if _key(text) in passing)


# ---------------------------------------------------------------- made-up sessions

TASKS: Final = (
    "Document the tax rates",
    "Round the totals half up in `cart.py`",
    "Close the epic",
    "Does the cache survive a restart?",
    "Write the report of the whole quarter, with every total and its tax, " * 6,
    "Write the report of the whole quarter, with every total and its tax, " * 6 + "and its owner",
)
SENTENCES: Final = (
    "{}.",
    "Next: {}.",
    "Next steps:\n1. {}\n2. Send it",
    "Done: {}.",
    "{} is done.",
    "It works now: {}.",
    "- [x] {}",
    "- [ ] {}",
    "## Remaining\n- {}",
    "We could also try this: {}.",
    "I decided on this instead: {}.",
    "Should I go on? {}",
    "All done. The entire epic is complete.",
)
COMMANDS: Final = ("make test 2>&1 | tail -5", "pytest -q", "npm run lint | tail")


@st.composite
def _steps(draw: st.DrawFn) -> tuple[str, str, str]:
    what = draw(st.sampled_from(("said", "asked", "todo", "ran", "edited")))
    match what:
        case "todo":
            return what, draw(st.sampled_from(("pending", "in_progress", "completed"))), draw(_tasks())
        case "ran":
            return what, draw(st.sampled_from(("0", "1"))), draw(st.sampled_from(COMMANDS))
        case "edited":
            return what, "", draw(st.sampled_from(("/home/you/app/cart.py", "/home/you/app/docs/tax.md")))
        case _:
            return what, draw(st.sampled_from(SENTENCES)), draw(_tasks())


def _tasks() -> st.SearchStrategy[str]:
    return st.sampled_from(TASKS)


def made_up(steps: Iterable[tuple[str, str, str]]) -> list[Event]:
    """The events of a session in which this happened, a minute apart."""
    events: list[Event] = []
    todos: dict[str, Todo] = {}
    for number, (what, how, text) in enumerate(steps):
        at = NOON + number * MINUTE
        match what:
            case "said":
                events.append(said(how.format(text), f"a{number}", at))
            case "asked":
                events.append(prompt(how.format(text), f"p{number}", at))
            case "todo":
                # A list may have the same text twice, once done and once open.
                todos[f"{text}{number % 2}"] = Todo(text, how)
                events.append(_todos(tuple(todos.values()), f"t{number}", at))
            case _:
                action = Action.RUN if what == "ran" else Action.EDIT
                events.append(called(f"c{number}", action, text, at))
                events.append(returned(f"c{number}", ok=how != "1", exit_status=int(how or "0"), at=at))
    return events


def _todos(todos: tuple[Todo, ...], record: str, at: int) -> TodosChanged:
    return TodosChanged(session=KEY, record=record, at=at, origin=Origin.ASSISTANT, todos=todos)


def followed(of: Session, events: Iterable[Event]) -> Session:
    for event in events:
        of, _ = advance(of, event, Policy())
    return of


EPIC: Final = "Close the epic"


@example([("todo", "completed", EPIC), ("said", "Next: {}.", EPIC)])
@example([("said", "Next: {}.", EPIC), ("todo", "completed", EPIC)])
@example([("todo", "completed", EPIC), ("todo", "pending", EPIC)])
@example([("said", "It works now: {}.", TASKS[-1]), ("said", "Next: {}.", TASKS[-2])])
@given(st.lists(_steps(), max_size=14))
@settings(deadline=None)
def test_nothing_is_done_in_one_and_open_in_another(steps: list[tuple[str, str, str]]) -> None:
    events = made_up(steps)
    of = followed(session(), events)
    assert disagreements(of, events) == []
    assert outcome_disputes(of) == []
    assert passing_candidates(of, events) == []


def test_what_is_reopened_is_open_and_what_is_finished_is_done() -> None:
    first = [_todos((Todo(EPIC, "completed"),), "t1", NOON)]
    again = [*first, _todos((Todo(EPIC, "pending"),), "t2", NOON + MINUTE)]
    for events, expected in ((first, "done"), (again, "open")):
        every = documents(followed(session(), events), events)
        saying = {name for name, one in every.items() if _key(EPIC) in getattr(one, expected)}
        assert saying >= {"digest", "continuity", "merged continuity", "startup block", "API", "ledger"}


# ---------------------------------------------------------------- real sessions


def transcripts() -> Iterator[tuple[str, Path]]:
    for harness in harnesses.names():
        for path in sorted((Path(DATA) / harness).rglob("*.jsonl")):
            yield harness, path


@pytest.mark.skipif(not DATA, reason="HOLDFAST_DATA names no folder")
@pytest.mark.parametrize(
    "check",
    [disagreements, passing_candidates, lambda of, events: outcome_disputes(of)],
    ids=["done or open", "candidates", "outcomes"],
)
def test_nothing_is_done_and_open_at_any_tenth_of_a_real_session(
    check: Callable[[Session, list[Event]], list[str]],
) -> None:
    faults: dict[str, list[str]] = {}
    for harness, path in transcripts():
        events = [*harnesses.get(harness).read_transcript(path, "s1", "", 1 << 30).events]
        of = begin("s1", harness, PROJECT, NOON)
        cuts = {len(events) * tenth // 10 for tenth in range(1, 11)}
        for number, event in enumerate(events, 1):
            of, _ = advance(of, event, Policy())
            if number in cuts and (wrong := check(of, events[:number])):
                faults[f"{path.name} at {number}"] = wrong
    assert faults == {}
