"""Handoffs as a person and an agent type them: create, list, show, pick up."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import HARNESS, Person
from tests.engine.repository.test_git import run_git

SAMPLE = Path(__file__).parents[3] / "harnesses" / "samples" / "claude_code_session.jsonl"


@pytest.fixture
def at_work(person: Person) -> Person:
    """A person in a repository, with a session that was asked something."""
    run_git(person.project, "init", "-q", "-b", "feature/sums")
    (person.project / "totals.py").write_text("def total(rows):\n")
    run_git(person.project, "add", ".")
    run_git(person.project, "commit", "-q", "-m", "Begin")
    person.prompts("Round the totals half up, never touch legacy.py")
    return person


def test_a_purpose_is_mandatory(person: Person) -> None:
    assert person.types("handoff", "create").status == 2
    empty = person.types("handoff", "create", " ", "--session", "s1")
    assert empty.status == 1


def test_from_creation_to_pickup(at_work: Person) -> None:
    made = at_work.types(
        "handoff", "create", "Finish the report", "--next", "the totals row", "--solved", "rounding", "--json"
    )
    assert made.status == 0, made.err
    assert made.json["name"].endswith("-feature-sums-finish-the-report.md")
    assert (made.json["branch"], made.json["session"]) == ("feature/sums", "s1")
    text = Path(made.json["path"]).read_text()
    assert made.json["text"] == text
    assert "Round the totals half up" in text
    assert "## Next Step\n- the totals row" in text

    (row,) = at_work.types("handoff", "list", "--json").json
    assert (row["status"], row["purpose"]) == ("open", "Finish the report")
    listing = at_work.types("handoff", "list").out.splitlines()[1]
    assert listing.startswith("Finish the report")
    assert re.search(r" (?:now|\d+ min ago) ", listing)
    assert at_work.types("handoff", "show", "report").out == text

    at_work.variables["CLAUDE_CODE_SESSION_ID"] = "s1"
    picked = at_work.types("handoff", "pickup", "report")
    assert picked.status == 0, picked.err
    assert "Verified: branch `feature/sums`" in picked.out
    assert "<holdfast-recall>\n# Handoff: Finish the report" in picked.out
    (row,) = at_work.types("handoff", "list", "--json").json
    assert row["status"].startswith("consumed ")
    assert row["status"].endswith(" by session s1")
    assert re.search(r" consumed (?:now|\d+ min ago) by session s1 ", at_work.types("handoff", "list").out)
    assert "no handoff is open" in at_work.types("handoff", "pickup").err


def test_over_drift_it_asks_first(at_work: Person) -> None:
    made = Path(at_work.types("handoff", "create", "Finish the report").out.strip())
    run_git(at_work.project, "checkout", "-q", "-b", "elsewhere")
    refused = at_work.types("handoff", "pickup")
    assert refused.status == 1
    assert "Drift: branch `feature/sums` (now it is `elsewhere`)" in refused.out
    assert "ask the user whether to go on" in refused.err
    assert "- Status: open" in made.read_text()
    told = at_work.types("handoff", "pickup", "--json")
    assert (told.status, told.json["verdict"]) == (1, "Drift")
    assert "text" not in told.json
    taken = at_work.types("handoff", "pickup", "--yes", "--json")
    assert taken.status == 0, taken.err
    assert "consumed" in taken.json["text"]
    assert taken.json["status"].endswith(" by a person")


def test_a_repositorys_own_is_labelled(at_work: Person) -> None:
    made = at_work.types("handoff", "create", "Finish the report").out.strip()
    run_git(at_work.project, "add", "-f", made)
    assert "(from the repository)" in at_work.types("handoff", "pickup", "--yes").out


@pytest.mark.parametrize("words", [("create", "Go on", "--to", HARNESS), ("show", "--to", HARNESS)])
def test_what_to_paste_into_another_harness(at_work: Person, words: tuple[str, ...]) -> None:
    if words[0] == "show":
        at_work.types("handoff", "create", "Go on")
    done = at_work.types("handoff", *words)
    assert done.status == 0, done.err
    assert done.out.startswith("Go on from the handoff below, in Claude Code.")
    assert "# Handoff: Go on" in done.out


def test_who_is_neither_harness_nor_teammate_is_an_error_before_anything_is_written(at_work: Person) -> None:
    done = at_work.types("handoff", "create", "Go on", "--to", "nobody")
    assert (done.status, "`nobody` is no harness, and the handoffs" in done.err) == (1, True)
    assert at_work.types("handoff", "list", "--json").json == []


def test_from_a_transcript_alone(person: Person) -> None:
    done = person.types("handoff", "create", "Go on", "--harness", HARNESS, "--transcript", str(SAMPLE))
    assert done.status == 0, done.err
    assert "# Handoff: Go on" in Path(done.out.strip()).read_text()
    assert person.types("handoff", "create", "Go on", "--transcript", str(SAMPLE)).status == 2


def test_without_a_session_there_is_nothing_to_hand_over(person: Person) -> None:
    done = person.types("handoff", "create", "Go on")
    assert (done.status, "no session was seen" in done.err) == (1, True)
    assert "there are no handoffs" in person.types("handoff", "list").err


def test_a_person_may_hand_over_what_no_agent_did(person: Person) -> None:
    words = ("--next", "the totals row", "--pending", "the tax")
    made = person.types("handoff", "create", "Go on", *words, "--json")
    assert made.status == 0, made.err
    assert "## Pending\n- the tax" in made.json["text"]
    assert "## Next Step\n- the totals row" in made.json["text"]
    assert (made.json["session"], made.json["harness"]) == ("", "")
    picked = person.types("handoff", "pickup", "--json")
    assert (picked.status, picked.json["verdict"]) == (0, "Unable to verify")


def test_from_another_worktree(at_work: Person) -> None:
    made = at_work.types("handoff", "create", "Finish the report").out.strip()
    tree = at_work.root / "tree"
    run_git(at_work.project, "worktree", "add", "-q", "-b", "side", str(tree))
    done = subprocess.run(
        at_work.command("handoff", "show", "report", "--json"),
        cwd=tree, env=at_work.environment, capture_output=True, check=True, text=True,
    )  # fmt: skip
    assert made in done.stdout


def test_git_shows_no_handoff_unless_handoffs_are_committed(at_work: Person) -> None:
    before = run_git(at_work.project, "status", "--porcelain")
    made = at_work.types("handoff", "create", "Finish the report", "--json").json
    assert run_git(at_work.project, "status", "--porcelain") == before
    undone = at_work.types("unsetup", "--yes")
    assert undone.status == 0
    assert f"{at_work.project}/.agents/handoffs: stays, because it is yours; git shows it now" in undone.err
    assert Path(made["path"]).is_file()
    run_git(at_work.project, "add", "--force", made["path"])
    at_work.types("handoff", "create", "And the tax")
    assert "and-the-tax.md" in run_git(at_work.project, "status", "--porcelain", "--untracked-files=all")
