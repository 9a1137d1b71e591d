"""Erase: removes forgotten wordings from files: the home's beside the store, and Holdfast's in projects.

The files in a project may be the user's own as well: only what Holdfast wrote there is changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from holdfast import config
from holdfast.core.events.world import Project
from holdfast.core.memory.wordings import FORGOTTEN, Wordings
from holdfast.engine.documents import ledger
from holdfast.engine.documents.handoff import FOLDER as HANDOFFS
from holdfast.engine.liveness import spooled_files
from holdfast.engine.repository import git
from holdfast.errors import HoldfastError
from holdfast.files import atomic, continuity, memory_files, worktree
from holdfast.files.ledger import BY_HAND, LedgerPlace, versions
from holdfast.files.together import locked
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

_Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

OWN_SETTINGS: Final = "config.toml"
_LENGTH: Final = re.compile(rb"^length: \d+$", re.MULTILINE)
_PARTS: Final = ("continuity/journal", "dream")
"""The folder of a project whose lock covers its files, besides those of its ledgers."""
SESSIONS: Final = 10_000
"""How many of the latest sessions are checked for where they worked."""


def erase_files(home: Path, wordings: Wordings) -> int:
    """Remove these wordings from the files; returns how many files had one."""
    if not wordings:
        return 0
    erased = sum(_erased_payload(payload, wordings) for payload in spooled_files(home))
    for project in sorted((home / "projects").glob("*")):
        with contextlib.ExitStack() as alone:
            for journal in _journals(project):
                alone.enter_context(locked(journal))
            erased += sum(_erased_file(path, wordings) for path in _texts(project))
    return erased


def _journals(project: Path) -> list[Path]:
    journals = [project / part for part in _PARTS if (project / part).is_dir()]
    return journals + [folder for folder in sorted(project.glob("ledger/*/journal")) if folder.is_dir()]


def _texts(project: Path) -> Iterator[Path]:
    for path in sorted(project.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name not in (OWN_SETTINGS, "lock"):
            yield path


def _erased_file(path: Path, wordings: Wordings) -> bool:
    """Remove the wordings from a file; returns whether it had one."""
    before = (atomic.read(path) or b"").decode("utf-8", "replace")
    if path.suffix == ".json":
        after = _erased_json(before, wordings, lambda value: json.dumps(value, ensure_ascii=False, indent=1))
    elif ".jsonl" in path.name:
        lines = before.split("\n")
        after = "\n".join(_erased_json(line, wordings, _one_line) for line in lines)
    else:
        after = wordings.removed(before)
    if after == before:
        return False
    atomic.write(path, after.encode(errors="replace"))
    return True


def _erased_payload(path: Path, wordings: Wordings) -> bool:
    """Remove the wordings from a waiting hook event, whose header holds its length."""
    if path.is_symlink() or not path.is_file():
        return False  # reading a FIFO would block for ever
    try:
        raw = path.read_bytes()
    except FileNotFoundError:  # the daemon has processed it
        return False
    head, gap, body = raw.partition(b"\n\n")
    before = body.decode("utf-8", "replace")
    after = _erased_json(before, wordings, _one_line).encode()
    if after == before.encode():
        return False
    atomic.write(path, _LENGTH.sub(b"length: %d" % len(after), head) + gap + after)
    return True


def _erased_json(text: str, wordings: Wordings, dumped: Callable[[_Json], str]) -> str:
    """JSON without the wordings; unchanged to the byte if it had none. Invalid JSON counts as one text."""
    try:
        value: _Json = json.loads(text)
    except ValueError:
        return wordings.removed(text)
    after = _erased_value(value, wordings)
    return text if after == value else dumped(after)


def _erased_value(value: _Json, wordings: Wordings) -> _Json:
    match value:
        case str():
            return wordings.removed(value)
        case list():
            rows = [_erased_value(each, wordings) for each in value]
            return [each for each, before in zip(rows, value, strict=True) if not _is_gone(each, before)]
        case dict():
            candidate = "became" in value and wordings.is_one(str(value.get("text")))
            after = {name: _erased_value(each, wordings) for name, each in value.items()}
            return {**after, "text": FORGOTTEN} if candidate else after
        case _:
            return value


def _is_gone(after: _Json, before: _Json) -> bool:
    """Whether nothing is left of a list's item, which is a text or a row about a text."""
    if after == before:
        return False
    text = after.get("text") if isinstance(after, dict) else after
    return isinstance(text, str) and text.strip(" .!") == FORGOTTEN


def _one_line(value: _Json) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _File:
    """A file below a worktree's root, and whether Holdfast wrote the wording in it."""

    root: Path
    path: str
    is_own: Callable[[Wordings], bool]


def erase_worktrees(store: Store, home: Path, wordings: Wordings) -> tuple[str, ...]:
    """Remove these wordings from what Holdfast wrote; returns the people's files that still have one."""
    remaining: list[str] = []
    for file in _files(store, home) if wordings else ():
        with contextlib.suppress(HoldfastError):  # a link, or an unreadable file
            raw = worktree.read(file.root, file.path)
            text = (raw or b"").decode("utf-8", "surrogateescape")
            after = wordings.removed(text)
            if after == text:
                continue
            if file.is_own(wordings):
                worktree.write(file.root, file.path, after.encode("utf-8", "surrogateescape"))
            else:
                remaining.append(str(file.root / file.path))
    return tuple(remaining)


def _files(store: Store, home: Path) -> Iterator[_File]:
    projects = {each.project.worktree_id: each.project for each in store.sessions(SESSIONS)}
    for project in projects.values():
        root = Path(project.root)
        if not root.is_dir():
            continue
        place = ledger.place_of(home, project, _ledger_path(home, project))
        yield _File(root, place.path, partial(_in_ledger, place))
        written = home / "projects" / project.project_id / "continuity" / "written"
        local = written / f"{project.worktree_id}.json"
        yield _File(root, continuity.LOCAL_PATH, partial(_says, local))
        with contextlib.suppress(HoldfastError):
            for path in (f"{HANDOFFS}/{name}" for name in worktree.listed(root, HANDOFFS)):
                yield _File(root, path, partial(_is_untracked, root, path))
        for state in memory_files.states(root):
            yield _File(root, state.path, lambda _: False)


def _ledger_path(home: Path, project: Project) -> str:
    try:
        settings = config.load(home, Path(project.root), project.project_id, os.environ).config
    except HoldfastError:
        return ledger.DEFAULT_PATH
    return settings.session.ledger_path or ledger.DEFAULT_PATH


def _in_ledger(place: LedgerPlace, wordings: Wordings) -> bool:
    """Whether the first version of a ledger with the wording was written by a session, not by hand."""
    saying = [version for version in versions(place) if wordings.removed(version.text()) != version.text()]
    return (bool(saying) and saying[-1].writer != BY_HAND) or any(
        _says(own, wordings) for own in (place.own, place.former_own)
    )


def _says(own: Path, wordings: Wordings) -> bool:
    """Whether the stored copy of what Holdfast wrote has one of the wordings."""
    if not own.is_file():
        return False
    text = (atomic.read(own) or b"").decode("utf-8", "replace")
    return wordings.removed(text) != text


def _is_untracked(root: Path, path: str, _: Wordings) -> bool:
    """Whether a file is not in git; Holdfast alone writes such files."""
    place = git.find(str(root))
    repository = place.repository if place else None
    return repository is None or git.tracks(repository, path) is False
