"""`holdfast why` tells a person which sessions changed a file, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands.test_import import age, day
from tests.cli.conftest import Person
from tests.harnesses import claude_code_records as claude

WHY = "The index is missing, because nobody created it."


@pytest.fixture
def owner(person: Person) -> Person:
    """A person with an imported session that edited `app.py`."""
    path = person.user_home / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    about: claude.Json = {"cwd": str(person.project), "sessionId": "s1", "timestamp": day(1)}
    edit = claude.tool_use(
        "Edit",
        "toolu_1",
        file_path=f"{person.project}/app.py",
        old_string="x",
        new_string="create_index(table)",
    )
    lines = (
        claude.user("Why is it slow?", "u1", **about),
        claude.assistant(claude.text(WHY), uuid="a1", **about),
        claude.assistant(edit, uuid="a2", request="m2", **about),
        claude.user([claude.tool_result("done")], "u2", **about),
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    age(path, 1)
    (person.project / "app.py").write_text("import it\ncreate_index(table)\n")
    assert person.types("import", "--yes").status == 0
    return person


def test_it_says_what_was_asked_and_why(owner: Person) -> None:
    done = owner.types("why", "app.py")
    assert done.status == 0
    assert done.out.splitlines() == [
        "Why is it slow?",
        "  24 h ago · claude-code · s1 · imported",
        "  asked     Why is it slow?",
        "            edited it",
        f"  why       {WHY}",
    ]


def test_a_line_is_named_with_the_session_that_wrote_it(owner: Person) -> None:
    done = owner.types("why", "app.py:2")
    assert done.out.startswith("2: create_index(table)\n\nWhy is it slow?\n")
    assert "No recorded edit wrote line 1" in owner.types("why", "app.py:1").err


def test_the_same_for_a_program(owner: Person) -> None:
    answer = owner.types("why", "app.py:2", "--json").json
    assert (answer["path"], answer["line"], answer["note"]) == ("app.py", 2, "")
    assert answer["sessions"][0]["turns"][0]["reason"] == WHY
    assert answer["sessions"][0]["wrote_line"] is True


def test_a_file_that_no_session_changed_is_said_so(owner: Person) -> None:
    done = owner.types("why", "other.py")
    assert (done.status, done.out) == (0, "")
    assert "No session is known to have changed `other.py`." in done.err


def test_an_imported_session_can_be_shown_and_handed_over(owner: Person) -> None:
    shown = owner.types("show", "s1")
    assert "Why is it slow?" in shown.out
    assert "app.py" in shown.out
    assert len(owner.types("checkpoints", "--json").json) == 1
    brief = owner.types("brief", "--session", "s1")
    assert "Why is it slow?" in brief.out
    assert "Why is it slow?" not in owner.types("brief").out, "it ended a day ago"
    made = owner.types("handoff", "create", "Go on with the index", "--json").json
    assert made["session"] == "s1"
    assert "app.py" in made["text"]
    noted = owner.types("handoff", "create", "Go on", "--next", "the second index")
    assert "note: of the last session here: s1 “Why is it slow?”, 24 h ago" in noted.err
    written = Path(noted.out.strip()).read_text()
    assert "app.py" in written
    assert "the second index" in written
