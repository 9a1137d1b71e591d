"""Status: what Claude Code reports about a session each time it draws its status line."""

from __future__ import annotations

from holdfast.core.events.event import Skipped
from holdfast.harnesses.base import StatusInput
from holdfast.harnesses.fields import count, mapping, read_object, text


def parse_status(payload: bytes) -> StatusInput | Skipped:
    """Parse the report; the window is the model's whole one, even if the session may use only a part."""
    fields = read_object(payload, "status line")
    if isinstance(fields, Skipped):
        return fields
    session = text(fields, "session_id", "sessionId")
    if not session:
        return Skipped("no session id", "status line")
    window = mapping(fields.get("context_window"))
    usage = mapping(window.get("current_usage"))
    return StatusInput(
        session=session,
        cwd=text(mapping(fields.get("workspace")), "project_dir") or text(fields, "cwd"),
        used=sum(_number(usage.get(name)) for name in _COUNTS),
        window=_number(window.get("context_window_size")),
    )


_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def _number(value: object) -> int:
    return count(value) if isinstance(value, int | float) and value == value else 0  # noqa: PLR0124 - NaN
