"""The ledger's commands, as a person and an agent type them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from holdfast.cli.commands.documents.ledger import ledger
from tests.cli.conftest import Person

OFF = "Checkpoint skipped - session.ledger not enabled in .agents.yml\n"
LEDGER = Path(".agents") / "session_ledger.md"
COMMANDS = [("save",), ("show",), ("edit",), ("history",), ("check",)]


def enable(person: Person, more: str = "") -> None:
    (person.project / ".agents.yml").write_text(f"session:\n  ledger: true\n{more}")


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("agents", ["", "session:\n  ledger: false\n", "session:\n  ledger: perhaps\n"])
def test_where_it_is_not_enabled_nothing_is_done(person: Person, words: tuple[str, ...], agents: str) -> None:
    if agents:
        (person.project / ".agents.yml").write_text(agents)
    done = person.types("ledger", *words)
    if words == ("save",):
        assert (done.status, done.out) == (0, OFF)
    else:
        assert (done.status, done.out) == (1, "")
        assert done.err.endswith(
            "error: the ledger is off in this project\n\n"
            "hint: `holdfast ledger --help` says how a project enables it\n"
        )
    assert not (person.project / ".agents").exists()
    assert not (person.home / "projects").exists()


def test_the_users_own_no_goes_before_the_projects_yes(person: Person) -> None:
    enable(person)
    person.variables["HOLDFAST_SESSION_LEDGER"] = "false"
    assert person.types("ledger", "save").out == OFF
    assert person.types("ledger", "save", "--json").json == {"saved": False, "reason": OFF.strip()}
    person.variables["HOLDFAST_SESSION_LEDGER"] = "true"
    (person.project / ".agents.yml").unlink()
    assert person.types("ledger", "save", "--goal", "sums").out.startswith("Checkpoint saved to ")


def test_saving_by_hand_and_looking_at_it(person: Person) -> None:
    enable(person)
    done = person.types(
        "ledger", "save", "--goal", "Round totals", "--now", "totals.py", "--next", "tax", "--done", "lexer",
        "--done", "parser", "--decision", "Decimal",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert done.out == (
        "Checkpoint saved to .agents/session_ledger.md\n"
        "- Goal: Round totals\n"
        "- State: 2 done, now: totals.py, next: tax\n"
    )
    assert person.types("ledger", "show").out == (person.project / LEDGER).read_text()
    shown = person.types("ledger", "show", "--json").json
    assert shown["decisions"] == [{"text": "Decimal", "unconfirmed": False, "why": ""}]
    check = person.types("ledger", "check", "--json")
    assert (check.status, check.json["unconfirmed"]) == (0, [])
    assert check.json["questions"] == ["The ledger shows “totals.py” in progress: is this still the focus?"]


def test_a_session_and_its_agent(person: Person) -> None:
    enable(person)
    person.prompts("Round the totals half up, never touch legacy.py")
    person.variables["CLAUDE_CODE_SESSION_ID"] = "s1"
    saved = person.types("ledger", "save", "--decision", "Use Decimal", "--constraint", "tabs", "--json")
    assert saved.status == 0, saved.err
    rows = {row["text"]: row for row in saved.json["decisions"] + saved.json["constraints"]}
    assert rows["Use Decimal"]["why"] == "not approved"
    assert rows["tabs"]["why"] == "inferred"
    assert any("never touch legacy.py" in text and not row["unconfirmed"] for text, row in rows.items())
    assert person.types("ledger", "check").status == 1
    assert person.types("ledger", "edit", "--confirm", "use decimal").status == 0
    unconfirmed = person.types("ledger", "check", "--json").json["unconfirmed"]
    assert [row["text"] for row in unconfirmed] == ["tabs"]
    refused = person.types("ledger", "edit", "--confirm", "no such thing")
    assert (refused.status, "nothing that is unconfirmed says that" in refused.err) == (1, True)


def test_a_mark_that_is_given_by_hand_is_kept(person: Person) -> None:
    enable(person)
    words = ["--constraint", "tabs `UNCONFIRMED`", "--decision", "Decimal UNCONFIRMED (ask Ada)"]
    saved = person.types("ledger", "save", *words, "--question", "UNCONFIRMED: who pays?", "--json").json
    rows = [row for part in ("constraints", "decisions", "questions") for row in saved[part]]
    assert [(row["text"], row["unconfirmed"]) for row in rows] == [
        ("tabs", True),
        ("Decimal", True),
        ("who pays?", True),
    ]
    assert "- Decimal `UNCONFIRMED` (ask Ada)\n" in (person.project / LEDGER).read_text()
    # Saving once more, without those words, leaves the marks where they are.
    assert len(person.types("ledger", "check", "--json").json["unconfirmed"]) == 3
    again = person.types("ledger", "save", "--now", "the report", "--json").json
    assert [again[part][0]["unconfirmed"] for part in ("constraints", "decisions", "questions")] == [True] * 3


def test_a_whole_ledger_on_stdin_is_merged(person: Person) -> None:
    enable(person)
    person.types("ledger", "save", "--goal", "sums", "--question", "who pays?")
    text = "# Session Ledger\n\n## Goal\nsums and tax\n\n## Open Questions\n- when?\n"
    merged = person.types("ledger", "save", "--from", "-", "--json", given=text).json
    assert [row["text"] for row in merged["goal"]] == ["sums and tax"]
    assert [row["text"] for row in merged["questions"]] == ["who pays?", "when?"]


def editor(person: Person, code: str) -> str:
    script = person.root / "editor.py"
    script.write_text(f"import sys\nfrom pathlib import Path\nfile = Path(sys.argv[1])\n{code}\n")
    return f"{sys.executable} {script}"


def test_editing_keeps_what_was_there_before(person: Person) -> None:
    enable(person)
    person.types("ledger", "save", "--goal", "sums")
    person.variables["EDITOR"] = editor(person, "file.write_text(file.read_text().replace('sums', 'taxes'))")
    assert person.types("ledger", "edit").status == 0
    assert "taxes" in (person.project / LEDGER).read_text()
    rows = person.types("ledger", "history", "--json").json
    assert ["taxes" in row["text"] for row in rows] == [True, False]
    assert "sums" in person.types("ledger", "history", "2").out
    assert len(person.types("ledger", "history").out.splitlines()) == 3
    assert person.types("ledger", "history", "9").status == 1


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("file.write_text('gone')", "no ledger any more"),
        ("sys.exit(3)", "the editor ended with status 3"),
        ("pass", "nothing was changed"),
    ],
)
def test_what_is_no_ledger_any_more_is_not_written(person: Person, code: str, says: str) -> None:
    enable(person)
    person.types("ledger", "save", "--goal", "sums")
    before = (person.project / LEDGER).read_bytes()
    person.variables["EDITOR"] = editor(person, code)
    assert says in person.types("ledger", "edit").err
    assert (person.project / LEDGER).read_bytes() == before


@pytest.mark.parametrize(
    ("path", "says"),
    [("../out.md", "leads out of the worktree"), (".git/x.md", "git's own"), ("README.md", "is no ledger")],
)
def test_a_path_that_may_not_be_used_is_an_error_in_a_sentence(person: Person, path: str, says: str) -> None:
    enable(person, f"  ledger_path: {path}\n")
    (person.project / "README.md").write_text("# Mine\n")
    done = person.types("ledger", "save", "--goal", "sums")
    assert done.status == 1
    assert says in done.err
    assert "hint: " in done.err
    assert (person.project / "README.md").read_text() == "# Mine\n"


def test_before_anything_was_saved_there_is_nothing_to_show(person: Person) -> None:
    enable(person)
    for words in (("show",), ("check",), ("edit",)):
        done = person.types("ledger", *words)
        assert (done.status, "`holdfast ledger save` writes it" in done.err) == (1, True)
    assert json.loads(person.types("ledger", "history", "--json").out) == []


def test_the_help_tells_a_ledger_from_what_is_like_it() -> None:
    assert ledger.help is not None
    assert [line.split()[0] for line in ledger.help.splitlines() if line[:1].isalpha()][1:5] == [
        "ledger",
        "handoff",
        "tasks",
        "memory",
    ]
