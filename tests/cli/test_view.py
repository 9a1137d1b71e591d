"""Commands that look print the same whether the daemon makes what they print or they make it themselves.

By the daemon they start fast, because they load none of what it has loaded.
"""

from __future__ import annotations

import json
import re
import socketserver
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.cli.commands import brief
from holdfast.core.brief.select import REPEATED
from holdfast.daemon.local import client, wire
from holdfast.stores.sqlite import open_store
from tests.cli.conftest import HARNESS, Done, Person

LOOKING = [
    ["sessions"],
    ["sessions", "--limit", "1"],
    ["show"],
    ["show", "s1"],
    ["checkpoints"],
    ["checkpoints", "--all", "--search", "retries"],
    ["checkpoints", "--session", "s1"],
    ["config"],
    ["brief"],
    ["brief", "--budget", "300"],
    ["recall", "retries"],
    ["recall", "nothing-says-this", "--kind", "file"],
    ["recall", "queue", "--all-projects", "--since", "7d", "--limit", "2"],
    [
        "sessions",
        "--project",
        ".",
        "--since",
        "7d",
        "--harness",
        HARNESS,
        "--search",
        "retries queue",
        "--all",
    ],
    ["brief", "--session", "s1"],
    ["brief", "--given", "s2"],
]
SETTINGS = "[continuity]\nprompt_interval = 12\n[capture]\nexclude = ['~/private']\n"
HEAVY = {
    "apsw",
    "asyncio",
    "email",
    "http",
    "importlib.metadata",
    "logging",
    "msgspec",
    "rich",
    "simsimd",
    "ssl",
    "subprocess",
    "tempfile",
    "holdfast.cli.access",
    "holdfast.core.brief.compose",
    "holdfast.core.session.checkpoint",
    "holdfast.core.events.event",
    "holdfast.core.redaction.redact",
    "holdfast.core.session.session",
    "holdfast.core.evidence.commands.shell",
    "holdfast.core.evidence.trail",
    "holdfast.engine.engine",
    "holdfast.engine.views.command_views",
    "holdfast.harnesses",
    "holdfast.stores.base",
}
"""What a command must not load to ask the daemon, to read settings, or to print a table."""


@pytest.fixture
def worker(person: Person) -> Person:
    """A person whose session had secrets, a checkpoint and a memory, and is over."""
    person.prompts("Fix the retries in queue.py; password=correct-horse-battery-9")
    person.prompts("Then the …漢字 in the queue, with a text that is too long for one line " + "of it " * 30)
    for event in ("PreCompact", "SessionEnd"):
        payload = {"session_id": "s1", "cwd": str(person.project), "hook_event_name": event}
        assert person.types("hook", "--harness", HARNESS, given=json.dumps(payload)).status == 0
    person.prompts("Look at the queue once more", session="s2")
    ended = {"session_id": "s2", "cwd": str(person.project), "hook_event_name": "SessionEnd"}
    assert person.types("hook", "--harness", HARNESS, given=json.dumps(ended)).status == 0
    assert person.types("remember", "retries are capped at five").status == 0
    return person


def timeless(done: Done) -> tuple[int, str, str]:
    """What a command printed, without what depends on when it ran."""
    ages = re.compile(r'(?<![\w.])\d+ (?:s|min|h)\b *|"(?:age_ms|age|created_at|score)": [^\n]*|  0\.\d\d ')
    return done.status, ages.sub("_", done.out), ages.sub("_", done.err)


@pytest.mark.parametrize("settings", ["", SETTINGS])
def test_a_command_prints_the_same_with_the_daemon_and_without(worker: Person, settings: str) -> None:
    commands = [[*words, *as_json] for words in LOOKING for as_json in ([], ["--json"])]
    (worker.home / "config.toml").write_text(settings)
    assert client.is_up(worker.home)
    by_daemon = [timeless(worker.types(*words)) for words in commands]
    assert worker.types("down").status == 0
    alone = [timeless(worker.types(*words)) for words in commands]
    assert not client.is_up(worker.home)
    for words, one, other in zip(commands, by_daemon, alone, strict=True):
        assert one == other, words
        assert one[0] == 0
    everything = str(by_daemon)
    assert "correct-horse" not in everything
    assert all(
        shown in everything for shown in ("s1", "s2", "capped at five", "Then the …漢字", "Session Recovery")
    )


