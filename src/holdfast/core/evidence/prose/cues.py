"""Cues: words that hint at what a sentence is for, in English and Chinese.

Unlike the rules of `statement_rules`, which must be sure, a cue is one sign among many: `core.work` weighs
them. Some sentences speak of the moment only ("let me run the tests"); those are worth nothing a step later.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from holdfast.core.evidence.kinds import Section
from holdfast.core.text.lazy_patterns import compiled


class Cue(StrEnum):
    """What the words of a sentence hint at."""

    FINDING = "found"
    CHOICE = "choice"
    DONE = "done"
    FAIL = "fail"
    NEXT = "next"
    ASK = "ask"
    NARRATION = "narration"
    RULE = "rule"
    CHECK = "check"
    NUMBER = "number"


_WORDS: Final = {
    Cue.FINDING: r"\b(?:found (?:it|the)|root cause|turns out|the (?:issue|problem|bug|cause|culprit|reason) "
    r"(?:is|was|here)|that's (?:the|why)|confirmed|key (?:finding|insight)|i was wrong|actually|because|"
    r"since|"
    r"due to|so that)\b|原因|因为|发现|确认",
    Cue.CHOICE: r"\b(?:instead(?: of)?|rather than|should|only|prefer|decid|chose|go with|we'll use|keep|"
    r"no longer|not (?:in|a|the)|simpl|cleaner|cleanest|better|avoid|approach|trade-?off|by design|"
    r"intentional)|决定|而不是|采用|选择|改为",
    Cue.DONE: r"\b(?:done|completed?|added|fixed|created|updated|removed|implemented|moved|renamed|committed|"
    r"pushed|merged|replaced|extracted|refactored|wired|all (?:\d+ )?tests? pass|pass(?:es|ed|ing)?|clean|"
    r"green|verified|works|ready)\b|完成|已经|通过|修复了|添加了",
    Cue.FAIL: r"\b(?:fail(?:s|ed|ing|ure)?|error|broken?|crash|doesn't work|not work|wrong|bug|issue|problem|"
    r"panic|rejected|refused|flaky|timeout|missing)\b|失败|错误|问题|报错",
    Cue.NEXT: r"\b(?:next|remaining|still (?:to|need|open)|todo|to-do|follow-?up|then|need to|needs to|will|"
    r"later|pending|not yet|left)\b|下一步|接下来|还需要|待办",
    Cue.ASK: r"[?？]\s*$|\b(?:want me to|should i|would you like|do you want|shall i|let me know)\b|"
    r"是否|要不要",
    Cue.NARRATION: r"^(?:now )?(?:let me|i'll|let's|i need to|i'm going to|now i|now let|good|great|"
    r"perfect|ok|alright|looking at|first|next,? (?:let|i))\b|^(?:让我|我来|现在|接下来)",
    Cue.RULE: r"\b(?:must|never|always|don'?t|do not|only|no|not|avoid|make sure|ensure|please|instead|"
    r"should|prefer|want|keep|remove|without|too much|fine)\b|必须|不要|禁止|务必|请",
    Cue.CHECK: r"\b(?:tests?|lint|build|compil|credo|ci|type-?check|suite)\b|测试|构建|编译",
    Cue.NUMBER: r"\d",
}
_CUES: Final = {cue: compiled(words) for cue, words in _WORDS.items()}
"""Patterns for a sentence in lower case, which takes half the time of ignoring the case."""
REMEMBERED: Final = 1_024
"""For how many sentences an answer is remembered: every message asks again about all notes of a session."""


@lru_cache(REMEMBERED)
def cues_in(sentence: str) -> frozenset[Cue]:
    """What the words of a sentence hint at."""
    folded = sentence.lower().replace("’", "'")
    return frozenset(cue for cue, pattern in _CUES.items() if pattern.search(folded))


# ---------------------------------------------------------------- sentences that hold for a moment

_ANNOUNCES: Final = compiled(
    r"(?:\w+[,.!:]? )?(?:(?:ok(?:ay)?|good|great|perfect|right|alright|yes|now|next|first|then|so|and|also|"
    r"finally)[,.!:]? )*(?:let me|let's|i'll|i will|i'm |i am |i need\b|now i|we need to|need to|time to|"
    r"going to|moving on)\b|(?:now|next|then|first|finally)\b[^.]{0,80}:$|(?:now|next|first|then) (?:add|fix|"
    r"update|create|replace|run|write|implement|wire|check|move|remove|commit|look|read|verify|test)\b|"
    r"(?:item|step|task|phase|part) \d+[:.]|(?:updat|runn|check|add|fix|creat|test|look|read|search|try|"
    r"remov|"
    r"mov|build|install|writ|verify|implement)ing\b|(?:让我|我来|我现在|现在我|接下来我?)",
    re.IGNORECASE,
)
_INTENDS: Final = compiled(
    r"\b(?:i should|i need to|needs? to|i'll|will need|going to|i want to|i must|to do this|we should|let me|"
    r"let's|i'm \w+ing)\b",
    re.IGNORECASE,
)
_HEDGES: Final = compiled(
    r"\b(?:looks like|seems?|might|maybe|perhaps|probably|likely|possibly|i think|appears|could be|usually|"
    r"suspect|"
    r"wonder)\b|可能|也许|似乎",
    re.IGNORECASE,
)
_TRANSIENT: Final = compiled(
    r"\b(?:still \w+ing|still in|(?:is|are) (?:now |currently )?(?:running|finishing|pending|building)|"
    r"has started|in progress|"
    r"waiting (?:on|for)|currently|so far|one more|now i have|for now|this time|(?:not|n't) (?:\w+ ){0,3}yet|"
    r"polling|exit code)\b|正在",
    re.IGNORECASE,
)


@lru_cache(REMEMBERED)
def announces(sentence: str) -> bool:
    """Whether a sentence says what its writer is about to do, and nothing that outlasts it."""
    return _ANNOUNCES.match(sentence.replace("’", "'")) is not None


@lru_cache(REMEMBERED)
def is_momentary(sentence: str) -> bool:
    """Whether a sentence of an agent at work holds for the moment only: intentions, guesses, waiting."""
    folded = sentence.replace("’", "'")
    return any(pattern.search(folded) for pattern in (_INTENDS, _HEDGES, _TRANSIENT))


@lru_cache(REMEMBERED)
def recommends(sentence: str) -> bool:
    """Whether a sentence proposes something, which the user's next words settle."""
    return _RECOMMENDS.search(sentence.replace("’", "'")) is not None


