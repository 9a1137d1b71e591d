"""Encoded: base64 that hides a text with a secret in it, `KEY=…` or `user:password` say.

What is encoded is only brought to light here; whether there is a secret in it, the rules decide.
"""

import base64
import binascii
import re
from typing import Final

from holdfast.core.text.patterns import compiled

_REST: Final = compiled(r"[A-Za-z0-9+/]{0,8000}+={0,2}", re.ASCII)
_PAIR: Final = compiled(r"[A-Za-z][\w.@+-]{1,60}:[^\s:/,{}\[\]]{4,60}\n?\Z", re.ASCII)
# So many characters at least say something.
_PRINTABLE: Final = compiled(r"[\t\n\r -~]{8,9000}\Z")


def encoded_at(text: str, start: int) -> tuple[int, str] | None:
    """Where the base64 ends that begins here, and the plain text that it encodes; None if it encodes none."""
    found = _REST.match(text, start)
    run = found[0].rstrip("=") if found else ""
    try:
        plain = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return (start + len(found[0]), plain) if found and _PRINTABLE.match(plain) else None


def is_pair(plain: str) -> bool:
    """Whether it is nothing but `user:password`."""
    return _PAIR.match(plain) is not None
