"""The startup block: the part of the continuity that a starting session is given, within a line limit.

Items are included whole, and only if the brief does not say the same. Omitted items are counted and reported.
What the user wrote is labelled, and wins over what Holdfast wrote about the same. Pointers to other sources
follow the continuity, in a fixed order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity import (
    OUTCOMES,
    TITLES,
    ContinuityPart,
    LayerName,
    LayerSummary,
    key,
)
from holdfast.core.text.untrusted import quoted
from holdfast.lazy_dataclass import dataclass

TITLE: Final = "# Session Continuity"
FRAMING: Final = "Temporary working state: check it against the code and the request before you rely on it."
SOURCES: Final = "sources"
NO_ROOM: Final = "left out for want of room"
REPEATED: Final = "said already"
BY_USER: Final = " (written by the user)"
_FIRST: Final = (
    ContinuityPart.GOAL,
    ContinuityPart.NEXT,
    ContinuityPart.FAILED,
    ContinuityPart.CONFIRMED,
    ContinuityPart.UNTRIED,
    ContinuityPart.NOTES,
)
"""The order in which sections are filled: what to do, then what not to do again."""


class PointerKind(StrEnum):
    """What a pointer refers to; pointers follow the continuity in this order."""

    INSTRUCTIONS = "instructionFiles"
    DREAM = "dreamRefs"
    DURABLE = "durableRefs"
    TEAM = "teamRefs"


_POINTER_TITLES: Final = {
    PointerKind.INSTRUCTIONS: "Instruction files",
    PointerKind.DREAM: "Under review, not yet kept",
    PointerKind.DURABLE: "Memories",
    PointerKind.TEAM: "Team memory (from the repository)",
}


@dataclass(frozen=True, slots=True)
class LayerContent:
    """One layer, and the file that it was read from."""

    name: LayerName
    source: str
    summary: LayerSummary
    by_user: tuple[str, ...] = ()
    """The items that the user wrote or changed."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """Something else that a starting session may want to look at."""

    to: PointerKind
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class StartupLimits:
    """The maximum size of a block."""

    lines: int
    chars: int = 1 << 20


@dataclass(frozen=True, slots=True)
class StartupInput:
    """The continuity and pointers for a starting session."""

    layers: tuple[LayerContent, ...]
    pointers: tuple[Pointer, ...]


@dataclass(frozen=True, slots=True)
class StartupRow:
    """One item, its source file, and why it was omitted; empty if it was not."""

    section: ContinuityPart | PointerKind
    text: str
    source: str
    omitted: str = ""
    by_user: bool = False

    @property
    def line(self) -> str:
        """The item as a line of the block."""
        return f"- {self.text}{BY_USER if self.by_user else ''}"


@dataclass(frozen=True, slots=True)
class Startup:
    """The block, and the account of what it contains."""

    text: str
    rows: tuple[StartupRow, ...]
    layers: tuple[LayerContent, ...]

    @property
    def source_files(self) -> tuple[str, ...]:
        """The continuity files that the block quotes."""
        return tuple(_sources(self.rows))

    @property
    def omission_counts(self) -> dict[str, int]:
        """How many items of each section are omitted, and how many files."""
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
        """The account as JSON."""
        rendered = {row.section for row in self.rows if not row.omitted}
        kinds = [layer.name.value for layer in self.layers if layer.source in self.source_files]
        return {
            "startupText": self.text,
            "sourceFiles": list(self.source_files),
            "candidateSourceFiles": [layer.source for layer in self.layers],
            "sectionsRendered": {
                SOURCES: bool(self.source_files),
                **{part.value: part in rendered for part in ContinuityPart},
            },
            "omissions": list(self.omissions),
            "omissionCounts": self.omission_counts,
            "continuitySectionKinds": [part.value for part in ContinuityPart if part in rendered],
            "continuitySourceKinds": kinds,
            "continuityProvenanceKind": "temporary-continuity",
            "continuityMode": "startup",
            "startupLayers": [
                *(["continuity"] if kinds else []),
                *(to.value for to in PointerKind if to in rendered),
            ],
            "futureCompactionSeam": {"kind": "session-summary", "rebuildsFrom": "continuity"},
        }


def never_said(_: str) -> bool:
    """The `is_said` of a block without a brief."""
    return False


def startup(
    loaded: StartupInput, limits: StartupLimits, is_said: Callable[[str], bool] = never_said
) -> Startup:
    """The block within its limits; its text is empty if nothing fits or there is nothing."""
    layers = _without_contradictions(loaded.layers)
    rows = tuple(_placed(_candidates(replace(loaded, layers=layers)), limits, is_said))
    return Startup(_block_text(rows) if any(not row.omitted for row in rows) else "", rows, loaded.layers)


def combined_layers(layers: Sequence[LayerContent]) -> LayerSummary:
    """The content of both layers combined: the worktree's goal if it has one, no item twice."""
    layers = _without_contradictions(layers)
    goals = [layer.summary.goal for layer in _nearest_first(layers) if layer.summary.goal]
    parts = [part for part in ContinuityPart if part is not ContinuityPart.GOAL]
    items = {part: tuple(dict.fromkeys(item for _, item in _items(layers, part))) for part in parts}
    return LayerSummary(next(iter(goals), ""), {part: texts for part, texts in items.items() if texts})


