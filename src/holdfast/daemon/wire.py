"""The wire: how a request and its answer look as bytes, on either side of the door.

Standard library only: the command line loads this, and it must stay quick. What a letter means is the
harness's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PROTOCOL = "HOLDFAST/1"
GREETING = f"{PROTOCOL} mcp\n".encode()
"""How a connection begins that stays open, for messages of the tools' protocol in both directions."""
HEADER_LIMIT = 64 * 1024
BODY_LIMIT = 17 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came: `letter`, `status`, `control` or `mcp`, its fields, and its body."""

    kind: str
    fields: Mapping[str, str]
    body: bytes


def parse(received: bytes) -> Request | None:
    """The request, or None if it is not one of ours or not all of it came."""
    request = opening(received)
    length = request.fields.get("length", "") if request else ""
    whole = request and length.isascii() and length.isdigit() and int(length) == len(request.body)
    return request if whole else None


def length_of(received: bytes) -> int:
    """How many bytes the whole request has, as its head says; 0 as long as that is not there."""
    request = opening(received)
    length = request.fields.get("length", "") if request else ""
    if request is None or not (length.isascii() and length.isdigit() and len(length) < 19):
        return 0
    return len(received) - len(request.body) + int(length)


def opening(received: bytes) -> Request | None:
    """The request as far as it came, or None if it is not one of ours or its head is not whole yet."""
    head, gap, body = received.partition(b"\n\n")
    if not gap or len(head) > HEADER_LIMIT:
        return None
    first, *lines = head.decode("utf-8", "surrogateescape").split("\n")
    protocol, _, kind = first.partition(" ")
    if protocol != PROTOCOL:
        return None
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        fields[name] = value
    return Request(kind, fields, body)


def control(verb: str, body: bytes, token: str) -> bytes:
    """A control request."""
    proof = f"token: {token}\n" if token else ""
    return f"{PROTOCOL} control\nverb: {verb}\n{proof}length: {len(body)}\n\n".encode() + body


def answer(body: bytes) -> bytes:
    """An answer that the other side can tell is complete."""
    return f"{PROTOCOL} ok {len(body)}\n".encode() + body


def answered(received: bytes) -> bytes | None:
    """The body of a complete answer, or None."""
    status, newline, body = received.partition(b"\n")
    words = status.split(b" ")
    if not newline or len(words) != 3 or words[:2] != [PROTOCOL.encode(), b"ok"] or not words[2].isdigit():
        return None
    return body if len(body) == int(words[2]) else None
