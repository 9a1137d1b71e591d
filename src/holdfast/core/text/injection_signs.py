"""Signs of prompt injection: text that tries to command its reader, in English and Chinese.

Text with a sign is labelled, never altered; text without one is still fenced. The patterns are for folded
text (`defang.folded`). What a user asks of an agent in their work ("never …", "from now on …") is no sign.
Most texts have none, so each sign begins with a plain search for the words that it needs.
"""

from __future__ import annotations

import re
from typing import Final

from holdfast.core.text.patterns import compiled


def gives_orders(folded: str) -> bool:
    """Whether a folded text has one of the signs."""
    return any(any(word in folded for word in words) and sign.search(folded) for words, sign in _SIGNS)


def _sign(words: str, *parts: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """A pattern, and words of which a match contains at least one."""
    return tuple(words.split()), compiled("".join(parts))


def _up_to(count: int) -> str:
    """At most so many words, with the characters around them."""
    return rf"(?:\W{{1,3}}[\w']{{1,30}}){{0,{count}}}?\W{{1,3}}"


_EARLIER: Final = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|safety)"
)
_RULES: Final = (
    r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|guardrails?|orders?|commands?|"
    r"messages?|context|conversation|constraints?|restrictions?|programming|training)\b"
)
_READER: Final = r"(?:ai|llm|language model|assistant|agent|chatbot)s?(?: agents?| assistants?| models?)?"
_PROMPT: Final = (
    r"(?:system (?:prompt|message|instruction)s?|developer message|"
    r"(?:initial|hidden|original|secret) (?:prompt|instruction)s?|your (?:prompt|instructions))\b"
)
_SECRETS: Final = (
    r"(?:secrets?|credentials?|(?:api|private|ssh) keys?|tokens?|environment variables|passwords?)\b"
)
_SAME_CLAUSE: Final = r"[^。！？\n]{0,8}?"

_SIGNS: Final = (
    # Do not follow what you were told before.
    _sign(
        "ignor disregard forget overrid bypass discard follow attention",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)|bypass|discard|",
        r"pay no attention to|(?:do not|don't|stop) follow(?:ing)?)\b",
        rf"{_up_to(4)}{_EARLIER}{_up_to(3)}{_RULES}",
    ),
    _sign(
        "ignore disregard forget",
        r"\b(?:ignore|disregard|forget) (?:all |everything |anything |whatever )?(?:of )?(?:the |that |",
        r"what (?:is|was|came) |you (?:were|have been) told )?(?:above|before(?: this)?|previous)",
        r"(?=\s*(?:$|[.,;:!]|and\b))",
    ),
    _sign(
        "ignore disregard forget",
        rf"\b(?:ignore|disregard|forget) (?:all |any )?(?:of )?your{_up_to(2)}{_RULES}",
    ),
    # You are somebody else now.
    _sign(
        "you",
        r"\byou are now (?:an? (?:[\w-]{1,30} ){0,3}?(?:assistant|agent|ai|model|hacker|admin|bot)\b|",
        r"in (?:developer|admin|debug|maintenance|god|root|jailbreak|unrestricted|dan) mode|dan\b|",
        r"unrestricted|jailbroken|free (?:of|from)|no longer (?:bound|restricted|an?\b))",
    ),
    _sign("you", r"\b(?:pretend|act|behave|respond) (?:as if|as though|like) you (?:are|were|have|had) no"),
    _sign(
        "mode", r"\b(?:enable|enter|activate|switch to) (?:dan|developer|jailbreak|god|unrestricted) mode\b"
    ),
    # This is your task instead.
    _sign(
        "your",
        r"\byour (?:new|real|actual|true) (?:task|role|goal|job|instructions?|objective|purpose) ",
        r"(?:is|are)\b",
    ),
    _sign(
        "instruction prompt directive",
        r"\b(?:new|updated|real|actual|revised) (?:system )?(?:instructions?|prompt|directives?)",
        r"(?: (?:for you|from the (?:system|developers?|admin))\b| ?:)",
    ),
    _sign(
        "note attention important message",
        r"\b(?:note|attention|important|message)\W{1,3}(?:(?:to|for) )?(?:all |any |the )?",
        rf"{_READER} ?[:!,]",
    ),
    _sign("you", r"\bif you(?:'re| are) (?:an? )?(?:\w{1,20} )?(?:ai|llm|language model|chatbot)\b"),
    # Reveal what is secret, and do not mention it.
    _sign(
        "prompt message instruction",
        r"\b(?:print|reveal|show|output|repeat|leak|display|dump|disclose|recite|tell me|give me)\b",
        rf"{_up_to(3)}{_PROMPT}",
    ),
    _sign(
        "user human developer",
        r"\b(?:do not|don't|never|without) (?:tell|inform|mention|alert|notify|show|reveal)(?:ing)?",
        r"(?: this| that| it| any of this)?(?: to)? the (?:user|human|developer)\b",
    ),
    _sign(
        "http",
        rf"\b(?:exfiltrate|upload|post|send|forward)\b{_up_to(6)}{_SECRETS}{_up_to(4)}(?:to|at) https?:",
    ),
    # The same in Chinese, simplified and traditional.
    _sign(
        "忽 视 視 忘 开 開 不要",
        r"(?:忽略|忽视|忽視|无视|無視|忘记|忘記|忘掉|抛开|拋開|不要(?:理会|理會|遵循|遵守))",
        _SAME_CLAUSE,
        r"(?:之前|以上|上面|前面|先前|此前|上述|所有|全部|一切|原有|系统|系統|你的)",
        _SAME_CLAUSE,
        r"(?:指令|指示|提示|命令|规则|規則|要求|设定|設定|限制|约束|約束|对话|對話|内容|內容)",
    ),
    _sign(
        "你",
        r"你(?:现在|現在)是(?!否|不是|在)|(?:从现在|從現在)(?:起|开始|開始)[，, ]?你|",
        r"(?:请|請|你)(?:来|來|将|將)?(?:扮演|假装|假裝)",
    ),
    _sign(
        "提示 指令 消息 訊息",
        r"(?:输出|輸出|显示|顯示|打印|列印|告诉我|告訴我|泄露|洩露|透露|重复|重複|说出|說出)",
        _SAME_CLAUSE,
        r"(?:系统提示|系統提示|提示词|提示詞|系统指令|系統指令|初始指令|系统消息|系統訊息)",
    ),
    _sign("用户 用戶 使用者", r"(?:不要|别|別|切勿)(?:告诉|告訴|通知|告知|让|讓)(?:用户|用戶|使用者)"),
)
