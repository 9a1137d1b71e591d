"""The rule of decisions: which words mean that a choice was made, and why.

Written like the rules in `cues`. A choice is recognised by its verb ("I decided", "going with"), by its
reason ("since X, I'll …") or by the alternative that was rejected.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.evidence.prose.cues import BEFORE, QUESTION, rule, sign

_I: Final = r"\b(?:i'll|we'll|i will|we will|let's|i'm going to|we're going to)"
_WHY: Final = r"\b(?:because|since|so that|to avoid)\b"
_REASON: Final = r"\b(?:because|since|rather than|instead|so that|to avoid|over)\b"
_CHOOSE: Final = (
    r"(?:use|keep|put|store|make|pick|choose|prefer|move|place|leave|skip|replace|treat|return|implement|"
    r"split)\b"
)
_CHOOSING: Final = (
    r"(?:using|keeping|making|treating|storing|putting|skipping|leaving|splitting|moving|replacing|switching|"
    r"dropping|removing|preserving|reusing)\b"
)
_LOOKING: Final = (
    r"(?:\w+ly |just |also |now |first ){0,3}(?:ask|begin|check|close|commit|continue|dig|examine|explore|"
    r"find|get|go|help|inspect|investigate|list|look|mark|need|open|proceed|push|re-?run|read|review|run|search|"
    r"see|show|start|take|try|trace|verify|view|wait)\b(?! with\b)"
)
"""What an agent does all the time is no choice, even with a reason."""
_HOW_TO_LOOK: Final = (
    r"\bswitch(?:ing)? to (?:\S+ ){0,5}?(?:diffs?|look-?ups?|search(?:es)?|grep|rg|history|logs?|reading|"
    r"inspection)\b(?! (?:file|index|level|engine|table)s?\b)"
)
"""Another way to look something up is no decision about the work."""
_WILL: Final = (
    r"\b(?:i'll|i will|we'll|we will|i'm going to|we're going to|let's|let me|i need to|we need to|i should|"
    r"we should|i have to|we have to)"
)
_BEST: Final = (
    r"(?:best|better|cleanest|cleaner|simplest|simpler|safest|safer|right|correct|proper|smallest|minimal)"
)
_CHANGED: Final = (
    r"(?:changed|converted|deleted|dropped|fixed|merged|migrated|modified|refactored|removed|renamed|"
    r"restored|reused|reverted|rewrote|split|updated|used)"
)
_NOW: Final = (
    r"now (?:\w+ly )?(?:calls|checks|compares|counts|goes|keeps|loads|opens|reads|returns|reuses|runs|sends|"
    r"shows|stores|takes|uses|writes)"
)

DECISION: Final = rule(
    sign(
        "decided chose chosen opted settled agreed picked went switched",
        r"\b(?:i|we|you|the user)(?:'ve| have|'d| had)? (?:\w+ly |also |already |just )?(?:decided (?:to|on|"
        r"against|that|not)|chose|chosen|opted (?:for|to)|settled (?:on|for)|agreed (?:to|on|that)|picked|"
        r"went with|switched)\b",
    ),
    sign(
        "decision decisions",
        r"^\W*(?:(?:key|design|my|final|technical|architecture) )?decisions?(?: made)?(?:\s*[:：]|"
        r"\s+[—–-])\s*\S",
    ),
    sign(
        "going sticking staying",
        r"(?:^\W*|[,;:—]\s*|\b(?:so|i'm|we're|i am|we are) )(?:going|sticking|staying) with\b",
    ),
    sign(
        "go stick stay opt settle switch adopt",
        rf"{_I} (?:go with|stick (?:with|to)|stay with|opt for|settle on|switch to|adopt)\b",
    ),
    sign(
        "because since rather instead so avoid over",
        rf"{_I} (?:\w+ly |just |also |instead )?{_CHOOSE}.{{0,200}}{_REASON}|"
        rf"\b(?:let me|let's) (?:\w+ly |just |also |instead )?(?:{_CHOOSE}|go with|switch to|"
        rf"do\b).{{0,200}}{_WHY}|"
        rf"\b(?:i'm|we're|i am|we are) (?:\w+ly )?(?:using|keeping|making|treating|storing|putting|skipping|"
        rf"leaving|splitting|moving)\b.{{0,200}}{_REASON}|"
        rf"^\W*(?:i(?:'ve)? |we(?:'ve)? )?(?:used|moved|kept|made|put|switched|chose|picked|added|"
        rf"implemented|stored|replaced|extracted|placed|skipped|left|avoided|preferred|"
        r"went)\b[^:]{0,200}\b(?:rather than|instead of|because|since|over)\b|\b(?:was|were|been) (?:chosen|"
        r"picked|preferred|selected)\b.{0,120}\b(?:over|because|since|rather|instead)\b",
    ),
    sign(
        "let's",
        r"(?:^\W*|[,;:]\s*)let's (?:use|store|put|go for|make it)\b(?! (?:it|this|that|these|"
        r"those)\b)(?!.{0,60}\b(?:to (?:find|check|see|look|search)|tool|grep)\b)",
    ),
    # The reason comes first: "Since the caller has asked already, I'll pass `force`."
    sign(
        "since because given",
        rf"\b(?:since|because|given(?: that)?)\b [^;:?]{{8,180}}?, "
        rf"(?:i'll|i will|we'll|we will|i'm going to|let's) (?!{_LOOKING})\w",
    ),
    sign(
        "so therefore",
        rf", (?:so|therefore),? (?:i'll|i will|we'll|we will) (?:\w+ly |just |also |instead )?{_CHOOSE}|"
        rf", (?:so|therefore),? (?:i'm|we're|i am|we are) (?:\w+ly |just |also |instead )?{_CHOOSING}",
    ),
    # The rejected alternative is named.
    sign(
        "instead rather",
        rf"{_WILL} (?!{_LOOKING})[^;?]{{2,160}}?\b(?:instead of|rather than)\b|"
        rf"{_WILL} (?!{_LOOKING})[^;?]{{2,160}}?(?:\band instead \w|\binstead,? (?:since|because|so that)\b)|"
        rf"(?!\blet){_WILL} (?:just |also |\w+ly )?(?:change|drop|keep|make|put|remove|replace|rewrite|store|"
        rf"switch|use)\b[^;?]{{2,120}}?\binstead\W*$|"
        rf"\b{_NOW}\b.{{0,160}}\b(?:instead of|rather than)\b",
    ),
    sign(
        "instead rather because since so avoid",
        rf"^\W*(?:\S{{1,80}} [-—–] )?(?:i(?:'ve)? |we(?:'ve)? )?{_CHANGED}\b[^:]{{0,200}}"
        rf"\b(?:instead of|rather than|because|since|so that|to avoid)\b",
    ),
    sign(
        "best better cleanest cleaner simplest simpler safest safer right correct proper smallest minimal",
        rf"\b{_BEST} (?:solution|approach|fix|way|option|choice|behaviou?r|design)(?: here| now)? is "
        rf"(?:simply |just |actually )?(?:not )?to (?!{_LOOKING})\w",
    ),
    sign("fix", rf"\bthe (?:real |actual )?fix is (?:simple: |(?:simply |just )?to (?!{_LOOKING}))\w"),
    sign(
        "因 由 鉴",
        r"(?:因为|由于|鉴于).{1,80}[，,](?:所以|因此)?(?:我们?)?(?:将|会|就|直接|选择|决定){0,2}"
        r"(?:用|使用|改用|改为|采用|保留|跳过|沿用|放弃)",
    ),
    sign("而 代 替 取", r"(?:使用|改用|采用|保留|改为|我们?用).{1,60}(?:而不是|而非|来?代替|来?替代|取代)"),
    sign("决 改 采 选", r"决定(?!于|性|论|因素|权)|改用|(?:采用|选用|选择)(?!题|器|框|性|的是?哪)"),
    unless=rf"{QUESTION}|^\W*(?:if|should|would|could|shall)\b|\bwould you (?:like|prefer)\b|\bundecided\b|"
    r"\b(?:not|n't|need to|have to|to be|yet to|you can|you could|help) (?:yet )?(?:decide|decided|choose|"
    r"chosen)\b|\blet me (?:check|see|look|verify|read|find)\b|\bdecision is yours\b|"
    r"\bif [^,;]{1,80}, (?:i'll|i will|we'll|we will)\b|"
    rf"{_HOW_TO_LOOK}|\b(?:signature|api|format|it) (?:has |was )?changed\b|"
    r"^\W*(?:[\w']+,? ){0,5}(?:use|keep|do|put|make|chose|choose|pick|picked|going with|go with|went with|"
    r"stick with|switch to) (?:it|this|that|these|those|them|both)(?: (?:instead|then|now|too|for now))*\W*$|"
    r"^\W*(?:让我|我来|我先)(?!.*(?:因为|由于|以便|避免|以免))|尚未决定|还没决定|未决定|取决|是否|"
    r"由[^，。]{1,12}决定|可以选择|请选择",
    hedge=rf"\b(?:if|whether|when|could|might|would|should|can|unless)\b{BEFORE}",
    headings="decision|decisions|key decisions|design decisions|decisions made|my decisions|final decision|"
    "technical decisions|决定|决策|关键决策|设计决策",
)
