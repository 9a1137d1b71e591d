"""A save that dies leaves both layers old or both new, and two that come at once lose nothing."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.documents.continuity import ContinuityPart, LayerName, WrittenItems
from holdfast.files import continuity as files
from holdfast.files.together import locked
from tests.stories.bench import Bench, bench_at
from tests.stories.test_brief_snapshots import Asks, Runs, Says

pytestmark = pytest.mark.slow

GOAL = Asks("Make the parser of dates accept a week. Never touch vendor/.")
FIRST = (
    GOAL,
    Runs("make test 2>&1 | tail -5", "E   ValueError: no week\n1 failed in 0.1s", 1),
    Says("Next step: mend it."),
)
SECOND = (GOAL, Runs("make test 2>&1 | tail -5", "4 passed in 0.1s"), Says("Next step: describe it."))
WRITES = 18
"""At least as many as one save makes: journal, two layers, what of them is ours, history, account, git."""

KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.files import atomic, audit_log, worktree
from tests.stories import test_continuity_crashes as story
from tests.stories.bench import Bench

root, fatal = Path(sys.argv[1]), int(sys.argv[2])
steps = 0

def counted(real):
    def step(*arguments):
        global steps
        if steps == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        steps += 1
        return real(*arguments)
    return step

atomic.write, atomic.remove = counted(atomic.write), counted(atomic.remove)
worktree.write, audit_log.append = counted(worktree.write), counted(audit_log.append)
bench = Bench(root, root / "app", now=1_800_000_060_000)
bench.save("claude-code", *story.SECOND, name="s2")
print(steps)
"""
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = bench_at(tmp_path)
    made.save("claude-code", *FIRST)
    return made


def killed(bench: Bench, fatal: int) -> subprocess.CompletedProcess[bytes]:
    arguments = [sys.executable, "-c", KILLED, str(bench.root), str(fatal)]
    return subprocess.run(arguments, cwd=REPOSITORY, capture_output=True, check=False)


def states(bench: Bench) -> dict[LayerName, bool]:
    """Whether each layer tells of the second session."""
    return {
        LayerName.SHARED: bool(bench.items(ContinuityPart.CONFIRMED)[0]),
        LayerName.LOCAL: bench.items(ContinuityPart.NEXT)[1] == ("Next step: describe it.",),
    }


@pytest.mark.parametrize("fatal", range(WRITES))
def test_after_a_kill_between_any_two_writes_both_layers_are_old_or_both_new(
    bench: Bench, fatal: int
) -> None:
    done = killed(bench, fatal)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    with locked(bench.continuity_files.places.journal):
        pass  # Whoever comes next finishes what was begun.
    found = states(bench)
    assert len(set(found.values())) == 1, found
    for layer in LayerName:
        read = files.read(bench.continuity_files.places, layer)
        assert read is not None
        assert read.written != WrittenItems(), "what is ours is known"
    bench.now += 120_000
    bench.save("claude-code", *SECOND, name="s2")
    assert set(states(bench).values()) == {True}
    assert bench.items(ContinuityPart.FAILED) == ((), ())


def test_every_write_of_a_save_was_among_them(bench: Bench) -> None:
    done = killed(bench, 1_000)
    assert 0 < int(done.stdout) <= WRITES


def _saves(root: Path, name: str) -> None:
    bench = Bench(root, root / "app")
    for number in range(5):
        steps = (GOAL, Runs(f"make check-{name}-{number} 2>&1 | tail -5", "1 passed in 0.1s"))
        bench.save("claude-code", *steps, name=name)


def test_two_processes_that_save_at_once_lose_nothing_of_each_other(bench: Bench) -> None:
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_saves, args=(bench.root, name)) for name in ("x", "y")]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    told = {item.split("`")[1] for item in bench.items(ContinuityPart.CONFIRMED)[0]}
    assert told == {f"make check-{name}-{number}" for name in ("x", "y") for number in range(5)}
    assert len(bench.continuity_files.entries()) == 11
    assert bench.continuity_files.markers() == []
