"""Stream: redaction of what arrives in pieces, the same wherever the borders between them fall.

Text goes on in segments of whole lines; when nothing more comes for a while, whole lines go on earlier. What
has gone on is never taken back: no rule looks at a later line to judge an earlier one, but for private keys
and strings that go on in the next line, and these are held back until their end has come.
"""

from collections.abc import Iterable, Iterator

from holdfast.core.redaction.blocks import is_left_open, private_passages
from holdfast.core.redaction.redact import (
    LONGEST_LINE,
    before_open_key,
    before_open_line,
    context_start,
    in_segment,
    segment_end,
)
from holdfast.core.redaction.scan import NO_LISTS, Lists
from holdfast.core.redaction.spans import replaced


def redact_stream(arriving: Iterable[str | None], lists: Lists = NO_LISTS) -> Iterator[str]:
    """The text that arrives, without secrets; None in it says that nothing more came for a while."""
    text, start, given = "", 0, 0
    for piece in _public(arriving):
        if piece is None:
            cut = before_open_line(text, start, before_open_key(text, start, text.rfind("\n") + 1))
            if cut > start:
                lines = _shown(text, start, cut, lists)
                yield lines[given:]
                given = len(lines)
            continue
        text += piece
        while (end := segment_end(text, start)) is not None:
            yield _shown(text, start, end, lists)[given:]
            first = context_start(text, end)
            text, start, given = text[first:], end - first, 0
    yield _shown(text, start, len(text), lists)[given:]


def _shown(text: str, start: int, end: int, lists: Lists) -> str:
    """What is seen of the text between these places."""
    spans = list(in_segment(text, start, end, b"", lists))
    return replaced(text[:end], spans, b"")[start:]


def _public(arriving: Iterable[str | None]) -> Iterator[str | None]:
    """The same in whole lines, with a marker for every private passage."""
    held, opened = "", False
    for piece in arriving:
        if piece is None:
            yield None
            continue
        held += piece
        whole = held.rfind("\n") + 1 or (len(held) if len(held) >= LONGEST_LINE else 0)
        if whole:
            lines, held = held[:whole], held[whole:]
            public, opened = _without_passages(lines, opened=opened)
            yield public
    yield _without_passages(held, opened=opened)[0]


def _without_passages(text: str, *, opened: bool) -> tuple[str, bool]:
    """The text without its private passages, and whether the last of them is still open."""
    passages = list(private_passages(text, opened=opened))
    if not passages:
        return text, False
    public = replaced(text, passages, b"")
    if opened:
        # The marker of the passage that goes on has been given already.
        public = public.removeprefix("[REDACTED:private]")
    return public, is_left_open(text, passages[-1])
