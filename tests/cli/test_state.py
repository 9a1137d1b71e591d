"""What the commands show: the story of one session, told by letters alone, through a real daemon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from holdfast.core.events.world import Project
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Trigger, begin
from holdfast.engine.liveness import lock_holder
from holdfast.stores.sqlite import open_store
from tests.cli.conftest import HARNESS, Person

COLUMNS = {
    "id",
    "session_key",
    "harness",
    "project",
    "project_normalized",
    "trigger",
    "digest",
    "prompt_count",
    "memory_queries",
    "recent_remembers",
    "created_at",
    "window",
    "checkpoint",
    "title",
    "handover",
}
LONG_AGO = 1_700_000_000_000


def test_ten_prompts_with_no_transcript_make_one_periodic_checkpoint(person: Person) -> None:
    for number in range(10):
        done = person.prompts(f"mend parser_{number} in src/reader_{number}.py")
        assert (done.status, done.err) == (0, "")
    (row,) = person.types("checkpoints", "--json").json
    assert row.keys() == COLUMNS
    assert str(uuid.UUID(row["id"])) == row["id"]
    assert (row["session_key"], row["harness"], row["trigger"]) == ("s1", HARNESS, "periodic")
    assert (row["project"], row["prompt_count"], row["window"]) == (str(person.project), 10, 0)
    assert row["memory_queries"][0] == "mend parser_0 src/reader_0.py"
    assert (row["checkpoint"]["tokensAtCheckpoint"], row["checkpoint"]["messageCountAtCheckpoint"]) == (0, 10)
    assert "mend parser_9 in src/reader_9.py" in row["digest"]
    assert row["created_at"].endswith("Z")
    assert person.types("down").status == 0
    assert person.types("status", "--json").json["running"] is False


def test_one_session_as_every_command_shows_it(person: Person) -> None:
    person.prompts("mend the lexer")
    person.prompts("then the writer; password=correct-horse-battery-9")

    (session,) = person.types("sessions", "--json").json
    assert (session["session_key"], session["phase"], session["prompt_count"]) == ("s1", "live", 2)
    assert (session["windows"], session["parent"]) == (1, None)

    id = person.types("checkpoint", "--digest", "Lexer done, token=ghp_" + "a1B2c3D4e5" * 4).out.strip()
    assert str(uuid.UUID(id)) == id
    (row,) = person.types("checkpoints", "--json", "--session", "s").json
    assert (row["id"], row["trigger"]) == (id, "explicit")
    assert row["digest"].startswith("Lexer done")
    assert "a1B2c3" not in row["digest"]

    stdin = person.types("checkpoint", "--digest", "-", given="Writer half done\n")
    assert stdin.status == 0, stdin.err
    found = person.types("checkpoints", "--search", "writer", "--all", "--json").json
    assert [each["digest"] for each in found] == ["Writer half done"]
    assert "Lexer done" in person.types("checkpoints").out
    assert "1" in person.types("sessions").out

    status = person.types("status", "--json").json
    assert (status["running"], status["home"], status["spooled"]) == (True, str(person.home), 0)
    assert f"process {status['pid']}" in person.types("logs").out
    assert "up already" in person.types("up").err
    assert person.types("restart").status == 0
    assert person.types("status", "--json").json["pid"] != status["pid"]
    everything = person.types("checkpoints", "--json").out + person.types("brief", "--json").out
    assert "correct-horse" not in everything


def test_a_checkpoint_without_words_is_what_was_seen(person: Person) -> None:
    person.prompts("mend the lexer")
    assert person.types("checkpoint").status == 0
    (row,) = person.types("checkpoints", "--json").json
    assert "mend the lexer" in row["digest"]


def test_a_checkpoint_is_of_the_session_whose_shell_asks_for_it(person: Person) -> None:
    person.prompts("one", session="here")
    person.prompts("two", session="there")
    inside = Person(person.root, {"CLAUDE_CODE_SESSION_ID": "here"})
    person.types("checkpoint", "--digest", "from outside")
    inside.types("checkpoint", "--digest", "from inside")
    taken = {row["digest"]: row["session_key"] for row in person.types("checkpoints", "--json").json}
    assert taken == {"from inside": "here", "from outside": "there"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["checkpoint"], "no session is live in"),
        (["checkpoint", "--session", "x"], "there is no session `x`"),
        (["checkpoint", "--digest", "-"], "the digest is empty"),
        (["checkpoints", "--session", "x"], "there is no session `x`"),
    ],
)
def test_what_is_not_there_is_said(person: Person, words: list[str], says: str) -> None:
    done = person.types(*words)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert says in done.err


def test_another_projects_checkpoints_are_shown_only_when_asked_for(person: Person, tmp_path: Path) -> None:
    person.prompts("mend the lexer")
    person.types("checkpoint", "--digest", "words")
    assert len(person.types("checkpoints", "--all", "--json").json) == 1
    assert person.types("checkpoints", "--project", str(tmp_path), "--json").json == []
    assert "no such checkpoints" in person.types("checkpoints", "--project", str(tmp_path)).err


def test_hook_events_left_in_the_spool_are_taken_in_before_anything_is_shown(person: Person) -> None:
    nobody = person.home / "bin" / "interpreter"
    nobody.parent.mkdir(parents=True)
    nobody.write_text("/nonexistent/python\n")
    person.prompts("said while nobody was at home")
    assert person.types("status", "--json").json["spooled"] == 1
    (session,) = person.types("sessions", "--json").json
    assert session["prompt_count"] == 1
    assert person.types("status", "--json").json["spooled"] == 0


def test_without_a_daemon_what_is_stored_is_shown_and_said_to_be_that(person: Person) -> None:
    person.prompts("mend the lexer")
    person.types("checkpoint", "--digest", "words")
    person.types("down")
    for path in (person.home / "run").iterdir():
        path.unlink()
    (person.home / "run").rmdir()
    (person.home / "run").write_text("in the daemon's way")
    done = person.types("checkpoints", "--json")
    assert (done.status, len(done.json)) == (0, 1)
    assert "this is what was stored before" in done.err


@pytest.mark.parametrize("words", [["up"], ["status", "--json"], ["sessions"], ["doctor"], ["down"]])
def test_a_daemon_that_does_not_listen_yet_is_waited_for(person: Person, words: list[str]) -> None:
    begun = subprocess.Popen([sys.executable, "-m", "holdfast.daemon"], env=person.environment)
    try:
        while lock_holder(person.home) != begun.pid:
            assert begun.poll() is None
            time.sleep(0.001)
        done = person.types(*words)
        assert "does not answer" not in done.err + done.out
        # Status and doctor find a fault: nobody ran setup.
        assert (done.status, "FAIL  daemon" in done.out) == (int(words[0] in ("status", "doctor")), False)
        if words[0] == "status":
            assert done.json["pid"] == begun.pid
    finally:
        person.types("down")
        begun.wait(timeout=10)


def test_a_daemon_that_hangs_is_named_and_what_is_stored_is_shown(person: Person) -> None:
    person.types("up")
    pid = person.types("status", "--json").json["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        shown, stopped = person.types("sessions", "--json"), person.types("down")
        asked = person.types("status")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (shown.status, shown.json) == (0, [])
    assert f"process {pid}) does not answer" in shown.err
    assert f"process {pid}) does not answer" in asked.out
    assert stopped.status == 1
    assert f"`kill -9 {pid}`" in stopped.err


def test_a_damaged_store_is_an_error_and_stays_where_it_is(person: Person) -> None:
    person.home.mkdir(mode=0o700)
    store = person.home / "store.db"
    store.write_bytes(b"this was a database once" * 1000)
    for words in (["checkpoints"], ["sessions", "--json"], ["brief"], ["checkpoint"], ["prune"]):
        done = person.types(*words)
        assert (done.status, done.out) == (1, "")
        assert "cannot be read" in done.err
        assert "hint: " in done.err
    assert store.read_bytes() == b"this was a database once" * 1000
    assert list(person.home.glob("*corrupt*")) == []


@pytest.mark.parametrize("words", [("prune", "--dry-run"), ("prune",)])
def test_pruning_starts_no_daemon_that_would_prune_as_well(person: Person, words: tuple[str, ...]) -> None:
    store = open_store(person.home / "store.db", person.home / "backups", LONG_AGO)
    project = Project(str(person.project), str(person.project), "p", "p", str(person.project))
    with store.writing():
        store.put_session(begin("s1", HARNESS, project, LONG_AGO))
    store.close()
    assert person.types(*words).status == 0
    assert not lock_holder(person.home)


def test_a_rehearsed_pruning_removes_nothing(person: Person) -> None:
    person.prompts("mend the lexer")
    person.types("checkpoint", "--digest", "new")
    store = open_store(person.home / "store.db", person.home / "backups", LONG_AGO)
    project = str(person.project)
    with store.writing():
        for number in range(3):
            store.add_checkpoint(
                Checkpoint(
                    id=f"old-{number}",
                    session="s1",
                    harness=HARNESS,
                    project=project,
                    project_normalized=project,
                    project_id="p",
                    worktree_id="p",
                    trigger=Trigger.PERIODIC,
                    digest="old",
                    prompt_count=1,
                    memory_queries=(),
                    recent_remembers=(),
                    window=0,
                    created_at=LONG_AGO,
                )
            )
    store.close()
    # Asked before the daemon's own pruning could come round again; it prunes once an hour.
    assert (
        person.types("prune", "--dry-run").out
        == "3 checkpoints, 0 sessions and 0 passages would be removed\n"
    )
    assert len(person.types("checkpoints", "--all", "--json").json) == 4
    assert person.types("prune").out == "3 checkpoints, 0 sessions and 0 passages removed\n"
    assert [row["digest"] for row in person.types("checkpoints", "--all", "--json").json] == ["new"]


def test_the_settings_are_shown_with_where_they_come_from(person: Person) -> None:
    person.home.mkdir(mode=0o700)
    file = person.home / "config.toml"
    file.write_text("[continuity]\nprompt_interval = 7\n")
    shown = {row["key"]: row for row in person.types("config", "--json").json["settings"]}
    assert (shown["continuity.prompt_interval"]["value"], shown["continuity.prompt_interval"]["source"]) == (
        7,
        str(file),
    )
    assert shown["continuity.retention_days"]["source"] == "default"
    assert str(file) in person.types("config").out


def test_the_texts_that_a_user_lists_as_secret_are_counted_and_not_shown(person: Person) -> None:
    person.home.mkdir(mode=0o700)
    (person.home / "config.toml").write_text('[redact]\ndeny = ["Nightjar", "Bittern"]\nallow = ["Plover"]\n')
    shown = {row["key"]: row["value"] for row in person.types("config", "--json").json["settings"]}
    assert (shown["redact.deny"], shown["redact.allow"]) == (["(set)", "(set)"], ["(set)"])
    told = person.types("config").out
    assert "(set), (set)" in told
    assert not any(word in told for word in ("Nightjar", "Bittern", "Plover"))


def test_no_escape_sequence_of_a_digest_reaches_the_terminal(person: Person) -> None:
    person.prompts("mend the lexer")
    person.types("checkpoint", "--digest", "mend \x1b[2J\x1b]0;owned\x07 the lexer")
    shown = person.types("checkpoints").out
    assert "the lexer" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_a_table_is_whole_where_nobody_watches_and_plain_without_colour(person: Person) -> None:
    long = "x" * 150
    title = "mend " + " ".join(f"lexer{number}" for number in range(5))
    person.prompts(title, session=long)
    table = subprocess.run(
        person.command("sessions"),
        capture_output=True,
        env=person.environment | {"NO_COLOR": "1", "COLUMNS": "40"},
        text=True,
        check=True,
    ).stdout
    assert title.capitalize() in table
    assert long[:8] in table
    assert "\x1b" not in table
    assert json.loads(person.types("sessions", "--json").out)[0]["session_key"] == long


def test_every_command_names_a_damaged_store_that_was_set_aside(person: Person) -> None:
    person.home.mkdir(mode=0o700)
    aside = person.home / "store.corrupt-29990101T000000Z.db"
    aside.touch(0o600)
    for words in (["status"], ["sessions", "--json"], ["config"], ["recall", "anything"]):
        (line,) = (line for line in person.types(*words).err.splitlines() if "set aside" in line)
        assert str(aside) in line
        assert "kept until 2999-04-01" in line
        assert "`holdfast recover-store`" in line
    assert person.types("status", "--json").json["set_aside"] == [str(aside)]
    assert person.prompts("hello").err == "", "what a hook prints, a harness shows"
    aside.unlink()
    assert "set aside" not in person.types("status").err