_RECOMMENDS: Final = compiled(
    r"\b(?:i(?:'d| would)? (?:recommend|suggest|propose|prefer|lean|reframe|go with|keep|mark)|recommended|"
    r"recommendation|my (?:recommendation|suggestion)|option \w\b|alternatively|we could|you could|"
    r"one option|best (?:fix|option))\b|建议",
    re.IGNORECASE,
)


# ---------------------------------------------------------------- problems and checks

_PROBLEM: Final = compiled(
    r"\b(?:bugs?|issues?|problems?|fail(?:s|ed|ing|ure|ures)?|wrong|broken|breaks?|doesn't|does not|don't|"
    r"isn't|"
    r"aren't|won't|can't|cannot|missing|errors?|crash(?:es)?|incorrect|still|no longer|never|not|unused|"
    r"panics?|"
    r"warnings?|complains?)\b|失败|错误|问题|报错",
    re.IGNORECASE,
)
_PASSES: Final = compiled(
    r"\b(?:all (?:\d+ )?(?:tests?|checks?|green)|tests? (?:now )?pass|pass(?:es|ed|ing)?|green|clean|fixed|"
    r"resolved|0 (?:issues|failures|failed))\b|通过|已修复",
    re.IGNORECASE,
)
_STATUS: Final = compiled(
    r"\b(?:all (?:\d+ )?tests? pass|tests? pass|lint|clean|green|committed|pushed|ready to merge|"
    r"build passes|"
    r"compiles|everything passes|working tree|worktree is|uncommitted|no commit made)\b|测试通过",
    re.IGNORECASE,
)


