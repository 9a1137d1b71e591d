"""Every command that a page shows is run, in the page's order, by someone who has worked a little.

A block marked `sh` or `console` is a promise that its lines can be typed. What is not run here stands in
`NOT_RUN` with its reason; a target of make, a benchmark and its options that such a line names must be there.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests import fork_server
from tests.cli.commands import test_eval_pressure as pressure
from tests.cli.commands.test_eval_retrieval import QUESTIONS, SAID
from tests.cli.conftest import HARNESS, TIME_LIMIT, Done, Person
from tests.core.made_up import HUNTER
from tests.engine.evaluation.test_redaction import finding
from tests.engine.evaluation.test_survival import kept, long_session
from tests.engine.evaluation.test_training_data import talk, write_questions, write_session
from tests.engine.repository.test_git import run_git

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = sorted(
    page.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md")
    for page in ROOT.glob(pattern)
)
_BLOCK: Final = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)

NOT_RUN: Final = {
    r"uvx |uv tool |pipx ": "installs from the package index; `make test-install` does so with a wheel",
    r"make |export PATH=": "makes environments and takes minutes; CI runs the same targets",
    r"\.venv/bin/python scripts/": "installs packages, or takes minutes",
    r"(PYTHONPATH=\. )?\.venv/bin/python benchmarks/": "measures for minutes; `make bench` runs all of them",
    r"git push ": "sends to the repository's hosting service",
    r"claude |codex( |$)|gemini |opencode |npm ": "the real program, whose tests are in tests/clients",
}
"""Expressions of command lines that are not run here, and why."""
RUN_ELSEWHERE: Final = {
    "docs/install.md": "installs and removes real environments; `make test-install` runs all of it",
    "docs/teams.md": "needs a database; `make test-postgres` runs it",
}
"""Pages that another test runs as a whole."""
MAY_FIND_FAULT: Final = {"status", "doctor"}
"""Their exit status says how healthy this machine's set-up is; nothing but Holdfast is installed on it."""


def lines(page: str) -> Iterator[str]:
    """Each command line of a page's blocks, without what a comment says."""
    for block in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.split(r"\s+#", line.removeprefix("$ "))[0].strip()
            yield from filter(None, command.split(" && "))


def reason_not_to_run(line: str) -> str:
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, line)), "")


SLOW: Final = {"docs/reference/evaluation.md"}
WITH_COMMANDS: Final = [
    pytest.param(page, marks=[pytest.mark.slow] if page in SLOW else [])
    for page in PAGES
    if page not in RUN_ELSEWHERE and any(not reason_not_to_run(line) for line in lines(page))
]


@pytest.fixture
def at_work(person: Person) -> Person:
    """A person in a repository, with a session that was asked something, and with what pages name."""
    run_git(person.project, "init", "-q", "-b", "main")
    (person.project / "totals.py").write_text("def total(rows):\n")
    (person.project / "src").mkdir()
    (person.project / "src" / "app.py").write_text("\n" * 41 + "def answer_every_request(app):\n")
    # The README's brief is of a recording in the repository.
    (person.project / "src" / "holdfast").symlink_to(ROOT / "src" / "holdfast")
    (person.project / "memories.jsonl").write_text('"Lint with ruff"\n{"text": "Deploy by hand"}\n')
    kept(person.project / "session.jsonl", long_session())
    (person.project / "answer.md").write_text("### Goal\n- Round the totals\n")
    run_git(person.project, "add", "totals.py", "src/app.py")
    run_git(person.project, "commit", "-q", "-m", "Begin")
    person.prompts("Round the totals in totals.py half up, never touch legacy.py")
    kept(person.user_home / ".claude" / "projects" / "-shop" / "s9.jsonl", long_session())
    kept(person.user_home / "backup" / "s8.jsonl", long_session())
    return person


