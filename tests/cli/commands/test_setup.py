"""Setup and unsetup on the command line."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast import hook
from tests.cli.conftest import HARNESS, Done, Person

SETTINGS = '{\n\t"model": "x",\n\t"hooks": {"Stop": []},\n\t"permissions": {}\n}'


@pytest.fixture
def settled(person: Person) -> Person:
    person.settings.write_text(SETTINGS)
    return person


def commands_in(settings: Path) -> set[str]:
    hooks = json.loads(settings.read_text())["hooks"]
    return {one["command"] for entries in hooks.values() for entry in entries for one in entry["hooks"]}


def test_setup_and_unsetup_leave_the_settings_byte_for_byte(settled: Person) -> None:
    assert settled.types("setup", "--yes").status == 0
    assert settled.settings.read_text() != SETTINGS
    done = settled.types("unsetup", "--yes")
    assert done.status == 0, done.err
    assert settled.settings.read_text() == SETTINGS
    assert not (settled.home / "bin").exists()


def test_setup_twice_is_the_same_as_once(settled: Person) -> None:
    settled.types("setup", "--yes")
    once = settled.settings.read_bytes()
    again = settled.types("setup")
    assert again.status == 0, again.err
    assert settled.settings.read_bytes() == once


def test_what_setup_writes_is_the_printed_command_over_a_copy_of_the_hook(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    printed = settled.types("hook-command", HARNESS).out.removesuffix("\n")
    assert commands_in(settled.settings) == {printed}
    assert (settled.home / "bin" / "hook.py").read_bytes() == Path(hook.__file__).read_bytes()
    assert (settled.home / "bin" / "interpreter").read_text() == f"{sys.executable}\n"


def test_the_printed_command_runs_and_says_nothing_even_when_its_file_is_gone(settled: Person) -> None:
    command = settled.types("hook-command", HARNESS).out
    done = subprocess.run(command, shell=True, capture_output=True, input=b"{}", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not settled.home.exists()


@pytest.mark.parametrize(
    ("theirs", "shown"), [({}, b""), ({"statusLine": {"type": "command", "command": "echo mine"}}, b"mine\n")]
)
def test_a_status_line_outlives_holdfast_and_shows_what_the_users_own_does(
    person: Person, theirs: Mapping[str, object], shown: bytes
) -> None:
    person.settings.write_text(json.dumps(theirs))
    person.types("setup", HARNESS, "--yes", "--status-line")
    command = json.loads(person.settings.read_text())["statusLine"]["command"]
    shutil.rmtree(person.home)
    done = subprocess.run(command, shell=True, capture_output=True, input=b"{}", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, b"")


def test_a_dry_run_prints_the_difference_and_changes_nothing(settled: Person) -> None:
    done = settled.types("setup", "--dry-run")
    assert done.status == 0
    assert f"--- {settled.settings}\n" in done.out
    assert any(line.startswith("+") and '"SessionStart"' in line for line in done.out.splitlines())
    assert settled.settings.read_text() == SETTINGS
    assert not settled.home.exists()


@pytest.mark.parametrize("verb", ["setup", "unsetup"])
def test_nobody_to_ask_and_no_yes_is_refused(settled: Person, verb: str) -> None:
    if verb == "unsetup":
        settled.types("setup", "--yes")
    before = settled.settings.read_bytes()
    done = settled.types(verb)
    assert done.status == 1
    assert f"`holdfast {verb} --dry-run`" in done.err
    assert settled.settings.read_bytes() == before


def answered(person: Person, answer: str, *words: str) -> Done:
    """What a command does with a person at the terminal who types this."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        person.command(*words),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=person.environment,
        text=True,
    ) as running:
        os.write(ours, answer.encode())
        out, err = running.communicate()
    os.close(ours)
    os.close(theirs)
    return Done(running.returncode, out, err)


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 1)])
def test_a_person_is_shown_the_files_and_asked(settled: Person, answer: str, status: int) -> None:
    done = answered(settled, answer, "setup")
    assert done.status == status
    assert "  ~/.claude/settings.json would be changed\n" in done.err
    assert "  5 files in ~/.claude/skills would be created\n" in done.err
    assert "  ~/.claude/rules/holdfast.md would be created\n" in done.err
    assert "Change these files? (`--diff` shows the lines)" in done.err
    assert ("nothing was changed" in done.err, "error:" in done.err) == (status == 1, False)
    assert (settled.settings.read_text() == SETTINGS) == (status == 1)


