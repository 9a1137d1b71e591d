"""Protection notice: the reply to a harness while a protective setting cannot be read.

Nothing of its session is stored then, and no brief is given: it may contain what the settings would exclude.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from holdfast.core.events.event import Skipped
from holdfast.core.text.strings import one_line
from holdfast.core.text.untrusted import printable
from holdfast.engine.engine import Engine
from holdfast.errors import ProtectionUnreadable
from holdfast.harnesses.base import Ask, Envelope

NOTIFIED: Final = "notified_of_unreadable_settings"
"""The fact in which the store notes which sessions got the notice, by a hash of their keys."""
SESSIONS_NOTED: Final = 1_000


def notice_once(engine: Engine, envelope: Envelope, payload: bytes, error: ProtectionUnreadable) -> bytes:
    """A reply that says why nothing of a session is stored; empty if the session got it before."""
    harness = engine.harness(envelope.harness)
    hook_event = harness.parse_hook(payload, envelope)
    if isinstance(hook_event, Skipped) or hook_event.ask not in (Ask.START, Ask.PROMPT, Ask.REQUEST):
        return b""
    name = hashlib.sha256(hook_event.session.encode(errors="replace")).hexdigest()[:16]
    text = f"Holdfast (tell the user): {error.message}. To go on, {error.hint}."
    reply = harness.render_reply(hook_event, one_line(printable(text)))
    with engine.store.writing():
        noted = engine.store.fact(NOTIFIED)
        notified: list[str] = msgspec.json.decode(noted, type=list[str]) if noted else []
        if not reply or name in notified:
            return b""
        engine.store.put_fact(NOTIFIED, msgspec.json.encode([*notified, name][-SESSIONS_NOTED:]).decode())
    return reply
