"""Lists of sessions, one session in full, and the briefs that one was given."""

from __future__ import annotations

import json

import pytest

from holdfast.cli.commands.sessions import fact_lines
from holdfast.cli.printing import quoted
from tests.cli.conftest import HARNESS, Person


def listed(short_id: str, project: str) -> dict[str, object]:
    return {
        "session_key": short_id,
        "short_id": short_id,
        "harness": "claude-code",
        "project": project,
        "prompt_count": 3,
        "windows": 2,
        "phase": "ended",
        "imported": True,
        "tokens": 0,
        "person": None,
        "machine": None,
    }


def test_one_long_id_does_not_narrow_the_projects_of_all_others() -> None:
    rows = [
        listed("1a2b3c4d", "/srv/shop/worktrees/invoices"),
        listed("imported-from-elsewhere-1", "/srv/shop"),
    ]
    (alone,), lines = fact_lines(rows[:1], 76), fact_lines(rows, 76)
    assert lines[0] == alone
    assert lines[1] == "imported-from-elsewhere-1  claude-code  /srv/shop  3 prompts  2 windows  imported"


def ends(person: Person, session: str) -> None:
    payload = {"session_id": session, "cwd": str(person.project), "hook_event_name": "SessionEnd"}
    assert person.types("hook", "--harness", HARNESS, given=json.dumps(payload)).status == 0


def starts(person: Person, session: str, source: str = "startup") -> str:
    payload = {
        "session_id": session,
        "cwd": str(person.project),
        "hook_event_name": "SessionStart",
        "source": source,
    }
    return person.types("hook", "--harness", HARNESS, given=json.dumps(payload)).out


@pytest.fixture
def worker(person: Person) -> Person:
    """A person with two sessions that are over; the second was given the first one's brief."""
    person.prompts("Fix the retries in the delivery queue", session="aaaa1111-0000-4000")
    ends(person, "aaaa1111-0000-4000")
    assert "retries" in starts(person, "bbbb2222-0000-4000")
    person.prompts("Write the changelog of the delivery service", session="bbbb2222-0000-4000")
    ends(person, "bbbb2222-0000-4000")
    return person


def keys(person: Person, *words: str) -> list[str]:
    return [row["session_key"] for row in person.types("sessions", *words, "--json").json]


def test_sessions_are_listed_with_title_first_and_an_id_that_can_be_typed_back(worker: Person) -> None:
    head, second, first = worker.types("sessions").out.splitlines()
    assert head.split() == [
        *("title", "session", "harness", "project", "prompts", "windows", "full", "state"),
        *("last", "event"),
    ]
    assert first.startswith("Fix the retries in the delivery queue        aaaa1111  ")
    assert second.startswith("Write the changelog of the delivery service  bbbb2222  ")
    assert worker.types("show", "aaaa").out.startswith("Fix the retries in the delivery queue\n")


def test_sessions_are_chosen_by_project_harness_time_and_words(worker: Person) -> None:
    both = ["bbbb2222-0000-4000", "aaaa1111-0000-4000"]
    assert keys(worker) == keys(worker, "--all") == keys(worker, "--since", "1h") == both
    assert keys(worker, "--project", str(worker.project)) == keys(worker, "--harness", HARNESS) == both
    assert keys(worker, "--project", str(worker.user_home)) == keys(worker, "--harness", "codex") == []
    assert keys(worker, "--search", "Delivery QUEUE retries") == both[1:]
    assert keys(worker, "--search", "delivery", "--limit", "1") == both[:1]
    unknown = worker.types("sessions", "--harness", "claud")
    assert (unknown.status, unknown.out) == (1, "")
    assert unknown.err.startswith("error: there is no harness `claud`\n\nhint: one of: ")
    nothing = worker.types("sessions", "--search", "zebra")
    assert (nothing.out, nothing.status) == ("", 0)
    assert "there are no such sessions" in nothing.err


def test_show_tells_which_briefs_a_session_was_given_and_gave(worker: Person) -> None:
    gave = worker.types("show", "aaaa").out.partition("Briefs that it gave\n")[2]
    assert "at a start" in gave
    assert "to bbbb2222 “Write the changelog of the delivery service”" in gave
    received = worker.types("show", "bbbb").out.partition("Briefs that it was given\n")[2]
    assert "from aaaa1111 “Fix the retries in the delivery queue”" in received
    page = worker.types("show", "bbbb", "--json").json
    assert [row["predecessor"] for row in page["briefs_received"]] == ["aaaa1111-0000-4000"]
    assert [row["text"] for row in page["prompts"]] == ["Write the changelog of the delivery service"]


def test_brief_obeys_the_session_that_is_named(worker: Person) -> None:
    assert "changelog" in worker.types("brief").out
    named = worker.types("brief", "--session", "aaaa")
    assert "retries" in named.out
    assert "changelog" not in named.out
    assert "from session aaaa1111-0000-4000 “Fix the retries in the delivery queue”" in named.err
    assert worker.types("brief", "--session", "nobody").status == 1


def test_brief_given_is_what_a_session_was_in_fact_given(worker: Person) -> None:
    given_brief = worker.types("brief", "--given", "bbbb")
    assert "Fix the retries" in given_brief.out
    assert ": startup, from aaaa1111 “Fix the retries in the delivery queue”, " in given_brief.err
    none = worker.types("brief", "--given", "aaaa").err
    assert "“Fix the retries in the delivery queue” was given no brief" in none
    assert quoted("") == "", "a session without title has no empty quotes"
    view = worker.types("brief", "--given", "bbbb", "--json").json
    assert [row["text"].strip() for row in view["briefs"]] == [given_brief.out.strip()]


def test_a_brief_with_nothing_to_give_says_why(worker: Person) -> None:
    elsewhere = worker.types("brief", "--project", str(worker.user_home))
    assert "there is nothing to give back: no session was seen in" in elsewhere.err
    assert worker.types("brief", "--project", str(worker.user_home), "--json").json["why"]


def test_checkpoints_have_the_title_of_their_session(worker: Person) -> None:
    rows = worker.types("checkpoints", "--json").json
    assert {row["title"] for row in rows} == {
        "Fix the retries in the delivery queue",
        "Write the changelog of the delivery service",
    }
    assert "Fix the retries in the delivery queue" in worker.types("checkpoints").out


def test_a_list_that_is_cut_says_so_and_one_that_is_whole_does_not(worker: Person) -> None:
    cut = worker.types("sessions", "--limit", "1")
    assert cut.err == "there are more than 1 session; `--all` lists them all\n"
    assert worker.types("sessions", "--all").err == ""
    assert len(worker.types("sessions", "--limit", "1", "--json").json) == 1
