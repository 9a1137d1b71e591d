"""Source: one file of the package as the architecture checks see it, and the findings they make.

A check is a function from a source to findings. Each stands in a test file of its own, beside a test that
proves on a bad snippet that it can fail. A finding says where, what, and what to do instead.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "holdfast"


@dataclass(frozen=True)
class Source:
    """A Python file: its path inside its tree (`core/events/event.py`), its text, and its syntax."""

    path: str
    text: str

    @functools.cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in it, as `ast.walk` goes; walked once for all rules."""
        return tuple(ast.walk(self.tree))

    @property
    def package_name(self) -> str:
        """The folder it stands in, or its own name where it stands in none."""
        return self.path.split("/", 1)[0].removesuffix(".py")

    @property
    def module(self) -> str:
        """Its dotted name below `holdfast`: `daemon.local.client`, `core` for `core/__init__.py`."""
        return self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule, at one line."""

    path: str
    line: int
    says: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.says}"


Check: TypeAlias = Callable[[Source], Iterable[Finding]]


@functools.cache
def package() -> tuple[Source, ...]:
    """Every Python file of the package, read and parsed once for all rules."""
    return tuple(_python_files(PACKAGE))


def everything() -> Iterator[Source]:
    """Every Python file that people here write: package, tests and benchmarks."""
    yield from package()
    for tree in ("tests", "benchmarks"):
        yield from _python_files(ROOT / tree, prefix=f"{tree}/")


def assert_holds(check: Check, sources: Iterable[Source]) -> None:
    """Fail with every finding, one per line."""
    findings = [str(finding) for source in sources for finding in check(source)]
    assert not findings, "\n" + "\n".join(findings)


def findings_in(check: Check, path: str, text: str) -> str:
    """What a check says of a made-up file, for the tests that prove it can fail."""
    return "\n".join(finding.says for finding in check(Source(path, text)))


def docstrings(source: Source) -> set[ast.AST]:
    """The string nodes that are docstrings, of the module and of everything in it."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].value
        for node in source.nodes
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }


def imported(source: Source) -> Iterator[tuple[str, int]]:
    """Every name an import brings in, in full (`holdfast.core.events.event.Event`), wherever it stands."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (f"{node.module}." if node.module else "")
            yield from ((origin + alias.name, node.lineno) for alias in node.names)


def dotted(node: ast.expr) -> str:
    """`datetime.now` for the expression of that shape; empty for anything that is not a dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _python_files(tree: Path, prefix: str = "") -> Iterator[Source]:
    for file in sorted(tree.rglob("*.py")):
        yield Source(prefix + file.relative_to(tree).as_posix(), file.read_text(encoding="utf-8"))