def test_undone_it_says_how_many_files_and_lists_them_only_before(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    files = re.findall(
        r"^(.+) would be (?:removed|changed)$", settled.types("unsetup", "--dry-run").err, re.MULTILINE
    )
    err = settled.types("unsetup", "--yes").err
    changed, removed = map(int, re.findall(r"^files: (\d+) changed, (\d+) removed$", err, re.MULTILINE)[0])
    assert (changed, removed) == (1, len(files) + 1), "and the file of tool servers"
    assert ".md" not in err


def test_who_wants_it_is_shown_each_line_in_colour(settled: Person) -> None:
    settled.variables["FORCE_COLOR"] = "1"
    done = settled.types("setup", "--diff", "--yes")
    assert f"\033[1m--- {settled.settings}\033[0m\n" in done.out
    assert re.search(r'^\033\[32m\+.*"SessionStart"', done.out, re.MULTILINE)
    assert commands_in(settled.settings)


def test_it_ends_with_what_was_done_what_comes_and_how_to_undo_it(settled: Person) -> None:
    (settled.home).mkdir(exist_ok=True)
    (settled.home / "config.toml").write_text("[pressure]\nshow_from_percent = 60\nadvice = false\n")
    err = settled.types("setup", "--yes").err
    assert "connected: Claude Code (in all projects)\nnot found: Codex, " in err
    changed, created = map(int, re.findall(r"files: (\d+) changed, (\d+) created", err)[0])
    assert changed == 1
    copied = json.loads((settled.home / "manifest.json").read_text())["copied"]
    assert created == len(copied) + 1, "and the file of tool servers"
    assert "a brief of the work that it continues: up to 2,000 characters after a compaction" in err
    assert "what its own summary must keep, in up to 1,500 characters" in err
    assert "how full its window is, from 60 % on" in err
    assert "asked at 50, 75 and 90 % of the window" in err
    assert "kept from stopping once, at 90 %" in err
    assert "start afresh" not in err
    assert "has 6 tools, which take about" in err
    assert "has 5 skills, and 6 lines about tools and skills in every session" in err
    assert "a harness that runs now has to be started again" in err
    assert "`holdfast setup --no-mcp` leaves the tools out" in err
    assert "to undo all of it: `holdfast unsetup`" in err
    assert "files: every file is as it should be already" in settled.types("setup", "--yes").err


def test_without_tools_no_word_is_said_of_them(settled: Person) -> None:
    err = settled.types("setup", "--no-mcp", "--yes").err
    assert "how full its window is" in err
    assert not re.search("tools|skills|no-mcp", err)


def test_another_home_can_be_named(settled: Person, tmp_path: Path) -> None:
    done = settled.types("setup", HARNESS, "--home", str(tmp_path), "--yes")
    assert done.status == 0, done.err
    assert settled.settings.read_text() == SETTINGS
    assert commands_in(tmp_path / ".claude" / "settings.json")
    assert "nothing to undo" in settled.types("unsetup", HARNESS, "--yes").err
    assert settled.types("unsetup", "--yes").status == 0
    assert list(tmp_path.iterdir()) == []


OFFER = "a model of your choice writes what a session hands over"


def test_a_model_is_offered_with_its_cost_in_one_sentence_and_never_turned_on(settled: Person) -> None:
    said = settled.types("setup", HARNESS, "--yes").err
    (line,) = [line for line in said.splitlines() if OFFER in line]
    assert "after a turn in which the window passed 25, 50, 75 % or 15 more prompts came" in line
    assert "at most 60,000 characters each time" in line
    assert not (settled.home / "config.toml").exists()


@pytest.mark.parametrize("setting", ['checkpoint.model = ""', "checkpoint.enabled = false"])
def test_who_has_decided_about_a_model_is_offered_none(settled: Person, setting: str) -> None:
    settled.home.mkdir(exist_ok=True)
    (settled.home / "config.toml").write_text(f"{setting}\n")
    assert OFFER not in settled.types("setup", HARNESS, "--yes").err


def test_settings_that_cannot_be_read_are_refused_and_left_alone(settled: Person) -> None:
    settled.settings.write_text('{"hooks": ')
    done = settled.types("setup", "--yes")
    assert done.status == 1
    assert done.err.startswith(f"error: `{settled.settings}`")
    assert settled.settings.read_text() == '{"hooks": '
    assert not settled.home.exists()


def test_no_harness_here_and_none_named_is_said(person: Person) -> None:
    person.settings.parent.rmdir()
    done = person.types("setup", "--yes")
    assert done.status == 1
    assert f"`holdfast setup {HARNESS}`" in done.err


def test_nothing_to_undo_is_no_error(person: Person) -> None:
    done = person.types("unsetup", "--yes")
    assert (done.status, done.out) == (0, "")
    assert "nothing to undo" in done.err


def test_the_status_line_is_ours_only_where_there_was_none(settled: Person) -> None:
    settled.types("setup", "--yes")
    line = json.loads(settled.settings.read_text())["statusLine"]
    assert line["type"] == "command"
    assert "__import__('hook').status(p)" in line["command"]
    settled.types("unsetup", "--yes")
    assert settled.settings.read_text() == SETTINGS


def drawn(person: Person, payload: Mapping[str, object]) -> str:
    """What the installed command line prints for the harness's status line."""
    command = json.loads(person.settings.read_text())["statusLine"]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=False,
        env={**person.environment, "PATH": os.defpath},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def with_status_line(theirs: str) -> str:
    """The settings of a person who has a status line already."""
    return SETTINGS.removesuffix("}") + f',\n\t"statusLine": {theirs}\n}}'


@pytest.mark.parametrize("theirs", ["null", '"x"', '{"type": "none"}'])
def test_what_stands_for_a_status_line_and_is_no_command_stays(settled: Person, theirs: str) -> None:
    settled.settings.write_text(with_status_line(theirs))
    assert settled.types("setup", "--yes").status == 0
    assert json.loads(settled.settings.read_text())["statusLine"] == json.loads(theirs)
    assert commands_in(settled.settings)
    settled.types("unsetup", "--yes")
    assert settled.settings.read_text() == with_status_line(theirs)


THEIR_LINE = '{"type": "command", "padding": 0, "command": "printf \'my \\"line\\"\'"}'


def test_a_status_line_that_is_there_stays_alone_unless_someone_says_otherwise(settled: Person) -> None:
    settled.settings.write_text(with_status_line(THEIR_LINE))
    theirs = json.loads(THEIR_LINE)
    said = settled.types("setup", "--yes").err
    assert "`holdfast setup --status-line`" in said
    assert json.loads(settled.settings.read_text())["statusLine"] == theirs
    refused = answered(settled, "n\n", "setup")
    assert "stays. Add Holdfast's below it?" in refused.err
    assert json.loads(settled.settings.read_text())["statusLine"] == theirs
    agreed = answered(settled, "y\ny\n", "setup")
    assert agreed.status == 0
    assert "hook').status(p)" in json.loads(settled.settings.read_text())["statusLine"]["command"]
    assert "Add Holdfast's" not in answered(settled, "", "setup").err
    settled.types("unsetup", "--yes")
    assert settled.settings.read_text() == with_status_line(THEIR_LINE)


def test_a_status_line_that_is_there_is_shown_above_ours(settled: Person) -> None:
    settled.settings.write_text(with_status_line(THEIR_LINE))
    settled.types("setup", "--yes", "--status-line")
    settled.types("up")
    line = json.loads(settled.settings.read_text())["statusLine"]
    assert (line["type"], line["padding"]) == ("command", 0)
    assert drawn(settled, {"session_id": "unknown", "cwd": "/a/app"}) == 'my "line"\napp'


def test_a_status_line_is_wrapped_once_however_often_setup_runs(settled: Person) -> None:
    settled.settings.write_text(with_status_line(THEIR_LINE))
    settled.types("setup", "--yes", "--status-line")
    once = settled.settings.read_bytes()
    settled.types("setup", "--yes")
    assert settled.settings.read_bytes() == once
    settled.types("unsetup", "--yes")
    assert settled.settings.read_text() == with_status_line(THEIR_LINE)


def test_a_wrapped_status_line_is_theirs_again_where_others_wrote_in_between(settled: Person) -> None:
    settled.settings.write_text(with_status_line(THEIR_LINE))
    settled.types("setup", "--yes", "--status-line")
    settled.settings.write_text(settled.settings.read_text().replace('"model": "x"', '"model": "y"'))
    settled.types("unsetup", "--yes")
    expected = with_status_line(THEIR_LINE).replace('"model": "x"', '"model": "y"')
    assert settled.settings.read_text() == expected


def test_what_others_changed_since_stays_when_the_status_line_goes(settled: Person) -> None:
    settled.types("setup", "--yes")
    changed = settled.settings.read_text().replace('"model": "x"', '"model": "y"')
    settled.settings.write_text(changed)
    settled.types("unsetup", "--yes")
    assert settled.settings.read_text() == SETTINGS.replace('"model": "x"', '"model": "y"')


def test_a_hook_in_the_middle_of_a_turn_is_there_as_long_as_it_is_wanted(settled: Person) -> None:
    settled.home.mkdir()
    config = settled.home / "config.toml"
    config.write_text("[pressure]\nmid_turn = true\n")
    settled.types("setup", "--yes")
    assert "PostToolBatch" in json.loads(settled.settings.read_text())["hooks"]
    config.write_text("")
    settled.types("setup", "--yes")
    assert "PostToolBatch" not in json.loads(settled.settings.read_text())["hooks"]


def test_the_installed_status_line_says_how_a_session_stands(settled: Person) -> None:
    settled.types("setup", "--yes")
    settled.prompts("mend the parser")
    settled.types("sessions")  # A daemon that was slow to start has taken the prompt in by then.
    window = {"context_window_size": 500_000, "current_usage": {"input_tokens": 100_000, "output_tokens": 20}}
    payload = {"session_id": "s1", "cwd": str(settled.project), "context_window": window}
    line = "project · ██░░░░░░░░ 21% 100k/467k · no checkpoint yet · unsaved: 1 prompt"
    assert drawn(settled, payload) == line
    shown = settled.types("statusline")
    assert shown.status == 0
    assert shown.out == "project · no checkpoint yet · unsaved: 1 prompt\n"


def test_without_a_session_there_is_no_line(settled: Person) -> None:
    done = settled.types("statusline")
    assert (done.status, done.out) == (0, "")
    assert "no session of this project" in done.err
