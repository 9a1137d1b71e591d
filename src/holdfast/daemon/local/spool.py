"""The spool: hook events that no daemon answered, oldest first.

Hooks write it, the daemon empties it. A hook event leaves the spool only after it was recorded, or after it
was rejected: one that cannot be recorded must not hold up the others. No text of a rejected hook event is
stored, only a report with the reason, its size and its field names.
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
from holdfast.engine.liveness import spooled_files
from holdfast.lazy_dataclass import dataclass

HALF_WRITTEN = ".part"
_PLAINLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
REPORTS_KEPT = 100
REPORT_AGE_MS = 30 * DAY_MS
FIELDS_NAMED = 40
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z_.]{0,39}")
"""Longer names, or with digits in them, may be data."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """A spooled hook event: its file, the file's content, and the request, None if it cannot be parsed."""

    path: Path
    content: bytes
    request: wire.Request | None


def hook_events(home: Path, skipped: Collection[str] = ()) -> Iterator[Spooled]:
    """Each spooled hook event not named in `skipped`; what is no regular file is rejected unopened."""
    for path in _readable_files(home):
        if path.name in skipped:
            continue
        try:
            content = _read_regular(path)
        except OSError:
            continue  # its hook has just removed it
        if content is None:
            reject(home, Spooled(path, b"", None), "not a regular file")
        else:
            yield Spooled(path, content, wire.parse(content))


def hold(home: Path, request: wire.Request) -> str:
    """Spool a hook event until the settings can be read, without the user's text; its file name.

    Without text, many hook events of a session are equal: only the last of them is spooled. What is not a
    JSON object is dropped, and its name is empty.
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
    earlier = [path for path in spooled_files(home) if path.stem.endswith(f"-{tag}-held")]
    name = f"{time.time_ns()}-{tag}-held{hook.SPOOLED}"
    hook.write(str(spool / name), _encode(request, body))
    for path in earlier:
        path.unlink(missing_ok=True)
    hook.make_room(str(spool))
    return name


def strip(payload: Spooled) -> None:
    """Remove the user's text from a spooled hook event; the whole file if that cannot be done."""
    try:
        if payload.request is not None:
            body = hook.without_words(payload.request.body)
            hook.write(str(payload.path), _encode(payload.request, body))
    except (OSError, ValueError, TypeError, RecursionError):
        payload.path.unlink(missing_ok=True)


def _encode(request: wire.Request, body: bytes) -> bytes:
    """A hook event in the format that hooks write."""
    fields = {field: value for field, value in request.fields.items() if field not in ("token", "length")}
    head = "".join(f"{field}: {value}\n" for field, value in fields.items())
    return (
        f"{wire.PROTOCOL} {request.kind}\n{head}length: {len(body)}\n\n".encode(errors="surrogateescape")
        + body
    )


def reject(home: Path, payload: Spooled, reason: str) -> None:
    """Remove a hook event from the spool, count it, and write a report of it without its text."""
    reports = home / "spool" / "rejected"
    report = {
        "reason": reason,
        "bytes": len(payload.content),
        "sha256": hashlib.sha256(payload.content).hexdigest(),
        "header_fields": _field_names(payload.request.fields if payload.request else ()),
        "body_fields": _field_names(_member_names(payload.request.body) if payload.request else ()),
    }
    with contextlib.suppress(OSError):  # It is removed even if no report can be written, as on a full disk.
        reports.mkdir(mode=0o700, exist_ok=True)
        hook.write(f"{reports / payload.path.stem}.json", json.dumps(report).encode())
        hook.add_to(str(home / "spool" / "unreadable"), 1)
    _remove(payload.path)


def sweep(home: Path, before: int, now: int) -> None:
    """Remove half-written files from before that time, and reports that are old or too many."""
    for half in (home / "spool").glob(f"*{HALF_WRITTEN}"):
        with contextlib.suppress(FileNotFoundError):  # its hook has just finished it
            if half.lstat().st_mtime * 1000 < before:
                half.unlink()
    reports = sorted((home / "spool" / "rejected").glob("*"), key=_modified, reverse=True)
    for number, report in enumerate(reports):
        if number >= REPORTS_KEPT or _modified(report) < now - REPORT_AGE_MS:
            _remove(report)


def waiting(home: Path) -> int:
    """How many hook events are in the spool."""
    return len(_readable_files(home))


def _readable_files(home: Path) -> list[Path]:
    """The spooled files, oldest first; none if the spool is a link or no folder."""
    if (home / "spool").is_symlink():
        return []
    return [path for path in spooled_files(home) if path.is_symlink() or not path.is_dir()]


def _read_regular(path: Path) -> bytes | None:
    """The content of a regular file, at most as large as a request; None for anything else, also a link.

    Opening a FIFO would block, and a link may point anywhere.
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
    """The member names of a JSON object; none for anything else."""
    try:
        return msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return ()


def _field_names(names: Iterable[str]) -> list[str]:
    """The names that look like field names: anything else may be text."""
    return [name for name in names if _FIELD_NAME.fullmatch(name) and redact(name) == name][:FIELDS_NAMED]
