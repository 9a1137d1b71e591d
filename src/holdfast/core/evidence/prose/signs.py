"""Signs of prose that need no `Rule`: questions to the user, measurements, narration.

Written for folded text, like those in `cues`, except for measurements: `MB` and `mb` differ.
"""

from __future__ import annotations

import re
from typing import Final

from holdfast.core.text.patterns import compiled

OPEN_QUESTIONS: Final = frozenset(
    ("open questions", "open question", "questions", "remaining questions", "未决问题", "待确认")
)
"""Headings under which every sentence is an open question."""
_ASKED_OF_USER: Final = compiled(
    r"\byou(?:r|'d|'re|'ve)?\b|\b(?:should|shall|may|can|could|do) (?:i|we)\b|\bwant me\b|"
    r"\bwhich (?:\w+ )?(?:option|approach|one|of)\b|你|您|要不要|需要我|是否需要|哪[个种一]"
)
_IDLE_QUESTION: Final = compiled(
    r"^\W*(?:(?:how|what) (?:can|may|should) i (?:help|assist|do)|what would you like me to (?:do|help|"
    r"search|explore|find|investigate|analyze|work)|what (?:are|would) you (?:look|interest|like|want)|"
    r"is there anything else|anything else|does (?:that|this) (?:help|make sense)|makes? sense|sounds? good|"
    r"wait|hmm|but wait|so what|let me|what (?:happened|changed|does this mean|is happening|went wrong)|"
    r"what's (?:happening|going on|wrong|new)|why (?:does|did|is) (?:this|that|it)\b|who knows|guess what|"
    r"see what|还有(?:什么|其他)|有什么(?:可以|能)帮|让我|为什么会)|"
    r"\b(?:anything else|can i help|help you with|would you like to explore)\b|"
    r"^\W*(?:ready|right|see|why|how|really|so|the (?:problem|issue|result|answer|catch|reason|fix))\W*$"
)

