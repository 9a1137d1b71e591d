"""Mentions: the things that a session's work is about, and how often they were named.

An agent names again what it has named itself, but rarely what a tool printed. So only words of the agent and
the user count: files, programs, identifiers and references, each in one spelling. Counts decay, so that
recent work ranks higher.
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
"""After this many steps of the agent a mention counts half."""
CROWD = 30
"""Named together with this many others, a thing counts half: writing a whole file names many things."""
CALL_CHARS = 44
"""The longest call that is shown as it was typed."""


def in_text(text: str, file: str = "") -> Iterator[Mention]:
    """The things that a text names; `file` is the file that contains its identifiers, if any."""
    for path in names.paths(text):
        if names.is_file(path):
            yield _file(path)
        elif not path.startswith(".."):
            yield Mention(f"{path.rstrip('/')}/", Thing.FOLDER)
    for name in names.names(text):
        yield from (Mention(part, Thing.NAME, file=file) for part in _name_parts(name))
    for reference in names.references(text):
        yield Mention(reference, Thing.OPTION if reference.startswith("--") else Thing.REFERENCE)


def in_call(call: ToolCalled, changes: Iterable[FileChange]) -> Iterator[Mention]:
    """The things that a tool call names; identifiers come with the file that contains them."""
    file = ""
    for change in changes:
        if change.action is Action.OTHER:
            continue  # creating a folder or restoring a tree names no file
        file = change.renamed_to or change.path
        yield _file(file)
    if call.action is Action.RUN:
        for shell_call in shell.calls(call.subject, CALL_CHARS):
            yield Mention(shell_call.program, Thing.PROGRAM, shown=shell_call.form)
    elif call.action not in (Action.READ, Action.WRITE, Action.EDIT, Action.DELETE):
        yield from in_text(call.subject)
    yield from in_text(call.subject if call.action is Action.RUN else call.detail, file)


def with_mentions(known: tuple[Mention, ...], new: Iterable[Mention], step: int) -> tuple[Mention, ...]:
    """The mentions with new ones counted, the last named last; over the limit, the least used are dropped."""
    named = {(mention.thing, mention.name): mention for mention in new}
    if not named:
        return known
    worth = 1 / (1 + len(named) / CROWD)
    words = {name for _, name in named}
    before: dict[tuple[Thing, str], Mention] = {}
    others: list[Mention] = []
    for mention in known:
        # Few of the hundreds of known things are named again; comparing the name alone skips the rest.
        if mention.name in words and (mention.thing, mention.name) in named:
            before[mention.thing, mention.name] = mention
        else:
            others.append(mention)
    fresh = (_again(mention, before.get(key), worth, step) for key, mention in named.items())
    return _capped((*others, *fresh), step)


def _again(mention: Mention, before: Mention | None, worth: float, step: int) -> Mention:
    """The mention after one more count at this step."""
    use = worth + (use_at(before, step) if before else 0.0)
    file = mention.file or (before.file if before else "")
    return Mention(mention.name, mention.thing, use, step, mention.shown, file)


def use_at(mention: Mention, step: int) -> float:
    """How much a thing is used at a step: its mentions, each halved by every half-life since."""
    return mention.use * math.exp2(-max(step - mention.step, 0) / HALF_LIFE)


def file_key(path: str) -> str:
    """What two spellings of one path share: the name and its directory."""
    return "/".join(path.rstrip("/").rsplit("/", 2)[-2:])


def _file(path: str) -> Mention:
    # An import names a file relative to the importing one, which is of no use elsewhere.
    shown = path.removeprefix("./")
    while shown.startswith("../"):
        shown = shown.removeprefix("../")
    return Mention(file_key(shown), Thing.FILE, shown=shown)


def _name_parts(name: str) -> tuple[str, ...]:
    """The parts that are recognisable as names: `setUp` of `status.setUp`, none of `run()`."""
    parts = names.parts(name.removesuffix("()"))
    return tuple(part for part in parts if names.looks_like_name(part))


def _capped(rows: tuple[Mention, ...], step: int) -> tuple[Mention, ...]:
    if len(rows) <= MENTIONS_KEPT:
        return rows
    # In batches, so that not every record pays for sorting; only from the older half.
    spare = len(rows) - MENTIONS_KEPT + MENTIONS_KEPT // 8
    least = sorted(rows[: len(rows) // 2], key=lambda mention: use_at(mention, step))[:spare]
    gone = {(mention.thing, mention.name) for mention in least}
    return tuple(mention for mention in rows if (mention.thing, mention.name) not in gone)
