"""A sealed file: bytes encrypted with a passphrase, written and read as a stream.

A header names the version, the cost of the key and its salt. Then come chunks, each encrypted and
authenticated with its number and whether it is the last, so that none can be changed, left out, repeated or
moved. The ciphers are those of the package `cryptography`. What the bytes mean is not here.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import io
import os
import struct
import unicodedata
from typing import TYPE_CHECKING, BinaryIO, Final

from holdfast.errors import BackupUnreadable, HoldfastError
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC: Final = b"holdfast sealed\n"
VERSION: Final = 1
CHUNK: Final = 1 << 20
_TAG: Final = 16
_SALT: Final = 16
_HEADER: Final = struct.Struct(f">{len(MAGIC)}sBBBB{_SALT}s")
_NUMBER: Final = struct.Struct(">3xQ?")
"""The number of a chunk and whether it is the last: twelve bytes, used once under a key."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a guess of the passphrase costs, by scrypt: as it is, 128 MiB and a third of a second."""

    log_n: int = 17
    r: int = 8
    p: int = 1

    @property
    def is_bearable(self) -> bool:
        """Whether it is not so large that a file could exhaust the machine that reads it."""
        return 1 <= self.log_n <= 20 and 1 <= self.r <= 8 and 1 <= self.p <= 4


USUAL_COST: Final = Cost()


class SealedWriter(io.RawIOBase):
    """Encrypts what is written to it; closed without `finish`, the file stays incomplete."""

    def __init__(self, target: BinaryIO, passphrase: str, salt: bytes, cost: Cost = USUAL_COST) -> None:
        super().__init__()
        header = _HEADER.pack(MAGIC, VERSION, cost.log_n, cost.r, cost.p, salt)
        self.key: Final = _Key(passphrase, salt, cost)
        self._target, self._cipher = target, self.key.cipher()
        self._pending, self._number = bytearray(), 0
        target.write(header + self.key.proof(header))

    def writable(self) -> bool:
        return True

    def write(self, content: ReadableBuffer) -> int:
        plain = memoryview(content).cast("B")
        self._pending += plain
        # A whole chunk is held back until more follows: it could be the last.
        while len(self._pending) > CHUNK:
            self._put(bytes(self._pending[:CHUNK]), is_last=False)
            del self._pending[:CHUNK]
        return len(plain)

    def finish(self) -> None:
        """Write the last chunk."""
        self._put(bytes(self._pending), is_last=True)
        self._pending.clear()

    def _put(self, plain: bytes, *, is_last: bool) -> None:
        nonce = _NUMBER.pack(self._number, is_last)
        self._target.write(self._cipher.encrypt(nonce, plain, None))
        self._number += 1


class SealedReader(io.RawIOBase):
    """Decrypts a sealed file; a read raises BackupUnreadable where the file is not what was written."""

    def __init__(self, source: BinaryIO, name: str, key: _Key | None = None, passphrase: str = "") -> None:
        super().__init__()
        self._source, self._name = source, name
        header = source.read(_HEADER.size)
        proof = source.read(_TAG)
        salt, cost = self._parsed(header)
        key = key or _Key(passphrase, salt, cost)
        if not hmac.compare_digest(key.proof(header), proof):
            raise BackupUnreadable(
                f"the passphrase is wrong, or the beginning of `{name}` was changed",
                "check it and try again; nothing was changed",
            )
        self._cipher = key.cipher()
        self._block, self._number = source.read(CHUNK + _TAG), 0
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer).cast("B")
        while not self._plain and self._block:
            self._plain = memoryview(self._next())
        count = min(len(target), len(self._plain))
        target[:count] = self._plain[:count]
        self._plain = self._plain[count:]
        return count

    def _next(self) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra of the package

        following = self._source.read(CHUNK + _TAG)
        try:
            plain = self._cipher.decrypt(_NUMBER.pack(self._number, not following), self._block, None)
        except InvalidTag:
            raise self._damaged() from None
        self._block, self._number = following, self._number + 1
        return plain

    def _parsed(self, header: bytes) -> tuple[bytes, Cost]:
        if not header.startswith(MAGIC):
            raise BackupUnreadable(f"`{self._name}` is no backup of Holdfast")
        if len(header) < _HEADER.size:
            raise self._damaged()
        _, version, log_n, r, p, salt = _HEADER.unpack(header)
        if version > VERSION:
            raise BackupUnreadable(
                f"`{self._name}` was written by a later version of Holdfast "
                f"(format {version}, this is {VERSION})",
                "upgrade with `uv tool upgrade holdfast`",
            )
        cost = Cost(log_n, r, p)
        if not cost.is_bearable:
            raise self._damaged()
        return salt, cost

    def _damaged(self) -> BackupUnreadable:
        return BackupUnreadable(
            f"`{self._name}` is incomplete or was changed", "use another copy of it; nothing was changed"
        )


def new_salt() -> bytes:
    """A salt for one file."""
    return os.urandom(_SALT)


class _Key:
    """The keys of one file: one encrypts, the other proves that the passphrase and the header are right."""

    def __init__(self, passphrase: str, salt: bytes, cost: Cost) -> None:
        _require_cryptography()
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - an extra of the package

        words = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
        derived = Scrypt(salt=salt, length=64, n=1 << cost.log_n, r=cost.r, p=cost.p).derive(words)
        self._encrypting, self._proving = derived[:32], derived[32:]

    def cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra of the package

        return AESGCM(self._encrypting)

    def proof(self, header: bytes) -> bytes:
        return hmac.new(self._proving, header, hashlib.sha256).digest()[:_TAG]


def _require_cryptography() -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise HoldfastError(
            "a backup needs the package `cryptography`, which is not installed",
            "install it with `uv tool install 'holdfast[backup]'`, or `pipx inject holdfast cryptography`",
        )
