"""The rule of needs: which words name a prerequisite of the work.

A running service, a version, a variable, a step that comes first. Written like the rules in `cues`.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.evidence.prose.cues import rule, sign

_TOOL: Final = (
    r"(?:node(?:\.?js)?|python|golang|go|rust|java|jdk|ruby|php|elixir|erlang|bun|deno|pnpm|npm|yarn|docker|"
    r"podman|kubernetes|redis|postgres(?:ql)?|mysql|mariadb|mongodb|sqlite|kafka|rabbitmq|nats|minio|"
    r"elasticsearch|memcached|localstack|ollama|chrome|chromium|playwright|ffmpeg|cuda|xcode|android sdk)"
)
_SERVICE: Final = r"(?:server|daemon|database|emulator|simulator|containers?|service|stack|vpn|proxy|tunnel)"
_PLACE: Final = (
    r"(?:`?https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])\S*|port `?\d{2,5}|localhost:\d{2,5})"
)
_VARIABLE: Final = r"`?\$?[a-z][a-z0-9]*_[a-z0-9_]{2,}"
_MUST: Final = r"(?:must|needs? to|ha(?:s|ve) to)"

NEED: Final = rule(
    sign(
        "requires require needs need depends",
        r"\b(?:requires?|needs?|depends? on)"
        r"(?: (?:an?|the|at least|running|local|recent|to have|access to|both|only)){0,3}"
        rf" `?{_TOOL}\b(?! (?:code|style|apis?|imports?|strings?|objects?|arrays?|modules?|types?|syntax))",
    ),
    sign(
        "must needs need has have",
        rf"\b(?:{_TOOL}|the (?:\w+ ){{0,2}}{_SERVICE})"
        rf" {_MUST} be (?:running|started|up|installed|reachable)\b",
    ),
    sign(
        "set export exported",
        rf"\b(?:{_MUST}|remember to|make sure to) (?:\w+ ){{0,3}}(?:set|export)"
        rf" (?:the )?(?:\w+ ){{0,2}}{_VARIABLE}"
        rf"|{_VARIABLE}`? {_MUST} be (?:set|exported)\b",
    ),
    sign(
        "first before",
        r"^\W*(?:first,? )?(?:run|execute|install|activate|source|start) `[^`]{2,60}`"
        r" (?:first\b|before (?:you|running|starting|the|any))",
    ),
    sign(
        "running runs listens listening served reachable up",
        rf"\b(?:{_SERVICE}|db|app|api|ui|dashboard|site|{_TOOL})\b.{{0,40}}"
        rf"\b(?:running|runs|listens|listening|served|reachable|up) (?:at|on) {_PLACE}",
    ),
    sign(
        "需 依 必 先",
        rf"(?:需要|必须)先?(?:启动|安装|设置|配置|运行)|(?:依赖|需要)\s?{_TOOL}|先(?:启动|安装|运行)",
    ),
    unless=r"[?？]\W*$|^\W*(?:if|when|whether|let me|now i|i'll|i need to)\b|不需要|无需"
    r"|\b(?:no longer|doesn't|does not|don't|do not|didn't|without|never|not) (?:\w+ )?"
    r"(?:needs?|requires?|depend|running)\b",
    hedge=r"\b(?:if|whether|would|could|might|unless|in case)\b[^,;.:—]{0,50}$",
    headings="prerequisites|prerequisite|environment prerequisites|environment setup|前置条件|环境要求",
)