@lru_cache(REMEMBERED)
def states_problem(sentence: str, *, widely: bool = True) -> bool:
    """Whether a sentence says that something is wrong or missing, and not that it is mended.

    Read `widely`, any negation counts; otherwise only words for faults do.
    """
    folded = sentence.replace("’", "'")
    pattern = _PROBLEM if widely else _FAULT
    return pattern.search(folded) is not None and not _PASSES.search(folded)


_FAULT: Final = compiled(
    r"\b(?:bugs?|issues?|problems?|fail(?:s|ed|ing|ure|ures)?|wrong|broken|breaks?|doesn't work|"
    r"isn't working|missing|"
    r"errors?|crash(?:es)?|incorrect|panics?|warnings?|complains?|unused)\b|失败|错误|问题|报错",
    re.IGNORECASE,
)


_LESSON: Final = compiled(
    r"\b(?:root cause|turns? out|the (?:issue|problem|bug|cause|culprit|reason) was|key (?:finding|insight)|"
    r"i was wrong|caused by|(?:failed|broke|was|were) because)\b|原因是",
    re.IGNORECASE,
)


@lru_cache(REMEMBERED)
def states_lesson(sentence: str) -> bool:
    """Whether a sentence says why something went wrong, which is worth knowing when it is mended."""
    return _LESSON.search(sentence) is not None


@lru_cache(REMEMBERED)
def states_pass(sentence: str) -> bool:
    """Whether a sentence says that a check passes."""
    return _PASSES.search(sentence) is not None and Cue.CHECK in cues_in(sentence)


@lru_cache(REMEMBERED)
def states_status(sentence: str) -> bool:
    """Whether a sentence says in short how the checks or commits stand; the next one replaces it."""
    return len(sentence) < _STATUS_CHARS and _STATUS.search(sentence) is not None


_STATUS_CHARS: Final = 90

# ---------------------------------------------------------------- what the user says to a message

_OBJECTS: Final = compiled(
    r"\W*(?:no\b|nope|not |don'?t|that'?s (?:not|wrong)|wrong|isn'?t|why (?:did|is|are|do)|actually|but |"
    r"hmm|wait|"
    r"stop|remove|revert|undo|still |i don'?t|i think (?:this|that|by)|what are you|"
    r"let'?s try something else)|"
    r".*\b(?:instead|something else|not what|too much|to much|doesn'?t work|still fail|incorrect|remove this|"
    r"is wrong|are you sure|confident)\b|不对|不是|错了|为什么",
    re.IGNORECASE,
)
_RULES: Final = compiled(
    r"\b(?:must|never|always|don'?t|do not|only|avoid|make sure|ensure|instead|prefer|without|too much|"
    r"to much|"
    r"is fine|no need|not in|rather|keep|remove|should(?! we\b))\b|必须|不要|禁止|务必|应该|保持",
    re.IGNORECASE,
)
_SAYS_MORE: Final = compiled(
    r"\b(?:because|so that|since|i think|i'd|expect|want|needs? to|wrong|not correct|as well|also|prefer|"
    r"should|must|never|always|don'?t|do not|only|avoid|instead|rather|without|too much|to much|fine|keep)\b",
    re.IGNORECASE,
)
_ONE_TIME: Final = compiled(
    r"\W*(?:(?:now|ok(?:ay)?|so|and|then|please|also)[,.]? )*(?:can|could|would|will) (?:you|u|we)\b|"
    r"\b(?:i am|i'm) "
    r"seeing\b|\bi (?:still )?(?:see|get|got)\b|\bstill (?:fail|see|not)|^debug\b|\bright now\b|\bfor now\b",
    re.IGNORECASE,
)


