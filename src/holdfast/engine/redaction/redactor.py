"""Redactor: redacts texts by the settings in force, and marks them with its version.

The rules are in `core.redaction.redact`; `core.memory.wordings` removes forgotten wordings. A text with
another mark was redacted by an older version or with other lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2s
from typing import Final

from holdfast.config import Config, require_protection
from holdfast.core.memory.wordings import NO_WORDINGS, Wordings
from holdfast.core.redaction.redact import NO_LISTS, VERSION, Lists, redact, redact_parts
from holdfast.core.text.untrusted import HIDDEN, printable
from holdfast.lazy_dataclass import dataclass

FOR_TAGS: Final = "redaction"
"""The name under which the store holds the secret that tags are made with."""
SECRET_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Redactor:
    """Redacts by the user's lists; its secret makes the tags of one session meaningless in another."""

    lists: Lists
    secret: bytes
    forgotten: Wordings = NO_WORDINGS
    """Wordings of forgotten memories; they are removed from every text too."""

    @property
    def mark(self) -> str:
        """The mark of texts that went through this redactor."""
        return mark_of(self.lists)

    def of_session(self, key: str) -> Callable[[str], str]:
        """A function that redacts the texts of one session; within it, the same secret has the same tag."""
        salt = blake2s(key.encode("utf-8", "replace"), key=self.secret).digest()
        redact = partial(redact_as_seen, salt=salt, lists=self.lists)
        forgotten = self.forgotten
        return (lambda text: forgotten.removed(redact(text))) if forgotten else redact

    def parts_of_session(self, key: str) -> Callable[[Sequence[str]], tuple[str, ...]]:
        """A function that redacts the parts of one message; a secret may begin in one and end in the next."""
        salt = blake2s(key.encode("utf-8", "replace"), key=self.secret).digest()
        redact = partial(_parts_as_seen, salt=salt, lists=self.lists)
        forgotten = self.forgotten
        return (lambda parts: tuple(map(forgotten.removed, redact(parts)))) if forgotten else redact

    def redacted(self, key: str, text: str) -> str:
        """A text of that session, redacted."""
        return self.of_session(key)(text)


def redact_as_seen(text: str, salt: bytes = b"", lists: Lists = NO_LISTS) -> str:
    """The text without secrets, also where invisible characters, such as a colour code, interrupt one.

    In that case all invisible characters are removed; otherwise the text stays as it is.
    """
    return _as_seen(redact(text, salt, lists), salt, lists)


def _as_seen(redacted: str, salt: bytes, lists: Lists) -> str:
    if not _hides(redacted):
        return redacted
    visible = printable(redacted)
    result = redact(visible, salt, lists)
    return redacted if result == visible else result


def _parts_as_seen(parts: Sequence[str], salt: bytes, lists: Lists) -> tuple[str, ...]:
    if len(parts) == 1:
        return (redact_as_seen(parts[0], salt, lists),)
    return tuple(_as_seen(part, salt, lists) for part in redact_parts(parts, salt, lists))


# A lone surrogate must not raise here.
_HALVES: Final = "surrogatepass"
_PLAIN: Final = b"\t\n" + bytes(range(ord(" "), 0x7F))


def _hides(text: str) -> bool:
    """Whether a text has invisible characters; in ASCII only an escape counts."""
    if text.isascii():
        return "\x1b" in text
    # Most texts are nearly all ASCII. Picking out the rest is much faster than checking every character.
    unusual = text.encode("utf-8", _HALVES).translate(None, _PLAIN)
    return HIDDEN.search(unusual.decode("utf-8", _HALVES)) is not None


def lists_of(config: Config) -> Lists:
    """The user's lists of allowed and denied texts; ProtectionUnreadable if they cannot be read."""
    require_protection(config)
    return readable_lists(config)


def readable_lists(config: Config) -> Lists:
    """What can be read of these lists: enough to show stored texts, not enough to store or share any."""
    return Lists(config.redact.allow, config.redact.deny)


def mark_of(lists: Lists) -> str:
    """The version of the rules and, if there are lists, their fingerprint."""
    if lists == NO_LISTS:
        return str(VERSION)
    encoded = json.dumps([lists.allow, lists.deny])
    return f"{VERSION}-{blake2s(encoded.encode(), digest_size=4).hexdigest()}"
