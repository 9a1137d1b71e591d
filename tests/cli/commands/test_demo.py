"""The demo shows the main job from a recording, says only what it computed, and leaves nothing behind."""

from __future__ import annotations

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from holdfast.cli.commands.demo import tell
from holdfast.cli.demo_session.recording import HOME, Fact, Replayed, read
from holdfast.cli.demo_session.recording import replay as play

HEADS = (
    "1. What happened",
    "2. What Holdfast kept",
    "3. The window dies",
    "4. What the agent is given back",
)
COMMAND = (sys.executable, "-m", "holdfast.cli", "demo")
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    home = tmp_path_factory.mktemp("home").resolve()
    return play(read(home), home)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A person whose home and temporary directory are empty, so that whatever is left behind shows."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    return {
        "HOME": str(tmp_path / "home"),
        "HOLDFAST_HOME": str(tmp_path / "home" / "kept"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "TERM": "xterm",
    }


def run(environment: Mapping[str, str], *options: str) -> str:
    done = subprocess.run(
        [*COMMAND, *options],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def printed(replayed: Replayed) -> str:
    said = io.StringIO()
    tell(Console(file=said, width=80), replayed)
    return said.getvalue()


def quoted(text: str, head: str) -> str:
    """What stands behind the bar in one section, its lines joined."""
    section = text.partition(head)[2].partition("\n\n")[0]
    lines = [line.strip() for line in section.splitlines()]
    return " ".join(line.removeprefix("|").strip() for line in lines if line.startswith("|"))


def test_without_a_terminal_it_tells_every_section_and_leaves(environment: Mapping[str, str]) -> None:
    said = run(environment)
    places = [said.index(head) for head in HEADS]
    assert places == sorted(places)
    assert "holdfast setup claude-code" in said
    assert "\x1b" not in said
    assert "Ctrl-C" not in said


def test_it_leaves_no_file(environment: Mapping[str, str]) -> None:
    run(environment)
    assert left_behind(environment) == []


def test_it_reads_nothing_of_the_user(environment: Mapping[str, str]) -> None:
    settings = Path(environment["HOLDFAST_HOME"]) / "config.toml"
    settings.parent.mkdir()
    settings.write_text("[continuity]\nenabled = false\n", encoding="utf-8")
    assert "Just compacted." in run(environment)


def test_json_is_one_document_that_says_the_same(environment: Mapping[str, str], replayed: Replayed) -> None:
    document: dict[str, Any] = json.loads(run(environment, "--json"))
    assert document["brief"]["text"] == replayed.brief.text
    assert document["brief"]["characters"] == len(replayed.brief.text) <= document["brief"]["budget"]
    assert [fact["in_brief"] for fact in document["facts"]] == [fact.in_brief for fact in replayed.facts]
    assert document["checkpoint"].startswith("## Session Checkpoint\nProject: /home/you/orders\n")


def test_the_recorded_work_is_captured_once(replayed: Replayed) -> None:
    assert len(replayed.prompts) == len(set(replayed.prompts)) == 3
    assert replayed.tool_calls == 12


def test_every_fact_is_in_the_brief(replayed: Replayed) -> None:
    assert [fact.name for fact in replayed.facts if not fact.in_brief] == []


def test_what_is_said_to_be_lost_is_not_in_what_was_left(replayed: Replayed, tmp_path: Path) -> None:
    signs = {fact.name: fact.signs for fact in read(tmp_path).story.facts}
    window = f"{replayed.summary} {replayed.last_message}".lower()
    lost = [fact for fact in replayed.facts if not fact.left]
    assert 0 < len(lost) < len(replayed.facts)
    for fact in lost:
        assert any(sign.lower() not in window for sign in signs[fact.name])


def test_the_brief_and_the_checkpoint_are_reported_word_for_word(replayed: Replayed) -> None:
    said = printed(replayed)
    # The texts have empty lines with a bar of their own, so that a section ends at the first without.
    assert quoted(said, HEADS[1]).split() == replayed.checkpoint.split()
    assert quoted(said, HEADS[3]).split() == replayed.brief.text.split()


def test_it_says_what_was_found_and_not_what_was_hoped_for(replayed: Replayed) -> None:
    missing = tuple(replace(fact, left=True, in_brief=False) for fact in replayed.facts)
    said = printed(replace(replayed, facts=missing))
    assert "the agent has lost 0:\n   kept    " in said
    assert "the brief holds 0:\n   MISSING " in said


def test_it_fits_80_columns(replayed: Replayed) -> None:
    assert [line for line in printed(replayed).splitlines() if len(line) > 80] == []


def test_help_has_an_example(environment: Mapping[str, str]) -> None:
    assert "holdfast demo --json" in run(environment, "--help")


FACT = Fact("name", "text", ("one sign", "the other"))


@pytest.mark.parametrize("text", ["one sign and the other", "The Other, and ONE\n   SIGN"])
def test_a_fact_is_present_where_all_its_signs_are(text: str) -> None:
    assert FACT.is_in(text)


@pytest.mark.parametrize("text", ["", "one sign", "the other one", "one, sign, the other"])
def test_a_fact_is_missing_where_a_sign_is_missing(text: str) -> None:
    assert not FACT.is_in(text)


# ---------------------------------------------------------------- the recording


def recorded() -> dict[str, str]:
    folder = resources.files("holdfast.cli.demo_session")
    files = [entry for entry in folder.iterdir() if entry.name.endswith((".json", ".jsonl"))]
    return {entry.name: entry.read_text(encoding="utf-8") for entry in files}


def test_the_recording_is_small() -> None:
    assert sorted(recorded()) == ["hook_events.jsonl", "story.json", "transcript.jsonl"]
    assert sum(len(text.encode()) for text in recorded().values()) < 60_000


@pytest.mark.parametrize(
    "trace",
    [
        rf"/home/(?!{HOME.rpartition('/')[2]}\b)",
        r"(?<![\w.~/-])/(?:root|tmp|var|usr|opt|Users|private|mnt|srv)/",
        r"[\w.+-]+@[\w-]+\.\w+",
        r'"(?:version|hostname|user|email|gitBranch|userType)":',
        r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
    ],
)
def test_the_recording_knows_no_machine_and_no_person(trace: str) -> None:
    found = {name: re.findall(rf".{{0,20}}(?:{trace})", text) for name, text in recorded().items()}
    assert {name: match for name, match in found.items() if match} == {}


# ---------------------------------------------------------------- on a terminal

ON_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal the process's own, so that a Ctrl-C typed there is a signal to it."""


class Terminal:
    """The person's end of a terminal, and the demo at the other."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.master = master
        self.screen = b""

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def read_until(self, words: bytes) -> None:
        while words not in self.screen:
            ready, _, _ = select.select([self.master], [], [], LIMIT_S)
            assert ready, f"it says no more than: {self.screen!r}"
            self.screen += os.read(self.master, 65536)


@contextmanager
def terminal(environment: Mapping[str, str]) -> Iterator[Terminal]:
    master, slave = os.openpty()
    command = [sys.executable, "-c", ON_TERMINAL, *COMMAND]
    process = subprocess.Popen(
        command, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(LIMIT_S)
        os.close(master)


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda here: here.type(b"\x03"), id="Ctrl-C"),
        pytest.param(lambda here: here.process.send_signal(signal.SIGTERM), id="SIGTERM"),
        pytest.param(lambda here: here.process.send_signal(signal.SIGHUP), id="SIGHUP"),
    ],
)
def test_on_a_terminal_it_stays_up_until_it_is_told_to_leave(
    environment: Mapping[str, str], leave: Callable[[Terminal], None]
) -> None:
    with terminal(environment) as here:
        here.read_until(b"Press Ctrl-C to leave.")
        assert here.process.poll() is None
        (home,) = left_behind(environment)
        assert home.encode() in here.screen.replace(b"\r\n", b"")
        leave(here)
        assert here.process.wait(LIMIT_S) == 0
        assert no_process_of(here.process.pid)
    assert left_behind(environment) == []


def left_behind(environment: Mapping[str, str]) -> list[str]:
    return [str(path) for name in ("TMPDIR", "HOME") for path in Path(environment[name]).iterdir()]


def no_process_of(group: int) -> bool:
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return False
    return True