def objects(prompt: str) -> bool:
    """Whether the user does not accept what the agent said last."""
    return _OBJECTS.match(prompt[:_ANSWER_READ].replace("’", "'")) is not None


@lru_cache(REMEMBERED)
def corrects(prompt: str) -> bool:
    """Whether the user says how something is not to be done, and does not ask for something else."""
    return _CORRECTS.match(prompt.replace("’", "'")) is not None


_CORRECTS: Final = compiled(r"\W*(?:(?:no|nope)\b[^\w\s]|(?:no, )?(?:don't|do not|not)\b)", re.IGNORECASE)


def rules(sentence: str) -> bool:
    """Whether a user's sentence lays down how something is to be."""
    folded = sentence.replace("’", "'")
    return _RULES.search(folded) is not None and not folded.rstrip().endswith(("?", "？"))


def asks(sentence: str) -> bool:
    """Whether a user's sentence is a question; many end without a question mark."""
    return sentence.rstrip(' "”)').endswith(("?", "？")) or _ASKS_US.match(sentence) is not None


def complains(prompt: str) -> bool:
    """Whether the user says that what the agent reported does not work."""
    return _COMPLAINS.search(prompt[:_ANSWER_READ].replace("’", "'")) is not None


_COMPLAINS: Final = compiled(
    r"\b(?:can't|cannot|don't|do not) see\b|\b(?:doesn't|does not|didn't|isn't|not) (?:work|show|appear|"
    r"working|showing)|"
    r"\bstill (?:fail|broken|wrong|not|see|get)|\bnothing (?:happens|shows)|\bbroken\b|没有效果|不行",
    re.IGNORECASE,
)


def only_asks(prompt: str) -> bool:
    """Whether a prompt is a question and asks for no work."""
    folded = prompt.replace("’", "'")
    return _is_question(folded) and not _ONE_TIME.search(folded)


@lru_cache(REMEMBERED)
def is_for_the_moment(sentence: str) -> bool:
    """Whether a user's sentence tells how things are at the moment, or rules for one answer only."""
    return _AT_THE_MOMENT.search(sentence.replace("’", "'")) is not None


_ASKS_US: Final = compiled(
    r"\W*(?:(?:so|and|but|ok(?:ay)?|hmm|wait|also|now)[,.]* )*(?:(?:should|can|could|shall|do|does|did|is|"
    r"are|was|were|"
    r"have|has|would) (?:we|i|it|you|there|this|that|they|the)\b|why\b|what\b|how\b|where\b|which\b|"
    r"have a look\b)|"
    r".*, (?:is it|why|right|or is)\b[^.]{0,80}$",
    re.IGNORECASE,
)
_AT_THE_MOMENT: Final = compiled(
    r"\bright now\b|\bstill (?:fail|see|get|show)|\bi(?:'m| am) (?:still )?(?:seeing|getting)\b|"
    r"\bdon't (?:fix|change|do|implement) anything\b|\bjust (?:validate|check|answer|explain)\b",
    re.IGNORECASE,
)
_IMPERATIVE: Final = compiled(
    r"(?:add|fix|update|remove|use|change|move|rename|create|implement|run|write|check|verify|replace|make|"
    r"handle|"
    r"extract|ensure|consider|document|test|delete|refactor|review|decide|confirm|keep|store|call|pass|"
    r"return|wire|"
    r"read|look|see|search|find|build|commit|push|start|continue|clean|set|apply|mark|try|configure|"
    r"convert|drop|enable|disable|trigger)\b "
)


@lru_cache(REMEMBERED)
def is_imperative(sentence: str) -> bool:
    """Whether a sentence tells someone to do something."""
    return _IMPERATIVE.match(sentence.lower()) is not None


@lru_cache(REMEMBERED)
def is_bare_request(sentence: str) -> bool:
    """Whether a user's sentence only asks for a thing to be done or answered, without why or how."""
    folded = sentence.replace("’", "'")
    if _ONE_TIME.search(folded) or _is_question(folded):
        return True
    return len(folded) < _BARE_CHARS and not _SAYS_MORE.search(folded) and not _DECLARES.match(folded)


