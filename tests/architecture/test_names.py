"""A name says what a thing is: no bare participles, and one class for each class name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import pytest

from tests.architecture.source import Finding, Source, assert_holds, findings_in, package

BARE_PARTICIPLES = frozenset({"told", "said", "found", "kept", "given", "heard", "wanted", "ours"})
"""Names that leave out what was told, found or kept. Leading underscores and capitals change nothing."""

STORED_OR_SERVED = {
    ("core/memory/memory.py", "Memory.found"): "a column of the table `memories`",
    ("engine/models.py", "ModelUse.given"): "a field of the stored use of a model",
    ("engine/tools/table.py", "Recalled.found"): "a field of the answer of the tool `recall`",
}
"""Attributes that are stored or served under their name, with the place that fixes it."""

PUBLIC = frozenset({"Session", "Request"})
"""Classes of `holdfast.embed` whose short names are part of the public interface."""


def bare_participles(source: Source) -> Iterator[Finding]:
    """A variable, parameter, attribute, function, class or module has a noun phrase as its name."""
    for name in _module_names(source):
        yield Finding(source.path, 1, f"`{name}` is no name for a module; say what it holds")
    for qualified, line in _bound(source.tree, ""):
        if _is_bare(qualified.rsplit(".", 1)[-1]) and (source.path, qualified) not in STORED_OR_SERVED:
            yield Finding(
                source.path,
                line,
                f"`{qualified}` is a bare participle; name what was told, found or kept (style: names)",
            )


def doubled_classes(sources: Iterable[Source]) -> Iterator[Finding]:
    """A class name occurs once, so that a reader who meets it knows which class it is."""
    homes: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not _may_share(source.path, node.name):
                homes[node.name].append((source.path, node.lineno))
    for name, (first, *others) in homes.items():
        for path, line in others:
            yield Finding(path, line, f"there is a class `{name}` in {first[0]} already")


def _may_share(path: str, name: str) -> bool:
    """Whether a class may have the name of another one.

    - Private classes are read in one file only.
    - Sibling harness folders have the same files, and the same classes in them.
    - `records.py` of a harness and `record_bodies.py` use the words of a foreign format.
    - The classes of `settings.py` are the sections of the settings, named after what they set.
    - The public names of `holdfast.embed` are short for the programs that import them.
    """
    parts = PurePosixPath(path).parts
    return (
        name.startswith("_")
        or (parts[0] == "harnesses" and len(parts) > 2)
        or path in ("core/agent_log/record_bodies.py", "settings.py")
        or (path == "embed.py" and name in PUBLIC)
    )


def _is_bare(name: str) -> bool:
    return name.strip("_").lower() in BARE_PARTICIPLES


def _module_names(source: Source) -> Iterator[str]:
    return filter(_is_bare, PurePosixPath(source.path).with_suffix("").parts)


def _bound(tree: ast.AST, scope: str) -> Iterator[tuple[str, int]]:
    """Every name that is bound in a tree, after those of the classes and functions around it."""
    for node in ast.iter_child_nodes(tree):
        names = [*_names_of(node)]
        line = getattr(node, "lineno", 1)
        yield from ((f"{scope}{name}", line) for name in names)
        is_scope = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _bound(node, f"{scope}{names[0]}." if is_scope else scope)


def _names_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case (
            ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name)
        ):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
            yield name
        case _:
            return


def test_no_name_is_a_bare_participle() -> None:
    assert_holds(bare_participles, package())


def test_every_class_name_occurs_once() -> None:
    findings = [str(finding) for finding in doubled_classes(package())]
    assert not findings, "\n" + "\n".join(findings)


def test_every_exception_is_still_bound() -> None:
    bound = {(source.path, name) for source in package() for name, _ in _bound(source.tree, "")}
    gone = STORED_OR_SERVED.keys() - bound
    assert not gone, f"no such attribute any more; remove from STORED_OR_SERVED: {sorted(gone)}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("found = 1", "found"),
        ("_SAID: Final = 1", "_SAID"),
        ("for kept in rows: ...", "kept"),
        ("if (told := ask()): ...", "told"),
        ("with opened() as given: ...", "given"),
        ("[ours for ours in rows]", "ours"),
        ("def read(path, *, wanted): ...", "read.wanted"),
        ("def _told(): ...", "_told"),
        ("async def heard(): ...", "heard"),
        ("class Found: ...", "Found"),
        ("class Row:\n    kept: int", "Row.kept"),
        ("class Row:\n    def __init__(self):\n        self.kept = 1", "Row.__init__.kept"),
        ("class Row:\n    def kept(self): ...", "Row.kept"),
        ("sort(key=lambda found: found.at)", "found"),
        ("match row:\n    case Row(text=said): ...", "said"),
        ("match row:\n    case [*found]: ...", "found"),
        ("match row:\n    case {'a': 1, **given}: ...", "given"),
        ("try: ...\nexcept OSError as told: ...", "told"),
        ("import json as found", "found"),
    ],
)
def test_a_bare_participle_is_found(text: str, name: str) -> None:
    assert f"`{name}` is a bare participle" in findings_in(bare_participles, "engine/index.py", text)


def test_a_module_named_so_is_found() -> None:
    assert "`told` is no name for a module" in findings_in(bare_participles, "core/told.py", "")
    assert "`found` is no name for a module" in findings_in(bare_participles, "engine/found/rows.py", "")


@pytest.mark.parametrize(
    "text",
    [
        "found_at = 1",
        "rows = [row.found for row in memories]",
        "replace(memory, found=1)",
        "def is_kept(): ...",
        "'told'",
    ],
)
def test_what_says_more_or_binds_nothing_is_fine(text: str) -> None:
    assert findings_in(bare_participles, "engine/index.py", text) == ""


def test_a_stored_name_may_stay_where_it_is_stored() -> None:
    text = "class Memory:\n    found: int = 0"
    assert findings_in(bare_participles, "core/memory/memory.py", text) == ""
    assert findings_in(bare_participles, "core/memory/audit.py", text)


@pytest.mark.parametrize(
    ("first", "second", "is_doubled"),
    [
        ("engine/index.py", "files/install.py", True),
        ("engine/index.py", "embed.py", True),
        ("harnesses/base.py", "engine/index.py", True),
        ("harnesses/codex/setup.py", "harnesses/gemini/setup.py", False),
        ("harnesses/codex/records.py", "core/brief/compose.py", False),
        ("core/agent_log/record_bodies.py", "core/brief/compose.py", False),
        ("settings.py", "core/brief/compose.py", False),
    ],
)
def test_a_class_name_in_two_files(first: str, second: str, *, is_doubled: bool) -> None:
    sources = [Source(path, "class Report: ...") for path in (first, second)]
    assert [finding.path for finding in doubled_classes(sources)] == ([second] if is_doubled else [])
