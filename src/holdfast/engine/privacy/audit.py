"""Audit: counts secrets in all that Holdfast stores, by place and kind, never showing a value.

It applies the current redactor to everything. Nothing is changed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from holdfast.core.redaction.redact import NO_LISTS, Lists, secrets_in
from holdfast.engine.home_store import former_file
from holdfast.errors import StoreError
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store, StoredText
from holdfast.stores.sqlite import copies, texts_of_copy

PART_BYTES: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Exposed:
    """How many secrets of one kind are in one place."""

    place: str
    kind: str
    count: int


def secrets(store: Store, home: Path, lists: Lists, in_time: Callable[[], bool]) -> list[Exposed]:
    """Secrets in the store, in its copies and in every other file of the home.

    Raises TimeoutError when time is up: half an audit would suggest that the rest is clean.
    """
    counts = Counter[tuple[str, str]]()
    for text in _everything(store, home):
        if not in_time():
            raise TimeoutError
        # The user's own settings list denied texts; that is no leak.
        applied_lists = NO_LISTS if text.place.endswith("config.toml") else lists
        counts.update({(text.place, kind): count for kind, count in kinds(text.text, applied_lists).items()})
    return [Exposed(place, kind, count) for (place, kind), count in sorted(counts.items())]


def kinds(text: str, lists: Lists) -> Counter[str]:
    """How many secrets of each kind a text has."""
    return Counter(secret.kind for secret in secrets_in(text, lists=lists))


def _everything(store: Store, home: Path) -> Iterator[StoredText]:
    for text in store.texts():
        yield StoredText(f"store: {text.place}", text.text)
    path = home / "store.db"
    whole = {*copies(path, home / "backups"), *former_file(home, 0)}
    for file in _files(home):
        if file in whole:
            yield from _in_copy(file)
        elif not file.name.startswith(path.name):
            yield from (StoredText(str(file.relative_to(home)), text) for text in _in_file(file))


def _in_copy(copy: Path) -> Iterator[StoredText]:
    place = f"{copy.parent.name}/{copy.name}"
    try:
        for text in texts_of_copy(copy):
            yield StoredText(f"{place}: {text.place}", text.text)
    except StoreError:
        yield from (StoredText(place, text) for text in _in_file(copy))


def _files(home: Path) -> Iterator[Path]:
    """Every regular file of the home, except the installed hook and the listeners' tokens."""
    for folder, folders, files in os.walk(home):
        folders[:] = sorted(name for name in folders if Path(folder, name) != home / "bin")
        own = _KEYS.get(str(Path(folder).relative_to(home)), ())
        names = (name for name in sorted(files) if name not in own)
        yield from (file for name in names if (file := Path(folder, name)).is_file())


def _in_file(file: Path) -> Iterable[str]:
    """The file's texts; for a binary file, everything in it that could be text."""
    try:
        with file.open("rb") as content:
            while part := content.read(PART_BYTES):
                text = part.decode("utf-8", "replace")
                yield "\n".join(_LEGIBLE.findall(text)) if "\0" in text else text
    except OSError:
        return


_KEYS: Final = {"http": ("token", "token-read"), "run": ("token",)}
_LEGIBLE = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]{8,}")
