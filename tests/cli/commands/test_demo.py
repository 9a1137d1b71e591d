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

from holdfast.cli.commands.demo import brief_lines, require_right, tell
from holdfast.cli.demo_session.questions import Belief, DemoQuestion, Rightness, belief
from holdfast.cli.demo_session.recording import HOME, Loss, LossKind, Replayed, misleading
from holdfast.cli.demo_session.recording import replay as play
from holdfast.errors import HoldfastError

HEADS = ("loses its context", "THE COMPACTION LEFT", "THE BRIEF (", "What the agent would answer")
COMMAND = (sys.executable, "-m", "holdfast.cli", "demo")
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    home = tmp_path_factory.mktemp("home").resolve()
    return play(home)


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


def column(text: str) -> str:
    """The words of the right column."""
    rows = (line.partition(" | ") for line in text.splitlines())
    return " ".join(" ".join(right for _, bar, right in rows if bar).split())


def test_without_a_terminal_it_tells_every_section_and_leaves(environment: Mapping[str, str]) -> None:
    said = run(environment)
    places = [said.index(head) for head in HEADS]
    assert places == sorted(places)
    assert "holdfast setup\n" in said
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
    assert [loss["brief"]["text"] for loss in document["losses"]] == [
        loss.brief.text for loss in replayed.losses
    ]
    for loss in document["losses"]:
        assert loss["brief"]["characters"] == len(loss["brief"]["text"]) <= loss["brief"]["budget"]
        assert {outcome["with_brief"]["verdict"] for outcome in loss["outcomes"]} == {"right"}


def test_the_recorded_work_is_captured_once(replayed: Replayed) -> None:
    assert len(replayed.prompts) == len(set(replayed.prompts)) == 3
    assert replayed.tool_calls == 10


def test_the_context_dies_by_a_compaction_and_by_a_crash(replayed: Replayed) -> None:
    compaction, crash = replayed.losses
    assert (compaction.kind, crash.kind) == (LossKind.COMPACTION, LossKind.CRASH)
    assert compaction.context
    assert not crash.context
    assert "Just compacted." in compaction.brief.text
    assert "which is over" in crash.brief.text


def test_only_the_brief_leads_to_right_answers(replayed: Replayed) -> None:
    for loss in replayed.losses:
        assert {outcome.with_brief.verdict for outcome in loss.outcomes} == {Rightness.RIGHT}
        assert Rightness.RIGHT not in {outcome.without.verdict for outcome in loss.outcomes}
    assert replayed.losses[0].outcomes[0].without.verdict is Rightness.WRONG


def sections(brief: str) -> dict[str, str]:
    found = re.split(r"^### (.+)$", brief, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


@pytest.mark.parametrize("place", range(len(LossKind)))
def test_the_brief_is_a_handover_of_the_story(replayed: Replayed, place: int) -> None:
    brief = replayed.losses[place].brief.text
    told = sections(brief)
    assert "three things in the shop" in told["Goal"]
    assert "Round order totals" in told["Done"]
    assert "Refuse refunds" in told["Now"]
    assert "Edited, not committed: refunds.py" in told["Now"]
    assert "Print the discount" in told["Next"]
    assert "each line item of an order is rounded" not in brief
    assert "not run since the last edit" in told["Failures"]


def test_the_brief_is_reported_word_for_word(replayed: Replayed) -> None:
    brief = replayed.losses[0].brief.text
    assert " ".join(brief_lines(brief).split()) in column(printed(replayed))


def with_brief(replayed: Replayed, change: Callable[[str], str]) -> Replayed:
    """What came of it if the first brief said something else."""
    questions = story_questions()

    def changed(loss: Loss) -> Loss:
        text = change(loss.brief.text)
        outcomes = tuple(
            replace(outcome, with_brief=belief(question, text))
            for question, outcome in zip(questions, loss.outcomes, strict=True)
        )
        return replace(loss, brief=replace(loss.brief, text=text), outcomes=outcomes)

    first, *others = replayed.losses
    return replace(replayed, losses=(changed(first), *others))


def story_questions() -> tuple[DemoQuestion, ...]:
    story = json.loads(recorded()["story.json"])
    names = ("text", "below", "words", "right", "wrong")
    rows = [[row[name] for name in names] for row in story["questions"]]
    return tuple(DemoQuestion(row[0], *(tuple(value) for value in row[1:])) for row in rows)


@pytest.mark.parametrize(
    ("heading", "line", "question"),
    [
        ("Decisions", "Decision: each line item of an order is rounded.", "How are totals rounded?"),
        ("Next", "1. Round order totals to whole cents in pricing.py.", "What is still to do?"),
        ("Now", "Edited, not committed: pricing.py", "Where was I?"),
    ],
)
def test_it_fails_if_the_brief_tells_what_is_over(
    replayed: Replayed, heading: str, line: str, question: str
) -> None:
    require_right(replayed)
    changed = with_brief(
        replayed, lambda text: text.replace(f"### {heading}\n", f"### {heading}\n- {line}\n")
    )
    with pytest.raises(HoldfastError, match=re.escape(question)):
        require_right(changed)
    assert "wrong" in printed(changed)


def test_it_fails_if_the_brief_does_not_tell_enough(replayed: Replayed) -> None:
    changed = with_brief(replayed, lambda text: text.partition("### Rules")[0])
    assert len(misleading(changed)) == len(story_questions())


def test_it_fits_80_columns(replayed: Replayed) -> None:
    assert [line for line in printed(replayed).splitlines() if len(line) > 80] == []


def test_help_has_an_example(environment: Mapping[str, str]) -> None:
    assert "holdfast demo --json" in run(environment, "--help")


QUESTION = DemoQuestion("Which port?", ("Where",), ("port",), (r"\b5433\b", "staging"), (r"\b5432\b",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Belief("", Rightness.UNKNOWN)),
        ("Nothing is known. Ask.", Belief("", Rightness.UNKNOWN)),
        ("We run it. The port\nis 5433. Done.", Belief("The port is 5433.", Rightness.PARTLY)),
        ("The port of staging is 5433.", Belief("The port of staging is 5433.", Rightness.RIGHT)),
        (
            "Port 5432, then port 5433 on staging.",
            Belief("Port 5432, then port 5433 on staging.", Rightness.WRONG),
        ),
        ("### Where\n- staging: 5433\n- main\n", Belief("staging: 5433", Rightness.RIGHT)),
        ("### Done\n- staging: 5433\n### Where\n- main\n", Belief("main", Rightness.UNKNOWN)),
    ],
)
def test_an_answer_is_what_the_text_says(text: str, expected: Belief) -> None:
    assert belief(QUESTION, text) == expected


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