_DIGIT: Final = compiled(r"\d")
_QUOTED: Final = compiled(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_MEASURE: Final = compiled(
    r"\d(?<![A-Za-z0-9_.:/#@=<>≥≤-]\d)(?<!line \d)"
    r"(?<!lines \d)(?!(?<=1)00\s?%)"
    r"(?:[\d,]{0,20}\d)?(?:\.\d{1,9})?(?:\s?(?:[mµμun]s|secs?|seconds?|mins?|minutes?|"
    r"hours?|hrs?|[KMGT]i?B|[kmg]b|[KMG]bps|[KMG]?B/s|bytes|%|fps|rps|req/s|ops/s|qps|milliseconds?|"
    r"microseconds?)(?![A-Za-z0-9_-])|\s?[sh](?![\w-])|[x×](?![\w-])|\s?percent\b| times (?:faster|slower|"
    r"smaller|larger|more|fewer|less)\b|[kKM]? (?:\w+ ){0,2}(?:tests?|assertions|specs|checks|"
    r"examples) (?:\w+ ){0,2}(?:pass|fail|skip|green|ran|run)|[kKM]? (?:passed|failed|skipped|(?:passing|"
    r"failing)(?! tests)|tokens|requests|rows|records|events|characters|LOC)\b|(?:(?<=\d\d)|"
    r"(?<=\d)[kKM]) (?:\w+ )?(?:lines|files|tests|calls|commits|errors|warnings|failures|items|entries|"
    r"messages|sessions|matches|occurrences|queries|words)\b| (?:out )?of (?:the )?\d[\d,]*(?![\w.])|"
    r"\s?(?:毫秒|秒|分钟|小时|倍|字节)|\s?[个项条](?:测试|用例|错误|警告|文件)| ?行代码)"
)
_PERCENTILE: Final = compiled(r"\bp(?:50|75|90|95|99)\b\W{1,4}(?:\w+ ){0,3}\W?\d")
_NOT_MEASURED: Final = compiled(
    r"\d\s?\w{1,12} ago\b|\d\s?(?:毫秒|秒|分钟|小时)前|"
    r"\b(?:older|newer|longer|more|less) than ~?\d|\bper (?:page|request)\b|\bdebounc|"
    r"\b(?:at (?:least|most)|up to|every|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|limit(?:ed)?(?: of| to|"
    r" is)?|time-?outs?(?: of| is| to)?|within|defaults?(?: of| to| is)?|sleep|wait(?:s|ing)?(?: for)?|"
    r"ttl(?: of| is)?|interval(?: of| is)?|after|first|last|next|top|retry|line|lines|port):? ~?\d|"
    r"\b(?:waits?|sleeps?|polls?|throttles?|caps?|capped)\b[^,;.]{0,30}\d|设为|设置为|延迟(?:了|为)?\s?\d|"
    r"\d\s?\w+\s(?:default|debounce|time-?out|interval|ttl|delay|grace|limit|cap|window|retention)\b|"
    r"\b(?:let me|i'll|i will|should|must|would|could|aim|target|goal|budget|if)\b.{0,80}\d|至少|最多|不超过|"
    r"超时(?:时间)?(?:为|设)|[?？]\W*$"
)
_LINES: Final = compiled(r"~?\d[\d,.]*[kK]? (?:\w+ )?(?:lines|LOC)\b|\d+ ?行代码")
_CHANGED: Final = compiled(
    r"\b(?:now|from|down|up|remov\w+|add(?:s|ed)|delet\w+|dropped|sav(?:e[sd]?|ing)|eliminat\w+|reduc\w+|shr[aiu]nk\w*|"
    r"gr[eo]w\w*|fewer|less|more|cut|total|went|vs|shows?|showed|counts|reports)\b|→|->|减少|增加|从|降|共",
    re.IGNORECASE,
)
"""Words that make a number of lines a result; otherwise it only describes a file."""

_DOING: Final = (
    r"(?:add|apply|analy[sz]e|begin|build|check|clean|commit|compare|continue|create|debug|dig|do|edit|"
    r"examine|explore|find|fix|gather|get|go|grep|help|implement|inspect|install|investigate|launch|list|"
    r"look|make|mark|move|open|proceed|pull|push|read|rebuild|refactor|remove|rename|replace|re-?run|review|"
    r"run|scan|search|see|set|show|simplify|start|take|test|trace|try|understand|update|use|verify|view|wait|"
    r"walk|work|write)\b"
)
_COURTESY: Final = (
    r"(?:that's )?(?:an? )?(?:good|great|fair|nice|excellent) (?:idea|question|catch|point|call)|"
    r"you're (?:absolutely |quite )?right|got it|agreed"
)
NARRATION: Final = compiled(
    rf"\W*(?:(?:{_COURTESY}|good|great|perfect|ok|okay|alright|right|now|so|first|next|then|yes|excellent|sure|"
    r"done|hmm|wait|actually|and|but|finally|also|(?:since|before|based on|looking at|"
    r"after) [^,]{1,60})[,.!:—-]*\s+){0,4}"
    rf"(?:let me\b|let's (?:first |now )?{_DOING}|(?:i'll|i will|i'm going to|i am going to|we'll|"
    rf"we will) (?:now |first |also |just |quickly |next |then )*{_DOING}|i(?:'m| am) (?:now |currently |"
    rf"also )?(?:about to|\w+ing)\b|"
    r"i (?:read|run|check|look at|open|start|try|list|search) .{1,60} first\b|"
    r"now i (?:need|can|have|see|understand|know|want|should)\b|i (?:now )?(?:see|can see|understand)\b|"
    r"(?:checking|running|looking|reading|updating|creating|starting|searching|fixing|writing|exploring|"
    r"verifying)\b|here(?:'s| is| are) (?:the|an?|my|what)\b|"
    r"(?:好的?[，,。]?)?(?:我现在|现在(?:我|让我|来|开始)|让我|我来|我先|首先[，,]?(?:我|让我)|接下来[，,]?我(?:来|先|将|会|就)|我将|我会先|正在))"
)
_GOING_ON: Final = (
    r"(?:running|compiling|building|installing|downloading|waiting|loading|finishing|continuing|progressing|"
    r"underway|in progress)\b(?! (?:at|on|under|as|in|fine|well|again)\b)"
)
INTENT: Final = (
    rf"\W*(?:(?:{_COURTESY}|good|great|perfect|ok|okay|alright|right|so|yes|excellent|sure|done|and|but|clean)"
    r"[,.!:—-]*\s+){0,3}"
    rf"(?:(?:now|first|then|finally|also)[,:]?\s+(?:also\s+)?(?:{_DOING}|(?:adjust|register|stage|tag|wire|"
    r"wrap|convert|extend)\b)\s"
    r"(?!(?:\S+\s){0,3}(?:is|are|was|were|has|have|pass|passes|fails?|shows?|takes?|took)\b)|"
    r"(?:i (?:still |also |just |now |first )*(?:need to|should|have to)|(?:still |also |just )*need to) "
    rf"(?:\w+ly |also |first |now )*{_DOING}|"
    rf"(?:still )?{_GOING_ON}|"
    rf"(?:[\w/`@.-]+ ){{1,5}}(?:is|are) (?:still |now |currently |almost )*{_GOING_ON}|"
    r"(?!.{0,160} - )(?:[^.!?。！？]|[.!?](?=\S)){1,160}[:：]$|"
    r"(?:好的?[，,。]?)?(?:现在(?:更新|添加|修改|运行|编写|写|检查|修复|创建|提交)|等待|"
    r"我(?:还|得)?(?:需要|要|应该)(?:先|再)?(?:看|查|读|检查|更新|修改|添加|运行|确认)|"
    r"(?:还在|仍在)(?:编译|运行|安装|等待|构建|下载)))"
)
"""More kinds of narration: an order to oneself, an intention, waiting, a lead-in on its own."""
POINTS_ON: Final = compiled(
    r"\b(?:following|these|those|this|that|because|since|are|is|was|follows?|either|both|options?|ways?|"
    r"reasons?|things?|steps?|files?|changes?|like|with|to|and|so|for)\s?[:：]\W{0,4}$|"
    r"(?:如下|因为|原因|以下|包括|方案|步骤)[:：]$"
)
"""The end of a lead-in whose content comes only after it."""
NO_STEP: Final = compiled(
    r"\W*(?:no|none|nothing|not(?! (?:yet|implemented|tested|covered|done|started))|n/a|无|没有|暂无|"
    r"不需要)(?![a-z-])"
)
"""The beginning of an item that says there is nothing to do."""

_CHECKS: Final = (
    r"(?:(?:all|both|the|of|these|those|unit|integration|browser|existing|new|full|whole|now|also|still|"
    r"\d[\d,]*|tests?|doctests?|specs?|suites?|checks?|lint(?:er|ing|s)?|formatting|builds?|compil(?:e|ation)|"
    r"type[- ]?check(?:s|ing|er)?|types|ci|mypy|pyright|ruff|eslint|tsc|credo|clippy|and|with|is|are|comes?|"
    r"runs?|pass|passes|passed|passing|green|clean|cleanly|successful(?:ly)?|succeeds?|succeeded|good|great|"
    r"perfect|ok|okay|everything|failures?|errors?|warnings?|issues?|no|again|out|in|total)\b\W{0,6}){1,24}"
)
CHECK: Final = compiled(
    rf"\W{{0,6}}{_CHECKS}|\W{{0,4}}(?:现在|已经?|都|均|全部|所有|单元|集成){{0,4}}"
    r"(?:测试|构建|编译|检查)(?:现在|已经?|都|均|全部){0,3}(?:通过|成功)了?\W{0,4}"
)
"""A sentence that only reports the result of checks: "All 12 tests pass, lint is clean.\""""

FAILING: Final = compiled(
    r"\b(?:is|are|'s|'re)(?: \w+){0,2} (?:failing|broken|crashing|hanging)\b|\b(?:fails|crashes|hangs|breaks|"
    r"times out|errors out)\b|\bstill (?:fail\w*|broken|crash\w*|hang\w*)|仍然?|还是|依然|目前|现在"
)
"""Words for a current failure, which the next statement may report as fixed."""
ATTEMPT: Final = compiled(
    r"\b(?:tried|attempted|didn't|did not|couldn't|could not|failed|crashed|hung|timed out|broke|reverted|"
    r"rolled back|backed out|ruled out|dead end|no luck)\b|试过|尝试了"
)
"""Words for an attempt that failed, which stays true."""


def says_nothing(text: str) -> bool:
    """Whether an answer only says that there is nothing to store."""
    return _NO_REPLY.fullmatch(text) is not None


_NO_REPLY: Final = re.compile(r"\W*NO_REPLY\W*")


def asks_user(question: str) -> bool:
    """Whether a folded sentence is a question to the user, and more than a courtesy."""
    return question[-1] in "?？" and _ASKED_OF_USER.search(question) is not None and not is_idle(question)


def is_idle(question: str) -> bool:
    """Whether a folded question expects no answer."""
    return _IDLE_QUESTION.search(question) is not None


def holds_measure(sentence: str) -> bool:
    """Whether a sentence states a measured number, outside code and quotations."""
    if not _DIGIT.search(sentence):
        return False
    words = _QUOTED.sub("`", sentence)
    if not _CHANGED.search(words):
        words = _LINES.sub("", words)
    measure = _MEASURE.search(words) or _PERCENTILE.search(words)
    return measure is not None and not _NOT_MEASURED.search(words.lower().replace("’", "'"))
