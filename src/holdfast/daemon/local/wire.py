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
LENGTH_DIGITS = 19


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came: `letter`, `status`, `control` or `mcp`, its fields, and its body."""

    kind: str
    fields: Mapping[str, str]
    body: bytes


def parse(received: bytes) -> Request | None:
    """The request, or None if it is not one of ours or not all of it came."""
    request = opening(received)
    return request if request and _body_length(request) == len(request.body) else None


def length_of(received: bytes) -> int:
    """How many bytes the whole request has, as its head says; 0 as long as that is not there."""
    request = opening(received)
    length = _body_length(request) if request else None
    return 0 if request is None or length is None else len(received) - len(request.body) + length


def _body_length(request: Request) -> int | None:
    """How long the body is, as the head says; None where it says no number that could be one."""
    length = request.fields.get("length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < LENGTH_DIGITS else None


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
    if not newline or len(words) != 3 or words[:2] != [PROTOCOL.encode(), b"ok"]:
        return None
    if not words[2].isdigit() or len(words[2]) >= LENGTH_DIGITS:
        return None
    return body if len(body) == int(words[2]) else None
