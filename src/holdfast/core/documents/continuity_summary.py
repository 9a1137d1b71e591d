"""Summarise a session for the two layers of the continuity, by rule and from its evidence alone.

Findings apply to the whole project; next steps and changed files only to the worktree. A contradiction in the
evidence lowers the confidence in a summary. A reference to a document or a required service does not: it is
one more note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity import ContinuityPart, LayerName, LayerSummary
from holdfast.core.events.event import Action
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.commands.purpose import Purpose, purpose_of
from holdfast.core.evidence.fact_lines import counts
from holdfast.core.evidence.kinds import KINDS, EvidenceKind, KindTable, NoteKind, Place
from holdfast.core.evidence.notes import notes_to_show
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import CommandRun, FileTouch, Trail
from holdfast.core.session.session import Session
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

ITEM_CHARS: Final = 300
COMMAND_CHARS: Final = 120
REASON_CHARS: Final = 160
COMMANDS_MOST: Final = 6
FILES_MOST: Final = 12
NOTES_MOST: Final = 8


class Confidence(StrEnum):
    """How reliable a summary is."""

    HIGH = "high"
    """A model and the rules agree."""
    MEDIUM = "medium"
    """By rule, from explicit evidence."""
    LOW = "low"
    """There was little evidence, or it contradicts itself."""


class Author(StrEnum):
    """Who wrote a summary."""

    RULES = "rules"
    STAND_IN = "stand-in"
    """The rules, because the model that was asked gave no usable answer."""
    MODEL = "model"
    """A model whose summary leaves out some of what the rules found."""
    AGREED = "agreed"
    """A model whose summary covers everything that the rules found, without contradictions."""


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """How much evidence of each kind there was."""

    succeeded: int
    failed: int
    file_writes: int
    next_steps: int
    untried: int

    @property
    def total(self) -> int:
        return self.succeeded + self.failed + self.file_writes + self.next_steps + self.untried


@dataclass(frozen=True, slots=True)
class GeneratedSummary:
    """The content for both layers, and how reliable it is."""

    layers: Mapping[LayerName, LayerSummary]
    counts: EvidenceCounts
    confidence: Confidence
    warnings: tuple[str, ...]


def generated(session: Session, kinds: KindTable = KINDS) -> GeneratedSummary:
    """The content that a session's evidence gives for both layers."""
    trail = session.trail
    items = list(_items(session, kinds))
    # A prompt such as "continue" does not say what the goal is.
    named = trail.goal is not None and not reader.is_generic(trail.goal.text)
    goal = shortened(one_line(trail.goal.text), ITEM_CHARS) if trail.goal and named else ""
    layers = {
        layer: LayerSummary(goal, _grouped((part, text) for home, part, text in items if home is layer))
        for layer in LayerName
    }
    evidence, warnings = evidence_counts(trail), conflicts(trail)
    return GeneratedSummary(layers, evidence, confidence(Author.RULES, evidence, warnings), warnings)


def confidence(author: Author, counts: EvidenceCounts, warnings: tuple[str, ...]) -> Confidence:
    """How reliable a summary is, by its author, the amount of evidence, and contradictions."""
    if warnings or author is Author.STAND_IN or not counts.total:
        return Confidence.LOW
    return Confidence.HIGH if author is Author.AGREED else Confidence.MEDIUM


def evidence_counts(trail: Trail) -> EvidenceCounts:
    """How much evidence of each kind a trail has."""
    return EvidenceCounts(
        succeeded=sum(run.ok is True for run in trail.commands),
        failed=sum(has_failed(run) for run in trail.commands),
        file_writes=sum(touch.action is not Action.READ for touch in trail.files),
        next_steps=_count(trail, ContinuityPart.NEXT) + len(_open_todos(trail)),
        untried=_count(trail, ContinuityPart.UNTRIED),
    )


def _count(trail: Trail, part: ContinuityPart) -> int:
    return sum(len(trail.noted(row.kind)) for row, _ in _kinds_in(part, KINDS))


def conflicts(trail: Trail) -> tuple[str, ...]:
    """Contradictions between a rule and what was run, or between two statements."""
    return (*_against_a_rule(trail), *_against_each_other(trail))


def pointers(trail: Trail) -> tuple[str, ...]:
    """The documents that were referred to and the services that must run, each as one note."""
    notes: dict[str, None] = {}
    for text in _texts(trail):
        for reference in _REFERENCE.finditer(text):
            notes[f"Reference: `{reference['place'].rstrip('.,')}`"] = None
        for service in _SERVICE.finditer(text):
            notes[f"Requires: {_service(service)}"] = None
    return tuple(notes)[-POINTERS_MOST:]


