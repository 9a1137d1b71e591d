"""What a person sees who types `holdfast`: a dozen commands, all of them by topic, and what they mistyped."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest

from holdfast.cli.command_list import ALIASES, COMMANDS, DAILY, SECTIONS
from holdfast.cli.groups import SYNONYMS
from holdfast.cli.main import holdfast
from tests.cli.conftest import Person

PLUMBING = {"hook", "hook-command", "redact", "export", "models", "statusline", "mcp"}


def listed(text: str) -> list[str]:
    """The commands that a help text lists."""
    return [
        line.split()[0]
        for line in text.splitlines()
        if line.startswith("  ") and line[2:3].strip() and " " in line
    ]


@pytest.mark.parametrize("words", [[], ["--help"], ["help"]])
def test_the_commands_of_daily_use_are_listed_first_and_alone(person: Person, words: list[str]) -> None:
    done = person.types(*words)
    assert (done.status, done.err) == (0, "")
    commands = done.out.partition("Commands of daily use:")[2].partition("Options:")[0]
    assert listed(commands) == list(DAILY)
    assert len(DAILY) <= 13
    assert "holdfast help all" in done.out
    assert max(map(len, done.out.splitlines())) < 80


def test_every_other_command_is_listed_by_topic(person: Person) -> None:
    done = person.types("help", "all")
    assert (done.status, done.err) == (0, "")
    for title, commands in SECTIONS.items():
        section = done.out.partition(f"{title}:\n")[2].partition("\n\n")[0]
        assert [name for name in listed(section) if name in COMMANDS] == list(commands)
    assert set(SECTIONS["For programs"]) >= PLUMBING
    assert not set(DAILY) & PLUMBING


def test_one_command_is_explained(person: Person) -> None:
    for words in (["recall"], ["memories", "edit"], ["checkpoints", "take"]):
        assert person.types("help", *words).out == person.types(*words, "--help").out
    assert person.types("help", "recall", "more").status == 2


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["sesions"], "holdfast sessions"),
        (["recal", "x"], "holdfast recall"),
        (["init"], "holdfast setup"),
        (["install"], "holdfast setup"),
        (["search", "x"], "holdfast recall"),
        (["uninstall"], "holdfast unsetup"),
        (["save"], "holdfast continuity save"),
        (["version"], "holdfast --version"),
        (["help", "sesions"], "holdfast sessions"),
        (["memories", "lst"], "holdfast memories list"),
        (["continuity", "stauts"], "holdfast continuity status"),
        (["checkpoints", "tak"], "holdfast checkpoints take"),
        (["sessions", "--limt", "3"], "--limit"),
        (["recall", "x", "--jsn"], "--json"),
        (["memories", "list", "--jsno"], "--json"),
    ],
)
def test_what_was_mistyped_gets_one_sentence_with_what_was_meant(
    person: Person, words: list[str], meant: str
) -> None:
    done = person.types(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith(f"did you mean `{meant}`?\n")
    assert done.err.count("\n") == 1


def test_no_option_is_suggested_that_only_shares_letters(person: Person) -> None:
    done = person.types("show", "--sesion", "x")
    assert done.err.endswith("has no option `--sesion`; `holdfast show --help` lists those there are\n")


@pytest.mark.parametrize(
    ("words", "where"),
    [(["nonsense"], "holdfast help all"), (["dream", "xyzzy"], "holdfast dream --help")],
)
def test_where_nothing_is_alike_it_says_where_to_look(person: Person, words: list[str], where: str) -> None:
    done = person.types(*words)
    assert (done.status, done.out) == (2, "")
    assert f"`{where}` lists" in done.err


def test_every_synonym_leads_to_a_command_or_to_one_that_may_come() -> None:
    known = {*COMMANDS, "why", "stats", "--version"}
    assert {name.split(" ")[0] for name in SYNONYMS} <= known
    words = [word for words in SYNONYMS.values() for word in words]
    assert len(words) == len(set(words))
    assert not set(words) & {*COMMANDS, *ALIASES}


@pytest.mark.parametrize(
    "name", [name for name, one in COMMANDS.items() if isinstance(one.load(), click.Group)]
)
def test_a_group_alone_explains_itself_or_lists(person: Person, name: str) -> None:
    done = person.types(name)
    assert done.status == 0, done.err


def test_the_former_names_work_and_are_listed_nowhere(person: Person) -> None:
    for words in (["session", "status", "--json"], ["session", "load"], ["session", "history"]):
        now = person.types("continuity", *words[1:])
        assert person.types(*words) == now
        assert now.status == 0
    everything = person.types("help", "all").out + person.types("--help").out
    assert not set(ALIASES) & set(listed(everything))


def test_a_checkpoint_is_taken_by_its_former_name_too(person: Person) -> None:
    person.prompts("Sum the columns of the report")
    first = person.types("checkpoint", "--digest", "Half done.", "--json")
    second = person.types("checkpoints", "take", "--digest", "Almost done.", "--json")
    assert first.json["session_key"] == second.json["session_key"] == "s1"
    rows = json.loads(person.types("checkpoints", "--json").out)
    ids = [row["id"] for row in rows]
    assert {*first.json["checkpoints"], *second.json["checkpoints"]} <= set(ids)


def test_every_option_of_the_group_that_lists_is_its_own() -> None:
    context = click.Context(holdfast, info_name="holdfast")
    group = holdfast.get_command(context, "checkpoints")
    assert isinstance(group, click.Group)
    assert group.list_commands(context) == ["take"]


def contexts(context: click.Context) -> Iterator[click.Context]:
    """A command and all below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None:
                yield from contexts(click.Context(command, info_name=name, parent=context))


def test_no_help_is_wider_than_a_terminal() -> None:
    top = click.Context(holdfast, info_name="holdfast", terminal_width=80, **holdfast.context_settings)
    lines = [
        f"{context.command_path}: {line}"
        for context in contexts(top)
        for line in context.get_help().splitlines()
        if len(line) > 80
    ]
    assert lines == []
