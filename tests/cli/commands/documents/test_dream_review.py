"""A review at a terminal: one list, what each candidate would change, and one key for each."""

from __future__ import annotations

import os
import pty
import re
import select
from pathlib import Path

import pytest

from tests.cli.commands.documents.test_continuity import saved
from tests.cli.commands.test_brief import record, written
from tests.cli.conftest import Person

RULE = "Never touch vendor/."
DECISION = "Decision: we use SQLite because it needs no server."
PROMPT = b"[q]uit "
PATIENCE = 0.3
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def reviewer(person: Person) -> Person:
    rows = [
        record(0, "user", f"Mend the lexer of the parser. {RULE}", cwd=str(person.project)),
        record(1, "assistant", [{"type": "text", "text": DECISION}]),
    ]
    saved(person, written(person.root / "s1.jsonl", rows))
    (person.project / "AGENTS.md").write_text("# Rules\n")
    assert person.types("dream", "build").status == 0
    return person


def at_a_terminal(person: Person, keys: str, *words: str) -> str:
    """What a terminal shows of a command to which these keys are given, one each time that it asks."""
    command = person.command(*words)
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(person.project)
        os.execve(command[0], command, {**person.environment, "TERM": "xterm"})
    shown = b""
    while True:
        if select.select([terminal], [], [], PATIENCE)[0]:
            if not (piece := _read(terminal)):
                break
            shown += piece
        elif PROMPT in shown.rpartition(b"\n")[2]:
            # Pressed again if nothing comes of it: a key that is early is thrown away with the line.
            os.write(terminal, keys[shown.count(PROMPT) - 1].encode())
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert shown.count(PROMPT) == len(keys)
    return _STYLES.sub("", shown.decode()).replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4_096)
    except OSError:  # Linux says so at the end.
        return b""


def standings(person: Person) -> dict[str, str]:
    return {row["text"]: row["standing"] for row in person.types("dream", "candidates", "--json").json}


def test_one_list_a_diff_and_one_key(reviewer: Person) -> None:
    shown = at_a_terminal(reviewer, "pp", "dream", "review")
    listed = shown.index("2 to decide on:")
    assert listed < shown.index(f" 1  rule    {RULE}") < shown.index(f" 2  memory  {DECISION}")
    assert f"+++ b/AGENTS.md\n@@ -1 +1,2 @@\n # Rules\n+- {RULE}\n" in shown
    assert f"+ memory: {DECISION}\n" in shown
    assert "1 manual-apply-pending, 1 promoted, 0 left" in shown
    assert standings(reviewer) == {RULE: "manual-apply-pending", DECISION: "promoted"}
    assert [row["text"] for row in reviewer.types("memories", "list", "--json").json] == [DECISION]
    assert (reviewer.project / "AGENTS.md").read_text() == "# Rules\n"


def test_who_quits_has_decided_on_what_came_before(reviewer: Person) -> None:
    shown = at_a_terminal(reviewer, "aq", "dream", "review")
    assert "1 approved, 1 left" in shown
    assert "`holdfast dream promote ID`" in shown
    assert standings(reviewer) == {RULE: "approved", DECISION: "pending"}
    assert "1 rejected, 0 left" in at_a_terminal(reviewer, "r", "dream", "review")
    assert "nothing waits for a decision" in at_a_terminal(reviewer, "", "dream", "review")


def test_every_step_is_in_the_log(reviewer: Person) -> None:
    at_a_terminal(reviewer, "sp", "dream", "review")
    log: Path = next(reviewer.home.rglob("dream-log.jsonl"))
    assert re.findall(r'"step": "([\w-]+)"', log.read_text()) == ["approve", "promote"]
