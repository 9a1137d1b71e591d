"""How long `holdfast why` takes in a large store, and what storing the edits costs.

The sessions are made up: each changes a few files of its own, and one file that many change. Measured are the
processor milliseconds of one more edit in the store, of the history of the common file and of a rare one, and
of the list of all files. The floor is the same rare file in a store with ten sessions.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.events.event import Action
from holdfast.core.events.world import Project
from holdfast.core.evidence.file_edits import FileEdit
from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.views.file_history import edited_files, file_history
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store

FILES_EACH = 20
COMMON = "src/common.py"
EVERY = 10
"""Each of so many sessions changes the common file."""
PROJECT = Project("/home/you/shop", "/home/you/shop", "shop", "shop-main", "/home/you/shop")
DAY = 86_400_000
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Report:
    """Milliseconds, each the median of some rounds."""

    sessions: int
    edits: int
    one_more_edit: float
    common_file: float
    rare_file: float
    floor: float
    all_files: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    report = measured(200 if options.quick else options.sessions)
    if options.json:
        print(json.dumps(asdict(report), indent=2))
        return
    print(f"{report.sessions:,} sessions, {report.edits:,} edits")
    for name in ("one_more_edit", "common_file", "rare_file", "floor", "all_files"):
        print(f"{name.replace('_', ' '):16}{getattr(report, name):8.3f} ms")


def measured(sessions: int) -> Report:
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        small, large = filled(Path(folder, "small"), 10), filled(Path(folder, "large"), sessions)
        rare = f"src/file-{sessions // 2}-3.py"
        extra = [edit(sessions, number) for number in range(ROUNDS)]
        with large.store.writing():
            adding = [taken(partial(add, large.store, [one])) for one in extra]
        return Report(
            sessions,
            sessions * (FILES_EACH + 1) - sessions * (EVERY - 1) // EVERY,
            statistics.median(adding),
            typical(lambda: file_history(large, PROJECT, COMMON)),
            typical(lambda: file_history(large, PROJECT, rare)),
            typical(lambda: file_history(small, PROJECT, "src/file-5-3.py")),
            typical(lambda: edited_files(large, PROJECT, 50)),
        )


def filled(folder: Path, sessions: int) -> Engine:
    store = open_store(folder / "store.db", folder / "backups", 0)
    with store.writing():
        for number in range(sessions):
            key = f"session-{number}"
            store.put_session(Session(key, "claude-code", PROJECT, number * DAY, number * DAY))
            edits = [edit(number, file) for file in range(FILES_EACH)]
            common = replace(edits[0], record="common", path=COMMON)
            add(store, [*edits, common] if number % EVERY == 0 else edits)
    return Engine(
        store=store,
        harness=harnesses.get,
        config=lambda _: Config(),
        user_home=folder,
        clock=lambda: time.time_ns() // 1_000_000,
        new_id=lambda: str(uuid.uuid4()),
    )


def edit(session: int, file: int) -> FileEdit:
    return FileEdit(
        session=f"session-{session}",
        record=f"record-{file}",
        path=f"src/file-{session}-{file}.py",
        project_id=PROJECT.project_id,
        call=f"call-{file}",
        action=Action.EDIT,
        at=session * DAY + file,
        asked=f"Make part {file} of the work faster, and keep its tests",
        asked_at=session * DAY,
        reason=f"Part {file} is slow because it reads the file once for each line.",
        strength=12,
        marks=bytes(range(160)),
        done=True,
    )


def add(store: Store, edits: list[FileEdit]) -> None:
    store.update_file_edits(edits[0].session, edits, "1")


def typical(work: Callable[[], object]) -> float:
    return statistics.median(taken(work) for _ in range(ROUNDS))


def taken(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
