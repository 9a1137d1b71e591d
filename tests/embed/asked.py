"""A model to be asked for summaries that says what a test has it say, and when."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from holdfast.core.agent_log.summary import Failed, Material, Written


@dataclass
class Asked:
    """Answers with what is next in the row, and remembers what it was asked."""

    answers: list[Written | Failed | Exception]
    about: list[Material] = field(default_factory=list[Material])

    def __call__(self, about: Material) -> Written | Failed:
        self.about.append(about)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class AtOnce(Executor):
    """Does everything at once, in the thread that asks."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - as its parent
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except ValueError as error:
            future.set_exception(error)
        return future


class ManualExecutor(Executor):
    """Does what it was given when a test says so, and not before."""

    def __init__(self) -> None:
        self._given: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - as its parent
        future: Future[Any] = Future()
        self._given.append((future, lambda: fn(*args, **kwargs)))
        return future

    def go(self) -> int:
        """Do all of it; how much there was."""
        given, self._given = self._given, []
        for future, act in given:
            future.set_result(act())
        return len(given)