def things_to_measure(person: Person) -> dict[str, str]:
    """Folders and files that a page on evaluation names by `DIR` and `FILE`."""
    data, probes = person.root / "data", person.root / "probes"
    for number, (name, project) in enumerate({"a": "one", "b": "one", "c": "two"}.items(), 1):
        write_session(data, f"{project}/{name}.jsonl", talk(name, project))
        write_questions(probes, f"0{number}", f"{project}/{name}.jsonl", name)
    counted = (pressure.assistant(1, 1_000), pressure.user(2, "hello world"), pressure.assistant(3, 1_012))
    pressure.written(data / "counted", *counted)
    kept(data / HARNESS / "s1.jsonl", long_session())
    spoken = [{"speaker": "Ada", "dia_id": f"D1:{place}", "text": text} for place, text in enumerate(SAID, 1)]
    sample = {"sample_id": "a", "conversation": {"session_1": spoken}, "qa": QUESTIONS}
    (data / "locomo10.json").write_text(json.dumps([sample]))
    (data / "secrets").mkdir()
    (data / "secrets" / "labels.json").write_text(
        json.dumps([finding("Password", HUNTER, f"password = {HUNTER}")])
    )
    judged = person.root / "judged.jsonl"
    judged.write_text("")
    return {"--data DIR": f"--data {data}", "--probes DIR": f"--probes {probes}", "FILE": str(judged)}


def filled_in(person: Person, line: str, folders: dict[str, str]) -> str:
    """A line with what its placeholders stand for on this person's machine."""
    for placeholder, path in folders.items():
        line = line.replace(placeholder, path)
    if re.search(r"\bID\b", line):
        memories = person.types("memories", "list", "--json").json
        line = re.sub(r"\bID\b", str(memories[0]["id"]), line)
    return line.replace("HARNESS", HARNESS).replace("~/", f"{person.user_home}/")


def typed(person: Person, line: str) -> Done:
    """What a line does at a terminal of a person who answers every question with yes."""
    words = shlex.split(line)
    if "<" in words:
        *words, _, source = words
        return person.types(*words[1:], given=(person.project / source).read_text())
    if words[0] == "holdfast" and not {">", "|"} & set(words):
        return answered_with_yes(person, person.command(*words[1:]))
    own = person.root / "bin"
    own.mkdir(exist_ok=True)
    program = own / "holdfast"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m holdfast.cli "$@"\n')
    program.chmod(0o755)
    return answered_with_yes(person, ["/bin/sh", "-c", line], PATH=f"{own}:{os.environ['PATH']}")


def answered_with_yes(person: Person, command: list[str], **variables: str) -> Done:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"y\n" * 3)
        done = fork_server.run(
            command,
            stdin=theirs,
            capture_output=True,
            env=person.environment | variables,
            cwd=person.project,
            timeout=TIME_LIMIT,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_every_command_of_a_page_can_be_typed_in_its_order(page: str, at_work: Person) -> None:
    folders = things_to_measure(at_work) if "evaluation" in page else {}
    for line in lines(page):
        if reason_not_to_run(line):
            continue
        done = typed(at_work, filled_in(at_work, line, folders))
        words = shlex.split(line)
        assert done.status == 0 or words[1] in MAY_FIND_FAULT, f"{line}: {done.err}"
        assert "should not have happened" not in done.err, line


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_is_there(page: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in lines(page):
        words = shlex.split(line)
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), line
        scripts = [ROOT / word for word in words if word.startswith("benchmarks/")]
        for script in scripts:
            source = script.read_text(encoding="utf-8")
            assert all(f'"{word}"' in source for word in words if word.startswith("--")), line


def test_no_reason_is_kept_for_what_no_page_shows() -> None:
    shown = [line for page in PAGES for line in lines(page)]
    assert all(any(re.match(pattern, line) for line in shown) for pattern in NOT_RUN)


def test_the_recipes_answer_what_people_ask() -> None:
    page = "docs/recipes.md"
    asked = re.findall(r"^## (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(asked) >= 15
    assert all(question.endswith("?") for question in asked)
    assert len(list(lines(page))) > 30
