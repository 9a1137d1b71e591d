"""Replies: the user's words in a tool's result, as events, the same for every harness.

Each harness knows where in a result they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from holdfast.core.events.event import Event, Origin, Replied
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import capped, items, mapping, text
from holdfast.harnesses.frame import Frame


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
