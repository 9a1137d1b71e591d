"""What a person waits for a command, beside an interpreter that does nothing.

Every command is executed as a shell does, in turn with the floor, `python -I -S -c pass`; the figures are
medians, and the ratio is to the floor of the same run. The home has one session with a checkpoint and a
memory, and its daemon is up.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

HOLDFAST: Final = (sys.executable, "-m", "holdfast.cli")
COMMANDS: Final[Mapping[str, Sequence[str]]] = {
    "floor": (sys.executable, "-I", "-S", "-c", "pass"),
    "--version": (*HOLDFAST, "--version"),
    "status": (*HOLDFAST, "status"),
    "sessions": (*HOLDFAST, "sessions"),
    "checkpoints": (*HOLDFAST, "checkpoints"),
    "config": (*HOLDFAST, "config"),
    "recall": (*HOLDFAST, "recall", "retries"),
    "brief": (*HOLDFAST, "brief"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One command: the median time until it ended, and that of its processor, both also as ratios."""

    command: str
    wall_ms: float
    wall_to_floor: float
    processor_ms: float
    processor_to_floor: float


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=21)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        rows = measure(Path(folder), given.rounds)
    if given.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print(f"{'command':12} {'wall ms':>8} {'× floor':>8} {'cpu ms':>8} {'× floor':>8}")
    for row in rows:
        print(
            f"{row.command:12} {row.wall_ms:8.0f} {row.wall_to_floor:8.1f} "
            f"{row.processor_ms:8.0f} {row.processor_to_floor:8.1f}"
        )


def measure(root: Path, rounds: int) -> list[Row]:
    project = root / "project"
    project.mkdir()
    environment = {"PATH": os.defpath, "HOME": str(root), "HOLDFAST_HOME": str(root / "holdfast")}
    furnish(project, environment)
    try:
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
        for _ in range(rounds):
            for name, command in COMMANDS.items():
                taken[name].append(timed(command, project, environment))
    finally:
        timed((*HOLDFAST, "down"), project, environment)
    medians = {
        name: [statistics.median(column) for column in zip(*each, strict=True)]
        for name, each in taken.items()
    }
    floor = medians["floor"]
    return [
        Row(name, wall * 1_000, wall / floor[0], processor * 1_000, processor / floor[1])
        for name, (wall, processor) in medians.items()
    ]


def furnish(project: Path, environment: Mapping[str, str]) -> None:
    """A session with a checkpoint, a memory, and a daemon that has taken them in."""
    letter = {"session_id": "s1", "transcript_path": None, "cwd": str(project)}
    prompt = {**letter, "hook_event_name": "UserPromptSubmit", "prompt": "Fix the retries in queue.py"}
    hook = (*HOLDFAST, "hook", "--harness", "claude-code")
    timed((*HOLDFAST, "up"), project, environment)
    timed(hook, project, environment, json.dumps(prompt))
    timed(hook, project, environment, json.dumps({**letter, "hook_event_name": "PreCompact"}))
    timed((*HOLDFAST, "remember", "retries are capped at five"), project, environment)


def timed(
    command: Sequence[str], directory: Path, environment: Mapping[str, str], text: str = ""
) -> tuple[float, float]:
    """The seconds until a command ended, and those of its processor."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(
        command, cwd=directory, env=environment, input=text, text=True, capture_output=True, check=True
    )
    wall, after = time.perf_counter() - began, os.times()
    user = after.children_user - before.children_user
    return wall, user + after.children_system - before.children_system


if __name__ == "__main__":
    main()
