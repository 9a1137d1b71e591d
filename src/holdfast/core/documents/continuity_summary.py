"""A session's work state in the two layers of the continuity.

The section of a statement decides where it goes: findings, rules and decisions apply to the whole project;
next steps, changed files and places only to the worktree. A contradiction in the evidence lowers the
confidence in a summary. A reference to a document or a required service does not: it is one more note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity import ContinuityPart, LayerName, LayerSummary
from holdfast.core.events.event import Action
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import FileTouch, Trail
from holdfast.core.session.session import Session, work_of
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.lines import statements_shown
from holdfast.core.work.settled import OUTCOMES, statement_key
from holdfast.core.work.state import Statement, StatementSource, WorkState, best_of
from holdfast.lazy_dataclass import dataclass

ITEM_CHARS: Final = 300
FILES_MOST: Final = 12
PLACE_LABEL: Final = "Where: "
QUESTION_LABEL: Final = "Waits for the user: "


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


def generated(session: Session) -> GeneratedSummary:
    """The content that a session's work state gives for both layers."""
    trail, state = session.trail, work_of(session)
    evidence, warnings = evidence_counts(trail, state), conflicts(trail)
    author_confidence = confidence(Author.RULES, evidence, warnings)
    return GeneratedSummary(layers_of(state, session), evidence, author_confidence, warnings)


def layers_of(state: WorkState, session: Session) -> dict[LayerName, LayerSummary]:
    """A work state in the two layers, with the files that the session changed."""
    items = list(_items(session, state))
    # A prompt such as "continue" does not say what the goal is.
    goals = (one for one in state.section(Section.GOAL) if not reader.is_generic(one.text))
    goal = next(map(_text, best_of(goals, 1)), state.title)
    return {
        layer: LayerSummary(goal, _grouped((part, text) for home, part, text in items if home is layer))
        for layer in LayerName
    }


def confidence(author: Author, counts: EvidenceCounts, warnings: tuple[str, ...]) -> Confidence:
    """How reliable a summary is, by its author, the amount of evidence, and contradictions."""
    if warnings or author is Author.STAND_IN or not counts.total:
        return Confidence.LOW
    return Confidence.HIGH if author is Author.AGREED else Confidence.MEDIUM


def evidence_counts(trail: Trail, state: WorkState) -> EvidenceCounts:
    """How much evidence of each kind there is."""
    following = state.section(Section.NEXT)
    untried = sum(statement.kind is NoteKind.UNTRIED for statement in following)
    return EvidenceCounts(
        succeeded=sum(run.ok is True for run in trail.commands),
        failed=sum(has_failed(run) for run in trail.commands),
        file_writes=sum(touch.action is not Action.READ for touch in trail.files),
        next_steps=len(following) - untried,
        untried=untried,
    )


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


def _items(session: Session, state: WorkState) -> Iterator[tuple[LayerName, ContinuityPart, str]]:
    """Every item with its layer and part, oldest first within each section."""
    # What is done or open is not a decision too.
    outcomes = {statement_key(one.text) for section in OUTCOMES for one in state.section(section)}
    for section, part in _PARTS.items():
        known = outcomes if section is Section.DECISIONS else ()
        for statement in statements_shown(state, section):
            if statement.origin not in _ELSEWHERE and statement_key(statement.text) not in known:
                own_part = ContinuityPart.UNTRIED if statement.kind is NoteKind.UNTRIED else part
                yield _layer(statement), own_part, _text(statement)
    for pointer in pointers(session.trail):
        yield LayerName.SHARED, ContinuityPart.NOTES, pointer
    changed = [touch for touch in session.trail.files if touch.action is not Action.READ]
    for touch in changed[-FILES_MOST:]:
        yield LayerName.LOCAL, ContinuityPart.NOTES, _file(touch, session)


_PARTS: Final[Mapping[Section, ContinuityPart]] = {
    Section.DONE: ContinuityPart.CONFIRMED,
    Section.FAILURES: ContinuityPart.FAILED,
    Section.NOW: ContinuityPart.NEXT,
    Section.NEXT: ContinuityPart.NEXT,
    Section.QUESTIONS: ContinuityPart.NEXT,
    Section.RULES: ContinuityPart.NOTES,
    Section.DECISIONS: ContinuityPart.NOTES,
    Section.WHERE: ContinuityPart.NOTES,
}
_ELSEWHERE: Final = (StatementSource.GIT, StatementSource.EDIT, StatementSource.READ)
"""A later session reads branch and commit from the repository; changed files have notes of their own."""
_OF_WORKTREE: Final = (Section.NOW, Section.NEXT, Section.QUESTIONS, Section.WHERE)
_OF_PROJECT: Final = (NoteKind.UNTRIED, NoteKind.NEED)
"""Kinds that apply to the whole project, whatever their section."""
_PREFIXES: Final[Mapping[Section, str]] = {
    Section.WHERE: PLACE_LABEL,
    Section.QUESTIONS: QUESTION_LABEL,
}


def _layer(statement: Statement) -> LayerName:
    is_local = statement.section in _OF_WORKTREE and statement.kind not in _OF_PROJECT
    return LayerName.LOCAL if is_local or _LOCAL_ONLY.search(statement.text) else LayerName.SHARED


def _text(statement: Statement) -> str:
    prefix = "" if statement.kind is NoteKind.NEED else _PREFIXES.get(statement.section, "")
    return shortened(prefix + one_line(statement.text), ITEM_CHARS)


_LOCAL_ONLY: Final = re.compile(
    r"\b(?:this (?:worktree|checkout|branch|machine)|my machine|locally|only here|local(?:-| )only)\b"
    r"|本地|这台机器|本机|当前分支",
    re.IGNORECASE,
)


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
