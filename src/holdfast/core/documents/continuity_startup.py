"""The startup block: what of the continuity a starting session is told, within a number of lines.

Whole items only, and none that is said elsewhere. What is left out is counted, never cut in silence. Behind
the continuity stand pointers to what else there is, in a fixed order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity import TITLES, LayerName, Part, Summary, key
from holdfast.core.text.defang import quoted
from holdfast.lazy_dataclass import dataclass

TITLE: Final = "# Session Continuity"
FRAMING: Final = "Temporary working state: check it against the code and the request before you rely on it."
SOURCES: Final = "sources"
NO_ROOM: Final = "left out for want of room"
SAID: Final = "said already"
_FIRST: Final = (Part.GOAL, Part.NEXT, Part.FAILED, Part.CONFIRMED, Part.UNTRIED, Part.NOTES)
"""In this order sections get their room: what to do, then what not to do again."""


class Pointing(StrEnum):
    """What a pointer points to; in this order they stand behind the continuity."""

    INSTRUCTIONS = "instructionFiles"
    DREAM = "dreamRefs"
    DURABLE = "durableRefs"
    TEAM = "teamRefs"


_POINTER_TITLES: Final = {
    Pointing.INSTRUCTIONS: "Instruction files",
    Pointing.DREAM: "Under review, not yet kept",
    Pointing.DURABLE: "Memories",
    Pointing.TEAM: "Team memory (from the repository)",
}


@dataclass(frozen=True, slots=True)
class Layered:
    """One layer, and the file that it was read from."""

    name: LayerName
    source: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class Pointer:
    """Something else that a starting session may want to look at."""

    to: Pointing
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a block may take."""

    lines: int
    chars: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is given at a start beside the brief, and how much both may take together."""

    layers: tuple[Layered, ...]
    pointers: tuple[Pointer, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class Row:
    """One item, from where it is, and why it is not in the block; empty for one that is."""

    section: Part | Pointing
    text: str
    source: str
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class Startup:
    """The block, and the account of it."""

    text: str
    rows: tuple[Row, ...]
    layers: tuple[Layered, ...]

    @property
    def source_files(self) -> tuple[str, ...]:
        """The files of the continuity of which something is told."""
        return tuple(_sources(self.rows))

    @property
    def omission_counts(self) -> dict[str, int]:
        """How many items of each section are left out, and how many files."""
        counts = Counter(row.section.value for row in self.rows if row.omitted)
        unused = len(self.layers) - len(self.source_files)
        return {**counts, **({SOURCES: unused} if unused else {})}

    @property
    def omissions(self) -> tuple[str, ...]:
        """The same in sentences, with the reason."""
        rows = Counter((row.section.value, row.omitted) for row in self.rows if row.omitted)
        unused = self.omission_counts.get(SOURCES)
        files = (f"{SOURCES}: {unused} not used",) if unused else ()
        return (*(f"{section}: {count} {why}" for (section, why), count in rows.items()), *files)

    def as_json(self) -> dict[str, object]:
        """The account in the words that other programs know it by."""
        told = {row.section for row in self.rows if not row.omitted}
        kinds = [layer.name.value for layer in self.layers if layer.source in self.source_files]
        return {
            "startupText": self.text,
            "sourceFiles": list(self.source_files),
            "candidateSourceFiles": [layer.source for layer in self.layers],
            "sectionsRendered": {
                SOURCES: bool(self.source_files),
                **{part.value: part in told for part in Part},
            },
            "omissions": list(self.omissions),
            "omissionCounts": self.omission_counts,
            "continuitySectionKinds": [part.value for part in Part if part in told],
            "continuitySourceKinds": kinds,
            "continuityProvenanceKind": "temporary-continuity",
            "continuityMode": "startup",
            "startupLayers": [
                *(["continuity"] if kinds else []),
                *(to.value for to in Pointing if to in told),
            ],
            "futureCompactionSeam": {"kind": "session-summary", "rebuildsFrom": "continuity"},
        }


def said_nowhere(_: str) -> bool:
    """For a block that stands alone."""
    return False


def startup(loaded: Loaded, is_said: Callable[[str], bool] = said_nowhere) -> Startup:
    """The block for what is loaded, within its limits; empty if nothing fits or nothing is there."""
    rows = tuple(_placed(_considered(loaded), loaded.limits, is_said))
    return Startup(_written(rows) if any(not row.omitted for row in rows) else "", rows, loaded.layers)


def merged_brief(layers: Sequence[Layered]) -> Summary:
    """What both layers say together: the worktree's own goal first, nothing twice."""
    goals = [layer.summary.goal for layer in _nearest_first(layers) if layer.summary.goal]
    parts = [part for part in Part if part is not Part.GOAL]
    items = {part: tuple(dict.fromkeys(item for _, item in _items(layers, part))) for part in parts}
    return Summary(next(iter(goals), ""), {part: texts for part, texts in items.items() if texts})


def _considered(loaded: Loaded) -> Iterator[Row]:
    for part in _FIRST:
        for source, item in _items(loaded.layers, part):
            yield Row(part, quoted(item), source)
    for to in Pointing:
        yield from (Row(to, quoted(one.text), one.source) for one in loaded.pointers if one.to is to)


def _placed(rows: Iterable[Row], limits: Limits, is_said: Callable[[str], bool]) -> Iterator[Row]:
    """Each row with its fate; once a section has no room for an item, it has none for those behind it."""
    lines, chars = limits.lines - len((TITLE, FRAMING)), limits.chars - len(TITLE) - len(FRAMING) - 2
    told, used, full = set[Part | Pointing](), set[str](), set[Part | Pointing]()
    texts = list[str]()
    for row in rows:
        if is_said(row.text) or any(key(row.text) in text for text in texts):
            yield replace(row, omitted=SAID)
            continue
        new = [f"- {row.text}", *(() if row.section in told else ("", f"## {_title(row.section)}"))]
        if isinstance(row.section, Part) and row.source not in used:
            new.append(f"Source: {quoted(row.source)}")
        if len(new) > lines or sum(len(line) + 1 for line in new) > chars or row.section in full:
            full.add(row.section)
            yield replace(row, omitted=NO_ROOM)
            continue
        lines, chars = lines - len(new), chars - sum(len(line) + 1 for line in new)
        told.add(row.section)
        used.add(row.source)
        texts.append(key(row.text))
        yield row


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


def _sources(rows: Iterable[Row]) -> dict[str, None]:
    return {row.source: None for row in rows if not row.omitted and isinstance(row.section, Part)}


def _title(section: Part | Pointing) -> str:
    return TITLES[section] if isinstance(section, Part) else _POINTER_TITLES[section]


def _written(rows: Sequence[Row]) -> str:
    lines = [TITLE, FRAMING, *(f"Source: {quoted(source)}" for source in _sources(rows))]
    for section in (*Part, *Pointing):
        if told := [row.text for row in rows if row.section is section and not row.omitted]:
            lines += ["", f"## {_title(section)}", *(f"- {text}" for text in told)]
    return "\n".join(lines) + "\n"
