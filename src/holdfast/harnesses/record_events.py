"""Record events: the frame that all events of one record share, and the user's replies as events.

A record may yield several events. Each is identified by the record's id and its own number or name, so that
reading it again gives the same ids. Each harness decides what the events are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2s
from typing import TypedDict

import msgspec

from holdfast.core.events.event import MAIN, Event, Origin, Replied, Titled
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import capped, items, mapping, text


class Common(TypedDict):
    """The arguments that every event has."""

    session: str
    record: str
    at: int
    origin: Origin
    agent: str
    parent: str


def title_event(session: str, title: str, at: int) -> Titled:
    """The title of a session where the harness gives it no id: the same one again is the same event."""
    mark = blake2s(title.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return Titled(**Frame(session, f"title/{mark}", at).common(Origin.HARNESS), text=title)


class Frame(msgspec.Struct, frozen=True):
    """A record's session, time and id; `turn` is the turn it belongs to, if known.

    One is made for every record: a `Struct` takes a fifth of a frozen dataclass's time.
    """

    session: str
    record: str
    at: int
    agent: str = MAIN
    parent: str = ""
    turn: str = ""

    @property
    def is_main(self) -> bool:
        """Whether this belongs to the main agent, the one that the user talks to."""
        return self.agent == MAIN

    def block(self, number: int) -> Frame:
        """The frame of one block of the record; the first block has the record's own id."""
        if not number:
            return self
        own = f"{self.record}/{number}"
        return Frame(self.session, own, self.at, self.agent, self.parent, self.turn)

    def part(self, origin: Origin, name: str) -> Common:
        """The arguments of a further event of this record."""
        return self.common(origin, f"{self.record}/{name}")

    def common(self, origin: Origin, record: str = "") -> Common:
        """The arguments of an event of this record, under its own id if one is passed."""
        return {
            "session": self.session,
            "record": record or self.record,
            "at": self.at,
            "origin": origin,
            "agent": self.agent,
            "parent": self.parent,
        }


def reply(call: str, words: str, frame: Frame, question: str = "", part: str = "reply") -> Iterator[Event]:
    """The user's answer to a call, if any; without a question it is the reason of a refusal."""
    if words := capped(without_injected_text(words)).strip():
        asked_question = capped(without_injected_text(question))
        yield Replied(**frame.part(Origin.HUMAN, part), call=call, text=words, question=asked_question)


def questions_in(arguments: Mapping[str, object]) -> str:
    """The questions that a call asks the user, with their options, as readable lines."""
    questions = [mapping(entry) for entry in items(arguments.get("questions"))]
    options = (
        (text(mapping(option), "label") for option in items(entry.get("options"))) for entry in questions
    )
    lines = ((text(entry, "question"), *labels) for entry, labels in zip(questions, options, strict=True))
    return "\n".join(filter(None, (line for group in lines for line in group)))


def answers(call: str, pairs: Iterable[tuple[str, object]], frame: Frame) -> Iterator[Event]:
    """The user's answer to each question of a call: a text, or several chosen options."""
    for number, (question, answer) in enumerate(pairs):
        chosen = [answer] if isinstance(answer, str) else items(answer)
        words = ", ".join(option for option in chosen if isinstance(option, str))
        if question:
            yield from reply(call, words, frame, question, f"reply/{number}")
