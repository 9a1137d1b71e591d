"""Patches: which files a patch changes, and how.

Reads the headers of both styles that agents write: unified diffs and managed patches (`*** Update File:`).
It ignores the lines of hunks, and applies nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Action
from holdfast.lazy_dataclass import dataclass

_NOWHERE: Final = "/dev/null"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file. A rename is an edit of the old path with `renamed_to`.

    `OTHER` restores a deleted folder or, with `whole`, everything that was deleted below the path.
    """

    path: str
    action: Action
    renamed_to: str = ""
    whole: bool = False


def changes_in_patch(text: str) -> tuple[FileChange, ...]:
    """Every change that the patches in a text make, in order, each once."""
    # A managed patch may add a file that is itself a diff, so it is read only as a managed patch.
    changes = _managed(text) if _MANAGED.search(text) else _diffed(text)
    return tuple(dict.fromkeys(changes))


def with_located_paths(change: FileChange, folder: str | None, project: str = "") -> FileChange | None:
    """The change with paths relative to where the command began; None if it changes no file.

    `folder` is where the change was made; if unknown (None), only absolute paths count. Devices and temporary
    files do not count, unless the project itself is in a temporary folder.
    """
    # A whole tree may be the current folder.
    path = _located(change.path, folder, project) or ("." if change.whole and folder == "" else "")
    renamed_to = _located(change.renamed_to, folder, project)
    if not path or (change.renamed_to and not renamed_to):
        return None
    return replace(change, path=path, renamed_to=renamed_to)


def path_below(folder: str | None, path: str) -> str | None:
    """The path below a folder, without `.` and `..` where possible; None in an unknown folder."""
    if path.startswith(("/", "~")):
        folder = ""
    if folder is None or len(folder) > _LONGEST:
        return None
    whole = f"{folder}/{path}" if folder else path
    parts: list[str] = []
    for part in whole.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return ("/" if whole.startswith("/") else "") + "/".join(parts)


_LONGEST: Final = 1_024
_NO_FILES: Final = ("/dev/", "/proc/", "/sys/")
_TEMPORARY: Final = ("/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/")  # noqa: S108


def _located(path: str, folder: str | None, project: str) -> str:
    if not path.strip() or "\n" in path or path == "-":
        return ""
    whole = path_below(folder, path)
    if not whole or whole == "/" or whole.startswith(_NO_FILES):
        return ""
    return "" if is_temporary(whole, project) else whole


def is_temporary(path: str, project: str = "") -> bool:
    """Whether a path is below a temporary folder, and not in the project."""
    in_project = bool(project) and f"{path}/".startswith(f"{project.rstrip('/')}/")
    return f"{path}/".startswith(_TEMPORARY) and not in_project


_MANAGED: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File:|^\*\*\* Move to:", re.MULTILINE)
_MANAGED_LINE: Final = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): *+(\S.*)$", re.MULTILINE)
_MANAGED_ACTIONS: Final = {"Add": Action.WRITE, "Update": Action.EDIT, "Delete": Action.DELETE}


def _managed(text: str) -> Iterator[FileChange]:
    change: FileChange | None = None
    for match in _MANAGED_LINE.finditer(text):
        path = match[2].strip()
        if match[1] is None:
            change = change and replace(change, renamed_to=path)
            continue
        if change is not None:
            yield change
        change = FileChange(path, _MANAGED_ACTIONS[match[1]])
    if change is not None:
        yield change


_HEADER: Final = re.compile(
    r"^(?:"
    r"diff --git (?P<git>[^\r\n]+)"
    # A removed line may look like a header; it is one only if a hunk follows.
    r"|--- (?P<old>[^\r\n]+)\r?\n\+\+\+ (?P<new>[^\r\n]+)\r?\n(?=@@)"
    r"|(?P<mark>new file mode|deleted file mode|copy from|rename from|(?:rename|copy) to) (?P<rest>[^\r\n]+)"
    r")",
    re.MULTILINE,
)


def _diffed(text: str) -> Iterator[FileChange]:
    change: FileChange | None = None
    has_hunks = False
    for match in _HEADER.finditer(text):
        if match["mark"]:
            change = change and _marked(change, match["mark"], match["rest"])
            continue
        if change is not None and (match["git"] or has_hunks):
            yield change
            change = None
        has_hunks = not match["git"]
        if has_hunks:
            change = _refined(change, _from_names(match["old"], match["new"]))
        else:
            change = _from_git(match["git"])
    if change is not None:
        yield change


def _refined(header: FileChange | None, names: FileChange) -> FileChange:
    """The change from git's header, with the path from the lines above the hunks, which is unambiguous."""
    if header is None:
        return names
    if header.renamed_to:
        return header
    return names if header.action is Action.EDIT else replace(names, action=header.action)


def _marked(change: FileChange, mark: str, rest: str) -> FileChange:
    path = _unquoted(rest)
    match mark:
        case "new file mode":
            return replace(change, action=Action.WRITE)
        case "deleted file mode":
            return replace(change, action=Action.DELETE)
        case "rename from":
            return replace(change, path=path)
        case "rename to":
            return replace(change, renamed_to=path)
        case "copy to":
            return FileChange(path, Action.WRITE)
        case _:
            return change


def _from_names(old: str, new: str) -> FileChange:
    """The change that `--- old` and `+++ new` announce."""
    old, new = (_unquoted(name.split("\t", 1)[0]) for name in (old, new))
    if old == _NOWHERE:
        return FileChange(_PREFIX.sub("", new), Action.WRITE)
    if new == _NOWHERE:
        return FileChange(_PREFIX.sub("", old), Action.DELETE)
    # Without prefixes both names begin the same, also in a folder called `a`.
    if old[:2] != new[:2]:
        old, new = _PREFIX.sub("", old), _PREFIX.sub("", new)
    return FileChange(new, Action.EDIT)


_PREFIX: Final = re.compile(r"^[abciow]/")


def _from_git(names: str) -> FileChange:
    """The change of `diff --git a/x b/x`; if the names differ, later lines say which is which."""
    middle = len(names) // 2
    old, new = names[:middle], names[middle + 1 :]
    if old[2:] != new[2:]:
        old, _, new = names.partition(" b/")
    old, new = _unquoted(old), _unquoted(new)
    return FileChange(_PREFIX.sub("", new) or old, Action.EDIT)


_OCTAL: Final = re.compile(rb"\\([0-3][0-7]{2})")


def _unquoted(path: str) -> str:
    """The path in git's notation: quoted, with bytes in octal, if it has unusual characters."""
    path = path.strip()
    if len(path) < 2 or path[0] != '"' or path[-1] != '"':
        return path
    plain = _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), path[1:-1].encode("utf-8", "replace"))
    return plain.decode("utf-8", "replace").replace('\\"', '"').replace("\\\\", "\\")
