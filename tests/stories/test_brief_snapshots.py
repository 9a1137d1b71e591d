"""Whole briefs, as a user would read them: each stands in `briefs/`, and changes only on purpose.

`HOLDFAST_RENEW=1 .venv/bin/python -m pytest tests/stories/test_brief_snapshots.py` writes them anew; read
the difference before it is committed. One story is told in the records of every harness that can be read, and
its briefs hold the same facts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from holdfast import harnesses
from holdfast.core.evaluation.facts import form_of
from holdfast.engine.recording.preview import preview
from tests.harnesses import claude_code_records as claude
from tests.harnesses import codex_records as codex
from tests.harnesses import gemini_records as gemini
from tests.harnesses import openclaw_records as openclaw
from tests.harnesses import opencode_records as opencode

BRIEFS: Final = Path(__file__).parent / "briefs"
RENEW: Final = "HOLDFAST_RENEW"
BUDGETS: Final = (2_000, 600)
DEMO: Final = Path(__file__).parents[2] / "src" / "holdfast" / "cli" / "demo_session"
SAMPLES: Final = Path(__file__).parents[1] / "harnesses" / "samples"
PROJECT: Final = "/home/you/proj"

Json: TypeAlias = dict[str, Any]


# ---------------------------------------------------------------- the story


@dataclass(frozen=True, slots=True)
class Asks:
    text: str


@dataclass(frozen=True, slots=True)
class Says:
    text: str


@dataclass(frozen=True, slots=True)
class Reads:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Edits:
    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Runs:
    command: str
    output: str
    status: int = 0


@dataclass(frozen=True, slots=True)
class Plans:
    """What is to be done, each with its status."""

    todos: tuple[tuple[str, str], ...]


Step: TypeAlias = Asks | Says | Reads | Edits | Runs | Plans

PINNED_LOST = """\
=================================== FAILURES ===================================
E   backup.errors.PinnedLost: snapshot 2024-02-29 would be deleted
=========================== short test summary info ============================
FAILED tests/{file}::{test} - backup.errors.PinnedLost: snapshot 2024-02-29 …
1 failed, {passed} passed in 0.21s"""

STORY: Final[tuple[Step, ...]] = (
    Asks("Make `backup prune` keep one snapshot a month for a year, as BAK-412 asks. Never delete a pin."),
    Says("I read the pruning code first."),
    Reads("src/backup/prune.py", "def keepers(snapshots):\n    return snapshots[-30:]\n"),
    Reads("docs/retention.md", "# Retention\n\nThe last thirty snapshots are kept.\n"),
    Edits("src/backup/prune.py", "return snapshots[-30:]", "return monthly_keepers(snapshots, months=12)"),
    Edits("src/backup/config.py", "keep_last = 30", "keep_months = 12\nkeep_pinned = True"),
    Edits("tests/test_prune.py", "", "def test_one_a_month(): assert monthly_keepers(YEAR) == LAST_OF_MONTH"),
    Runs(
        "python -m pytest -q tests/test_prune.py",
        PINNED_LOST.format(file="test_prune.py", test="test_pins", passed=3),
        1,
    ),
    Asks("Use calendar months in UTC instead of 30 days."),
    Edits("src/backup/prune.py", "months=12", "months=12, zone=UTC"),
    Runs("python -m pytest -q tests/test_prune.py", "4 passed in 0.19s"),
    Runs("git mv src/backup/rules.py src/backup/keepers.py", ""),
    Runs("git rm -q tests/old_prune_cases.py", "rm 'tests/old_prune_cases.py'"),
    Runs("python bench/prune.py --snapshots 10000", "pruned 10000 in 0.084 s"),
    Runs(
        "python -m pytest -q tests/test_cli.py",
        PINNED_LOST.format(file="test_cli.py", test="test_dry_run", passed=11),
        1,
    ),
    Plans(
        (
            ("Keep one snapshot a month", "completed"),
            ("Make the dry run respect pins", "in_progress"),
            ("Describe keep_months in docs/retention.md", "pending"),
        )
    ),
    Says(
        "I decided to keep the newest snapshot of each month, because a restore drill always takes that one. "
        "Pruning 10,000 snapshots takes 84 ms. "
        "Next: give prune_plan in src/backup/cli.py the pins, so that `--dry-run` lists none of them. "
        "Should I count a pinned snapshot as the keeper of its month?"
    ),
)
FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "the goal": ("keep one snapshot a month for a year",),
    "the ticket": ("BAK-412",),
    "the user's rule": ("Never delete a pin.",),
    "the correction": ("Use calendar months in UTC instead of 30 days.",),
    "the file that was only read": ("retention.md",),
    "the files that were edited": ("prune.py", "config.py", "test_prune.py"),
    "the failing command": ("`python -m pytest -q tests/test_cli.py` failed (1 of 12 failed",),
    "its test": ("test_dry_run",),
    "its error line": ("PinnedLost: snapshot 2024-02-29 would be deleted",),
    "the command that passes, with its counts": ("tests/test_prune.py", "4 passed"),
    "the decision": ("keep the newest snapshot of each month",),
    "its reason": ("because a restore drill always takes that one",),
    "the number measured": ("Pruning 10,000 snapshots takes 84 ms",),
    "what is to be done": ("Make the dry run respect pins", "Describe keep_months in docs/retention.md"),
    "the open question": ("Should I count a pinned snapshot as the keeper of its month?",),
    "the next step": ("give prune_plan in src/backup/cli.py the pins",),
    "the renamed file": ("rules.py", "to src/backup/keepers.py"),
    "the deleted file": ("old_prune_cases.py",),
}


# ---------------------------------------------------------------- as each harness tells it


def claude_code_lines(step: Step, call: str) -> Iterator[Json]:
    match step:
        case Asks(text):
            yield claude.user(text, uuid=call)
        case Says(text):
            yield claude.assistant(claude.text(text), uuid=call, request=call)
        case Plans(todos):
            rows = [{"content": text, "status": status, "activeForm": text} for text, status in todos]
            yield claude.assistant(claude.tool_use("TodoWrite", call, todos=rows), uuid=call, request=call)
            yield _claude_result("Todos have been modified successfully.", call)
        case Reads(path, content):
            asked = claude.tool_use("Read", call, file_path=f"{PROJECT}/{path}")
            yield claude.assistant(asked, uuid=call, request=call)
            yield _claude_result(content, call)
        case Edits(path, before, after):
            changed = {"file_path": f"{PROJECT}/{path}", "old_string": before, "new_string": after}
            yield claude.assistant(claude.tool_use("Edit", call, **changed), uuid=call, request=call)
            yield _claude_result(f"The file {PROJECT}/{path} has been updated successfully.", call)
        case Runs(command, output, status):
            yield claude.assistant(claude.tool_use("Bash", call, command=command), uuid=call, request=call)
            said = f"Exit code {status}\n{output}" if status else output
            yield _claude_result(said, call, is_error=bool(status))


def _claude_result(content: str, call: str, **more: object) -> Json:
    return claude.user([claude.tool_result(content, call, **more)], uuid=f"{call}-result")


def codex_lines(step: Step, call: str) -> Iterator[Json]:
    match step:
        case Asks(text):
            yield codex.message("user", text)
            yield codex.event("user_message", message=text)
        case Says(text):
            yield codex.event("agent_message", message=text)
            yield codex.message("assistant", text, id=call)
        case Plans(todos):
            plan = [{"step": text, "status": status} for text, status in todos]
            yield codex.call("update_plan", call, plan=plan)
            yield codex.output("Plan updated", call)
        case Reads(path, content):
            yield codex.call("exec_command", call, cmd=f"sed -n '1,120p' {path}", workdir=PROJECT)
            yield codex.output(codex.ran(content), call)
        case Edits(path, before, after):
            lines = [
                *(f"-{line}" for line in before.splitlines()),
                *(f"+{line}" for line in after.splitlines()),
            ]
            hunk = "\n".join(["*** Begin Patch", f"*** Update File: {path}", "@@", *lines, "*** End Patch"])
            yield codex.patch_call(hunk, call)
            done = f"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated:\nM {path}"
            yield codex.output(done, call, "custom_tool_call_output")
        case Runs(command, output, status):
            yield codex.call("exec_command", call, cmd=command, workdir=PROJECT)
            yield codex.output(codex.ran(output, status), call)


def openclaw_lines(step: Step, call: str) -> Iterator[Json]:
    match step:
        case Asks(text):
            yield openclaw.user(text, call)
        case Says(text):
            yield openclaw.assistant(openclaw.text(text), id=call)
        case Plans(todos):
            plan = [{"step": text, "status": status} for text, status in todos]
            yield openclaw.assistant(openclaw.tool_call("update_plan", call, plan=plan), id=call)
            yield openclaw.tool_result("update_plan", "Plan updated", call, f"{call}-result")
        case Reads(path, content):
            yield openclaw.assistant(openclaw.tool_call("read", call, path=path), id=call)
            yield openclaw.tool_result("read", content, call, f"{call}-result")
        case Edits(path, before, after):
            changed = {"path": path, "edits": [{"oldText": before, "newText": after}]}
            yield openclaw.assistant(openclaw.tool_call("edit", call, **changed), id=call)
            yield openclaw.tool_result("edit", f"Replaced 1 block in {path}.", call, f"{call}-result")
        case Runs(command, output, status):
            yield openclaw.assistant(openclaw.tool_call("bash", call, command=command), id=call)
            said = f"{output}\n\nCommand exited with code {status}" if status else output or "(no output)"
            yield openclaw.tool_result("bash", said, call, f"{call}-result", isError=bool(status))


def gemini_lines(step: Step, call: str) -> Iterator[Json]:
    match step:
        case Asks(text):
            yield gemini.user(text, id=call)
        case Says(text):
            yield gemini.answer(text, id=call)
        case Plans(todos):
            plan = [{"description": text, "status": status} for text, status in todos]
            yield gemini.answer(
                "", id=call, toolCalls=[gemini.call("write_todos", "ok", id=call, todos=plan)]
            )
        case Reads(path, content):
            read = gemini.call("read_file", content, id=call, file_path=f"{PROJECT}/{path}")
            yield gemini.answer("", id=call, toolCalls=[read])
        case Edits(path, before, after):
            given = {"file_path": f"{PROJECT}/{path}", "old_string": before, "new_string": after}
            edit = gemini.call("replace", f"Successfully modified file: {path}", id=call, **given)
            yield gemini.answer("", id=call, toolCalls=[edit])
        case Runs(command, output, status):
            yield gemini.answer("", id=call, toolCalls=[gemini.ran(command, output, status, id=call)])


def opencode_lines(step: Step, call: str) -> Iterator[Json]:
    match step:
        case Asks(text):
            yield opencode.message(*opencode.asked({"type": "text", "text": text}), id=call)
        case Says(text):
            yield opencode.message(*opencode.answered({"type": "text", "text": text}), id=call)
        case Plans(todos):
            plan = [{"content": text, "status": status, "priority": "high"} for text, status in todos]
            yield opencode.message(*opencode.answered(opencode.tool("todowrite", {"todos": plan})), id=call)
        case Reads(path, content):
            read = opencode.tool("read", {"filePath": f"{PROJECT}/{path}"}, content)
            yield opencode.message(*opencode.answered(read), id=call)
        case Edits(path, before, after):
            given = {"filePath": f"{PROJECT}/{path}", "oldString": before, "newString": after}
            edit = opencode.tool("edit", given, "Edit applied successfully.")
            yield opencode.message(*opencode.answered(edit), id=call)
        case Runs(command, output, status):
            said = output or "(no output)"
            ran = opencode.tool("bash", {"command": command}, said, metadata={"exit": status})
            yield opencode.message(*opencode.answered(ran), id=call)


@dataclass(frozen=True, slots=True)
class Telling:
    """How a harness writes a session down: what stands first, what it makes of a step, and a compaction."""

    opening: tuple[Json, ...]
    step: Callable[[Step, str], Iterator[Json]]
    compaction: Json
    written: Callable[[list[Json]], bytes] = claude.jsonl


TELLINGS: Final[Mapping[str, Telling]] = {
    "claude-code": Telling(
        (), claude_code_lines, claude.record("system", "boundary", subtype="compact_boundary")
    ),
    "codex": Telling(
        (codex.meta(), codex.turn()),
        codex_lines,
        codex.record("compacted", {"message": "", "replacement_history": []}),
    ),
    "openclaw": Telling(
        (openclaw.header(),),
        openclaw_lines,
        openclaw.record("compaction", "boundary", summary="Pruning.", firstKeptEntryId="call-16"),
    ),
    "gemini": Telling((gemini.header(), gemini.context()), gemini_lines, gemini.compacted()),
    "opencode": Telling(
        (),
        opencode_lines,
        opencode.message(*opencode.compacted("Pruning.", by_itself=False)[1], id="boundary"),
        partial(opencode.exported, folder=PROJECT),
    ),
}


def story_records(harness: str) -> list[Json]:
    """The whole story in a harness's records, one each second."""
    telling = TELLINGS[harness]
    steps = (each for place, step in enumerate(STORY) for each in telling.step(step, f"call-{place}"))
    records = (*telling.opening, *steps, telling.compaction)
    return [stamped(each, f"2026-03-01T10:00:{at:02}.000Z") for at, each in enumerate(records)]