@pytest.mark.parametrize(
    ("words", "own"),
    [
        (["status"], "holdfast.cli.commands.health.status"),
        (["sessions"], "holdfast.cli.commands.sessions"),
        (["show"], "holdfast.cli.commands.sessions"),
        (["checkpoints"], "holdfast.cli.commands.sessions"),
        (["config"], "holdfast.cli.commands.daemon.config"),
        (["brief"], "holdfast.cli.commands.brief"),
        (["recall", "retries"], "holdfast.cli.commands.recall"),
    ],
)
@pytest.mark.parametrize("settings", ["", SETTINGS])
def test_with_the_daemon_up_a_command_loads_nothing_heavy(
    person: Person, words: list[str], own: str, settings: str
) -> None:
    person.prompts("Fix the retries in queue.py")
    assert person.types("up").status == 0, "a hook does not wait for a daemon that starts slowly"
    if settings:
        (person.home / "config.toml").write_text(settings)
    code = f"""if True:
        import atexit, sys
        atexit.register(lambda: print(*sys.modules))
        from holdfast.cli.main import main
        main({words!r})
    """
    command = [sys.executable, "-c", code]
    where = person.project
    done = subprocess.run(
        command, capture_output=True, text=True, env=person.environment, cwd=where, check=False
    )
    assert done.returncode == (1 if words == ["status"] else 0), "setup was not run here"
    loaded = set(done.stdout.splitlines()[-1].split())
    assert own in loaded
    assert ("holdfast.settings" in loaded) == bool(settings or own == "holdfast.cli.commands.daemon.config")
    assert loaded & HEAVY == set()


def test_settings_of_the_shell_that_asks_count_and_not_those_of_the_daemon(worker: Person) -> None:
    long_ago = Person(worker.root, {"HOLDFAST_CONTINUITY_RECOVERY_BUDGET_CHARS": "200"})
    assert worker.types("brief", "--json").json["receipt"]["budget"] == 6_000
    assert long_ago.types("brief", "--json").json["receipt"]["budget"] == 200


def test_what_the_session_around_a_command_recalls_is_noted(worker: Person) -> None:
    inside = Person(worker.root, {"CLAUDE_CODE_SESSION_ID": "s2"})
    hits = inside.types("recall", "retries", "--json").json
    assert hits
    worker.types("recall", "queue")
    with closing(open_store(worker.home / "store.db", worker.home / "backups", 0)) as store:
        assert {id for id, _ in store.recalls("s2")} == {hit["id"] for hit in hits}
        assert store.recalls("s1") == []


def test_a_moved_project_is_followed_and_that_is_said_once(worker: Person) -> None:
    repository = worker.root / "old"
    subprocess.run(["git", "init", "-q", repository], check=True)
    assert worker.types("remember", "it lives here", cwd=repository).status == 0
    moved = repository.rename(worker.root / "new")
    first, second = (worker.types("recall", "lives", cwd=moved) for _ in range(2))
    assert "has moved here from" in first.err
    assert (second.err, "it lives here" in second.out) == ("", True)


def test_a_name_that_is_no_directory_is_looked_up_by_the_command(worker: Person) -> None:
    named = worker.types("checkpoints", "--project", "nowhere")
    assert (named.status, named.out) == (1, "")
    assert "there is no directory `nowhere`" in named.err
    missing = worker.types("checkpoints", "--session", "unknown")
    assert "there is no session `unknown`" in missing.err


def test_a_store_that_is_gone_is_reported_though_the_daemon_still_has_it_open(worker: Person) -> None:
    (worker.home / "store.db").rename(worker.home / "elsewhere.db")
    done = worker.types("sessions")
    assert not (worker.home / "store.db").exists()
    (worker.home / "elsewhere.db").rename(worker.home / "store.db")
    assert (done.status, done.out) == (1, "")
    assert "is gone" in done.err


