"""Stopped: what a harness is told while a setting that protects cannot be read.

Nothing is kept of its session then, and no brief is given: it may hold what the settings would keep back.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from holdfast.core.events.event import Skipped
from holdfast.core.text.defang import printable
from holdfast.core.text.strings import one_line
from holdfast.engine.engine import Engine
from holdfast.errors import ProtectionUnreadable
from holdfast.harnesses.base import Ask, Envelope

NOTIFIED: Final = "notified_of_unreadable_settings"
"""Under this name the store notes which sessions were told, by a hash of their keys."""
SESSIONS_NOTED: Final = 1_000


def notice_once(engine: Engine, envelope: Envelope, payload: bytes, error: ProtectionUnreadable) -> bytes:
    """The reply to a hook event that tells a session why nothing is kept of it; empty if it was told."""
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
