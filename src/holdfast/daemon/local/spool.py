"""The spool: letters that hooks left while no daemon answered, oldest first.

Hooks write it, the daemon empties it. A letter leaves the spool only after what it says is kept, or after it
was rejected: one that cannot be taken in must not keep the others waiting. Of a rejected letter no text is
kept, only a report that says why, how large it was and which fields it had.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2s
from pathlib import Path

import msgspec

from holdfast import hook
from holdfast.core.events.durations import DAY_MS
from holdfast.core.redaction.redact import redact
from holdfast.daemon.local import wire
from holdfast.lazy_dataclass import dataclass

ENDING = ".letter"
HALF_WRITTEN = ".part"
_PLAINLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
REPORTS_KEPT = 100
REPORT_AGE_MS = 30 * DAY_MS
FIELDS_NAMED = 40
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z_.]{0,39}")
"""Longer names, or with digits in them, may be data."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """A spooled letter: its file, all that is in it, and the request, None if it is none."""

    path: Path
    content: bytes
    request: wire.Request | None


def hook_events(home: Path, left: Collection[str] = ()) -> Iterator[Spooled]:
    """Each spooled letter whose name is not `left`; a file that is none is rejected without being opened."""
    spool = home / "spool"
    for path in _spooled_files(spool):
        if path.name in left:
            continue
        try:
            content = _read_regular(path)
        except OSError:
            continue  # its hook has just taken it back
        if content is None:
            reject(home, Spooled(path, b"", None), "not a regular file")
        else:
            yield Spooled(path, content, wire.parse(content))


def hold(home: Path, request: wire.Request) -> str:
    """Keep a letter until the settings can be read, without anything that the user wrote; its name.

    Without words, many letters of a session say the same: the last of them is enough. What is no JSON object
    has no name, and is not kept.
    """
    try:
        body = hook.without_words(request.body)
    except (ValueError, TypeError, RecursionError):
        return ""
    fields = {**json.loads(body), "harness": request.fields.get("harness", "")}
    fields.pop("prompt_id", None)
    tag = blake2s(json.dumps(fields, sort_keys=True).encode(), digest_size=8).hexdigest()
    spool = home / "spool"
    spool.mkdir(mode=0o700, exist_ok=True)
    earlier = list(spool.glob(f"*-{tag}-held{ENDING}"))
    name = f"{time.time_ns()}-{tag}-held{ENDING}"
    hook.write(str(spool / name), _written(request, body))
    for path in earlier:
        path.unlink(missing_ok=True)
    hook.make_room(str(spool))
    return name


def strip(payload: Spooled) -> None:
    """Take what the user wrote out of a letter that a hook spooled; it goes if that cannot be done."""
    try:
        if payload.request is not None:
            body = hook.without_words(payload.request.body)
            hook.write(str(payload.path), _written(payload.request, body))
    except (OSError, ValueError, TypeError, RecursionError):
        payload.path.unlink(missing_ok=True)


def _written(request: wire.Request, body: bytes) -> bytes:
    """A letter as hooks write it."""
    fields = {field: value for field, value in request.fields.items() if field not in ("token", "length")}
    head = "".join(f"{field}: {value}\n" for field, value in fields.items())
    return (
        f"{wire.PROTOCOL} {request.kind}\n{head}length: {len(body)}\n\n".encode(errors="surrogateescape")
        + body
    )


def reject(home: Path, payload: Spooled, reason: str) -> None:
    """Take a letter out of the spool for good, count it, and keep a report of it without its text."""
    reports = home / "spool" / "rejected"
    report = {
        "reason": reason,
        "bytes": len(payload.content),
        "sha256": hashlib.sha256(payload.content).hexdigest(),
        "header_fields": _field_names(payload.request.fields if payload.request else ()),
        "body_fields": _field_names(_member_names(payload.request.body) if payload.request else ()),
    }
    with contextlib.suppress(OSError):  # Without a report, as on a full disk, it goes all the same.
        reports.mkdir(mode=0o700, exist_ok=True)
        hook.write(f"{reports / payload.path.stem}.json", json.dumps(report).encode())
        hook.add_to(str(home / "spool" / "unreadable"), 1)
    _remove(payload.path)


def sweep(home: Path, before: int, now: int) -> None:
    """Remove what killed hooks left half-written before that moment, and reports that are old or too many."""
    for half in (home / "spool").glob(f"*{HALF_WRITTEN}"):
        with contextlib.suppress(FileNotFoundError):  # its hook has just finished it
            if half.lstat().st_mtime * 1000 < before:
                half.unlink()
    reports = sorted((home / "spool" / "rejected").glob("*"), key=_modified, reverse=True)
    for number, report in enumerate(reports):
        if number >= REPORTS_KEPT or _modified(report) < now - REPORT_AGE_MS:
            _remove(report)


def waiting(home: Path) -> int:
    """How many letters wait."""
    return len(_spooled_files(home / "spool"))


def _spooled_files(spool: Path) -> list[Path]:
    """The letters, oldest first; none where the spool is no folder of its own."""
    if spool.is_symlink() or not spool.is_dir():
        return []
    return sorted(path for path in spool.glob(f"*{ENDING}") if path.is_symlink() or not path.is_dir())


def _read_regular(path: Path) -> bytes | None:
    """The content of a regular file, at most as large as a request; None for anything else, and for a link.

    Opening a FIFO would wait for ever, and a link may lead anywhere.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        return None
    descriptor = os.open(path, _PLAINLY)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(wire.BODY_LIMIT) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime * 1000
    except OSError:
        return 0.0


def _member_names(body: bytes) -> Iterable[str]:
    """The names of the members of a JSON object; none if it is none."""
    try:
        return msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return ()


def _field_names(names: Iterable[str]) -> list[str]:
    """Those that look like names of fields: anything else may be text."""
    return [name for name in names if _FIELD_NAME.fullmatch(name) and redact(name) == name][:FIELDS_NAMED]