def _items(session: Session, kinds: KindTable) -> Iterator[tuple[LayerName, ContinuityPart, str]]:
    """Every item with its layer and section, oldest first within each kind."""
    trail = session.trail
    for part in ContinuityPart:
        for row, place in _kinds_in(part, kinds):
            for note in notes_to_show(row.kind, trail)[-NOTES_MOST:]:
                text = place.labelled(shortened(one_line(note.text), ITEM_CHARS))
                is_local = row.worktree_only or _LOCAL_ONLY.search(text)
                yield (LayerName.LOCAL if is_local else LayerName.SHARED), part, text
    passed = [run for run in trail.commands if run.ok is True and (run.tests or _is_check(run))]
    failed = [run for run in trail.commands if has_failed(run) and (run.tests or list(_active_calls(run)))]
    for run in passed[-COMMANDS_MOST:]:
        yield LayerName.SHARED, ContinuityPart.CONFIRMED, f"`{_command(run)}` passed{counts(run)}"
    for run in failed[-COMMANDS_MOST:]:
        reason = f": {shortened(one_line(run.reason), REASON_CHARS)}" if run.reason else ""
        yield LayerName.SHARED, ContinuityPart.FAILED, f"`{_command(run)}` failed{reason}"
    for todo in _open_todos(trail):
        yield LayerName.LOCAL, ContinuityPart.NEXT, shortened(one_line(todo), ITEM_CHARS)
    for pointer in pointers(trail):
        yield LayerName.SHARED, ContinuityPart.NOTES, pointer
    changed = [touch for touch in trail.files if touch.action is not Action.READ]
    for touch in changed[-FILES_MOST:]:
        yield LayerName.LOCAL, ContinuityPart.NOTES, _file(touch, session)


def _kinds_in(part: ContinuityPart, kinds: KindTable) -> Iterator[tuple[EvidenceKind, Place]]:
    """The kinds of notes that the table puts into this part, which it calls by its name in lower case."""
    for row in kinds.values():
        if (place := row.continuity) and place.part == part.name.lower():
            yield row, place


_LOCAL_ONLY: Final = re.compile(
    r"\b(?:this (?:worktree|checkout|branch|machine)|my machine|locally|only here|local(?:-| )only)\b"
    r"|本地|这台机器|本机|当前分支",
    re.IGNORECASE,
)
_CHECKS: Final = re.compile(
    r"\b(?:tests?|check|lint|build|compile|typecheck|\w*test|mypy|pyright|ruff|eslint|tsc|biome|clippy|vet|verify)\b"
)
_MOVING: Final = frozenset("cp curl gh git mkdir mv rm touch".split())
"""Programs that move things about; that they ran says nothing about the work."""


def _is_check(run: CommandRun) -> bool:
    """Whether a passed command shows that something works."""
    return any(_CHECKS.search(form) for form in _active_calls(run))


def _active_calls(run: CommandRun) -> Iterator[str]:
    """The calls in a command that do more than read or search, without their path arguments."""
    for call in shell.calls(run.command, COMMAND_CHARS):
        words = call.form.split()
        if words and words[0] not in _MOVING and purpose_of(call.form) is not Purpose.LOOK:
            yield " ".join(word for word in words if "/" not in word and "." not in word)


def _command(run: CommandRun) -> str:
    # No backticks inside: the text between an item's first two backticks is its subject.
    return shell.display_form(one_line(run.command), COMMAND_CHARS).replace("`", "'")


def _file(touch: FileTouch, session: Session) -> str:
    verb = {Action.DELETE: "deleted", Action.WRITE: "written", Action.EDIT: "edited"}.get(touch.action, "")
    if touch.renamed_to:
        verb = f"renamed to `{_relative(touch.renamed_to, session)}`"
    return f"`{_relative(touch.path, session)}` {verb}"


def _relative(path: str, session: Session) -> str:
    """The path relative to the worktree; one outside stays absolute."""
    project = session.project
    for root in (project.root, project.normalized, project.path):
        if root not in ("", "/") and path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def _open_todos(trail: Trail) -> list[str]:
    return [todo.text for todo in trail.todos if todo.status != "completed"]


def _grouped(items: Iterable[tuple[ContinuityPart, str]]) -> dict[ContinuityPart, tuple[str, ...]]:
    rows: dict[ContinuityPart, dict[str, None]] = {}
    for part, text in items:
        rows.setdefault(part, {})[text] = None
    return {part: tuple(texts) for part, texts in rows.items()}


