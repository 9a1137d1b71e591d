"""Feed every parser with what atheris makes up, for so many seconds each, and tell which of them fell.

    python -m tests.fuzz.parsers [--seconds 60] [--jobs 2] [--seed 7] [TARGET …]

The input under which one fell is kept in build/fuzz/, beside its log with the traceback. What it shows is
mended with a test of its own, beside the other tests of that parser.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

KEPT: Final = Path("build/fuzz")
LONGEST_INPUT: Final = 4_096
SLOWEST_S: Final = 10
MEMORY_MB: Final = 2_048
SECONDS_LEAST: Final = 2


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="which ones; all if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for all of them together")
    parser.add_argument("--jobs", type=int, default=2, help="how many are fed at once")
    parser.add_argument("--seed", type=int, default=0, help="where chance begins; anywhere if it is 0")
    options = parser.parse_args()
    # Only installed by `make fuzz`, and without types.
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["holdfast"]):
        known = import_module("tests.fuzz.targets").TARGETS
    wanted = options.targets or [*known]
    if strange := set(wanted) - known.keys():
        parser.error(f"no such target: {', '.join(sorted(strange))}; there are {', '.join(known)}")
    sys.stdout.write(f"{len(wanted)} parsers\n")
    KEPT.mkdir(parents=True, exist_ok=True)
    each = max(SECONDS_LEAST, options.seconds * options.jobs // len(wanted))
    wishes = {"max_total_time": each, "seed": options.seed}
    return _fed(atheris, {name: known[name] for name in wanted}, wishes, options.jobs)


def _fed(atheris: Any, targets: Mapping[str, Any], wishes: Mapping[str, int], jobs: int) -> int:  # noqa: ANN401
    """Each in a process of its own, forked from this one, which has loaded and instrumented everything."""
    waiting, running, fallen = [*targets], dict[int, tuple[str, float]](), 0
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            pid = os.fork()
            if not pid:
                _feed(atheris, targets[name], wishes)
            running[pid] = (name, time.monotonic())
        pid, status = os.wait()
        name, began = running.pop(pid)
        fell = os.waitstatus_to_exitcode(status) != 0
        fallen += fell
        sys.stdout.write(_summary_line(name, time.monotonic() - began, fell=fell))
        sys.stdout.flush()
    return int(fallen > 0)


def _feed(atheris: Any, target: Any, wishes: Mapping[str, int]) -> None:  # noqa: ANN401
    """Feed one target, and end this process."""
    log = os.open(KEPT / f"{target.name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    corpus = Path(tempfile.mkdtemp(prefix="hf-"))
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    limits = {
        **wishes,
        "timeout": SLOWEST_S,
        "rss_limit_mb": MEMORY_MB,
        "max_len": LONGEST_INPUT,
        "print_final_stats": 1,
        "artifact_prefix": f"{KEPT}/{target.name}-",
    }
    words = [sys.argv[0], *(f"-{name}={value}" for name, value in limits.items()), str(corpus)]
    try:
        atheris.Setup(words, target.feed)
        atheris.Fuzz()
    finally:
        shutil.rmtree(corpus, ignore_errors=True)


def _summary_line(name: str, seconds: float, *, fell: bool) -> str:
    """One line of a target; of one that fell, what it said at last."""
    said = (KEPT / f"{name}.log").read_text(errors="replace")
    found = re.search(r"number_of_executed_units:\s*(\d+)", said)
    inputs = int(found[1]) if found else 0
    line = f"{'FELL' if fell else 'ok':5} {name:24} {inputs:9,} inputs {seconds:5.1f} s\n"
    return line + ("\n".join(_last_words(said.splitlines())) + "\n" if fell else "")


def _last_words(lines: Sequence[str]) -> Sequence[str]:
    return [line for line in lines[-60:] if not line.startswith(("stat::", "#", "INFO:"))]


if __name__ == "__main__":
    sys.exit(main())