def _is_question(folded: str) -> bool:
    """Whether a text begins like a question and ends as one."""
    # Only the end is searched: a long text of question marks would take very long.
    return _ASKS.match(folded) is not None and _ENDS_ASKING.search(folded[-_END_READ:]) is not None


_ASKS: Final = compiled(
    r"\W*(?:(?:so|and|but|ok(?:ay)?|hmm|wait)[,.]* )*(?:what|why|how|where|when|which|who|is|are|do|does|"
    r"did|has|have|was|were|should|can|could|would)\b",
    re.IGNORECASE,
)
_ENDS_ASKING: Final = compiled(r"[?？]\W*$")
_END_READ: Final = 80
_DECLARES: Final = compiled(
    r"\W*(?:(?:so|and|but|ok(?:ay)?|hmm|yeah|yes|no|ah|oh)[,.]* )*(?:i|they|it|this|that|anything|no|not|"
    r"the|we|you|isn't|"
    r"there|all|my|our|nothing|everything|actually)\b",
    re.IGNORECASE,
)
_ANSWER_READ: Final = 300
_BARE_CHARS: Final = 90

# ---------------------------------------------------------------- headings and openings

_HEADINGS: Final = (
    (
        Section.DONE,
        (
            r"done|complet|what (?:was|i|we)|changes|summary|implemented|fixed|added|verified|results?|"
            r"updated|files? (?:modified|changed|created)|commit"
        ),
    ),
    (Section.NEXT, r"next|remaining|todo|to do|open|pending|follow|left|steps"),
    (
        Section.DECISIONS,
        (
            r"decision|why|approach|root cause|finding|insight|verdict|recommend|rationale|key|trade|design|"
            r"how it works|answer|technical|concepts"
        ),
    ),
    (Section.FAILURES, r"error|fail|issue|problem|bug|fixes|blocker"),
    (Section.NOW, r"current"),
    (Section.GOAL, r"request|intent|goal|context|overview|objective"),
    (Section.RULES, r"user messages|feedback|constraint|rules|preference"),
    (Section.WHERE, r"files|code sections|where|paths"),
)
_HEADING_PATTERNS: Final = tuple((section, compiled(words, re.IGNORECASE)) for section, words in _HEADINGS)


@lru_cache(REMEMBERED)
def heading_hint(heading: str) -> Section | None:
    """The section that a heading hints at."""
    if not heading:
        return None
    return next((section for section, pattern in _HEADING_PATTERNS if pattern.search(heading)), None)


_FILLER: Final = compiled(
    r"(?:(?:good (?:news|catch|point|question|idea)|great news|perfect|excellent|great|good|done|nice|"
    r"ok(?:ay)?|alright|right|yes|exactly|absolutely|now|so|also|all done|you're right|"
    r"you're absolutely right|fair (?:point|enough)|interesting|sure|got it)"
    r"\b[\s,.!:;—–-]+)+(?=[A-Za-z`\"“(\d#/])",
    re.IGNORECASE,
)
_PICTURES: Final = compiled(r"(`[^`\n]*`)|[\U0001f300-\U0001faff\u2600-\u27bf\u2b50\ufe0f]+ ?")
"""Signs that only decorate, and code, in which they mean something."""


def without_filler(sentence: str) -> str:
    """The sentence without pictures outside code and an opening that says nothing: "Great! "."""
    bare = without_pictures(sentence)
    filler = _FILLER.match(bare)
    bare = bare[filler.end() :] if filler else bare
    # A name keeps its case.
    return bare[:1].upper() + bare[1:] if filler and _PLAIN_START.match(bare) else bare.strip()


def without_pictures(sentence: str) -> str:
    """The sentence without signs that only decorate."""
    return _PICTURES.sub(r"\1", sentence)


_PLAIN_START: Final = compiled(r"[a-z]+[\s,.:;]")
