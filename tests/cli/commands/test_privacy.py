"""Forget, prune and audit on the command line."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from dataclasses import replace

import pytest

from holdfast.stores.sqlite import open_store
from tests.cli.conftest import TIME_LIMIT, Person


def sessions(person: Person) -> list[str]:
    return sorted(row["session_key"] for row in person.types("sessions", "--json").json)


@pytest.fixture
def busy(person: Person) -> Person:
    """Two sessions of one project, and a daemon that knows them."""
    person.prompts("Build the harbour", session="first-session")
    person.prompts("Build the ferry", session="second-session")
    return person


@pytest.fixture(params=["with a daemon", "without one"])
def either(request: pytest.FixtureRequest, busy: Person) -> Person:
    if request.param == "without one":
        assert busy.types("down").status == 0
    return busy


def test_a_session_goes_and_the_person_is_told_what_went(either: Person) -> None:
    done = either.types("forget", "--session", "first", "--yes")
    assert done.status == 0, done.err
    assert done.out.startswith("forgotten: 1 session, 1 event\n")
    assert "emptied: 1 log," in done.out
    assert "left alone" in done.err
    assert sessions(either) == ["second-session"]


def test_the_counts_can_be_had_as_json(either: Person) -> None:
    told = either.types("forget", "--project", ".", "--dry-run", "--json").json
    assert (told["sessions"], told["events"]) == (2, 2)
    done = either.types("forget", "--project", ".", "--yes", "--json")
    assert done.json == told
    assert sessions(either) == []


def test_a_project_is_known_by_its_place_where_its_repository_is_gone(person: Person) -> None:
    for name in ("objects", "refs/heads"):
        (person.project / ".git" / name).mkdir(parents=True)
    (person.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    person.prompts("Build the harbour")
    shutil.rmtree(person.project / ".git")
    assert person.types("forget", "--project", ".", "--yes", "--json").json["sessions"] == 1


def test_a_dry_run_changes_nothing(busy: Person) -> None:
    done = busy.types("forget", "--all", "--dry-run")
    assert done.status == 0
    assert done.out.startswith("would be forgotten: 2 sessions, 2 events\n")
    assert sessions(busy) == ["first-session", "second-session"]


@pytest.mark.parametrize(
    ("date", "left"), [("2000-01-31", 2), ("2000-01-31T12:00+02:00", 2), ("2999-01-31", 0)]
)
def test_what_is_from_before_a_date_goes(busy: Person, date: str, left: int) -> None:
    done = busy.types("forget", "--before", date, "--yes")
    assert done.status == 0, done.err
    assert len(sessions(busy)) == left
    if left:
        assert done.out == "there is nothing to forget\n"


def test_an_ambiguous_session_is_answered_with_short_ids_and_titles(busy: Person) -> None:
    for key in ("0199aa11-7a6a-e7a3", "0199aa22-7a6a-e7a3"):
        busy.prompts("Split the parser into two modules", session=key)
    done = busy.types("forget", "--session", "0199")
    title = "(“Split the parser into two modules”)"
    assert done.err.startswith(f"error: several sessions begin with `0199`: `0199aa11` {title}, `0199aa22` (")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            ("--session", "frist-session"),
            "nothing is kept of a session `frist-session`",
            "did you mean `first-session` or `second-session`?",
        ),
        (("--session", ""), "nothing is kept of a session ``", "`holdfast sessions` lists them"),
        (("--session", "zz"), "nothing is kept of a session `zz`", "`holdfast sessions` lists them"),
        (("--before", "yesterday"), "`yesterday` is no date", "write it like 2026-01-31"),
        (("--all",), "forget asks before it removes anything", "--yes"),
    ],
)
def test_an_error_says_what_to_do(busy: Person, words: tuple[str, ...], message: str, hint: str) -> None:
    done = busy.types("forget", *words)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"error: {message}")
    assert hint in done.err.partition("\n\nhint: ")[2]
    assert len(sessions(busy)) == 2


@pytest.mark.parametrize(
    "words", [(), ("--all", "--session", "x"), ("--before", "2026-01-31", "--project", ".")]
)
def test_one_choice_must_be_made(person: Person, words: tuple[str, ...]) -> None:
    done = person.types("forget", *words)
    assert (done.status, done.out) == (2, "")
    assert "--session, --project, --memory, --before and --all" in done.err


def test_where_nothing_is_kept_nothing_is_made(person: Person) -> None:
    assert person.types("forget", "--all", "--yes").out == "there is nothing to forget\n"
    assert not person.home.exists()


@pytest.mark.parametrize(("answer", "left"), [("n", 2), ("y", 0)])
def test_a_person_at_a_terminal_is_asked(busy: Person, answer: str, left: int) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, f"{answer}\n".encode())
        done = subprocess.run(
            busy.command("forget", "--all"),
            stdin=theirs,
            capture_output=True,
            env=busy.environment,
            timeout=TIME_LIMIT,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"would be forgotten: 2 sessions, 2 events" in done.stderr
    assert b"Remove this for good?" in done.stderr
    assert done.returncode == (0 if answer == "y" else 1)
    assert len(sessions(busy)) == left


def test_a_fork_that_holds_the_same_records_is_named(busy: Person) -> None:
    assert busy.types("down").status == 0
    store = open_store(busy.home / "store.db", busy.home / "backups", 0)
    (event,) = store.events("first-session", 10)
    with store.writing():
        store.add_event(replace(event, session="second-session"))
    store.close()
    done = busy.types("forget", "--session", "first-session", "--yes")
    assert "note: session second-session holds records of this one as its own" in done.err


TOKEN = "ghp_" + "Qw3r" * 9


def test_a_home_in_which_all_was_redacted_is_clean(person: Person) -> None:
    person.types("setup", "claude-code", "--home", str(person.user_home), "--yes")
    person.prompts(f"push with {TOKEN}")
    done = person.types("audit", "secrets")
    assert (done.status, done.out, done.err) == (0, "no secret was found\n", "")
    assert person.types("audit", "secrets", "--json").json == []


def test_what_is_found_is_counted_and_not_shown(person: Person) -> None:
    log = person.home / "logs" / "cli.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"{TOKEN} and again {TOKEN}\n")
    done = person.types("audit", "secrets")
    assert done.status == 1
    assert done.out.split("\n")[1].split() == ["logs/cli.log", "github-token", "2"]
    assert TOKEN not in done.out + done.err
    assert "holdfast doctor" in done.err
    told = person.types("audit", "secrets", "--json")
    assert (told.status, told.json) == (1, [{"place": "logs/cli.log", "kind": "github-token", "count": 2}])


def test_our_own_tokens_are_no_leak(person: Person) -> None:
    for key in ("http/token", "http/token-read", "run/token"):
        (person.home / key).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (person.home / key).write_text(f"{TOKEN}\n")
    assert person.types("audit", "secrets").status == 0
    (person.home / "http" / "token-copy").write_text(f"{TOKEN}\n")
    assert person.types("audit", "secrets").status == 1


def test_looking_makes_no_home(person: Person) -> None:
    assert person.types("audit", "secrets").status == 0
    assert not person.home.exists()
