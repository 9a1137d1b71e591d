"""The daemon with its store in PostgreSQL: what hooks report is there, also after the server was away."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from holdfast import hook
from holdfast.core.session.session import Session
from holdfast.daemon.local import client
from holdfast.engine.home_store import open_home_store
from tests.daemon.conftest import LIMIT_S, Lodging, wait_until
from tests.postgres.server import Server


@pytest.fixture
def lodging(tmp_path: Path) -> Iterator[Lodging]:
    lodging = Lodging(tmp_path)
    (lodging.home / "bin").mkdir()
    shutil.copyfile(hook.__file__, lodging.home / "bin/hook.py")
    yield lodging
    lodging.adopt()
    lodging.end()


def prompt(text: str) -> str:
    return json.dumps({"session_id": "s1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": text})


def on(url: str, home: Path) -> dict[str, str]:
    return {"HOLDFAST_STORE_URL": url, "HOLDFAST_HOME": str(home), "HOME": str(home.parent)}


def stored(lodging: Lodging, url: str) -> Session | None:
    with closing(open_home_store(lodging.home, 0, on(url, lodging.home))) as store:
        return store.session("s1")


def prompts_stored(lodging: Lodging, url: str) -> int:
    session = stored(lodging, url)
    return session.prompts_known if session else 0


def run_hook(lodging: Lodging, url: str, text: str) -> subprocess.CompletedProcess[bytes]:
    """A hook as a harness calls it."""
    command = hook.command(sys.executable, str(lodging.home / "bin/hook.py"), "claude-code", (), ())
    return subprocess.run(
        shlex.split(command.removesuffix(" 2>/dev/null || :")),
        input=prompt(text).encode(),
        env={"PATH": os.environ["PATH"], **on(url, lodging.home)},
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
    )


def spooled(lodging: Lodging) -> int:
    return len(list((lodging.home / "spool").glob(f"*{hook.SPOOLED}")))


def test_a_daemon_keeps_what_hooks_report_in_the_database(lodging: Lodging, database: str) -> None:
    daemon = lodging.start(HOLDFAST_STORE_URL=database)
    assert lodging.payload(prompt("Fix the parser"), "1") is not None
    assert prompts_stored(lodging, database) == 1
    assert not (lodging.home / "store.db").exists()
    daemon.kill()
    daemon.wait(LIMIT_S)
    lodging.start(HOLDFAST_STORE_URL=database)
    assert lodging.payload(prompt("Add a test"), "2") is not None
    assert prompts_stored(lodging, database) == 2


def test_nothing_is_lost_while_the_server_is_away(
    lodging: Lodging, own_postgres: Callable[..., Server]
) -> None:
    server = own_postgres()
    url = server.address.url("postgres")
    lodging.start(HOLDFAST_STORE_URL=url)
    assert run_hook(lodging, url, "before").returncode == 0
    server.stop(signal.SIGQUIT)
    for number in range(3):
        done = run_hook(lodging, url, f"away {number}")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert spooled(lodging) == 3
    assert client.is_up(lodging.home), "the daemon waits for the server"
    server.start()
    wait_until(lambda: spooled(lodging) == 0)
    assert prompts_stored(lodging, url) == 4


def test_a_server_that_hangs_holds_up_no_hook(lodging: Lodging, database: str) -> None:
    lodging.start(HOLDFAST_STORE_URL=database)
    assert lodging.payload(prompt("before"), "1") is not None
    with psycopg.connect(database) as connection:
        others = (
            "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        pids = [int(pid) for (pid,) in connection.execute(others)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        done = run_hook(lodging, database, "meanwhile")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert spooled(lodging) == 1
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    wait_until(lambda: spooled(lodging) == 0)
    assert prompts_stored(lodging, database) == 2


def test_a_daemon_that_finds_no_server_leaves_everything_in_the_spool(
    lodging: Lodging, own_postgres: Callable[..., Server]
) -> None:
    server = own_postgres()
    url = server.address.url("postgres")
    server.stop()
    daemon = lodging.launch(HOLDFAST_STORE_URL=url)
    assert daemon.wait(LIMIT_S) == 1
    done = run_hook(lodging, url, "away")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert spooled(lodging) == 1
    assert "does not answer" in (lodging.home / hook.REFUSED).read_text()
    assert not (lodging.home / "store.db").exists()
    server.start()
    lodging.start(HOLDFAST_STORE_URL=url)
    wait_until(lambda: spooled(lodging) == 0)
    assert prompts_stored(lodging, url) == 1


def test_a_password_in_the_url_is_refused_and_not_repeated(lodging: Lodging) -> None:
    (lodging.home / "config.toml").write_text('[store]\nurl = "postgresql://me:hunter2@127.0.0.1/mine"\n')
    daemon = lodging.launch()
    assert daemon.wait(LIMIT_S) == 1
    refusal = (lodging.home / hook.REFUSED).read_text()
    assert "the URL of the database holds a password" in refusal
    assert "hunter2" not in refusal + lodging.log()


def test_a_daemon_whose_settings_name_another_store_hands_over(lodging: Lodging, database: str) -> None:
    lodging.start()
    assert lodging.payload(prompt("in the file"), "1") is not None
    (lodging.home / "config.toml").write_text(f'[store]\nurl = "{database}"\n')
    wait_until(lambda: "the settings name another store" in lodging.log())
    wait_until(lambda: lodging.log().count("listening at") == 2)
    assert lodging.payload(prompt("in the database"), "2") is not None
    assert prompts_stored(lodging, database) == 1
