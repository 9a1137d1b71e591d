"""Find contradictions in a session's evidence, and the documents and services that the work depends on.

A contradiction lowers the confidence in a summary. A reference to a document or a required service does not:
it is one more note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from holdfast.core.evidence.trail import NoteKind, Trail
from holdfast.core.text.patterns import compiled
from holdfast.core.text.strings import one_line

NOTES_MOST: Final = 6
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


def conflicts(trail: Trail) -> tuple[str, ...]:
    """Contradictions between a rule and what was run, or between two statements."""
    return (*_against_a_rule(trail), *_against_each_other(trail))


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


def pointers(trail: Trail) -> tuple[str, ...]:
    """The documents that were referred to and the services that must run, each as one note."""
    notes: dict[str, None] = {}
    for text in _texts(trail):
        for reference in _REFERENCE.finditer(text):
            notes[f"Reference: `{reference['place'].rstrip('.,')}`"] = None
        for service in _SERVICE.finditer(text):
            notes[f"Requires: {_service(service)}"] = None
    return tuple(notes)[-NOTES_MOST:]


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
