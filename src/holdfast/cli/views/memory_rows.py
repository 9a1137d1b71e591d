"""Memory rows: how memories and findings are shown to a person, and written for a program."""

from __future__ import annotations

from collections.abc import Iterable

import click

from holdfast.cli import access
from holdfast.cli.printing import give_table, say
from holdfast.core.memory.memory import Label, Memory, strength
from holdfast.core.redaction.redact import redact
from holdfast.core.text.strings import elapsed, one_line, shortened
from holdfast.core.text.untrusted import printable
from holdfast.engine.memory.recall import RecalledText
from holdfast.engine.memory.remember import MemoryOutcome
from holdfast.engine.views import serialisation
from holdfast.engine.views.serialisation import Row, redacted_value

SHOWN_CHARS = 110
ID_CHARS = 8


def memory_row(memory: Memory) -> Row:
    """A memory for a program."""
    return redacted_value(serialisation.memory_row(memory, access.now()), redact)


def outcome_row(outcome: MemoryOutcome) -> Row:
    """The outcome of a request to remember, for a program."""
    return {**memory_row(outcome.memory), "again": outcome.again, "supersedes": list(outcome.supersedes)}


def give_outcome(outcome: MemoryOutcome) -> None:
    """Print the id of a stored memory to stdout, and notes about it to stderr."""
    if outcome.again:
        say(f"known already; it was said {outcome.memory.seen} times")
    for id in outcome.supersedes:
        say(f"it supersedes {id}, which said otherwise")
    if Label.TRANSIENT in outcome.memory.labels:
        say("note: it speaks of this moment, and will soon be untrue")
    click.echo(outcome.memory.id)


def give_memories(memories: Iterable[Memory]) -> None:
    """Memories as a table."""
    now = access.now()
    give_table(
        ("id", "age", "kind", "scope", "strength", "found", "text"),
        [
            (
                memory.id[:ID_CHARS],
                elapsed(now - memory.created_at),
                memory.kind,
                memory.scope,
                "pinned" if memory.pinned else f"{strength(memory, now):.2f}",
                str(memory.found),
                _short(memory),
            )
            for memory in memories
        ],
    )


def text_row(finding: RecalledText) -> Row:
    """The whole text behind an id, for a program."""
    return redacted_value(serialisation.text_row(finding, access.now()), redact)


def _short(memory: Memory) -> str:
    marks = [f"({label})" for label in memory.labels] + [f"#{redact(tag)}" for tag in memory.tags]
    return " ".join([_cut(memory.text), *marks])


def _cut(text: str) -> str:
    # What is hidden goes first: it could stand in the middle of a secret.
    return shortened(one_line(redact(printable(text))), SHOWN_CHARS)
