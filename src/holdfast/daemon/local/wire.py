"""The wire format: requests and answers as bytes, for both sides of a connection.

Standard library only: the command line loads this, and it must stay quick. It does not interpret payloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PROTOCOL = "HOLDFAST/1"
GREETING = f"{PROTOCOL} mcp\n".encode()
"""The first line of a connection that stays open, for MCP messages in both directions."""
ENDPOINT_NOTES = ("run/endpoint", "run/door")
"""Files of the home that say where the daemon listens; the second is what version 0.1.0 knows."""
HEADER_LIMIT = 64 * 1024
BODY_LIMIT = 17 * 1024 * 1024
LENGTH_DIGITS = 19


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its kind (`hook-event`, `status`, `control` or `mcp`), header fields, and body."""

    kind: str
    fields: Mapping[str, str]
    body: bytes


def parse(received: bytes) -> Request | None:
    """The request, or None if it is not in this format or not complete."""
    request = opening(received)
    return request if request and _body_length(request) == len(request.body) else None


def length_of(received: bytes) -> int:
    """How many bytes the whole request has by its header; 0 while the header is incomplete."""
    request = opening(received)
    length = _body_length(request) if request else None
    return 0 if request is None or length is None else len(received) - len(request.body) + length


def _body_length(request: Request) -> int | None:
    """The length of the body by the header; None if the header has no usable number."""
    length = request.fields.get("length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < LENGTH_DIGITS else None


def opening(received: bytes) -> Request | None:
    """The request as far as it arrived, or None if it is not in this format or its header is incomplete."""
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
    """An answer with its length, so that the client can tell whether it is complete."""
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
