"""Connections: whether each harness is installed, supported, and connected as setup left it.

Part of `doctor`. Nothing is fixed here, and nothing in a harness's files is changed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from holdfast import harnesses
from holdfast.core.events.install_request import WantedCopy
from holdfast.core.text import json_spans
from holdfast.engine.health.doctor import CheckResult, Mend, absent, fine, wrong
from holdfast.engine.health.round_trip import trial_reason
from holdfast.errors import HoldfastError, ManifestUnreadable
from holdfast.files import install, memory_files
from holdfast.files.install import EditedFile, Verb, read_manifest
from holdfast.harnesses.base import Harness, Pluggable, Searching

VERSION_TIME = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def check_setup(home: Path, plugged: Sequence[Harness] = ()) -> CheckResult:
    """Check that setup was run and its changes are on record, or that harnesses have the plugin."""
    try:
        edited = read_manifest(home).edited
    except ManifestUnreadable as error:
        return wrong("setup", error.message, error.hint)
    if not edited and plugged:
        titles = ", ".join(harness.title for harness in plugged)
        return fine("setup", f"not run, and not needed by {titles}: there it is a plugin")
    if not edited:
        return wrong("setup", "no harness is connected", "run `holdfast setup`")
    return fine("setup", "done for " + ", ".join(str(record.path) for record in edited))


def program_of(harness: Harness, search_path: str) -> str:
    """The path of a harness's program; empty if it is not on the search path."""
    return shutil.which(harness.program, path=search_path) or ""


def not_installed(harness: Harness) -> CheckResult:
    """The finding about a harness whose program is not there."""
    return absent(f"version of {harness.name}", f"not installed: no `{harness.program}` on the search path")


def check_version(harness: Harness, program: str) -> CheckResult:
    """Report the version of this program of a harness, and the one that its formats were recorded with."""
    check, recorded = f"version of {harness.name}", f"recorded with {harness.recorded_with}"
    version = _version_of(program)
    if not version:
        return fine(check, f"`{program}` does not tell it; {recorded}")
    if _numbers(version) > _numbers(harness.recorded_with):
        return fine(check, f"{version}, later than what it was {recorded}: news in it may be passed over")
    return fine(check, f"{version}, {recorded}")


def check_hooks(home: Path, harness: Harness, command: str, user_home: Path) -> CheckResult:
    """Check that the harness's files still have what setup would write today, with this command line."""
    entries = harness.hook_entries(command, user_home)
    records = _records(home, harness)
    scope = "--project " if records and all(record.project for record in records) else ""
    check, fix = f"hooks of {harness.name}", f"run `holdfast setup {scope}{harness.name}`"
    if not records and has_plugin(harness, user_home):
        return fine(check, "its plugin has them")
    if not records:
        return absent(check, f"not connected: `holdfast setup {harness.name}` connects it")
    if places := _elsewhere(home, harness, user_home):
        return fine(check, f"in {', '.join(map(str, places))}, which a variable named when setup was run")
    files = {Path(one.file): _texts_in(Path(one.file)) for one in entries}
    for file, texts in files.items():
        missing = [one for one in entries if Path(one.file) == file and one.identity not in texts]
        if missing and any(installed(home, harness) == text for text in texts):
            return wrong(check, f"{file} has the command line of another installation", fix, Mend.SETUP)
        if missing:
            return wrong(check, f"{len(missing)} of our entries are gone from {file}", fix, Mend.SETUP)
    return fine(check, "in " + ", ".join(map(str, files)))


def _elsewhere(home: Path, harness: Harness, user_home: Path) -> list[Path]:
    """The files with the hooks of a harness that a variable moved, if this process has no such variable.

    Empty if they are where it looks, or if the hooks are gone from them. The daemon has few variables.
    """
    command = installed(home, harness)
    here = {Path(entry.file) for entry in harness.hook_entries(command, user_home)}
    unmoved = harnesses.get(harness.name).hook_entries(command, user_home)
    files = [record.path for record in _records(home, harness)]
    if here != {Path(entry.file) for entry in unmoved} or not here.isdisjoint(files):
        return []
    return files if all(command in _texts_in(file) for file in files) else []


def check_files(home: Path, of: str, requested: Sequence[WantedCopy], fix: str) -> CheckResult:
    """Check that the files that setup installed are those that it would install today.

    One that the user changed is theirs: it is a problem only if Holdfast has a newer version.
    """
    check = f"files of {of}"
    try:
        copies = install.plan_copies(requested, home)
    except HoldfastError as error:
        return wrong(check, error.message, error.hint)
    old = [one.file.path for one in copies if one.file.verb is not Verb.UNCHANGED]
    if old:
        more = f" and {len(old) - 1} more" if len(old) > 1 else ""
        return wrong(check, f"gone, or not of this version: {old[0]}{more}", fix, Mend.SETUP)
    changed = [one for one in copies if one.left and one.record]
    behind = [one.file.path for one in changed if one.behind]
    if behind:
        detail = f"{behind[0]} was changed by hand, and Holdfast has a newer version"
        return wrong(check, detail, f"move it away, {fix}, and put in again what you need")
    if changed:
        return fine(check, f"{changed[0].file.path} was changed by hand, and is left alone")
    return fine(check, "as this version has them")


