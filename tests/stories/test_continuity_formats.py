"""Every file that continuity writes, as it stands in `continuity/`; it changes only on purpose.

`HOLDFAST_RENEW=1 .venv/bin/python -m pytest tests/stories/test_continuity_formats.py` writes them anew; read
the difference before it is committed.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.budget import budget_for
from holdfast.core.documents.continuity import ContinuityDocument, LayerName, parse, render
from holdfast.core.documents.continuity_log import entry_of
from holdfast.core.documents.continuity_startup import StartupLimits, startup
from holdfast.core.documents.promotion import Destination, ReviewStep
from holdfast.engine.briefing.start_context import continuity_at_start
from holdfast.engine.documents import continuity_source, dream
from holdfast.settings import Config, Continuity
from tests.stories.bench import Bench, bench_at
from tests.stories.test_brief_snapshots import RENEW, STORY, TELLINGS

KEPT: Final = Path(__file__).parent / "continuity"
DATED: Final = Config(continuity=Continuity(local_path_style="claude"))
HARNESSES: Final = tuple(TELLINGS)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_at(tmp_path)


def same(name: str, text: str) -> None:
    """The text is what is kept under that name."""
    path = KEPT / name
    if os.environ.get(RENEW):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{RENEW}=1 writes `{name}` anew"


def pretty(raw: str) -> str:
    return json.dumps(json.loads(raw), indent=1, ensure_ascii=False) + "\n"


def test_the_style_of_a_harness_without_dated_files_is_the_default(bench: Bench) -> None:
    default = [bench.file(layer) for layer in LayerName]
    bench.config = Config(continuity=Continuity(local_path_style="codex"))
    assert [bench.file(layer) for layer in LayerName] == default
    bench.save("codex", *STORY)
    assert default[1].is_file()


@pytest.mark.parametrize("harness", HARNESSES)
@pytest.mark.parametrize("layer", LayerName)
def test_a_layer(bench: Bench, harness: str, layer: LayerName) -> None:
    bench.save(harness, *STORY)
    text = bench.file(layer).read_text(encoding="utf-8")
    same(f"{harness}-{layer}.md", bench.plain(text))
    found = parse(text)
    assert isinstance(found, ContinuityDocument)
    assert render(found) == text


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_local_layer_in_the_style_of_dated_files(bench: Bench, harness: str) -> None:
    bench.config = DATED
    bench.save(harness, *STORY)
    path = bench.file(LayerName.LOCAL)
    assert bench.plain(str(path)) == "/worktree/.claude/sessions/2027-01-15-WORKTREE-session.tmp"
    same(f"{harness}-dated-session.tmp", bench.plain(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_line_of_the_audit_log(bench: Bench, harness: str) -> None:
    bench.save(harness, *STORY)
    line = bench.continuity_files.log.read_text(encoding="utf-8")
    assert line.count("\n") == 1
    assert entry_of(json.loads(line)) is not None
    same(f"{harness}-audit.json", bench.plain(pretty(line)))


def test_a_recovery_marker(bench: Bench) -> None:
    entry = bench.save("codex", *STORY).entry
    marker = continuity_source.mark(
        bench.continuity_files.recovery, replace(entry, written=()), "the disk was full"
    )
    same("recovery-marker.json", bench.plain(pretty(marker.path.read_text(encoding="utf-8"))))


def limits(bench: Bench) -> StartupLimits:
    settings = bench.engine.budget_settings(bench.continuity_files.project)
    return budget_for(Reason.STARTUP, settings, None).continuity()


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_startup_block(bench: Bench, harness: str) -> None:
    (bench.worktree / "AGENTS.md").write_text("# Rules\n")
    (bench.worktree / "TEAM_MEMORY.md").write_text("# Snapshots\nA snapshot a month is kept for a year.\n")
    bench.save(harness, *STORY)
    dream.build(bench.engine, bench.continuity_files)
    found = continuity_at_start(bench.engine, bench.continuity_files)
    assert found is not None
    same(f"{harness}-startup.md", bench.plain(startup(found, limits(bench)).text))


def test_the_account_of_the_startup_block(bench: Bench) -> None:
    bench.config = Config(continuity=Continuity(startup_lines=12))
    bench.save("codex", *STORY)
    found = continuity_at_start(bench.engine, bench.continuity_files)
    assert found is not None
    same("startup.json", bench.plain(pretty(json.dumps(startup(found, limits(bench)).as_json()))))


def test_the_sidecar_its_log_and_a_proposal(bench: Bench) -> None:
    (bench.worktree / "AGENTS.md").write_text("# Rules\n\n- Be brief.")
    bench.save("claude-code", *STORY)
    snapshot = dream.build(bench.engine, bench.continuity_files)
    rule = next(one for one in snapshot.candidates if one.lane is Destination.INSTRUCTION)
    for step in (ReviewStep.APPROVE, ReviewStep.PROMOTE):
        dream.take(bench.engine, bench.continuity_files, rule.id, step)
    folder = bench.continuity_files.places.folder.parent
    sidecar = (folder / "dream/snapshot.json").read_text(encoding="utf-8")
    prints = json.loads(sidecar)["sources"].values()
    plain = bench.plain(pretty(sidecar))
    for print_ in prints:
        plain = plain.replace(print_, "PRINT")
    same("dream-snapshot.json", plain)
    same("dream-log.jsonl", bench.plain((folder / "audit/dream-log.jsonl").read_text(encoding="utf-8")))
    made = (folder / f"dream/proposals/{rule.id}.json").read_text(encoding="utf-8")
    same("dream-proposal.json", bench.plain(pretty(made)))


OF_EACH: Final = ("project.md", "project-local.md", "dated-session.tmp", "audit.json", "startup.md")
ALONE: Final = (
    "recovery-marker.json",
    "startup.json",
    "dream-snapshot.json",
    "dream-log.jsonl",
    "dream-proposal.json",
)


def test_every_kept_file_is_of_a_format_that_is_still_written() -> None:
    of_each = {f"{harness}-{kind}" for harness in HARNESSES for kind in OF_EACH}
    assert {path.name for path in KEPT.iterdir()} == of_each | set(ALONE)
