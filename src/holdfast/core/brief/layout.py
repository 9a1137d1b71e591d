"""Lay out the chosen items of a brief: sections in a fixed order, a line for each sentence, lists of files.

Files of one directory are written with a shared prefix, and no line lists more than six of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from holdfast.core.brief.brief_input import GOAL_KIND, SECTIONS, Item
from holdfast.core.text.lazy_patterns import compiled

LINE_NAMES: Final = 6


def readable(sentence: str) -> str:
    """A sentence as a brief shows it: at most six names in a row, and nothing shortened that looks typed."""
    return _LONG_LIST.sub(_first_names, _CODE.sub(_typed_or_quoted, sentence))


def _typed_or_quoted(code: re.Match[str]) -> str:
    return f"“{code[1]}”" if "…" in code[1] else code[0]


def _first_names(listed: re.Match[str]) -> str:
    names = _NAME.findall(listed[0])
    return f"{', '.join(names[:LINE_NAMES])} and {len(names) - LINE_NAMES} more"


_CODE: Final = compiled(r"`([^`\n]*)`")
_NAMED: Final = r"(?:`[^`\n]+`|(?<![\w/.@~-])(?=[\w@~-]*(?:[/_.]\w|[a-z][A-Z]|::))[\w@~./:-]*\w(?:\(\))?)"
_NAME: Final = compiled(_NAMED)
_LONG_LIST: Final = compiled(rf"{_NAMED}(?:(?:,\s*(?:and |or )?|\s+(?:and|or)\s+){_NAMED}){{{LINE_NAMES},}}")


def cost_of(item: Item, *, is_first: bool, listed: int) -> int:
    """About how many characters an item takes; lists with shared prefixes take less.

    It may be the first of its section, and is listed behind so many others with the same lead.
    """
    heading = len(f"\n\n### {item.section}") if is_first else 0
    if not item.lead:
        return heading + len(f"\n- {item.text}")
    begins_line = listed % LINE_NAMES == 0
    return heading + len(f"\n- {item.lead}: {item.text}" if begins_line else f", {item.text}")


def lines(items: Sequence[Item]) -> Iterator[str]:
    """The lines of the chosen items, section by section."""
    chosen = [item for item in items if item.rendered]
    for section in SECTIONS:
        rows = [item for item in chosen if item.section == section]
        if not rows:
            continue
        yield f"\n### {section}"
        sentences = [item for item in rows if not item.lead]
        # The current request comes first; otherwise the order is that of the work.
        sentences.sort(key=lambda item: item.kind != GOAL_KIND)
        yield from (f"- {item.text}" for item in sentences)
        for lead in dict.fromkeys(item.lead for item in rows if item.lead):
            yield from _listed(lead, [item.text for item in reversed(rows) if item.lead == lead])


def _listed(lead: str, texts: Sequence[str]) -> Iterator[str]:
    """A list in as many lines as it needs."""
    for start in range(0, len(texts), LINE_NAMES):
        yield f"- {lead}: {', '.join(grouped_paths(texts[start : start + LINE_NAMES]))}"


def written_length(items: Sequence[Item]) -> int:
    """How many characters the chosen items take when written."""
    return sum(len(line) + 1 for line in lines(items))


def folders_of(path: str) -> Iterator[str]:
    """The directories that contain a path, the nearest first."""
    end = path.rfind("/")
    while end > 0:
        yield path[: end + 1]
        end = path.rfind("/", 0, end)


def grouped_paths(texts: Sequence[str]) -> Iterator[str]:
    """A list in which paths share a prefix where that saves most: `src/{a.py, b/c.py}`."""
    paths = [text for text in texts if text[-1:] not in ("`", "/") and "://" not in text]
    folders = Counter(folder for path in paths for folder in folders_of(path))
    saved = {folder: (times - 1) * len(folder) - 2 for folder, times in folders.items()}
    best = max(saved, key=lambda folder: (saved[folder], folder), default="")
    if not best or saved[best] <= 0:
        yield from texts
        return
    inside = [path for path in paths if path.startswith(best)]
    yield f"{best}{{{', '.join(text[len(best) :] for text in inside)}}}"
    yield from grouped_paths([text for text in texts if text not in inside])
