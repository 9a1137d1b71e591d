"""Patches: the patches that an agent passes to Codex, as one text within a limit.

A patch comes as a tool's input, inside a shell command, or as a list of changes. The core reads from its
headers which files it touches; here it is only extracted, and shortened without losing a header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from holdfast.harnesses.fields import TEXT_LIMIT, capped, mapping, text

_BEGIN, _END = "*** Begin Patch", "\n*** End Patch"
# A patch in a shell: only a change of directory before it, only its end marker after it.
_BEFORE = re.compile(r"\s*(?:cd (?P<folder>[^\s&;|]+) *&& *)?(?:apply_?patch)\b[^\n]*\n?\Z")
_BEHIND = re.compile(r"\s*+(?:\w++|['\"])?[\s)]*+\Z")
_FIRST = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: *(\S[^\r\n]*)", re.MULTILINE)
_HEADER = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *\S[^\r\n]*", re.MULTILINE)
_SECTION = re.compile(r"^(?=\*\*\* (?:Add|Update|Delete) File:)", re.MULTILINE)
_RELATIVE = re.compile(
    r"^(\*\*\* (?:(?:Add|Update|Delete) File|Move to): *)(?![/~\s]|[A-Za-z]:)", re.MULTILINE
)
_SHARE_AT_LEAST = 400


def patch_in(command: str) -> str:
    """The patch that a shell command applies if it does nothing else; otherwise empty."""
    begin = command.find(_BEGIN)
    end = command.find(_END, begin) + len(_END)
    if begin < 0 or end < len(_END) or not _BEHIND.match(command, end):
        return ""
    before = _BEFORE.match(command[:begin].removesuffix('"').removesuffix("'"))
    return under(before["folder"] or "", command[begin:end]) if before else ""


def under(folder: str, patch: str) -> str:
    """The patch with its relative paths under this folder; unchanged for an empty folder."""
    folder = folder.strip("'\"").rstrip("/")
    if folder in ("", "."):
        return patch
    return _RELATIVE.sub(lambda match: f"{match[1]}{folder}/", patch)


def first_file(patch: str) -> str:
    """The first file that the patch names."""
    header = _FIRST.search(patch)
    return header[1].strip() if header else ""


def shortened_patch(patch: str) -> str:
    """The patch within the limit: every file keeps its header, and as much of its lines as fits."""
    if len(patch) <= TEXT_LIMIT:
        return patch
    sections = _SECTION.split(patch)
    share = TEXT_LIMIT // len(sections)
    if share < _SHARE_AT_LEAST:
        headers = _HEADER.findall(patch)
        return "\n".join(headers)[:TEXT_LIMIT]
    return "".join(capped(section, share - 1).rstrip("\n") + "\n" for section in sections if section)


def patch_of(changes: Mapping[str, object]) -> str:
    """The patch that these changes, file by file, amount to."""
    return "\n".join(_section(path, mapping(change)) for path, change in changes.items())


def _section(path: str, change: Mapping[str, object]) -> str:
    match change.get("type"):
        case "add":
            added = text(change, "content").splitlines()
            return "\n".join((f"*** Add File: {path}", *(f"+{line}" for line in added)))
        case "delete":
            return f"*** Delete File: {path}"
        case _:
            moved = text(change, "move_path")
            lines = (f"*** Update File: {path}", f"*** Move to: {moved}" if moved else "")
            return "\n".join(filter(None, (*lines, text(change, "unified_diff"))))