POINTERS_MOST: Final = 6
"""How many references and services to list, the most recent ones."""
_RIVALS: Final[Mapping[str, frozenset[str]]] = {
    "package manager": frozenset({"npm", "pnpm", "yarn", "bun"}),
    "Python installer": frozenset({"pip", "poetry", "uv", "pdm"}),
    "search tool": frozenset({"rg", "grep", "ag"}),
}
_USE: Final = compiled(
    r"\b(?:use|using|prefer|only)\s+`?([a-z][\w-]*)`?|(?:使用|只用|请用)\s*`?([a-z]\w*)", re.IGNORECASE
)
_STAGE: Final = r"(?:search|recall|timeline|details?|expand|read)"
_CLAIMS: Final[Mapping[str, re.Pattern[str]]] = {
    "canonical store": compiled(
        r"\b(?:canonical (?:store|source|copy)|source of truth) (?:is|lives in|stays in|stays) "
        r"(?:the |in )*`?(?P<said>[\w./~-]+)"
        r"|(?:权威|规范)(?:存储|来源|数据源)(?:是|在)\s*`?(?P<zh>[\w./~-]+)",
        re.IGNORECASE,
    ),
    "retrieval flow": compiled(rf"\b(?P<said>{_STAGE}(?:\s*(?:->|→|,? then)\s*{_STAGE})+)\b", re.IGNORECASE),
    "retrieval route order": compiled(
        r"\b(?P<said>mcp|cli|api|hooks?|recall|search|grep|timeline)\b[^.;\n]{0,40}\bfirst\b"
        r"|\bprefer (?:the )?(?P<over>mcp|cli|api|hooks?|grep|recall) (?:\w+ )?over\b"
        r"|先(?:用|走|查)?\s*(?P<zh>mcp|cli|api|grep|recall)",
        re.IGNORECASE,
    ),
}
_ARROW: Final = compiled(r"\s*(?:->|→|,? then)\s*", re.IGNORECASE)


def _against_a_rule(trail: Trail) -> Iterator[str]:
    rules = [note.text for note in trail.noted(NoteKind.CONSTRAINT)]
    requested = {word.lower() for text in rules for groups in _USE.findall(text) for word in groups if word}
    programs = {program for run in trail.commands for program in _programs(run.command)}
    for what, rivals in _RIVALS.items():
        if (preferred := requested & rivals) and (others := (programs & rivals) - preferred):
            yield f"{what}: {_joined(preferred)} was asked for, but {_joined(others)} was run"


def _programs(command: str) -> list[str]:
    """The programs that a command starts. `shell.calls` would leave out those that only read or search."""
    return _PROGRAM.findall(_QUOTED.sub("", command))


_QUOTED: Final = compiled(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_PROGRAM: Final = compiled(r"(?:^|[;&\n])\s*(?:\w+=\S*\s+)*([a-z][\w-]*)")


def _against_each_other(trail: Trail) -> Iterator[str]:
    for what, claim in _CLAIMS.items():
        values = {_value(match) for text in _texts(trail) for match in claim.finditer(text)}
        if len(values) > 1:
            yield f"{what}: {_joined(values)} were both named"


def _value(match: re.Match[str]) -> str:
    text = next(value for value in match.groupdict().values() if value)
    return _ARROW.sub(" → ", text.lower()).rstrip(".")


_REFERENCE: Final = compiled(
    r"(?:\b(?:see|documented in|described in|explained in|reference:|runbook(?: is)? (?:at|in)|"
    r"spec(?: is)? (?:at|in)|dashboard(?: is)? at)|参见|参考|详见)\s*"
    r"`?(?P<place>https?://[^\s`)]+|[\w./-]+\.(?:md|rst|adoc|txt|pdf|html)\b)",
    re.IGNORECASE,
)
_SERVER: Final = (
    r"(?:postgres(?:ql)?|redis|mysql|mariadb|mongodb|rabbitmq|kafka|docker|elasticsearch|memcached|minio|nats|"
    r"localstack|ollama)"
)
_SERVICE: Final = compiled(
    rf"\b(?:requires?|needs?|depends on) (?:a |an |the )?(?:running |local )?`?(?P<name>{_SERVER})\b`?"
    rf"|\b(?P<running>{_SERVER})\b`? must (?:be running|run)\b"
    rf"|(?:需要|依赖)(?:先)?(?:启动|运行)?\s*`?(?P<zh>{_SERVER})\b",
    re.IGNORECASE,
)
_PORT: Final = compiled(r"[^.;\n]{0,40}?\bport (\d{2,5})\b", re.IGNORECASE)


def _service(match: re.Match[str]) -> str:
    name = match["name"] or match["running"] or match["zh"]
    port = _PORT.match(match.string, match.end())
    return f"{name.lower()} on port {port[1]}" if port else name.lower()


def _texts(trail: Trail) -> list[str]:
    """The notes, prompts and statements that the trail still has, without repetitions."""
    notes = [note.text for note in trail.notes]
    utterances = [utterance.text for utterance in (*trail.prompts, *trail.statements)]
    return list(dict.fromkeys(map(one_line, (*notes, *utterances))))


def _joined(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in sorted(names))
