"""Choices: what a sentence decides against, and whether an earlier sentence had chosen it.

"Use Decimal instead of float" overturns "keep the totals in float". A sentence that only mentions what is
rejected stands: "float loses cents".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from holdfast.core.evidence.prose.cues import REMEMBERED
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words


@lru_cache(REMEMBERED)
def rejected(sentence: str) -> frozenset[str]:
    """What a sentence decides against, in lower case: `float` of "use Decimal instead of float"."""
    folded = sentence.replace("’", "'").replace("`", "").lower()
    if folded.rstrip().endswith(("?", "？")):
        return frozenset()
    return frozenset(match[1] for match in _REJECTS.finditer(folded) if content_words(match[1]))


def is_rejected(sentence: str, phrases: Iterable[str]) -> bool:
    """Whether a sentence chooses one of the things that were decided against."""
    folded = sentence.replace("’", "'").replace("`", "").lower()
    return any(phrase in folded and _chooses(folded, phrase) for phrase in phrases)


def _chooses(sentence: str, phrase: str) -> bool:
    choice = re.search(rf"\b(?:{_CHOOSING}) {_ARTICLE}{re.escape(phrase)}(?!\w)", sentence)
    return choice is not None and _NEGATION.search(sentence, 0, choice.start()) is None


_ARTICLE: Final = r"(?:(?:an?|the|any|our|this|that|plain) )?"
_CHOOSING: Final = (
    r"us(?:e|es|ing)|keep(?:s|ing)?|stor(?:e|es|ing)|tak(?:e|es|ing)|add(?:s|ing)?|adopt(?:s|ing)?"
    r"|choos(?:e|es|ing)|chose|pick(?:s|ed|ing)?|prefer(?:s|red)?|in|into|as|with|via|by|on|to|for"
)
_END: Final = (
    r"(?=\s*(?:$|[.,;:!?()\n—–]|\s(?:for|in|on|at|to|when|where|because|since|as|so|and|or|but|if|while|with"
    r"|by|of|from|here|there|everywhere|anywhere|any ?more|again|please)\b))"
)
_REJECTS: Final = compiled(
    r"\b(?:instead of|rather than|in place of|switch(?:ing)? (?:away )?from|,(?: and)? not"
    r"|(?:do not|don't|never|stop|no longer) (?:us|keep|stor|add)(?:e|ing)?"
    r"|(?:forget|drop|ditch|scrap|abandon)(?: about)?)\s+"
    r"(?:(?:us|keep|stor|mak|hav|add)(?:e|ing)\s+)?"
    r"(?:(?:it|them|this|that)\s+)?(?:(?:in|as|on|to|by|with)\s+)?"
    rf"{_ARTICLE}([\w./+#-]*\w(?: [\w./+#-]*\w){{0,2}}?){_END}"
)
_NEGATION: Final = compiled(r"\b(?:not|never|no|cannot|without|instead|rather|avoid)\b|n't\b")
