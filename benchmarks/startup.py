"""What a person waits for a command, beside an interpreter that does nothing.

Every command is executed as a shell does, in turn with the floor, `python -I -S -c pass`; the figures are
medians, and the ratio is to the floor of the same run. The home has one session with a checkpoint and a
memory, and its daemon is up. Each command runs as the installed script and as `python -m holdfast.cli`, and
as the script once more where there is a settings file.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

FLOOR: Final = (sys.executable, "-I", "-S", "-c", "pass")
MODULE: Final = (sys.executable, "-m", "holdfast.cli")
SCRIPT: Final = (str(Path(sys.executable).with_name("holdfast")),)
COMMANDS: Final = (
    ("--version",),
    ("status",),
    ("sessions",),
    ("checkpoints",),
    ("config",),
    ("brief",),
    ("recall", "retries"),
)
SETTINGS: Final = """\
[capture]
exclude = ["~/private", "*/scratch-*"]

[continuity]
prompt_interval = 12
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One command: the median time until it ended, and that of its processor, both also as ratios."""

    command: str
    wall_ms: float
    wall_to_floor: float
    processor_ms: float
    processor_to_floor: float


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run commands: by which program, and with which settings in the home."""

    name: str
    program: Sequence[str]
    settings: str = ""


WAYS: Final = (Way("script", SCRIPT), Way("module", MODULE), Way("script, settings", SCRIPT, SETTINGS))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=21)
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        rows = measure(Path(folder), options.rounds)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print(f"{'command':30} {'wall ms':>8} {'× floor':>8} {'cpu ms':>8} {'× floor':>8}")
    for row in rows:
        print(
            f"{row.command:30} {row.wall_ms:8.1f} {row.wall_to_floor:8.1f} "
            f"{row.processor_ms:8.1f} {row.processor_to_floor:8.1f}"
        )


def measure(root: Path, rounds: int) -> list[Row]:
    project = root / "project"
    project.mkdir()
    environment = {"PATH": os.defpath, "HOME": str(root), "HOLDFAST_HOME": str(root / "holdfast")}
    furnish(project, environment)
    samples = dict[str, list[tuple[float, float]]]()
    try:
        for _ in range(rounds):
            for name, sample in measure_once(project, environment).items():
                samples.setdefault(name, []).append(sample)
    finally:
        timed((*MODULE, "down"), project, environment)
    medians = {
        name: [statistics.median(column) for column in zip(*each, strict=True)]
        for name, each in samples.items()
    }
    floor = medians["floor"]
    return [
        Row(name, wall * 1_000, wall / floor[0], processor * 1_000, processor / floor[1])
        for name, (wall, processor) in medians.items()
    ]


def measure_once(project: Path, environment: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """The floor and every command in every way, each once."""
    samples = {"floor": timed(FLOOR, project, environment)}
    settings = Path(environment["HOLDFAST_HOME"]) / "config.toml"
    for way in WAYS:
        if way.settings:
            settings.touch(0o600)
            settings.write_text(way.settings, encoding="utf-8")
        for words in COMMANDS:
            samples[f"{words[0]} ({way.name})"] = timed((*way.program, *words), project, environment)
        settings.unlink(missing_ok=True)
    return samples


def furnish(project: Path, environment: Mapping[str, str]) -> None:
    """A connected harness, a session with a checkpoint, a memory, and a daemon that has recorded them."""
    payload = {"session_id": "s1", "transcript_path": None, "cwd": str(project)}
    prompt = {**payload, "hook_event_name": "UserPromptSubmit", "prompt": "Fix the retries in queue.py"}
    hook = (*MODULE, "hook", "--harness", "claude-code")
    # Without it, `status` reports a problem, and its exit status says so.
    timed((*MODULE, "setup", "--yes", "claude-code"), project, environment)
    timed((*MODULE, "up"), project, environment)
    timed(hook, project, environment, json.dumps(prompt))
    timed(hook, project, environment, json.dumps({**payload, "hook_event_name": "PreCompact"}))
    timed((*MODULE, "remember", "retries are capped at five"), project, environment)


def timed(
    command: Sequence[str], directory: Path, environment: Mapping[str, str], text: str = ""
) -> tuple[float, float]:
    """The seconds until a command ended, and those of its processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command, cwd=directory, env=environment, input=text, text=True, capture_output=True, check=True
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    user = after.ru_utime - before.ru_utime
    return wall, user + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
