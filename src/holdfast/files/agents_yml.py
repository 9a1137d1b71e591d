"""`.agents.yml`, found and read: what a project's own files say of the ledger.

`.agents.yml` (or what `$AGENTS_CONFIG` names), then `.agents.local.yml`, below the top of a worktree.
Anybody may have written them, so nothing in them is an error: what cannot be used is named and counts for
nothing. What they mean is `core.documents.agents_yml`'s to say.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast.core.documents.agents_yml import LedgerSetting, Unclear, asked, combine_ledger_settings
from holdfast.lazy_dataclass import dataclass

LARGEST: Final = 64 * 1024
VARIABLE: Final = "AGENTS_CONFIG"
LOCAL: Final = ".agents.local.yml"


@dataclass(frozen=True, slots=True)
class AgentsFiles:
    """What the files say together, and what in them could not be used."""

    asked: LedgerSetting
    warnings: tuple[str, ...] = ()


def read(root: Path, environment: Mapping[str, str]) -> AgentsFiles:
    """What the files of the worktree at `root` say of the ledger."""
    said: list[LedgerSetting] = []
    warnings: list[str] = []
    for path in _places(root, environment):
        text = _text(path)
        answer = asked(text) if isinstance(text, str) else text
        if isinstance(answer, Unclear):
            warnings.append(f"{path}: {answer.reason}; it is ignored")
        else:
            said.append(answer)
    return AgentsFiles(combine_ledger_settings(said), tuple(warnings))


def _places(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    named = environment.get(VARIABLE, "").strip() or ".agents.yml"
    if named.startswith("~/"):
        named = environment.get("HOME", "") + named[1:]
    yield root / named
    yield root / LOCAL


def _text(path: Path) -> str | Unclear:
    """The file's text, empty where there is none; a link, a device or a giant is not read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                return Unclear("it is not a regular file of at most 64 KiB")
            return file.read(LARGEST).decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        return Unclear(f"it cannot be read ({error})")
