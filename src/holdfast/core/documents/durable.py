"""Durable: whether a note of the continuity stays true beyond the work at hand, by its words.

A candidate for memory costs a person's attention, so a note counts only if it says clearly that it lasts: a
rule, a decision, or what the project needs. What reports this session's work, or points at one of its places,
does not.
"""

from __future__ import annotations

import re
from typing import Final

from holdfast.core.memory.memory import labels_of
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line

LONGEST: Final = 300
"""A longer note is a report or pasted text."""

_LASTS: Final = compiled(
    r"""
      ^(?:(?:rule|decision|decided|convention|constraint|preference|important)\b[^:]{0,24}:\s*)?
        (?:please\s+)?(?:always|never|do\ not|don['’]t|prefer|avoid|only\ ever)\b
    | ^(?:rule|decision|decided|convention|constraint|preference):\s
    | ^use\ [^`]+\ instead\ of\ [^`]+$
    | \b(?:must|has\ to|have\ to|shall)(?:\ not|\ never|\ always)?\b
    | \b(?:we|all|every|each|tests?|code|commits?|names?|files?)\b[^.;]{0,40}\b(?:always|never)\b
    | \b(?:i|we|the\ team|the\ project)\ (?:have\ )?(?:decided|chose|settled\ on|agreed|went\ with)\b
    | \b(?:we|the\ team|the\ project)\ (?:use|prefer)\b
    | \b(?:is|are)\ (?:required|forbidden|mandatory)\b
    | \b(?:requires?|needs?)\ (?:an?\ |the\ )?(?:running\ |local\ )?(?-i:[`A-Z0-9])\S*
    | \b(?:listens\ on|lives\ in|(?:is|are)\ (?:stored|kept)\ in)\b
    | 必须|不要|禁止|务必|总是|决定
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHOICE: Final = compiled(
    r"^(?:i|we)(?:['’]ve|\ have)?\ (?=(?:decided|chose|settled\ on|agreed|went\ with)\b)", re.IGNORECASE
)
"""How a choice begins that someone says they made; who says it does not matter."""
_PASSES: Final = compiled(
    r"""
      \?|\||\(said\ on\ refusing
    | \b(?:i|i['’](?:m|ve|ll|d)|let\ me|my|we['’](?:re|ve|ll|d)|you['’](?:re|ve|ll|d)|your?)\b
    | \b(?:now|just|already|still|currently|so\ far|any\ ?more|yet|earlier|above|below|next|again|later)\b
    | \b(?:this|these|that|those)\ (?:branch|fix|tests?|changes?|commit|pr|session|run|step|plan|task|bug
        |error|comments?|review|issue|file|function|line|approach|inconsistency)\b
    | \b(?:pass(?:e[sd]|ing)?|fail(?:s|ed|ing)?|succeeded|green|untracked|unpushed|coverage|merged)\b
    | \blet['’]s\b|\bmust\ have\b|\b(?:only|not|doesn['’]t|don['’]t)\ needs?\b|\bPR\ \d|\\n|\bneed\ updates?\b
    | \bnever\ (?:called|used|verif|check|test|read|reach|run)\w*
    | \blines?\ \d|:\d|\bhttps?://|\#\d|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b
    | ^\W*(?:it|this|that|these|those|they|and|but|also|so|or|if|while|both|one|same|plus|from|actually|since
        |because|however|otherwise|does|do\ we|is|are|can|should|what|how|why|where|which|who)\b
    | ^\W*(?:add|chang|check|clean|commit|consider|confirm|creat|draft|ensur|expand|extract|fix|implement|merg
        |mov|push|register|remov|renam|replac|revert|review|ran\b|simplif|updat|verif|wrote\b)\w*
    | ^\W*(?:the\ (?:user|prompt|plan|relevant|key|remaining|only|main|change|fix|issue|problem|root\ cause)
        |an?\ prerequisite|prerequisite|depends\ on|no\ )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_durable(note: str) -> bool:
    """Whether a note states a rule, a decision or a need that outlives the work at hand."""
    text = one_line(note)
    if len(text) > LONGEST or labels_of(text):
        return False
    return bool(_LASTS.search(text)) and not _PASSES.search(_CHOICE.sub("", text))
