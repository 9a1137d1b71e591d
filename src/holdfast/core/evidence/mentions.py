"""Mentions: the things that a session's work is about, counted by who named them.

What an agent has named by itself it names again; what a tool printed it mostly does not. So only the agent's
and the user's own words are counted: files, programs, identifiers and references, each in one spelling. A
count fades, so that yesterday's work gives way to today's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from holdfast.core.events.event import Action, ToolCalled
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.patches import FileChange
from holdfast.core.evidence.trail import MENTIONS_KEPT, Mention, Thing
from holdfast.core.text import names

HALF_LIFE = 70
"""After so many steps of the agent a mention counts half."""
CROWD = 30
"""Among so many others a thing counts half: a whole file that is written names much in passing."""
CALL_CHARS = 44
"""So long may a call be to be shown as it was typed."""


def in_text(text: str, file: str = "") -> Iterator[Mention]:
    """The things that a text names; `file` is the one that its identifiers stand in, if any."""
    for path in names.paths(text):
        if names.is_file(path):
            yield _file(path)
        elif not path.startswith(".."):
            yield Mention(f"{path.rstrip('/')}/", Thing.FOLDER)
    for name in names.names(text):
        yield from (Mention(part, Thing.NAME, file=file) for part in _telling_parts(name))
    for reference in names.references(text):
        yield Mention(reference, Thing.OPTION if reference.startswith("--") else Thing.REFERENCE)


def in_call(call: ToolCalled, changes: Iterable[FileChange]) -> Iterator[Mention]:
    """The things that a call of a tool names, identifiers together with the file that they stand in."""
    file = ""
    for change in changes:
        if change.action is Action.OTHER:
            continue  # a folder that is made, or a tree that is put back: that names no file
        file = change.renamed_to or change.path
        yield _file(file)
    if call.action is Action.RUN:
        for one in shell.calls(call.subject, CALL_CHARS):
            yield Mention(one.program, Thing.PROGRAM, shown=one.form)
    elif call.action not in (Action.READ, Action.WRITE, Action.EDIT, Action.DELETE):
        yield from in_text(call.subject)
    yield from in_text(call.subject if call.action is Action.RUN else call.detail, file)


def counted(known: tuple[Mention, ...], found: Iterable[Mention], step: int) -> tuple[Mention, ...]:
    """With these things counted once more, the last named last; over the cap, the least used go."""
    named = {(mention.thing, mention.name): mention for mention in found}
    if not named:
        return known
    worth = 1 / (1 + len(named) / CROWD)
    words = {name for _, name in named}
    before: dict[tuple[Thing, str], Mention] = {}
    others: list[Mention] = []
    for one in known:
        # Of the hundreds that are known few are named: the others are passed over by their name alone.
        if one.name in words and (one.thing, one.name) in named:
            before[one.thing, one.name] = one
        else:
            others.append(one)
    fresh = (_again(mention, before.get(key), worth, step) for key, mention in named.items())
    return _capped((*others, *fresh), step)


def _again(mention: Mention, before: Mention | None, worth: float, step: int) -> Mention:
    """The thing counted once more at a step."""
    use = worth + (use_at(before, step) if before else 0.0)
    file = mention.file or (before.file if before else "")
    return Mention(mention.name, mention.thing, use, step, mention.shown, file)


def use_at(mention: Mention, step: int) -> float:
    """How much a thing is in use at a step: its mentions, each halved by every half-life since."""
    return mention.use * math.exp2(-max(step - mention.step, 0) / HALF_LIFE)


def file_key(path: str) -> str:
    """What two spellings of one path share: the name, and the directory it stands in."""
    return "/".join(path.rstrip("/").rsplit("/", 2)[-2:])


def _file(path: str) -> Mention:
    # An import names a file from where it stands itself, which is no way for others to find it.
    shown = path.removeprefix("./")
    while shown.startswith("../"):
        shown = shown.removeprefix("../")
    return Mention(file_key(shown), Thing.FILE, shown=shown)


def _telling_parts(name: str) -> tuple[str, ...]:
    """The parts of a name that are names by themselves: `status.setUp` is about `setUp`, `run()` nothing."""
    parts = names.parts(name.removesuffix("()"))
    return tuple(part for part in parts if names.is_shaped(part))


def _capped(rows: tuple[Mention, ...], step: int) -> tuple[Mention, ...]:
    if len(rows) <= MENTIONS_KEPT:
        return rows
    # In batches, so that not every record pays for sorting; what has just come has had no chance yet.
    spare = len(rows) - MENTIONS_KEPT + MENTIONS_KEPT // 8
    least = sorted(rows[: len(rows) // 2], key=lambda mention: use_at(mention, step))[:spare]
    gone = {(mention.thing, mention.name) for mention in least}
    return tuple(mention for mention in rows if (mention.thing, mention.name) not in gone)
