"""Holdfast's commands as processes of their own, forked from one that has loaded them all.

Loading is most of what a short command costs, and the tests give hundreds of them.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.cli.main import main

_FORKS: Final = multiprocessing.get_context("forkserver")
# Its children look at how the tests were started, so that what started them is loaded too.
_FORKS.set_forkserver_preload(
    [
        "pytest",
        __name__,
        *(f"holdfast.cli.{name}" for name in ("setup", "sessions", "checkpoints", "doctor", "hook")),
    ]
)


def run(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str, limit: float
) -> subprocess.CompletedProcess[str]:
    """What a command prints, and how it ends; it knows nothing but the environment that is given."""
    with tempfile.TemporaryDirectory(prefix="hf-command-") as folder:
        given, out, err = (Path(folder, name) for name in ("in", "out", "err"))
        given.write_text(stdin, encoding="utf-8")
        process = _FORKS.Process(target=_command, args=(words, cwd, dict(env), given, out, err))
        process.start()
        process.join(limit)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(["holdfast", *words], limit)
        printed, said = (file.read_text(encoding="utf-8") if file.exists() else "" for file in (out, err))
        return subprocess.CompletedProcess(["holdfast", *words], process.exitcode, printed, said)


def _command(words: Sequence[str], cwd: Path, env: dict[str, str], given: Path, out: Path, err: Path) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    written = os.O_WRONLY | os.O_CREAT
    for number, file, how in ((0, given, os.O_RDONLY), (1, out, written), (2, err, written)):
        os.dup2(os.open(file, how, 0o600), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, how, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as the process lives
        for number, how in enumerate("rww")
    )
    main(words)
