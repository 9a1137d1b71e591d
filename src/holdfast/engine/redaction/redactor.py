"""Redactor: how texts are redacted now, and the mark by which its texts are known later.

The rules are `core.redaction.redact`'s; what was forgotten goes too, by `core.memory.wordings`. A text of
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
from holdfast.core.text.defang import HIDDEN, printable
from holdfast.lazy_dataclass import dataclass

FOR_TAGS: Final = "redaction"
"""Under this name the store keeps the secret that tags are made with."""
SECRET_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Redactor:
    """The user's lists, and the secret that makes the tags of one session mean nothing in another."""

    lists: Lists
    secret: bytes
    forgotten: Wordings = NO_WORDINGS
    """Wordings of memories that were forgotten: no text holds them either."""

    @property
    def mark(self) -> str:
        """What the texts of this redactor are marked with."""
        return mark_of(self.lists)

    def of_session(self, key: str) -> Callable[[str], str]:
        """What redacts the texts of one session: there, the same secret has the same tag."""
        salt = blake2s(key.encode("utf-8", "replace"), key=self.secret).digest()
        redact = partial(redact_as_seen, salt=salt, lists=self.lists)
        forgotten = self.forgotten
        return (lambda text: forgotten.removed(redact(text))) if forgotten else redact

    def parts_of_session(self, key: str) -> Callable[[Sequence[str]], tuple[str, ...]]:
        """What redacts the parts of one message: a secret may begin in one of them and end in the next."""
        salt = blake2s(key.encode("utf-8", "replace"), key=self.secret).digest()
        redact = partial(_parts_as_seen, salt=salt, lists=self.lists)
        forgotten = self.forgotten
        return (lambda parts: tuple(map(forgotten.removed, redact(parts)))) if forgotten else redact

    def redacted(self, key: str, text: str) -> str:
        """A text of that session."""
        return self.of_session(key)(text)


def redact_as_seen(text: str, salt: bytes = b"", lists: Lists = NO_LISTS) -> str:
    """The text without secrets, also where something that nobody sees, a colour say, stands in one of them.

    Then all of that goes; elsewhere a text is kept as it was said.
    """
    return _as_seen(redact(text, salt, lists), salt, lists)


def _as_seen(redacted: str, salt: bytes, lists: Lists) -> str:
    if not _hides(redacted):
        return redacted
    shown = printable(redacted)
    seen = redact(shown, salt, lists)
    return redacted if seen == shown else seen


def _parts_as_seen(parts: Sequence[str], salt: bytes, lists: Lists) -> tuple[str, ...]:
    if len(parts) == 1:
        return (redact_as_seen(parts[0], salt, lists),)
    return tuple(_as_seen(part, salt, lists) for part in redact_parts(parts, salt, lists))


# Half a character is not to be stumbled over here, so it is taken along.
_HALVES: Final = "surrogatepass"
_PLAIN: Final = b"\t\n" + bytes(range(ord(" "), 0x7F))


def _hides(text: str) -> bool:
    """Whether there is something in a text that is not seen; in ASCII only an escape would be put there."""
    if text.isascii():
        return "\x1b" in text
    # Of most texts little is not plain, and that is soon picked out; to look at every character takes long.
    unusual = text.encode("utf-8", _HALVES).translate(None, _PLAIN)
    return HIDDEN.search(unusual.decode("utf-8", _HALVES)) is not None


def lists_of(config: Config) -> Lists:
    """What the user lets pass and what never; ProtectionUnreadable where that cannot be known."""
    require_protection(config)
    return readable_lists(config)


def readable_lists(config: Config) -> Lists:
    """As much of these lists as can be read: enough to show what is stored, never to store or share."""
    return Lists(config.redact.allow, config.redact.deny)


def mark_of(lists: Lists) -> str:
    """The version of the rules, and where there are lists, a print of them."""
    if lists == NO_LISTS:
        return str(VERSION)
    told = json.dumps([lists.allow, lists.deny])
    return f"{VERSION}-{blake2s(told.encode(), digest_size=4).hexdigest()}"
