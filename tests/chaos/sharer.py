"""A machine's sharing thread in a process of its own, so that it can be killed.

Started as `python -m tests.chaos.sharer HOME`. The environment says which hub, and what is shared. It runs
until it is killed.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import uuid
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

from holdfast import config, harnesses
from holdfast.core.events.world import Project
from holdfast.daemon.work.sharing_thread import Sharing, access_of
from holdfast.engine.engine import Engine
from holdfast.settings import Config
from holdfast.stores.sqlite import open_store

QUICK = 0.1


def main(home: Path) -> None:
    logging.basicConfig(filename=home / "sharer.log", level=logging.INFO, format="%(asctime)s %(message)s")
    sharing = Sharing(
        lambda: _engine(home), access_of(home, os.environ), logging.getLogger(), Random(), QUICK
    )
    sharing.begin()
    threading.Event().wait()


@contextmanager
def _engine(home: Path) -> Generator[Engine]:
    def settings(project: Project) -> Config:
        return config.load(home, Path(project.root), project.project_id, os.environ).config

    with closing(open_store(home / "store.db", home / "backups", 0)) as store:
        yield Engine(
            store=store,
            harness=harnesses.get,
            config=settings,
            user_home=home,
            clock=lambda: time.time_ns() // 1_000_000,
            new_id=lambda: str(uuid.uuid4()),
            home=home,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
