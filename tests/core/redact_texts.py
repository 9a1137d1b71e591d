"""Texts for properties of redaction: secrets, what resembles one, and all that may stand around them."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.core.made_up import (
    BEGIN,
    CLEAN,
    END,
    HUNTER,
    PEM_LINES,
    PLAIN,
    PROVIDER_KEYS,
    SECRETS_BY_NAME_OR_PLACE,
)

SIGNS = [
    *("password", "token=", ": ", '"', "'", "\\n", '\\"', "://", "@", " -p", "key", "=", "&", ";", "|", ","),
    *("curl ", "mysql ", "--token ", "ENV ", "login x ", " is ", "(", ")", "\n", "비밀번호", "secret {"),
    *("[REDACTED", "]", "[REDACTED]", "[REDACTED:token:k7]", "<private>", "</private>", "\\u003c"),
    *("\udc80", "\ud83d\ude00", "e\u0301", "\u200d", HUNTER, PLAIN, BEGIN, END, *PEM_LINES),
]
FRAGMENTS = st.sampled_from(
    [key for _, key in PROVIDER_KEYS]
    + [text.replace("§", secret) for text, secret, _ in SECRETS_BY_NAME_OR_PLACE]
    + CLEAN
    + SIGNS
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=12), max_size=12).map("".join)
