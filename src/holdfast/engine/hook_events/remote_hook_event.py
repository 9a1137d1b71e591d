"""Remote hook event: what a hook event over HTTP may contain.

The sender may be anyone with the token, perhaps on another machine. So a session is named by its id, and a
transcript's path counts only if a hook on this machine reported it for the same session.
"""

from __future__ import annotations

from typing import Final

import msgspec

from holdfast.engine.engine import Engine

_EVENT: Final = ("hook_event_name", "hookEventName")
_KEYS: Final = ("session_id", "sessionId", "session_key", "sessionKey")
_PATHS: Final = ("transcript_path", "transcriptPath", "agent_transcript_path")


def as_from_afar(engine: Engine, event: str, raw: bytes) -> bytes | None:
    """The hook event with its event's name and only known paths; None if it is not a JSON object."""
    try:
        fields = msgspec.json.decode(raw, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return None
    if not any(fields.get(name) for name in _EVENT):
        fields[_EVENT[0]] = event
    key = next((str(fields[name]) for name in _KEYS if fields.get(name)), "")
    session = engine.store.session(key) if key else None
    known_path = session.transcript if session else ""
    allowed = {
        name: value
        for name, value in fields.items()
        if name not in _PATHS or (known_path and value == known_path)
    }
    return msgspec.json.encode(allowed)