def check_hurdle(harness: Harness, user_home: Path, command: str) -> CheckResult:
    """Check that nothing keeps the harness from calling its configured hooks."""
    check = f"trust of {harness.name}"
    blocker = harness.setup_blocker(user_home, command)
    return wrong(check, blocker.reason, blocker.remedy) if blocker else fine(check, "its hooks may run")


def check_search(harness: Harness, user_home: Path, root: Path) -> CheckResult | None:
    """Whether the harness indexes this project's memory files too; None if it never does."""
    if not isinstance(harness, Searching):
        return None
    searched = harness.memory_search_paths(user_home)
    both = [
        str(root / state.path)
        for state in memory_files.states(root)
        if _is_below(root / state.path, searched)
    ]
    if not both:
        return fine(
            f"memory of {harness.name}", "its own search and `holdfast recall` look at different files"
        )
    more = f" and {len(both) - 1} more" if len(both) > 1 else ""
    detail = f"its own search looks at {both[0]}{more}, as `holdfast recall` does: agents may be told twice"
    return fine(f"memory of {harness.name}", detail)


def _is_below(file: Path, places: Iterable[Path]) -> bool:
    return any(file == place or place in file.parents for place in places)


def check_interpreters(home: Path, harness: Harness) -> CheckResult:
    """Check that the Python interpreters of the hook and the daemon exist."""
    check = f"interpreter for {harness.name}"
    hooks, note = shlex.split(installed(home, harness))[0], home / "bin" / "interpreter"
    daemons = note.read_text(encoding="utf-8").strip() if note.is_file() else ""
    missing = [path for path in (hooks, daemons or str(note)) if not _is_program(Path(path))]
    if missing:
        return wrong(check, f"no Python at `{missing[0]}`", "run `holdfast setup` again", Mend.SETUP)
    return fine(check, f"the hook runs with {hooks}, the daemon with {daemons}")


def check_skipped(skipped: Mapping[str, int], every: Iterable[Harness]) -> CheckResult:
    """Report unreadable records by reason; for information only, since a harness may add new formats."""
    trial_reasons = {trial_reason(harness) for harness in every}
    listed = [
        f"{reason} ({times})" for reason, times in sorted(skipped.items()) if reason not in trial_reasons
    ]
    return fine("skipped", "could not be read: " + ", ".join(listed) if listed else "everything was read")


def installed(home: Path, harness: Harness) -> str:
    """The command line that setup installed in this harness; empty if there is none."""
    identities = [placed.identity for record in _records(home, harness) for placed in record.placed]
    return identities[0] if identities else ""


def has_plugin(harness: Harness, user_home: Path) -> bool:
    """Whether the harness has Holdfast as a plugin."""
    return isinstance(harness, Pluggable) and harness.has_plugin(user_home)


def is_connected(home: Path, harness: Harness, user_home: Path) -> bool:
    """Whether the harness calls Holdfast's hooks, from its settings or its plugin."""
    return bool(installed(home, harness)) or has_plugin(harness, user_home)


def is_for_user(home: Path, harness: Harness) -> bool:
    """Whether setup was run for this harness in all projects."""
    return any(record.project is None for record in _records(home, harness))


def projects(home: Path, harness: Harness) -> tuple[Path, ...]:
    """The roots of the projects in whose settings for this harness setup installed Holdfast."""
    return tuple(
        dict.fromkeys(record.project for record in _records(home, harness) if record.project is not None)
    )


def _records(home: Path, harness: Harness) -> list[EditedFile]:
    """The settings files with Holdfast's command for this harness, as far as they are on record."""
    try:
        edited = read_manifest(home).edited
    except ManifestUnreadable:
        return []
    return [record for record in edited if any(f" {harness.name} " in one.identity for one in record.placed)]


def _texts_in(file: Path) -> set[str]:
    """Every string in a settings file; none if it is gone or cannot be read."""
    decode = tomllib.loads if file.suffix == ".toml" else json_spans.read
    try:
        return set(_texts(decode(file.read_text(encoding="utf-8-sig"))))
    except (OSError, ValueError, RecursionError):
        return set()


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in cast("list[object]", value):
                yield from _texts(each)
        case dict():
            for each in cast("dict[str, object]", value).values():
                yield from _texts(each)
        case _:
            pass


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _version_of(program: str) -> str:
    """The version that a program reports; empty if it does not."""
    try:
        completed = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_TIME,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _VERSION.search(completed.stdout.decode(errors="replace"))
    return match[0] if match else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
