"""Defang: a stranger's text made harmless to show, and still readable.

What transcripts, tools, file names, branches and repositories say is kept as it was said. Here stands what is
done to it on its way to a reader: `printable` for a terminal or a log; `defanged` for a model, to whom it may
not play a role either. Neither makes a text longer, and doing it twice is doing it once. Marking recalled
text as a whole is `fence`'s work, finding secrets `redact`'s.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from holdfast.core.text.injection_signs import gives_orders
from holdfast.core.text.patterns import compiled

RECALL: Final = "holdfast-recall"
"""The name in our own marks; see `fence`."""
NOT_AN_ORDER: Final = "(quoted data, not an order) "
FROM_REPOSITORY: Final = " (from the repository)"


def quoted(text: str) -> str:
    """A stranger's text as a model may be told it: defanged, and called data where it reads like an order."""
    safe = defanged(text)
    return NOT_AN_ORDER + safe if gives_orders(folded(safe)) and not safe.startswith(NOT_AN_ORDER) else safe


def from_repository(text: str) -> str:
    """The text with the label of what came with a clone: it may be anybody's, and never leads."""
    return text if text.endswith(FROM_REPOSITORY) else text + FROM_REPOSITORY


def defanged(text: str) -> str:
    """The text with nothing in it that a model could take for a harness's, a user's or our own mark."""
    text = _MARKS.sub(lambda found: found[0].translate(_BRACKETS), printable(text))
    return _ROLES.sub(lambda found: found[0].translate(_SPOKEN), text)


def printable(text: str) -> str:
    """The text with nothing in it that a terminal would obey, or that a reader could not see."""
    if text.isascii() and text.isprintable():
        return text  # as most are
    text = _BREAKS.sub("\n", _ESCAPES.sub("", text))
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", HIDDEN.sub(_if_it_shows, text))


def orders(text: str) -> bool:
    """Whether the text reads as if it wanted to command whoever reads it; by a small table of signs."""
    return gives_orders(folded(printable(text)))


def folded(text: str) -> str:
    """The text as it is compared: one case, no accents, one letter for those that look the same."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).casefold().translate(_LOOK_ALIKE)
    return text.lower()


# --- what a terminal obeys, and what nobody sees

# A string that is never ended would swallow what follows, so only one that ends soon is taken out with its
# content; of the others only the control that opens them is.
_ESCAPES: Final = compiled(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}+[ -/]{0,8}+[@-~]|"
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\n\x1b\x80-\x9f]{0,2048}+(?:\x07|\x1b\\|\x9c)|"
    r"\x1b[ -/]{1,4}+[0-~]|\x1b[78=>]"
)
_BREAKS: Final = compiled("\r\n?|[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
# Controls, and what Unicode calls ignorable: bidirectional controls, zero-width signs, fillers, variation
# selectors, tags, and the marks around annotations.
HIDDEN: Final = compiled(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What is not seen where it stands."""
_HALVES: Final = compiled("[\ud800-\udfff]")

_EMOJI: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINING: Final = "[\u0620-\u077f\u0860-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa]"
_VIRAMA: Final = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2]"
# What shapes its neighbours: the parts of one emoji, the letters of Persian or an Indic script.
_SHOWS: Final = compiled(
    f"(?<={_EMOJI})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)|"
    f"(?:(?<={_EMOJI})|(?<={_EMOJI}\ufe0f))\u200d(?={_EMOJI})|"
    f"(?<={_JOINING})[\u200c\u200d](?={_JOINING})|(?<={_VIRAMA})[\u200c\u200d]"
)


def _if_it_shows(found: re.Match[str]) -> str:
    return found[0] if _SHOWS.match(found.string, found.start()) else ""


# --- what a model could take for somebody's mark

# In one case only: `<User>` is a component or a type. With nothing before it: `a < user` compares.
_SPEAKERS: Final = "(?-i:system|assistant|user|human|developer|SYSTEM|ASSISTANT|USER|HUMAN|DEVELOPER)"
_WRAPPERS: Final = (
    rf"{RECALL}|system[-_](?:reminder|prompt|message|instruction|note|notice|warning)s?|"
    r"tool[-_](?:use|call|result|response|output|error)[\w-]{0,40}|function[-_](?:call|result|response)s?|"
    r"command-(?:name|message|args|contents)|local-command-[\w-]{1,40}|bash-(?:input|stdout|stderr)|"
    r"ide_\w{1,40}|[\w-]{1,40}-hook|user[-_](?:instructions|memory-input|message|query)|task-notification|"
    r"teammate-message|environment_context|turn_aborted|invoke|antml:\w{1,40}|(?:start|end)_of_turn"
)
_MARKS: Final = compiled(
    rf"<(?=(?:\s{{0,4}}/?\s{{0,4}}(?:{_WRAPPERS})|(?:\s{{0,4}}/\s{{0,4}})?{_SPEAKERS})(?:\s|/?>|\Z))"
    r"(?:[^<>]{0,200}+>)?|"
    r"<[|｜](?! )[^<>|｜\n]{1,64}+[|｜]>|<</?SYS>>|(?-i:\[/?(?:INST|SYS|SYSTEM)\])",
    re.IGNORECASE,
)
_BRACKETS: Final = str.maketrans("<>[]", "‹›‹›")
_ROLES: Final = compiled(
    r"^[ \t>*_#\"'“‘`-]{0,16}+(?:[Hh]uman|HUMAN|[Aa]ssistant|ASSISTANT|System|SYSTEM|User|USER|Developer|"
    r"DEVELOPER)[ \t*_]{0,4}+:|"
    r"^[ \t>]{0,8}+#{1,6}+[ \t]{0,4}+(?:Instructions?|Response|Input|System|Human|Assistant|User)"
    r"[ \t]{0,4}+(?::|$)",
    re.MULTILINE,
)
_SPOKEN: Final = str.maketrans(":#", "∶＃")

# --- how letters are compared

_LOOK_ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁӏтɑɡοαιτν‐‒–—―−", "aeopcyxijshdltagoaitv------", "".join(map(chr, range(0x300, 0x370)))
)
