"""The startup block: what of the continuity a starting session is told, within a number of lines.

Whole items only. What the budget leaves out is counted, never cut in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.core.continuity import TITLES, LayerName, Part, Summary
from holdfast.core.defang import quoted

TITLE: Final = "# Session Continuity"
FRAMING: Final = "Temporary working state: check it against the code and the request before you rely on it."
SOURCES: Final = "sources"
_FIRST: Final = (Part.GOAL, Part.NEXT, Part.FAILED, Part.CONFIRMED, Part.UNTRIED, Part.NOTES)
"""In this order sections get their room: what to do, then what not to do again."""


@dataclass(frozen=True, slots=True)
class Layered:
    """One layer, and the file that it was read from."""

    name: LayerName
    source: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class Startup:
    """The block, and the account of it."""

    text: str
    source_files: tuple[str, ...]
    source_kinds: tuple[LayerName, ...]
    candidate_source_files: tuple[str, ...]
    sections_rendered: Mapping[str, bool]
    omissions: tuple[str, ...]
    omission_counts: Mapping[str, int]

    def as_json(self) -> dict[str, object]:
        """The account in the words that other programs know it by."""
        rendered = [name for name, there in self.sections_rendered.items() if there and name != SOURCES]
        return {
            "startupText": self.text,
            "sourceFiles": list(self.source_files),
            "candidateSourceFiles": list(self.candidate_source_files),
            "sectionsRendered": dict(self.sections_rendered),
            "omissions": list(self.omissions),
            "omissionCounts": dict(self.omission_counts),
            "continuitySectionKinds": rendered,
            "continuitySourceKinds": [kind.value for kind in self.source_kinds],
            "continuityProvenanceKind": "temporary-continuity",
            "continuityMode": "startup",
            "futureCompactionSeam": {"kind": "session-summary", "rebuildsFrom": "continuity"},
        }


def startup(layers: Sequence[Layered], most_lines: int) -> Startup:
    """The block for these layers, in at most so many lines; empty if nothing fits or nothing is there."""
    room = most_lines - len((TITLE, FRAMING))
    told: dict[Part, list[str]] = {}
    used: dict[str, None] = {}
    omitted: dict[str, int] = {}
    for part in _FIRST:
        for source, item in _items(layers, part):
            cost = 1 + (part not in told) * 2 + (source not in used)
            if cost > room or part in omitted:
                omitted[part] = omitted.get(part, 0) + 1
                continue
            room -= cost
            told.setdefault(part, []).append(item)
            used[source] = None
    if unused := [layer for layer in layers if layer.source not in used]:
        omitted[SOURCES] = len(unused)
    return Startup(
        text=_written(told, used) if told else "",
        source_files=tuple(used),
        source_kinds=tuple(layer.name for layer in layers if layer.source in used),
        candidate_source_files=tuple(layer.source for layer in layers),
        sections_rendered={SOURCES: bool(used), **{part: part in told for part in Part}},
        omissions=tuple(f"{name}: {count} left out for want of room" for name, count in omitted.items()),
        omission_counts=omitted,
    )


def merged_brief(layers: Sequence[Layered]) -> Summary:
    """What both layers say together: the worktree's own goal first, nothing twice."""
    goals = [layer.summary.goal for layer in _nearest_first(layers) if layer.summary.goal]
    parts = [part for part in Part if part is not Part.GOAL]
    items = {part: tuple(dict.fromkeys(item for _, item in _items(layers, part))) for part in parts}
    return Summary(next(iter(goals), ""), {part: texts for part, texts in items.items() if texts})


def _items(layers: Sequence[Layered], part: Part) -> list[tuple[str, str]]:
    """The items of a section in all layers, each once, with the file that it stands in."""
    found: dict[str, str] = {}
    for layer in _nearest_first(layers):
        for item in layer.summary.of(part):
            found.setdefault(item, layer.source)
        if part is Part.GOAL and found:
            break
    return [(source, item) for item, source in found.items()]


def _nearest_first(layers: Iterable[Layered]) -> list[Layered]:
    return sorted(layers, key=lambda layer: layer.name is not LayerName.LOCAL)


def _written(told: Mapping[Part, Sequence[str]], used: Iterable[str]) -> str:
    lines = [TITLE, FRAMING, *(f"Source: {quoted(source)}" for source in used)]
    for part in Part:
        if part in told:
            lines += ["", f"## {TITLES[part]}", *(f"- {quoted(item)}" for item in told[part])]
    return "\n".join(lines) + "\n"
