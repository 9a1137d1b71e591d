"""Substance: whether a sentence tells something by itself, and whether it says what its words hint at.

A cue is only a word: "GitHub issue #950" has one for a failure. Here such readings are taken back, and what
says nothing is recognised: courtesies, cells of tables, fields and log lines that were pasted into a prompt.
Not here: the cues themselves (`prose.cues`), and what becomes of a sentence (`notes`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from holdfast.core.evidence.prose import cues
from holdfast.core.evidence.prose.cues import REMEMBERED, Cue
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words

SHORTEST: Final = 12
FEWEST_WORDS: Final = 2
FEWEST_WORDS_OF_ROW: Final = 4


def tells(text: str, *, is_row: bool = False) -> bool:
    """Whether a text says something by itself; a name or a courtesy alone does not."""
    if _COURTESY.fullmatch(text.replace("’", "'")):
        return False
    fewest = FEWEST_WORDS_OF_ROW if is_row or _CELLS in _CODE.sub(" ", text) else FEWEST_WORDS
    content = _HEADS.sub(" ", text) if is_row else text
    return len(text) >= SHORTEST and (len(_plain_words(content)) >= fewest or not text.isascii())


@lru_cache(REMEMBERED)
def states_failure(text: str) -> bool:
    """Whether a sentence with a word for a failure speaks of one, and not of an issue's number."""
    return Cue.FAIL in cues.cues_in(_ONLY_NAMED.sub(" ", text))


@lru_cache(REMEMBERED)
def reports_work(text: str) -> bool:
    """Whether a sentence begins with what its writer has done: "Fixed …", "I've removed …"."""
    return _REPORTS_WORK.match(text.replace("’", "'")) is not None


@lru_cache(REMEMBERED)
def is_under_way(text: str) -> bool:
    """Whether a sentence says only that something has not ended yet, which holds for the moment."""
    return _UNDER_WAY.search(text.replace("’", "'")) is not None and not reports_work(text)


def announcement(text: str) -> str:
    """What a message's last words, which lead up to a tool call, announce; empty if that is nothing.

    "Let me fix this:" announces nothing, "Let me add the method to the store:" does.
    """
    opening = text.rstrip(" :：")
    return f"{opening}." if content_words(opening) - _VAGUE or "`" in opening else ""


def is_pasted_field(text: str) -> bool:
    """Whether a line of a prompt is a field, a log line or the like, as programs print them."""
    if _LOG_LINE.search(text) or _BADGE.search(text) or len(_ASSIGNED.findall(text)) >= FEWEST_ASSIGNED:
        return True
    if not _plain_words(_JSON_PAIR.sub(" ", text)) and text.isascii():
        return True
    field = _FIELD.fullmatch(text)
    return field is not None and all(len(_plain_words(part)) <= 1 for part in _PARTS.split(field["value"]))


def _plain_words(text: str) -> list[str]:
    return _PLAIN_WORD.findall(_CODE.sub(" ", text))