def stamped(record: Json, time: str) -> Json:
    """A record of that time, also where it says so inside."""
    inside: Json = json.loads(json.dumps(record).replace(gemini.TIME, time))
    return {**inside, "timestamp": time}


# ---------------------------------------------------------------- the briefs


@dataclass(frozen=True, slots=True)
class Scene:
    """A transcript, whose it is, and after how many of its lines the window died."""

    harness: str
    path: Path
    session: str
    until_line: int | None = None

    def brief(self, budget: int) -> str:
        reader = harnesses.reader(self.harness)
        return preview(reader, self.path, self.session, self.until_line, budget=budget).brief.text


NAMES: Final = ("demo", "demo-compacted", "sample", *(f"story-{harness}" for harness in TELLINGS))


@pytest.fixture
def scenes(tmp_path: Path) -> dict[str, Scene]:
    session = json.loads((DEMO / "story.json").read_text(encoding="utf-8"))["session"]
    transcript = DEMO / "transcript.jsonl"
    lines = transcript.read_text(encoding="utf-8").splitlines()
    compacted = next(number for number, line in enumerate(lines, 1) if "compact_boundary" in line)
    tellings = {
        f"story-{harness}": claude.written(
            tmp_path, telling.written(story_records(harness)), f"{harness}.jsonl"
        )
        for harness, telling in TELLINGS.items()
    }
    return {
        "demo": Scene("claude-code", transcript, session),
        "demo-compacted": Scene("claude-code", transcript, session, compacted),
        "sample": Scene("claude-code", SAMPLES / "claude_code_session.jsonl", "sample"),
        **{name: Scene(path.stem, path, "story") for name, path in tellings.items()},
    }


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", NAMES)
def test_a_brief_reads_as_it_did(scenes: dict[str, Scene], name: str, budget: int) -> None:
    text, kept = scenes[name].brief(budget), BRIEFS / f"{name}-{budget}.md"
    if os.environ.get(RENEW):
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8"), f"{RENEW}=1 writes `{kept.name}` anew"