def _without_contradictions(layers: Sequence[LayerContent]) -> tuple[LayerContent, ...]:
    """The layers with each outcome once: where the user put it, or else where the nearest layer has it."""
    parts: dict[str, ContinuityPart] = {}
    for by_user in (True, False):
        for layer in _nearest_first(layers):
            for part in OUTCOMES:
                for item in layer.summary.of(part):
                    if (item in layer.by_user) is by_user:
                        parts.setdefault(key(item), part)
    return tuple(replace(layer, summary=_within(layer.summary, parts)) for layer in layers)


def _within(summary: LayerSummary, parts: Mapping[str, ContinuityPart]) -> LayerSummary:
    items = {
        part: tuple(text for text in texts if part not in OUTCOMES or parts[key(text)] is part)
        for part, texts in summary.items.items()
    }
    return LayerSummary(summary.goal, items)


def _candidates(loaded: StartupInput) -> Iterator[StartupRow]:
    by_user = {item for layer in loaded.layers for item in layer.by_user}
    for part in _FIRST:
        for source, item in _items(loaded.layers, part):
            yield StartupRow(part, quoted(item), source, by_user=item in by_user)
    for to in PointerKind:
        yield from (
            StartupRow(to, quoted(pointer.text), pointer.source)
            for pointer in loaded.pointers
            if pointer.to is to
        )


def _placed(
    rows: Iterable[StartupRow], limits: StartupLimits, is_said: Callable[[str], bool]
) -> Iterator[StartupRow]:
    """Each row, marked if omitted; once an item does not fit, the rest of its section is omitted too."""
    lines, chars = limits.lines - len((TITLE, FRAMING)), limits.chars - len(TITLE) - len(FRAMING) - 2
    sections, sources, full = (
        set[ContinuityPart | PointerKind](),
        set[str](),
        set[ContinuityPart | PointerKind](),
    )
    texts = list[str]()
    for row in rows:
        if is_said(row.text) or any(key(row.text) in text for text in texts):
            yield replace(row, omitted=REPEATED)
            continue
        new = [row.line, *(() if row.section in sections else ("", f"## {_title(row.section)}"))]
        if isinstance(row.section, ContinuityPart) and row.source not in sources:
            new.append(f"Source: {quoted(row.source)}")
        if len(new) > lines or sum(len(line) + 1 for line in new) > chars or row.section in full:
            full.add(row.section)
            yield replace(row, omitted=NO_ROOM)
            continue
        lines, chars = lines - len(new), chars - sum(len(line) + 1 for line in new)
        sections.add(row.section)
        sources.add(row.source)
        texts.append(key(row.text))
        yield row


def _items(layers: Sequence[LayerContent], part: ContinuityPart) -> list[tuple[str, str]]:
    """The items of a section in all layers, each once, with its file."""
    sources: dict[str, str] = {}
    for layer in _nearest_first(layers):
        for item in layer.summary.of(part):
            sources.setdefault(item, layer.source)
        if part is ContinuityPart.GOAL and sources:
            break
    return [(source, item) for item, source in sources.items()]


def _nearest_first(layers: Iterable[LayerContent]) -> list[LayerContent]:
    return sorted(layers, key=lambda layer: layer.name is not LayerName.LOCAL)


def _sources(rows: Iterable[StartupRow]) -> dict[str, None]:
    return {row.source: None for row in rows if not row.omitted and isinstance(row.section, ContinuityPart)}


def _title(section: ContinuityPart | PointerKind) -> str:
    return TITLES[section] if isinstance(section, ContinuityPart) else _POINTER_TITLES[section]


def _block_text(rows: Sequence[StartupRow]) -> str:
    lines = [TITLE, FRAMING, *(f"Source: {quoted(source)}" for source in _sources(rows))]
    for section in (*ContinuityPart, *PointerKind):
        if items := [row.line for row in rows if row.section is section and not row.omitted]:
            lines += ["", f"## {_title(section)}", *items]
    return "\n".join(lines) + "\n"
