"""A model behind a command: the question goes to its standard input, its standard output is the answer.

It runs in a directory of Holdfast's with an environment chosen for it, and is killed when its time is up. A
session that such a program starts by itself is recognised by that directory.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast import system
from holdfast.errors import ModelBusy, ModelError
from holdfast.models.base import ModelAnswer

CHARS_PER_TOKEN: Final = 4
"""What one says where nothing counts."""
_ERROR_CHARS: Final = 300


class CommandWriter:
    """One command."""

    def __init__(
        self, words: Sequence[str], directory: Path, environment: Mapping[str, str], timeout: float
    ) -> None:
        self._words = tuple(words)
        self._directory = directory
        self._environment = dict(environment)
        self._timeout = timeout

    @property
    def name(self) -> str:
        return f"command/{Path(self._words[0]).name}"

    def write(self, question: str, most_tokens: int) -> ModelAnswer:  # noqa: ARG002 - a command has its own limit
        try:
            answer, stderr, status = self._run(question)
        except OSError as error:
            raise ModelError(f"`{self._words[0]}` cannot be run: {error.strerror or error}") from error
        if status != 0:
            error_text = " ".join(stderr.split())[-_ERROR_CHARS:]
            raise ModelError(f"`{self._words[0]}` ended with {status}: {error_text}")
        return ModelAnswer(answer.strip(), len(question) // CHARS_PER_TOKEN, len(answer) // CHARS_PER_TOKEN)

    def _run(self, question: str) -> tuple[str, str, int]:
        with subprocess.Popen(
            self._words,
            cwd=self._directory,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                answer, stderr = process.communicate(question, timeout=self._timeout)
            except subprocess.TimeoutExpired as error:
                _end(process)
                raise ModelBusy("no answer in time") from error
            return answer, stderr, process.returncode


def _end(process: subprocess.Popen[str]) -> None:
    """End a command and all that it started: it leads a group of its own."""
    system.end_tree(process.pid)
    process.communicate()
