"""The entry point: every command is listed without being loaded; errors are reported in plain words."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from holdfast import __version__
from holdfast.cli.command_list import COMMANDS
from holdfast.cli.main import holdfast
from holdfast.cli.reference import page
from tests.cli.conftest import Person

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "src" / "holdfast" / "cli" / "demo_session" / "transcript.jsonl"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_line_its_help_and_an_example(name: str) -> None:
    command = COMMANDS[name].load()
    assert (command.help or "").split("\n", 1)[0] == COMMANDS[name].summary
    assert f"  holdfast {name}" in f"{command.help}\n{command.epilog}"


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if isinstance(COMMANDS[name].load(), click.Group)]
)
def test_every_command_of_a_group_has_its_sentence_and_an_example(name: str) -> None:
    group = COMMANDS[name].load()
    assert isinstance(group, click.Group)
    top = click.Context(holdfast, **holdfast.context_settings)
    told = " ".join(group.get_help(click.Context(group, info_name=name, parent=top)).split())
    for inner in group.list_commands(top):
        command = group.get_command(top, inner)
        assert command is not None
        assert f"  holdfast {name} " in (command.epilog or ""), inner
        assert " ".join((command.help or "").partition("\n\n")[0].split()) in told, inner


def test_the_reference_page_is_what_the_commands_say() -> None:
    written = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert written == page(), "run `python -m holdfast.cli.reference > docs/reference/cli.md`"


def test_the_list_of_commands_is_printed_without_loading_one() -> None:
    code = """if True:
        import sys
        from holdfast.cli.main import main
        try:
            main(["help", "all"])
        finally:
            heavy = {"rich", "msgspec", "apsw", "holdfast.engine"} & set(sys.modules)
            commands = {name for name in sys.modules if name.startswith("holdfast.cli.commands.")}
            commands -= {"holdfast.cli.commands.help"}
            print("LOADED", sorted(heavy | commands))
    """
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(name in out for name in COMMANDS)
    assert out.endswith("LOADED []\n")


def test_the_version_is_printed(person: Person) -> None:
    assert person.types("--version").out == f"holdfast {__version__}\n"


@pytest.mark.parametrize(
    "words", [["nonsense"], ["checkpoints", "--limit", "0"], ["brief", "--transcript", "x"]]
)
def test_a_command_that_was_called_wrongly_exits_with_2(person: Person, words: list[str]) -> None:
    done = person.types(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ")


def test_an_error_is_a_sentence_and_a_hint(person: Person) -> None:
    done = person.types("hook-command", "nonsense")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: there is no harness `nonsense`\n\nhint: ")


@pytest.mark.parametrize(
    "words",
    [
        ["token", "show"],
        ["dream", "build"],
        ["ledger", "save", "--now", "sums"],
        ["session", "save", "--transcript", "{transcript}"],
    ],
)
def test_a_home_that_cannot_be_written_is_a_sentence_and_no_fault_of_ours(
    person: Person, words: list[str]
) -> None:
    (person.project / ".agents.yml").write_text("session:\n  ledger: true\n")
    # Not even root makes a folder there.
    person.variables["HOLDFAST_HOME"] = "/sys/kernel/holdfast"
    done = person.types(*(word.format(transcript=RECORDED) for word in words))
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert "/sys/kernel/holdfast" in done.err
    assert "should not have happened" not in done.err
    assert "\n\nhint: look at the permissions" in done.err


def test_what_cannot_be_printed_for_want_of_room_is_reported(person: Person) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            person.command("config"), stdout=full, stderr=subprocess.PIPE, env=person.environment, check=False
        )
    assert (done.returncode, done.stderr.decode().splitlines()[0]) == (1, "error: No space left on device")


def test_a_directory_that_is_gone_is_reported(person: Person) -> None:
    assert person.types("brief", "--project", "nowhere").err.startswith("error: there is no directory `now")
    code = """if True:
        import os, sys
        from holdfast.cli.main import main
        os.rmdir(os.getcwd())
        main(["brief"])
    """
    here = person.root / "soon-gone"
    here.mkdir()
    done = subprocess.run(
        # As an installed program, which imports nothing from the directory that it is in.
        [sys.executable, "-P", "-c", code],
        cwd=here,
        capture_output=True,
        env=person.environment,
        check=False,
    )
    assert done.stderr.decode() == "error: the directory that you are in is gone\n\nhint: go to another one\n"


def test_an_unexpected_failure_leaves_its_traceback_in_the_log_and_a_sentence_here(person: Person) -> None:
    code = """if True:
        from holdfast.cli.command_list import COMMANDS, Entry
        from holdfast.cli.main import main
        COMMANDS["broken"] = Entry("no_such_module_password=hunter2hunter2", "x", "y")
        main(["broken"])
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=person.environment, check=False
    )
    log = person.home / "logs" / "cli.log"
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert str(log) in done.stderr
    assert "Traceback" in log.read_text()
    assert "hunter2hunter2" not in done.stderr + log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_what_the_user_denies_is_in_no_traceback_and_a_failure_writes_no_line_of_its_own(
    person: Person,
) -> None:
    person.home.mkdir(parents=True, exist_ok=True)
    (person.home / "config.toml").write_text('[redact]\ndeny = ["Project Nightjar"]\n')
    code = r"""if True:
        from holdfast.cli.command_list import COMMANDS, Entry
        from holdfast.cli.main import main
        COMMANDS["broken"] = Entry("Project Nightjar\n2026-01-01 \x1b[31mforged", "x", "y")
        main(["broken"])
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=person.environment, check=False
    )
    log = (person.home / "logs" / "cli.log").read_text()
    assert done.returncode == 1
    assert "[REDACTED:denied]" in log
    assert "Nightjar" not in done.stderr + log
    assert "\x1b" not in done.stderr + log
    assert [line for line in log.splitlines()[1:] if not line.startswith("  ")] == []


def test_no_traceback_is_kept_while_it_cannot_be_known_what_to_redact(person: Person) -> None:
    person.home.mkdir(parents=True, exist_ok=True)
    (person.home / "config.toml").write_text("this is not TOML")
    code = """if True:
        from holdfast.cli.command_list import COMMANDS, Entry
        from holdfast.cli.main import main
        COMMANDS["broken"] = Entry("no_such_module_password=hunter2hunter2", "x", "y")
        main(["broken"])
    """
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, env=person.environment, check=False)
    assert b"hunter2hunter2" not in done.stderr
    assert b"no traceback is kept while the settings cannot be read" in done.stderr
    assert not (person.home / "logs").exists()


def test_a_reader_that_leaves_early_is_no_failure_to_talk_about(person: Person) -> None:
    running = subprocess.Popen(
        person.command("redact"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=person.environment,
    )
    with running:
        assert running.stdin
        assert running.stdout
        assert running.stderr
        running.stdout.close()
        running.stdin.write(b"a line\n" * 100)
        running.stdin.close()
        assert running.stderr.read() == b""


@contextmanager
def following(person: Person, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """`holdfast logs -f`, which Ctrl-C ends; it does not outlive the test that something is wrong with."""
    # Whoever runs the tests may ignore the signal, and a child would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        person.command("logs", "-f", *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=person.environment | {"PYTHONUNBUFFERED": "1"},
    ) as running:
        signal.signal(signal.SIGINT, before)
        try:
            yield running
        finally:
            running.kill()


def test_ctrl_c_exits_with_130(person: Person) -> None:
    log = person.home / "logs" / "daemon.log"
    log.parent.mkdir(parents=True)
    log.write_text("one line\n")
    with following(person) as running:
        assert running.stdout
        assert running.stderr
        assert running.stdout.readline() == b"one line\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert b"Traceback" not in running.stderr.read()


def test_following_the_log_goes_on_with_its_successor(person: Person) -> None:
    log = person.home / "logs" / "daemon.log"
    log.parent.mkdir(parents=True)
    log.write_text("first\nsecond\n")
    with following(person, "-n", "1") as running:
        assert running.stdout
        assert running.stdout.readline() == b"second\n"
        log.rename(log.with_name("daemon.log.1"))
        log.write_text("third\n")
        assert running.stdout.readline() == b"third\n"


@pytest.mark.parametrize(
    "words", [["hook"], ["hook", "--harness", "nonsense"], ["hook", "--nonsense"], ["hook", "--harness"]]
)
def test_a_hook_called_wrongly_exits_with_0_all_the_same(person: Person, words: list[str]) -> None:
    done = person.types(*words, given="{}")
    assert (done.status, done.out) == (0, "")
    assert done.err


@pytest.mark.parametrize("payload", [b"", b"\xff\x00", b"[" * 100_000, b'{"session_id":"s", "hook_ev'])
def test_a_hook_given_a_bad_hook_event_says_nothing_and_exits_with_0(person: Person, payload: bytes) -> None:
    done = person.types("hook", "--harness", "claude-code", given=payload)
    assert (done.status, done.out, done.err) == (0, "", "")


def test_a_hook_that_cannot_make_its_home_exits_with_0(person: Person) -> None:
    person.home.write_text("a file stands where the home should be")
    done = person.types("hook", "--harness", "claude-code", given="{}")
    assert (done.status, done.out) == (0, "")


def test_looking_makes_no_home(person: Person) -> None:
    for words in (
        ["checkpoints", "--json"],
        ["sessions", "--json"],
        ["status", "--json"],
        ["config", "--json"],
    ):
        done = person.types(*words)
        assert done.status == (1 if words[0] == "status" else 0), done.err
        json.loads(done.out)
    assert not person.home.exists()