def test_a_daemon_of_another_version_is_not_asked(worker: Person) -> None:
    shown = worker.types("sessions").out
    worker.types("down")
    asked = list[str]()
    with listening(worker.home / "run", {"version": "0.0.1", "pid": 1}, asked):
        done = worker.types("sessions")
    assert (done.status, done.out.split()[:9]) == (0, shown.split()[:9])
    assert "view" not in asked
    assert "flush" in asked


def test_a_daemon_of_the_first_version_is_reached_and_shown(worker: Person) -> None:
    worker.types("down")
    answer: dict[str, object] = {"version": "0.1.0", "pid": 1, "door": "unix /there", "started_at": 0}
    with listening(worker.home / "run", answer, [], note_name="door"):
        done = worker.types("status")
    assert done.status == 1
    assert "process 1, version 0.1.0" in done.out
    assert "FAIL  daemon: version 0.1.0 runs" in done.out


@contextmanager
def listening(
    run: Path, answer: dict[str, object], asked: list[str], note_name: str = "endpoint"
) -> Generator[None]:
    """A daemon that says the same to everybody, and notes for what it was asked."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            request = wire.parse(self.rfile.read())
            if request is not None:
                asked.append(request.fields["verb"])
                self.wfile.write(wire.answer(json.dumps(answer).encode()))

    path, note = run / "other.sock", run / note_name
    with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        note.write_text(f"unix {path}\n")
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            note.unlink()


def test_why_an_item_is_left_out_is_written_the_same_on_both_sides() -> None:
    assert brief.REPEATED == REPEATED


def test_show_tells_the_work_state_by_section_and_lists_have_the_title(worker: Person) -> None:
    shown = worker.types("show", "s1")
    heading, _, sections = shown.out.partition("\n\n")
    title, about, _ = heading.splitlines()
    assert len(title) <= 60
    assert title in worker.types("sessions").out
    assert about.startswith(f"s1 · {HARNESS} · ")
    assert sections.startswith("Goal\n- ")
    assert [line for line in sections.splitlines() if line.startswith("- Then the …漢字 in the queue")]
    assert [line for line in sections.splitlines() if line in ("Prompts", "Checkpoints")] == [
        "Prompts",
        "Checkpoints",
    ]
    work = json.loads(worker.types("show", "s1", "--json").out)["work"]
    assert [row["text"] for row in work["goal"]] == [
        line.removeprefix("- ") for line in sections.partition("\n\n")[0].splitlines()[1:]
    ]


def test_show_without_a_name_is_of_the_projects_latest_session(worker: Person) -> None:
    assert worker.types("show").out == worker.types("show", "s2").out
    assert worker.types("show", "nobody").status == 1
    empty = worker.types("show", "--project", str(worker.home))
    assert empty.status == 1
    assert "no session was seen in" in empty.err
    assert "`holdfast sessions` lists those of all projects" in empty.err


def test_where_no_session_was_ever_seen_show_says_how_to_get_one(person: Person) -> None:
    shown = person.types("show")
    assert shown.status == 1
    assert "`holdfast setup` connects a harness, `holdfast import` brings in earlier sessions" in shown.err


def test_why_no_model_wrote_a_handover_is_shown(worker: Person) -> None:
    with closing(open_store(worker.home / "store.db", worker.home / "backups", 0)) as store:
        newest = store.checkpoints(1)[0]
        with store.writing():
            store.put_outline(newest.id, replace(newest.outline, no_answer="command: no answer in time"))
    listed, shown = worker.types("checkpoints"), worker.types("show", newest.session)
    assert f"no model wrote the checkpoint of {newest.session}, " in listed.err
    assert ": command: no answer in time" in listed.err
    assert "no model wrote its handover: command: no answer in time" in shown.err
    expected: dict[str, object] = {
        "written_by": None,
        "no_answer": "command: no answer in time",
        "left_out": [],
    }
    assert worker.types("checkpoints", "--json").json[0]["handover"] == expected
    assert worker.types("show", newest.session, "--json").json["handover"] == expected
