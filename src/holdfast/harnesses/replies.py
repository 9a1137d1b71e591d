"""Replies: a person's words that stand in a tool's result, as events, for every harness alike.

Where in a result they stand is each harness's own knowledge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from holdfast.core.events.event import Event, Origin, Replied
from holdfast.core.events.fence import without_ours
from holdfast.harnesses.fields import capped, items, mapping, text
from holdfast.harnesses.frame import Frame


def reply(call: str, words: str, frame: Frame, question: str = "", part: str = "reply") -> Iterator[Event]:
    """What a person said to a call, if anything; without a question it was refused with these words."""
    if words := capped(without_ours(words)).strip():
        asked = capped(without_ours(question))
        yield Replied(**frame.part(Origin.HUMAN, part), call=call, text=words, question=asked)


def questions_in(given: Mapping[str, object]) -> str:
    """What a call asks a person, and among what to choose, as one would read it."""
    questions = [mapping(one) for one in items(given.get("questions"))]
    options = ((text(mapping(option), "label") for option in items(one.get("options"))) for one in questions)
    lines = ((text(one, "question"), *labels) for one, labels in zip(questions, options, strict=True))
    return "\n".join(filter(None, (line for told in lines for line in told)))


def answers(call: str, asked: Iterable[tuple[str, object]], frame: Frame) -> Iterator[Event]:
    """What a person answered to each question of a call: a text, or several that were chosen."""
    for number, (question, answer) in enumerate(asked):
        chosen = [answer] if isinstance(answer, str) else items(answer)
        words = ", ".join(one for one in chosen if isinstance(one, str))
        if question:
            yield from reply(call, words, frame, question, f"reply/{number}")