_PLAIN_WORD: Final = compiled(r"(?<![\w./-])[A-Za-z][a-z']*(?![\w/(]|\.\w)")
_CODE: Final = compiled(r"`[^`]*`")
_CELLS: Final = " | "
_HEADS: Final = compiled(r"(?:\A|[(;] ?)[^:;()]{1,40}: ")
"""What stands above the cells of a row, as `reader` puts it before them."""
_COURTESY: Final = compiled(
    r"(?:that|this|it|everything|all|looks?|now)\b[^`/\d]{0,40}[!.]|"
    r"(?:(?:good|great|ah|ok(?:ay)?|now)[,!.]? )*(?:i|we)(?:'ve| have| can| now)? (?:see|found|understand|"
    r"got|know) (?:it|(?:the|what the|where the) (?:\w+ )?(?:issue|problem|bug|cause|error|culprit)(?: is)?)"
    r"(?: now)?[!.:]|"
    r"(?:(?:yes|ah|oh|good|great)[,!.]? )*(?:you(?:'re| are)|that's) (?:(?:absolutely|completely|totally|"
    r"quite|so) )*(?:right|correct)(?: (?:about|to) [^`/\d]{0,40})?[!.:]|"
    r"(?:you (?:raise|make) |that's |what )?an? (?:very |really )?(?:good|great|fair|excellent|valid) "
    r"(?:point|question|catch|idea|observation|suggestion)[!.]|"
    r"you (?:raise|make) (?:good|great|fair|excellent|valid) points?[!.]|"
    r"(?:good|great|fair|excellent|nice) (?:point|question|catch|idea|observation|suggestion)[!.]|"
    r"(?:many )?thank(?:s| you)\b[^`/\d]{0,60}[!.]|"
    r"(?:here's|this is|(?:now )?(?:i|we)(?:'ve| have| can| now)? (?:got|have|see|understand)) (?:now )?"
    r"(?:the|an?|enough|all(?: the)?) ?(?:full|complete|clear|whole|entire|good)? ?(?:picture|"
    r"understanding|context|overview)\b[^`/\d:,;]{0,50}[!.:]",
    re.IGNORECASE,
)
"""A short remark without a name or number: "That looks perfect!", "I see the issue.", "You're right!"."""
_ONLY_NAMED: Final = compiled(
    r"`[^`]*`|\bhttps?://\S+|\S*/\S*|\b\w+(?:[-_.]\w+)+\b|"
    r"\b(?:(?:github|gitlab|linear|jira|tracking|parent|upstream|open|closed) )?issues? #?\d+|"
    r"\b(?:github|gitlab|linear|jira) issues?\b|"
    r"\b(?:errors?|failures?|crash|bugs?|issues?|problems?|timeouts?|panic)[- ](?:handling|"
    r"handlers?|messages?|codes?|paths?|types?|cases?|states?|reports?|reporting|metadata|details|metrics|track(?:ers?|ing)|"
    r"names?|recovery|values?|returns?|class(?:es)?|templates?|lists?|bodies|body)\b",
    re.IGNORECASE,
)
"""Names, references and terms that contain a word for a failure and state none."""
_REPORTS_WORK: Final = compiled(
    r"(?:(?:i|we)(?:'ve| have)? |(?:also|now|successfully|then) )*(?:fixed|removed|added|updated|changed|"
    r"extracted|implemented|created|moved|renamed|replaced|refactored|solved|resolved|achieved|corrected|simplified|"
    r"designed|reverted|restored|wrapped|adjusted|converted|switched|rewrote|introduced|"
    r"committed|pushed|merged|opened|closed|deleted|verified|released|published|deployed|installed)\b",
    re.IGNORECASE,
)
_UNDER_WAY: Final = compiled(
    r"(?:\b(?:is|are|remains?)|'(?:s|re)) (?:(?:now|still|currently|already|all) )*(?:continuing|"
    r"under ?way|ongoing|in progress|(?:running|building|compiling|installing|rebuilding|finishing|starting)"
    r"(?=\s*(?:[.;,!]|now\b|again\b|the\b|through\b|$)))|"
    r"\b(?:is|are) (?:now |still )?in (?:its|their) (?:\w+ )?(?:first|second|third|next|last|final)\b",
    re.IGNORECASE,
)
_VAGUE: Final = frozenset(
    "add also change check continue do first fix fixes issue let look need now problem proceed run see start"
    " then things try update work".split()
)
"""Words of an announcement that do not say what it is about."""
_FIELD: Final = compiled(
    r"(?:assignee|author|branch|build|closed|commit|created|cwd|date|env|host|id|label|machine|model|os|owner|"
    r"pid|platform|priority|repo|repository|session|severity|sha|started|state|status|time|timestamp|updated|"
    r"user|version|worker|worktree)s?\s*[:=]\s*(?P<value>.{1,160})",
    re.IGNORECASE,
)
_PARTS: Final = compiled(r"[,·;|]")
_LOG_LINE: Final = compiled(
    r"\A\W*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) {1,2}\d{1,2} "
    r"\d\d:\d\d:\d\d|\d\d:\d\d:\d\d\b)|\[?\b\d+ characters left out …",
    re.IGNORECASE,
)
_BADGE: Final = compiled(r"\A\W*(?:critical|high|medium|low) severity\W*\Z|\A[✓✗●○◐☑☐] .*·", re.IGNORECASE)
_JSON_PAIR: Final = compiled(r'"[\w.-]{1,60}": ?(?:"[^"]*"|[^\s,"}\]]+)')
_ASSIGNED: Final = compiled(r"(?<!\S)\w+=\S+")
FEWEST_ASSIGNED: Final = 3
