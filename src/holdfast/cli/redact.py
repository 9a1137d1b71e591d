"""Redaction of a stream: stdin to stdout, byte for byte but for the values of secrets.

Text goes on in groups of whole lines: a group ends where it is large, or where nothing more comes for the
moment, and never inside a private key.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable, Iterator

from holdfast.cli.options import command
from holdfast.core.redact import redact as redacted
from holdfast.core.redact_rules import PEM_LONGEST

GROUP_BYTES = 1 << 20
READ_BYTES = 1 << 16
PAUSE = 0.2
"""Seconds without input after which what is there is given: someone may be watching a log."""


@command("holdfast redact < session.log > shareable.log", "tail -f app.log | holdfast redact")
def redact() -> None:
    """Copy stdin to stdout without the values of secrets."""
    for group in groups(_arriving()):
        text = group.decode("utf-8", "surrogateescape")
        sys.stdout.buffer.write(redacted(text).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()


def groups(arriving: Iterable[bytes | None], enough: int = GROUP_BYTES) -> Iterator[bytes]:
    """The bytes in groups of whole lines; None in what arrives says that nothing more came for a while."""
    held = bytearray()
    for chunk in arriving:
        held += chunk or b""
        if chunk is None or (len(held) >= enough and b"\n" in chunk):
            cut = _cut(held)
            if cut:
                yield bytes(held[:cut])
                del held[:cut]
    if held:
        yield bytes(held)


def _cut(held: bytearray) -> int:
    """Where the last whole line ends, but before a private key whose end has not come; 0 if none can go."""
    whole = held.rfind(b"\n") + 1
    begin = held.rfind(b"-----BEGIN ", 0, whole)
    if begin < 0 or held.find(b"-----END ", begin, whole) >= 0 or whole - begin > PEM_LONGEST:
        return whole
    return held.rfind(b"\n", 0, begin) + 1


def _arriving() -> Iterator[bytes | None]:
    """What comes in on stdin, and None whenever nothing does for a while."""
    # Only sockets can be asked on Windows; there a group ends by its size.
    can_ask = os.name != "nt"
    while True:
        if can_ask and not select.select([0], [], [], PAUSE)[0]:
            yield None
        chunk = os.read(0, READ_BYTES)
        if not chunk:
            return
        yield chunk
