"""Said: secrets behind a flag, in the arguments of a call, or in a sentence that names them.

No sign after the name binds a value to it; where one does, that is `core.redact_assignments`'s work.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core import redact_names as names
from holdfast.core import redact_values as values
from holdfast.core.redact_assignments import end_of, in_call, opening_before, owner_of, trimmed
from holdfast.core.redact_names import Announced, Proof
from holdfast.core.redact_spans import Rank, Span

_NAME: Final = re.compile(r"[\w-]{2,60}+", re.ASCII)
_FLAG: Final = re.compile(
    r"""(?:["'],)?[ \t]{1,4}\\{0,3}["']?(?P<value>[^\s"'`<>\\-][^\s"'`<>\\]{1,200}+)""", re.VERBOSE
)
_SENTENCE: Final = re.compile(
    r"""[ ](?:(?:for|of)[ ](?:the[ ])?(?:user[ ])?["'`]?[\w@.-]{1,40}["'`]?[ ])?
        (?:(?P<plainly>(?:is|was|will[ ]be|has[ ]been[ ]set[ ]to)(?:[ ]now)?:?)|to|as|[-–—→]{1,4})[ ]
        \\{0,3}(?P<quote>["'`])?(?P<value>[^\s"'`<>\\]{4,200})""",
    re.VERBOSE,
)
_ARGUMENT: Final = re.compile(r"""[ ](?P<quote>["'])(?P<value>[^\s"'`<>]{4,200})(?P=quote)""", re.VERBOSE)
_NEXT_WORD: Final = re.compile(
    r"""[ \t]{1,4}(?:\w{1,12}:?[ \t]{1,4})?(?P<value>[^\s"'`<>,;()]{8,200})(?=\s|\Z|\\[nr])"""
)
# What makes the next two words a name and its value: a line of .netrc, of a Dockerfile, of a shell.
_SETS: Final = re.compile(
    r"""(?: \b(?:login|user|account|machine)\s{1,8}\S{1,100}\s{1,8}
          | \b(?:ENV|set|setx|setenv|define|global)[ ]{1,3} )\Z""",
    re.ASCII | re.VERBOSE,
)


def said_at(text: str, place: int) -> Iterator[Span]:
    """The secret that is said after the name at this place."""
    name = _NAME.match(text, place)
    if not name or text[name.end() : name.end() + 1] not in _FOLLOWS:
        return
    owner = owner_of(text, place)
    is_flag = owner.startswith(("-", "/"))
    announced = names.announced_by(opening_before(text, place - len(owner)) + owner + name[0])
    if announced is None:
        return
    if text[name.end()] == "(":
        yield from in_call(text, name.end(), announced)
    elif is_flag:
        yield from _judged(_FLAG.match(text, name.end()), announced, text, quoted=True)
    else:
        yield from _in_sentence(text, place - len(owner), name, announced)


_FOLLOWS: Final = frozenset((*" \t\"'(",))


def _in_sentence(text: str, start: int, name: re.Match[str], announced: Announced) -> Iterator[Span]:
    if _SETS.search(text, max(0, start - 130), start):
        yield from _judged(_FLAG.match(text, name.end()), announced, text, quoted=True)
    elif sentence := _SENTENCE.match(text, name.end()):
        if sentence["plainly"] or values.is_made_up(trimmed(sentence["value"])):
            yield from _judged(sentence, announced, text, quoted=bool(sentence["quote"]))
    elif announced.proof is Proof.NONE and (argument := _ARGUMENT.match(text, name.end())):
        yield from _judged(argument, announced, text, quoted=True)
    elif (word := _NEXT_WORD.match(text, name.end())) and values.is_made_up(trimmed(word["value"])):
        yield from _judged(word, announced, text, quoted=False)


def _judged(found: re.Match[str] | None, announced: Announced, text: str, *, quoted: bool) -> Iterator[Span]:
    if found is None:
        return
    value, start = trimmed(found["value"]), found.start("value")
    judge = values.is_secret if quoted else values.is_secret_unquoted
    if judge(value, announced.proof):
        yield Span(start, end_of(text, start, value), announced.kind, Rank.NAME)