def test_every_snapshot_is_of_a_brief_that_is_still_written(scenes: dict[str, Scene]) -> None:
    assert {path.name for path in BRIEFS.iterdir()} == {f"{name}-{n}.md" for name in scenes for n in BUDGETS}


@pytest.mark.parametrize("name", NAMES)
def test_a_person_can_read_the_brief_and_nothing_is_said_twice(scenes: dict[str, Scene], name: str) -> None:
    assert form_of(scenes[name].brief(BUDGETS[0])).is_readable


def test_every_harness_tells_the_story() -> None:
    assert TELLINGS.keys() == set(harnesses.readable())


@pytest.mark.parametrize("harness", TELLINGS)
def test_the_brief_holds_every_fact_of_the_story(scenes: dict[str, Scene], harness: str) -> None:
    held = facts_held(scenes[f"story-{harness}"].brief(BUDGETS[0]))
    assert [fact for fact in FACTS if fact not in held] == []


def test_a_small_brief_holds_the_same_facts_whoever_tells_the_story(scenes: dict[str, Scene]) -> None:
    held = {harness: facts_held(scenes[f"story-{harness}"].brief(BUDGETS[-1])) for harness in TELLINGS}
    expected = {"the goal", "the ticket", "the correction", "the failing command", "its error line"}
    assert expected <= held["claude-code"]
    assert set(map(frozenset, held.values())) == {frozenset(held["claude-code"])}


def facts_held(text: str) -> set[str]:
    return {fact for fact, signs in FACTS.items() if all(sign in text for sign in signs)}
