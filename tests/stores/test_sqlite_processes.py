"""Several processes on one store, processes that are killed, and disks that refuse."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.core.events.event import Prompt
from holdfast.stores.base import Redaction
from holdfast.stores.sqlite import SqliteStore
from tests.stores.contract import SESSION, prompt
from tests.stores.sqlite_files import opened

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "tests.stores.processes", *map(str, words)]


def started(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*words),
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def records(store: SqliteStore) -> list[str]:
    return [event.record for event in store.events("s1", 100_000)]


def test_of_processes_that_write_at_once_nothing_is_lost(path: Path) -> None:
    writers = [started("write", path, name, 100) for name in ("ada", "bob", "cyd")]
    for writer in writers:
        _, errors = writer.communicate()
        assert (writer.returncode, errors) == (0, "")
    store = opened(path)
    told = store.session("s1")
    assert told is not None
    assert told.prompt_count == 300
    assert len(records(store)) == 600
    assert store.check() == ""
    store.close()


def test_what_a_killed_process_acknowledged_is_there(path: Path) -> None:
    with started("write", path, "ada", "endless") as writer:
        assert writer.stdout is not None
        for _ in range(50):
            writer.stdout.readline()
        writer.kill()
        acknowledged = 50 + len(writer.stdout.readlines())
    store = opened(path)
    kept = records(store)
    whole = [f"ada {number} {which}" for number in range(len(kept) // 2) for which in ("first", "second")]
    assert kept == whole, "no half transaction"
    assert len(kept) >= 2 * acknowledged
    assert store.check() == ""
    store.close()


def test_what_a_killed_process_had_not_finished_is_not_there(path: Path) -> None:
    with started("stop_halfway", path) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "halfway\n"
        writer.kill()
    assert Path(f"{path}-wal").stat().st_size > 1_000_000, "the half transaction reached the disk"
    store = opened(path)
    assert records(store) == ["whole"]
    assert store.check() == ""
    with store.writing():
        store.add_event(prompt("next"))
    assert records(store) == ["whole", "next"]
    store.close()


def test_a_rewriting_that_is_killed_loses_nothing_and_is_finished_by_the_next(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(SESSION, "2")
        for number in range(100):
            store.add_event(prompt(f"r{number}", text=f"{number} says hunter2"), "1")
    with started("rewrite", path, 8) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        while writer.stdout.readline() != "halfway\n":
            with store.writing():  # someone else goes on writing meanwhile
                store.add_event(prompt(f"new {store.redaction('2').rows}", text="no secret"), "2")
            writer.stdin.write("\n")
            writer.stdin.flush()
        writer.kill()
    assert store.redaction("2") == Redaction(rows=108, stale=65), "the eighth step was cut off"
    for data, redactor in store._database.rows("select data, redactor from messages"):
        assert ("hunter2" in data) is (redactor == "1"), "a row and its mark are one"
    last = subprocess.run(
        command("rewrite", path, "all"), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert sum(map(int, last.stdout.split())) == 65, "what was done is not done again"
    assert store.redaction("2") == Redaction(rows=108, stale=0)
    texts = [event.text for event in store.events("s1", 1_000) if isinstance(event, Prompt)]
    assert sorted(texts) == sorted([f"{number} says [gone]" for number in range(100)] + ["no secret"] * 7)
    assert store.check() == ""
    store.close()


def test_opening_a_store_again_does_not_let_go_of_it(path: Path) -> None:
    store = opened(path)
    if not locks(path):
        pytest.skip("the system does not say which files are locked")
    opened(path).close()
    assert locks(path)
    store.close()


def locks(path: Path) -> list[str]:
    """The locks that processes hold on a file, as Linux tells them."""
    table = Path("/proc/locks")
    lines = table.read_text().splitlines() if table.exists() else []
    return [line for line in lines if f":{path.stat().st_ino} " in line]


def test_of_those_who_migrate_a_store_at_once_one_does(path: Path, backups: Path) -> None:
    opened(path).close()
    with ThreadPoolExecutor(4) as at_once:
        stores = list(at_once.map(lambda _: opened(path, "create table one (a)"), range(4)))
    assert len(list(backups.iterdir())) == 1
    for store in stores:
        store.close()


# Disks


def on_a_disk(directory: Path, options: str, script: str) -> str:
    """What a script prints in a namespace of its own, where the directory is a small disk in memory."""
    directory.mkdir()
    mount = f'mount -t tmpfs -o {options} tmpfs "$0"'
    namespace = ["unshare", "--mount", "--map-root-user"] if os.geteuid() else ["unshare", "--mount"]
    try:
        subprocess.run([*namespace, "sh", "-ec", mount, str(directory)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    done = subprocess.run(
        [*namespace, "sh", "-ec", f"{mount}\n{script}", str(directory), *command()],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_a_full_disk_is_said_to_be_so_and_loses_nothing(path: Path) -> None:
    said = on_a_disk(
        path.parent,
        "size=2m,mode=700",
        'head -c 1m /dev/zero > "$0/ballast"; "$@" fill "$0/store.db"',
    )
    assert said.splitlines() == [
        f"StoreError: the disk that holds the store at `{path}` is full",
        "hint: make room on it; what was acknowledged before is kept",
        "first last 2 sound",
    ]


@pytest.mark.parametrize("before", [":", '"$@" write "$0/store.db" a 1 > /dev/null'])
def test_a_disk_that_is_full_from_the_start_is_said_to_be_so(path: Path, before: str) -> None:
    said = on_a_disk(
        path.parent,
        "size=1m,mode=700",
        f'{before}; head -c 1m /dev/zero 2> /dev/null > "$0/ballast" || true; "$@" try_to_open "$0/store.db"',
    )
    assert said.splitlines()[0] == f"StoreError: the disk that holds the store at `{path}` is full"


def test_a_read_only_disk_is_said_to_be_so(path: Path) -> None:
    said = on_a_disk(
        path.parent,
        "size=2m,mode=700",
        '"$@" write "$0/store.db" a 1 > /dev/null; mount -o remount,bind,ro "$0"; '
        '"$@" try_to_open "$0/store.db"',
    )
    message, hint = said.splitlines()
    assert message.startswith(f"StoreError: the store at `{path}` cannot be opened for writing: ")
    assert hint == "hint: look at the permissions of the file and its directory; the disk may be read-only"


def test_a_read_only_disk_without_a_store_is_said_to_be_so(path: Path) -> None:
    said = on_a_disk(
        path.parent, "size=2m,mode=700", 'mount -o remount,bind,ro "$0"; "$@" try_to_open "$0/store.db"'
    )
    message = f"StoreError: the store at `{path}` cannot be opened for writing: Read-only file system"
    assert said.splitlines()[0] == message
