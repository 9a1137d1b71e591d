"""Redaction of a stream: stdin to stdout, byte for byte but for the values of secrets.

How text is cut, and what of it may go on, is `core.redaction.redact`'s work; here are only the bytes, and the
pauses between them.
"""

from __future__ import annotations

import codecs
import os
import select
import sys
from collections.abc import Iterable, Iterator

from holdfast import config
from holdfast.cli.options import command
from holdfast.core.redaction.redact import redact_stream
from holdfast.engine.redaction.redactor import lists_of

READ_BYTES = 1 << 16
PAUSE = 0.2
"""Seconds without input after which pending output is written: the user may be watching a log."""


@command("holdfast redact < session.log > shareable.log", "tail -f app.log | holdfast redact")
def redact() -> None:
    """Copy stdin to stdout without the values of secrets.

    What `redact.allow` and `redact.deny` of your settings name is left alone, or goes, here too.
    """
    lists = lists_of(config.load(config.home(os.environ), None, None, os.environ).config)
    for text in redact_stream(decoded(_arriving()), lists):
        if text:
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            sys.stdout.buffer.flush()


def decoded(arriving: Iterable[bytes | None]) -> Iterator[str | None]:
    """The bytes as text, wherever they were cut; bytes that are no text stay what they are."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for chunk in arriving:
        yield None if chunk is None else decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _arriving() -> Iterator[bytes | None]:
    """The chunks that arrive on stdin, and None after each pause."""
    # Only sockets can be asked on Windows; there a group ends by its size.
    can_ask = sys.platform != "win32"
    while True:
        if can_ask and not select.select([0], [], [], PAUSE)[0]:
            yield None
        chunk = os.read(0, READ_BYTES)
        if not chunk:
            return
        yield chunk
