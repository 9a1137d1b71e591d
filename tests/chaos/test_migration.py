"""A store that is brought up to date by a process which dies: the next one finds it whole, and goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.stores.sqlite import open_store
from holdfast.stores.sqlite.schema import shipped
from tests.stores.contract import NOON, prompt
from tests.stores.sqlite_files import first_schema

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# Dies in the middle of a step: after so many statements of it, before it is committed.
DIES = """
import os, signal, sys
from pathlib import Path
import apsw
from holdfast.stores.sqlite import database, open_store

left = int(sys.argv[2])
real = apsw.Connection

class Mortal(apsw.Connection):
    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.exec_trace = self.count

    def count(self, cursor, statement, bindings):
        global left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

apsw.Connection = Mortal
store = open_store(Path(sys.argv[1]), Path(sys.argv[1]).parent / "backups", 0)
store.close()
print("lived")
"""


def died(path: Path, statements: int) -> bool:
    """Whether a process that opens the store dies after so many statements."""
    words = [sys.executable, "-c", DIES, str(path), str(statements)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        assert done.stdout == "lived\n"
        return False
    assert done.returncode == -9, done.stderr
    return True


@pytest.mark.parametrize("step", [1, 3, 7, 12, 20, 35, 60, 90])
def test_a_store_survives_the_death_of_whoever_migrates_it(tmp_path: Path, step: int) -> None:
    path = tmp_path / "home" / "store.db"
    first_schema(path, "Fix")
    died(path, step)
    # And once more, from wherever it stands now.
    died(path, step)
    store = open_store(path, tmp_path / "home" / "backups", NOON)
    try:
        assert store.check() == ""
        assert store.events("s1", 10) == [prompt("r1", text="Fix it")]
        assert [each.digest for each in store.checkpoints(10)] == ["Fix it"]
        assert store._database.rows("pragma user_version") == [(shipped()[-1].version,)]
    finally:
        store.close()


def test_a_migration_is_long_enough_to_die_in(tmp_path: Path) -> None:
    path = tmp_path / "home" / "store.db"
    first_schema(path, "Fix")
    assert died(path, 20)
