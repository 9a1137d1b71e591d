"""The launcher of a plugin, run as a harness runs it: it finds Holdfast, or says that it is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import pytest

from holdfast import hook, relay
from holdfast.harnesses.plugin_folder import MISSING, Launcher

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
SET_UP = "__import__('hook').main(p)"


@dataclass(frozen=True, slots=True)
class Machine:
    """Someone's machine with a plugin on it."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / ".holdfast"

    @property
    def data(self) -> Path:
        return self.root / "plugin" / "data"

    def run(self, *words: str, given: str = "{}", more: Mapping[str, str] | None = None) -> str:
        """What the launcher prints; it always ends well, and says nothing else."""
        environment = {"HOME": str(self.root), "PATH": f"{self.root / 'bin'}:{os.defpath}", **(more or {})}
        launcher = str(self.root / "plugin" / "holdfast.sh")
        done = subprocess.run(
            ["/bin/sh", launcher, *words],
            input=given,
            env=environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def speak(self, *messages: Mapping[str, object], more: Mapping[str, str] | None = None) -> list[Any]:
        """The answers to these messages of MCP."""
        given = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        return [json.loads(line) for line in self.run("relay", given=given, more=more).splitlines()]

    def install_package(self, command: str) -> None:
        """Put a `holdfast` on the search path that does this."""
        program = self.root / "bin" / "holdfast"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{command}\n")
        program.chmod(0o755)

    def install_programs(self) -> None:
        """Put into the home what setup puts there, with a hook that prints what it was called with."""
        folder = self.home / "bin"
        folder.mkdir(parents=True)
        (folder / "hook.py").write_text("import sys\ndef main(path): print(path, *sys.argv[1:], sep='|')\n")
        (folder / "relay.py").write_text("import sys\nprint('relay', *sys.argv[1:])\n")
        (folder / "interpreter").write_text(f"{sys.executable}\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    root = tmp_path / "ann's home"
    launcher = Launcher(
        harness="alpha",
        hook_variables=("ALPHA_PID", "ALPHA_SESSION_ID"),
        quiet_events=("Stop",),
        data='"$HOME/plugin/data"',
        hook_settings=('"$HOME/settings.json"', '"$HOME/none.json"'),
        tool_settings=('"$HOME/servers.json"',),
    ).file(PurePath("plugin"))
    file = root / launcher.file
    file.parent.mkdir(parents=True)
    file.write_bytes(launcher.content)
    return Machine(root)


def test_it_runs_the_hook_of_the_home(machine: Machine) -> None:
    machine.install_programs()
    hook_file = machine.home / "bin" / "hook.py"
    assert machine.run("hook", "17") == f"{hook_file}|alpha|ALPHA_PID,ALPHA_SESSION_ID|Stop|17\n"


def test_it_runs_the_relay_of_the_home(machine: Machine) -> None:
    machine.install_programs()
    assert machine.run("relay") == "relay alpha ALPHA_SESSION_ID\n"


def test_another_home_is_found_by_its_variable(machine: Machine) -> None:
    machine.install_programs()
    machine.home.rename(machine.root / "elsewhere")
    more = {"HOLDFAST_HOME": str(machine.root / "elsewhere")}
    assert machine.run("relay", more=more) == "relay alpha ALPHA_SESSION_ID\n"


def test_the_hook_that_comes_with_the_package_takes_these_arguments(machine: Machine) -> None:
    machine.install_programs()
    for module in (hook, relay):
        source = Path(str(module.__file__))
        (machine.home / "bin" / source.name).write_bytes(source.read_bytes())
    (machine.home / "bin" / "interpreter").write_text(f"{sys.executable}\n")
    payload = json.dumps({"hook_event_name": "Stop", "session_id": "s1"})
    # With a note that leads nowhere no daemon answers; one that cannot be started does not hurt.
    machine.run("hook", given=payload, more={"ALPHA_SESSION_ID": "s1", "HOLDFAST_DISABLE": "0"})
    (spooled,) = (machine.home / "spool").glob("*.event")
    assert b"\nharness: alpha\n" in spooled.read_bytes()
    assert b"\nenv.ALPHA_SESSION_ID: s1\n" in spooled.read_bytes()


def test_an_installed_package_is_made_ready_once(machine: Machine) -> None:
    machine.install_programs()
    made = machine.root / "made"
    machine.home.rename(made)
    machine.install_package(f'echo "$@" >>"$HOME/calls"; cp -r "{made}" "$HOME/.holdfast"')
    assert machine.run("relay") == "relay alpha ALPHA_SESSION_ID\n"
    assert machine.run("relay") == "relay alpha ALPHA_SESSION_ID\n"
    assert (machine.root / "calls").read_text() == "plugin --prepare\n"


def test_an_environment_that_is_gone_counts_as_not_installed(machine: Machine) -> None:
    machine.install_programs()
    (machine.home / "bin" / "interpreter").write_text("/gone/bin/python\n")
    assert json.loads(machine.run("hook")) == {"systemMessage": MISSING}


@pytest.mark.parametrize("package", ["", "exit 1", "exit 0"])
def test_that_it_is_missing_is_said_once(machine: Machine, package: str) -> None:
    if package:
        machine.install_package(package)
    assert json.loads(machine.run("hook")) == {"systemMessage": MISSING}
    assert machine.run("hook") == ""
    assert not machine.home.exists()


def test_where_nothing_can_be_noted_nothing_is_said(machine: Machine) -> None:
    machine.data.write_text("a file in the way")
    assert machine.run("hook") == ""


def test_without_the_package_there_is_a_server_without_tools(machine: Machine) -> None:
    answers = machine.speak(
        {"id": "probe-1", "method": "server/discover"},
        {"id": 0, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
    )
    assert [answer["id"] for answer in answers] == ["probe-1", 0, 1]
    assert answers[1]["result"] == {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "serverInfo": {"name": "holdfast", "version": "off"},
    }
    assert [answer["error"]["code"] for answer in (answers[0], answers[2])] == [-32601, -32601]


@pytest.mark.parametrize("variable", ["HOLDFAST_DISABLE", "HOLDFAST_INTERNAL"])
def test_turned_off_it_does_nothing(machine: Machine, variable: str) -> None:
    machine.install_programs()
    assert machine.run("hook", more={variable: "1"}) == ""
    (answer,) = machine.speak({"id": 0, "method": "initialize", "params": INITIALIZE}, more={variable: "1"})
    assert answer["result"]["capabilities"] == {}


def test_where_setup_installed_hooks_the_plugin_has_none(machine: Machine) -> None:
    machine.install_programs()
    (machine.root / "settings.json").write_text(json.dumps({"hooks": [f"python -c {SET_UP} 'x'"]}))
    assert machine.run("hook") == ""
    assert machine.run("relay") == "relay alpha ALPHA_SESSION_ID\n"


@pytest.mark.parametrize("indent", [None, 2])
def test_where_setup_installed_the_server_the_plugin_has_no_tools(machine: Machine, indent: int) -> None:
    machine.install_programs()
    args = ["-I", "-S", "/home/you there/.holdfast/bin/relay.py", "alpha"]
    (machine.root / "servers.json").write_text(
        json.dumps({"mcpServers": {"holdfast": {"args": args}}}, indent=indent)
    )
    (answer,) = machine.speak({"id": 0, "method": "initialize", "params": INITIALIZE})
    assert answer["result"]["capabilities"] == {}
    assert machine.run("hook").count("|alpha|") == 1


def test_a_file_that_only_speaks_of_it_does_not_count(machine: Machine) -> None:
    machine.install_programs()
    (machine.root / "servers.json").write_text(json.dumps({"history": ["what is in src/bin/relay.py"]}))
    assert machine.run("relay") == "relay alpha ALPHA_SESSION_ID\n"
