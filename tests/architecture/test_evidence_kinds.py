"""What depends on a note's kind stands in one table: documents iterate over it and name no kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from tests.architecture.source import Finding, Source, assert_holds, findings_in, package

TABLE: Final = "core/evidence/kinds.py"
ALL: Final = frozenset({"*"})
NAMED: Final[Mapping[str, frozenset[str]]] = {
    TABLE: ALL,
    # Which rule reads which kind.
    "core/evidence/prose/reader.py": ALL,
    # Which sentence becomes a note of which kind, and what ends it.
    "core/evidence/notes.py": ALL,
    # What a command did to the work: commits, tasks, failures that are over, the text of a task.
    "core/evidence/command_notes.py": frozenset(
        {"CONFIRMED", "DOING", "NEXT", "FAILED", "CONSTRAINT", "REQUEST"}
    ),
    # The current request is a goal even if every sentence of it is a rule.
    "core/work/compute.py": frozenset({"REQUEST"}),
    # A rule may contradict what was run. The continuity has a section for what was not tried, and what the
    # work needs is a place that all worktrees share.
    "core/documents/continuity_summary.py": frozenset({"CONSTRAINT", "UNTRIED", "NEED"}),
    # A model is shown untried ideas in a list of their own.
    "core/agent_log/summary.py": frozenset({"UNTRIED"}),
    # Labels for what the section alone does not say.
    "core/work/lines.py": frozenset({"UNTRIED", "MEASURED", "NEED"}),
}
"""The modules that are about certain kinds, and which."""


def kinds_in_the_table(source: Source) -> Iterator[Finding]:
    """No module names a kind of note unless it is about that kind."""
    allowed = NAMED.get(source.path, frozenset())
    for node in source.nodes:
        if (kind := _kind_named(node)) and allowed is not ALL and kind not in allowed:
            yield Finding(
                source.path,
                getattr(node, "lineno", 1),
                f"`NoteKind.{kind}` may not be named here; make what differs a column of `{TABLE}` "
                "and iterate over `KINDS`",
            )


def _kind_named(node: ast.AST) -> str:
    """The kind that an expression names: `NoteKind.NEXT`, `kinds.NoteKind.NEXT`, `NoteKind("next")`."""
    if isinstance(node, ast.Attribute) and _is_enum(node.value):
        return node.attr
    if isinstance(node, ast.Subscript) and _is_enum(node.value):
        return ast.unparse(node.slice)
    if isinstance(node, ast.Call) and _is_enum(node.func):
        return ", ".join(map(ast.unparse, node.args))
    return ""


def _is_enum(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name == "NoteKind"


def test_documents_name_no_kind() -> None:
    assert_holds(kinds_in_the_table, package())


def test_the_list_names_no_more_than_is_needed() -> None:
    named = {
        source.path: {kind for node in source.nodes if (kind := _kind_named(node))}
        for source in package()
        if source.path in NAMED
    }
    assert named.keys() == NAMED.keys()
    assert {path: kinds for path, kinds in named.items() if NAMED[path] is not ALL} == {
        path: kinds for path, kinds in NAMED.items() if kinds is not ALL
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/documents/ledger_content.py", "trail.noted(NoteKind.DECISION)"),
        ("core/session/checkpoint.py", "TITLES = {kinds.NoteKind.NEXT: 'Next Steps'}"),
        ("core/agent_log/summary.py", "trail.noted(NoteKind('untried'))"),
        ("core/documents/handoff_content.py", "trail.noted(NoteKind['UNTRIED'])"),
        ("core/brief/items.py", "if note.kind is NoteKind.FAILED: ..."),
    ],
)
def test_a_kind_that_a_document_names_is_found(path: str, text: str) -> None:
    assert findings_in(kinds_in_the_table, path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/work/compute.py", "replace(statement, kind=NoteKind.REQUEST)"),
        ("core/documents/ledger_content.py", "[trail.noted(row.kind) for row in KINDS.values()]"),
        ("core/evidence/trail.py", "class Note:\n    kind: NoteKind"),
    ],
)
def test_a_module_may_name_what_it_is_about_and_iterate_over_the_table(path: str, text: str) -> None:
    assert findings_in(kinds_in_the_table, path, text) == ""
