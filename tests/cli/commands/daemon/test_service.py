"""The service is installed, shown and removed; what the system does not let us do is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.daemon.local import client
from holdfast.engine.liveness import lock_holder
from tests.cli.conftest import Person
from tests.daemon.conftest import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is on Linux")


def unit(person: Person) -> Path:
    return person.user_home / ".config" / "systemd" / "user" / "holdfast.service"


def systemctl(person: Person, body: str) -> Path:
    """A systemctl that notes what it was told."""
    told = person.root / "told"
    program = person.root / "bin" / "systemctl"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$@" >> {told}\n{body}\n')
    program.chmod(0o755)
    return told


def test_it_is_written_and_started_and_taken_away_again(person: Person) -> None:
    told = systemctl(person, "exit 0")
    assert person.types("service", "install").status == 0
    assert f'Environment="HOLDFAST_HOME={person.home}"' in unit(person).read_text()
    assert told.read_text().splitlines() == ["--user daemon-reload", "--user enable --now holdfast.service"]
    assert "installed" in person.types("service", "status").out
    assert person.types("service", "remove").status == 0
    assert told.read_text().splitlines()[-1] == "--user disable --now holdfast.service"
    assert not unit(person).exists()
    assert "there is no service" in person.types("service", "status").out


def test_what_the_unit_starts_is_the_daemon_of_this_home_and_stays(person: Person) -> None:
    person.types("service", "install")
    lines = unit(person).read_text().splitlines()
    words = next(line for line in lines if line.startswith("ExecStart=")).removeprefix("ExecStart=")
    variables = [line.removeprefix("Environment=").strip('"') for line in lines if "Environment=" in line]
    environment = dict(variable.split("=", 1) for variable in variables)
    daemon = subprocess.Popen(["/bin/sh", "-c", f"exec {words}"], env=environment, cwd="/")
    try:
        # A daemon that `up` started beside a slow one would be another.
        wait_until(lambda: lock_holder(person.home) == daemon.pid and client.is_up(person.home))
        assert person.types("status", "--json").json["pid"] == daemon.pid
        assert person.types("down").status == 0
    finally:
        daemon.kill()
        daemon.wait()


def test_where_it_cannot_be_started_it_says_what_to_run(person: Person) -> None:
    systemctl(person, 'echo "Failed to connect to bus" >&2; exit 1')
    done = person.types("service", "install")
    assert done.status == 0
    assert "note: Failed to connect to bus" in done.err
    assert "systemctl --user enable --now holdfast.service" in done.err
    assert unit(person).exists()


def test_without_systemctl_it_is_written_all_the_same(person: Person) -> None:
    done = person.types("service", "install")
    assert "there is no `systemctl` here" in done.err
    assert person.types("service", "remove").status == 0
    assert not unit(person).exists()


def test_a_unit_of_that_name_that_is_not_ours_stays(person: Person) -> None:
    unit(person).parent.mkdir(parents=True)
    unit(person).write_text("[Unit]\n")
    for verb in ("install", "remove"):
        refused = person.types("service", verb)
        assert refused.status == 1
        assert "it is not ours" in refused.err
    assert unit(person).read_text() == "[Unit]\n"


def test_a_dry_run_writes_nothing(person: Person) -> None:
    shown = person.types("service", "install", "--dry-run")
    assert shown.status == 0
    assert "[Service]" in shown.out
    assert not unit(person).exists()


def test_a_running_daemon_gives_way_to_it(person: Person) -> None:
    systemctl(person, "exit 0")
    person.types("up")
    done = person.types("service", "install")
    assert "the daemon is down" in done.err
    assert person.types("status", "--json").json["running"] is False
