"""Renewal: after an update, what setup wrote becomes what this version would write.

The first command or daemon of the new version does it, so that an update is one command. Only what setup
wrote is touched, and only where it still is; whatever a person changed or took out stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from holdfast import harnesses, hook
from holdfast.engine.health import connections
from holdfast.engine.health.installation import (
    copies,
    files_of,
    has_tools,
    hook_entries,
    in_project,
    tool_entries,
)
from holdfast.errors import HoldfastError
from holdfast.files import install
from holdfast.files.install import Plan, Verb
from holdfast.files.together import locked
from holdfast.harnesses.base import Harness
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Renewal:
    """The files that were written or removed, and why others could not be."""

    changed: tuple[Path, ...]
    problems: tuple[HoldfastError, ...]


def renew(home: Path, variables: Mapping[str, str], user_home: Path) -> Renewal:
    """Renew what setup wrote in this home.

    What one harness's files refuse does not keep the others from it; `doctor` names what is left.
    """
    with locked(home / "run" / "manifest"):
        changed: list[Path] = []
        problems: list[HoldfastError] = []
        for harness in _connected(home, variables):
            try:
                changed += _carried_out(_plan(harness, home, variables, user_home))
            except HoldfastError as error:
                problems.append(error)
        # The note of the version is the last of these: after a crash everything is done again.
        changed += _carried_out(install.plan_renewal((), copies(home), home))
    # The store may be of this version too, so hooks try at once whether a daemon can start.
    with suppress(OSError):
        (home / hook.REFUSED).unlink()
    return Renewal(tuple(changed), tuple(problems))


def _connected(home: Path, variables: Mapping[str, str]) -> Iterator[Harness]:
    """Every harness that setup connected: for the user, and in each project that is still there."""
    for name in harnesses.names():
        harness = harnesses.here(name, variables)
        if connections.is_for_user(home, harness):
            yield harness
        for root in filter(Path.is_dir, connections.projects(home, harness)):
            yield from in_project([harness], root)


def _plan(harness: Harness, home: Path, variables: Mapping[str, str], user_home: Path) -> Plan:
    tooled = [harness] if has_tools(harness, home, user_home) else []
    hooks = hook_entries([harness], home, user_home, variables)
    entries = (*hooks, *tool_entries(tooled, home, user_home))
    return install.plan_renewal(entries, files_of(harness, home, user_home), home)


def _carried_out(plan: Plan) -> Sequence[Path]:
    report = install.apply(plan)
    return [change.path for change in report.changes if change.verb is not Verb.UNCHANGED]
