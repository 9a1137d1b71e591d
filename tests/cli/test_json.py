"""One style of JSON: every command that prints data has `--json`, in snake_case, and nothing beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import click
import pytest

from holdfast.cli.command_list import ALIASES, COMMANDS
from holdfast.cli.main import holdfast
from holdfast.core.evidence.kinds import Section
from tests.cli.conftest import Person

WITHOUT_JSON = {
    "help": "text for a person",
    "config edit": "opens an editor",
    "continuity open": "opens an editor",
    "ledger edit": "opens an editor",
    "run": "becomes another program",
    "exec": "becomes another program",
    "resume": "becomes another program",
    "logs": "copies the lines of a log",
    "hook": "speaks the harness's own format",
    "hook-command": "a line for a shell",
    "mcp": "speaks MCP, which is JSON",
    "statusline": "a line for a harness",
    "redact": "copies stdin",
    "export": "writes the harness's own format",
    "hub invite": "one line to be sent to somebody, with a password",
}
"""Commands without `--json`, and why."""

CAMEL = {"flushActioned", "tokensAtCheckpoint", "messageCountAtCheckpoint", "openQuestions", "keyDecisions"}
"""Fields of agent logs, under the names that other programs know; docs/reference/cli.md says so too."""
HEADINGS = {section.value.title() for section in Section}
"""The titles of the sections of `show`, by which it lists their lines."""
_SNAKE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


def leaves(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that can be called, by its words; a group that lists is one too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = f"{path}{name}"
        if isinstance(command, click.Group):
            yield from leaves(command, f"{words} ")
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield words, command


LEAVES = dict(leaves(holdfast))


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_that_prints_data_has_json(words: str) -> None:
    options = {option for param in LEAVES[words].params for option in param.opts}
    assert ("--json" in options) is (words not in WITHOUT_JSON), "give it --json, or say here why it has none"


def test_what_has_no_json_is_there() -> None:
    assert set(WITHOUT_JSON) <= set(LEAVES)
    assert len(WITHOUT_JSON) < 20
    assert {name for name in ALIASES if name in COMMANDS} == set()


def keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in cast("Mapping[str, object]", value).items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from keys(inner)


@pytest.fixture
def busy(person: Person) -> Person:
    """A person with a session, a memory, a checkpoint, a ledger and a handoff."""
    (person.project / ".agents.yml").write_text("session:\n  ledger: true\n")
    person.prompts("Sum the columns of the report; always round half up")
    for words in (
        ["checkpoints", "take", "--digest", "Half done; next: the totals row."],
        ["remember", "The report is due on Fridays"],
        ["ledger", "save", "--now", "sums", "--decision", "Decimal, not float"],
        ["handoff", "create", "Finish the report", "--next", "the totals row"],
    ):
        assert person.types(*words).status == 0
    return person


COMMAND_LINES = [
    ["sessions"],
    ["show"],
    ["checkpoints"],
    ["checkpoints", "take"],
    ["brief"],
    ["recall", "report"],
    ["remember", "The port is 8080"],
    ["memories", "list"],
    ["project", "list"],
    ["audit", "memories"],
    ["ledger", "show"],
    ["ledger", "history"],
    ["handoff", "list"],
    ["handoff", "show"],
    ["dream", "build"],
    ["dream", "inspect"],
    ["status"],
    ["config"],
    ["config", "capture.exclude"],
    ["config", "set", "continuity.prompt_interval", "9"],
    ["config", "unset", "continuity.prompt_interval"],
    ["token", "show"],
    ["token", "rotate"],
    ["models", "usage"],
    ["prune", "--dry-run"],
    ["forget", "--all", "--dry-run"],
    ["setup", "claude-code", "--dry-run"],
    ["setup", "claude-code", "--yes"],
    ["unsetup", "--dry-run"],
    ["unsetup", "--yes"],
    ["plugin", "made-plugins", "claude-code"],
    ["completion", "bash"],
    ["service", "status"],
    ["service", "install", "--dry-run"],
    ["dashboard"],
    ["up"],
    ["restart"],
    ["down"],
]


def test_stdout_is_one_json_document_with_snake_case_keys(busy: Person) -> None:
    for words in COMMAND_LINES:
        done = busy.types(*words, "--json")
        # The exit status of `status` is the health of this machine's set-up, and there is none.
        assert done.status == 0 or words == ["status"], f"{words}: {done.err}"
        found: Any = done.json
        # The names of tables, files and counted things are data, not fields.
        fields = {key for key in keys(found) if re.fullmatch(r"[A-Za-z_0-9]+", key)}
        odd = {key for key in fields if not _SNAKE.fullmatch(key)} - CAMEL - HEADINGS
        assert not odd, f"{words}: {odd}"
