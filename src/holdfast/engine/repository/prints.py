"""Prints of files: by which two machines see that a file is the same on both, without sending what is in it.

Times of files say nothing across machines: a checkout gives every file a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from holdfast.core.sharing.bodies import FilePrint
from holdfast.errors import PathRefused
from holdfast.files import worktree

PRINTS_MOST: Final = 80
"""The most files of one session; its trail has no more either."""
_BYTES: Final = 8


def prints_of(root: Path, paths: Iterable[str]) -> tuple[FilePrint, ...]:
    """The print of each file below a root, named from it; those that may not be read are left out."""
    return tuple(_prints(root, list(dict.fromkeys(paths))[-PRINTS_MOST:]))


def _prints(root: Path, paths: Iterable[str]) -> Iterator[FilePrint]:
    for path in paths:
        try:
            content = worktree.look_into(root, path)
        except PathRefused:
            continue
        yield FilePrint(path, _print(content) if content is not None else "")


def _print(content: bytes) -> str:
    # Git may have given the lines the endings that are usual on a system.
    plain = content.replace(b"\r\n", b"\n")
    return hashlib.blake2b(plain, digest_size=_BYTES).hexdigest()
