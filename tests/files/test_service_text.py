"""The daemon as a service: what each system is told, whatever the paths are called."""

from __future__ import annotations

import plistlib

from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.service_text import MARK, Service, launchd_agent, systemd_unit

SERVICE = Service("/opt/a b/python3", '/home/you/50% "off"/$HOME\\x')

paths = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(lambda name: f"/{name}")


def test_systemd_is_told_what_to_run_and_in_which_home() -> None:
    unit = systemd_unit(SERVICE)
    assert 'ExecStart="/opt/a b/python3" "-P" "-m" "holdfast.daemon"\n' in unit
    assert 'Environment="HOLDFAST_HOME=/home/you/50%% \\"off\\"/$HOME\\\\x"\n' in unit
    assert 'Environment="HOLDFAST_DAEMON_IDLE_EXIT_MINUTES=0"\n' in unit
    assert MARK in unit.splitlines()[0]


def test_a_dollar_in_the_command_names_no_variable() -> None:
    assert 'ExecStart="/opt/$$x/python"' in systemd_unit(Service("/opt/$x/python", "/h"))


@given(paths, paths)
def test_launchd_is_told_the_same(python: str, home: str) -> None:
    text = launchd_agent(Service(python, home))
    agent = plistlib.loads(text.encode())
    assert agent["ProgramArguments"] == [python, "-P", "-m", "holdfast.daemon"]
    assert agent["EnvironmentVariables"]["HOLDFAST_HOME"] == home
    assert MARK in text


@given(paths, paths)
def test_every_line_of_the_unit_stays_one_line(python: str, home: str) -> None:
    lines = systemd_unit(Service(python, home)).split("\n")
    assert len(lines) == len(systemd_unit(SERVICE).split("\n"))
