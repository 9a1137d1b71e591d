"""A reader finds the way: small directories, sub-packages with one direction, evaluators apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from tests.architecture.source import Finding, Source, assert_holds, findings_in, imported, package

DIRECTORY_MODULES = 20
"""So many modules a reader takes in at once; `__init__.py` does not count."""

LAYERS: Mapping[str, tuple[str, ...]] = {
    "core": (
        "text",
        "events",
        "redaction",
        "memory",
        "evidence",
        "work",
        "session",
        "agent_log",
        "documents",
        "sharing",
        "brief",
        "evaluation",
    ),
    "engine": (
        "home_store",
        "redaction",
        "engine",
        "ids",
        "liveness",
        "machine",
        "repository",
        "shared_sessions",
        "shared_texts",
        "index",
        "models",
        "recording",
        "memory",
        "upkeep",
        "documents",
        "briefing",
        "privacy",
        "sharing",
        "backup",
        "tools",
        "hook_events",
        "agent_log",
        "health",
        "views",
        "evaluation",
    ),
    "daemon": ("local", "access", "work", "mcp", "api", "dashboard", "http", "main", "__main__"),
}
"""The sub-packages of a package, lowest first: each imports only those before it."""


def downwards(source: Source) -> Iterator[Finding]:
    """A sub-package imports the ones below it in its package, never one above."""
    parts = source.module.split(".")
    layers = LAYERS.get(parts[0], ())
    if len(parts) < 2 or not layers:
        return
    if parts[1] not in layers:
        yield Finding(source.path, 1, f"`{parts[0]}/{parts[1]}` has no place in LAYERS")
        return
    for name, line in imported(source):
        theirs = name.removeprefix("holdfast.").split(".")
        if not name.startswith(f"holdfast.{parts[0]}.") or theirs[1] not in layers:
            continue
        if layers.index(theirs[1]) > layers.index(parts[1]):
            yield Finding(
                source.path,
                line,
                f"`{parts[0]}/{parts[1]}` is below `{parts[0]}/{theirs[1]}` and may not import it; "
                "take a value as an argument, or move what both need down",
            )


def evaluators_apart(source: Source) -> Iterator[Finding]:
    """What measures briefs must not shape them: below the command line only evaluation imports evaluation."""
    parts = source.module.split(".")
    if "evaluation" in parts or parts[0] in ("cli", "daemon"):
        return
    for name, line in imported(source):
        if "evaluation" in name.split("."):
            yield Finding(source.path, line, f"`{name}` measures; only evaluation code may import it")


def directories() -> Iterator[Finding]:
    """The directories that hold more modules than a reader takes in at once."""
    modules = (source.path for source in package() if not source.path.endswith("__init__.py"))
    counts = Counter(path.rpartition("/")[0] for path in modules)
    for directory, count in counts.items():
        if count > DIRECTORY_MODULES:
            yield Finding(
                directory, 1, f"{count} modules; group them by subject (at most {DIRECTORY_MODULES})"
            )


def test_no_directory_outgrows_a_reader() -> None:
    findings = [str(finding) for finding in directories()]
    assert not findings, "\n" + "\n".join(findings)


def test_sub_packages_import_downwards() -> None:
    assert_holds(downwards, package())


def test_only_evaluation_imports_evaluation() -> None:
    assert_holds(evaluators_apart, package())
    line = "from holdfast.core.evaluation.facts import facts_in"
    assert findings_in(evaluators_apart, "stores/base.py", line)
    assert findings_in(evaluators_apart, "engine/evaluation/survival.py", line) == ""


@pytest.mark.parametrize("layered", sorted(LAYERS))
def test_every_layer_is_there(layered: str) -> None:
    there = {
        source.module.split(".")[1]
        for source in package()
        if source.path.startswith(f"{layered}/") and source.module != layered
    }
    assert set(LAYERS[layered]) == there


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("core/brief/compose.py", "from holdfast.core.evaluation.facts import facts_in"),
        ("core/text/names.py", "from holdfast.core.events.event import Event"),
        ("engine/recording/record.py", "def late():\n    from holdfast.engine.briefing.resume import answer"),
        ("daemon/api/app.py", "from holdfast.daemon.http import server"),
        ("core/attic/old.py", "import re"),
    ],
)
def test_an_import_upwards_is_found(path: str, line: str) -> None:
    assert findings_in(downwards, path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("core/evaluation/survival.py", "from holdfast.core.events.event import Event"),
        ("core/brief/compose.py", "from holdfast.core.brief.layout import lines"),
        ("core/__init__.py", ""),
        ("stores/sqlite/store.py", "from holdfast.core.session.session import Session"),
    ],
)
def test_an_import_downwards_is_fine(path: str, line: str) -> None:
    assert findings_in(downwards, path, line) == ""
