"""What is kept of a session's talk: what was said, what was done, and nothing that we told it ourselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import (
    Action,
    Compacted,
    CompactionSign,
    DigestGiven,
    Event,
    Origin,
    SubagentStopped,
    Usage,
    map_text,
)
from holdfast.core.memory.passages import (
    LENGTH,
    OUTPUT,
    SECTION_LENGTH,
    MarkdownSection,
    Passage,
    PassageKind,
    markdown_sections,
    passages,
    relevant_events,
)
from holdfast.core.redaction.redact import redact
from tests.core.made_up import BEGIN, END, HUNTER, PEM_LINES, PROVIDER_KEYS
from tests.core.scenes import KEY, MINUTE, NOON, called, prompt, returned, said
from tests.depth import examples

ROOT = "/home/you/app"


def passages_of(*events: Event) -> list[Passage]:
    return passages([map_text(event, redact) for event in relevant_events(events)], ROOT)


def text_of(*events: Event) -> str:
    return "\n".join(passage.text for passage in passages_of(*events))


def ran(command: str, output: str, *, ok: bool = True) -> tuple[Event, Event]:
    return called(command, Action.RUN, command), returned(command, ok=ok, text=output)


def test_a_turn_is_one_passage_from_the_time_of_its_prompt() -> None:
    assert passages_of(
        prompt("Why is the retry test flaky?", "p1"),
        called("c1", Action.READ, f"{ROOT}/src/retry.py"),
        called("c2", Action.READ, f"{ROOT}/src/clock.py"),
        called("c3", Action.READ, f"{ROOT}/src/retry.py"),
        *ran("pytest -q", "E  RetryExhausted: gave up\n1 failed", ok=False),
        said("The backoff starts at zero.", "a1"),
        prompt("Then fix it", "p2", NOON + MINUTE),
        called("c4", Action.EDIT, f"{ROOT}/src/retry.py"),
    ) == [
        Passage(
            NOON,
            "User: Why is the retry test flaky?\n"
            "Read src/retry.py, src/clock.py\n"
            "Ran: pytest -q\n"
            "→ failed: E RetryExhausted: gave up 1 failed\n"
            "Agent: The backoff starts at zero.",
            begins="p1",
        ),
        Passage(NOON + MINUTE, "User: Then fix it\nEdited src/retry.py", begins="p2"),
    ]


def test_a_long_answer_goes_on_in_the_next_passage_and_says_whose_it_is() -> None:
    paragraphs = [f"Part {number}: " + "the store keeps what was said. " * 12 for number in range(6)]
    result = passages_of(prompt("Explain", "p1"), said("\n\n".join(paragraphs), "a1"))
    assert len(result) > 2
    assert all(len(passage.text) <= LENGTH for passage in result)
    assert all(passage.text.startswith("Agent: Part") for passage in result[1:])
    assert [text for text in paragraphs if not any(text.strip() in one.text for one in result)] == []


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (called("c", Action.WRITE, f"{ROOT}/new.py"), "Wrote new.py"),
        (called("c", Action.DELETE, "/elsewhere/old.py"), "Deleted /elsewhere/old.py"),
        (called("c", Action.SEARCH, "retry_budget"), "Searched: retry_budget"),
        (called("c", Action.DELEGATE, "look at the tests"), "Asked a subagent: look at the tests"),
        (called("c", Action.OTHER, "https://example.org"), "Called tool: https://example.org"),
        (called("c", Action.OTHER, ""), "Called tool"),
        (
            SubagentStopped(
                session=KEY, record="s", at=NOON, origin=Origin.TOOL, subagent="a", text="All is well"
            ),
            "Subagent: All is well",
        ),
        (
            Compacted(
                session=KEY,
                record="s",
                at=NOON,
                origin=Origin.HARNESS,
                sign=CompactionSign.SUMMARY,
                summary="We fixed it",
            ),
            "Summary: We fixed it",
        ),
    ],
)
def test_each_event_has_its_line(event: Event, line: str) -> None:
    assert text_of(event) == line


def test_a_digest_stands_alone_and_verbatim() -> None:
    words = DigestGiven(session=KEY, record="d", at=NOON, origin=Origin.ASSISTANT, text="Goal: a\n\nNext: b")
    assert passages_of(prompt("go", "p"), words, said("done", "a")) == [
        Passage(NOON, "Goal: a\n\nNext: b", PassageKind.DIGEST),
        Passage(NOON, "User: go\nAgent: done", begins="p"),
    ]


@pytest.mark.parametrize(
    "events",
    [
        (prompt("as a subagent", "p", agent="a1"),),
        (replace(said("our own words", "a"), origin=Origin.HOLDFAST),),
        (Usage(session=KEY, record="u", at=NOON, origin=Origin.HARNESS, input=1, output=1),),
        (
            replace(called("c", Action.OTHER, "retry"), tool="mcp__holdfast__recall"),
            returned("c", text="1. the backoff starts at zero"),
        ),
        (returned("unheard of", text="whose output is this?"),),
    ],
)
def test_what_nobody_said_here_is_in_no_passage(events: tuple[Event, ...]) -> None:
    assert passages_of(*events) == []


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__holdfast__recall",
        "mcp__plugin_holdfast_holdfast__expand",
        "holdfast__remember",
        "holdfast_session_digest",
    ],
)
def test_a_tool_of_ours_is_known_by_every_name_that_harnesses_give_it(tool: str) -> None:
    assert passages_of(replace(called("c", Action.OTHER, "x"), tool=tool), returned("c", text="y" * 9)) == []


@pytest.mark.parametrize("tool", ["Bash", "mcp__github__search", "holdfastness", "mcp__anchor__holdfast"])
def test_a_tool_of_somebody_else_is_reported(tool: str) -> None:
    assert passages_of(replace(called("c", Action.OTHER, "x"), tool=tool))


@pytest.mark.parametrize(
    "command", ["holdfast recall retry", "cd /x && /opt/bin/holdfast brief", "(holdfast expand 1f2e)"]
)
def test_what_our_own_command_printed_is_not_reported_again(command: str) -> None:
    assert text_of(*ran(command, "the backoff starts at zero")) == f"Ran: {command}"


@pytest.mark.parametrize(
    ("command", "output", "ending"),
    [
        ("make", "building\nok", "building ok"),
        ("make", "", None),
        ("cat src/retry.py", "def retry():\n    pass", None),
        ("cd src && sed -n 1,40p retry.py", "def retry():\n    pass", None),
        ("git log -3", "1f2e3d4c fix the backoff", None),
        ("make", "x" * 9_000 + "\nthe last line", "the last line"),
        ("make", "\n".join(f"line {number}" for number in range(900)), "line 899"),
    ],
)
def test_of_an_output_only_an_end_that_says_something_is_reported(
    command: str, output: str, ending: str | None
) -> None:
    lines = text_of(*ran(command, output)).split("\n")
    if ending is None:
        assert lines == [f"Ran: {command}"]
    else:
        assert lines[1].startswith("→ ")
        assert lines[1].endswith(ending)
        assert len(lines[1]) <= OUTPUT + 2


def test_a_failure_without_a_word_is_reported_all_the_same() -> None:
    assert text_of(*ran("make", "", ok=False)) == "Ran: make\n→ failed: failed"


secrets = st.sampled_from([key for _, key in PROVIDER_KEYS] + [f"password={HUNTER}"])


@settings(max_examples=examples(150))
@given(secret=secrets, before=st.integers(0, 900), after=st.integers(0, 900), joint=st.sampled_from(" \n"))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(
    secret: str, before: int, after: int, joint: str
) -> None:
    around = ("word" + joint) * (before // 5), (joint + "word") * (after // 5)
    text = f"{around[0]}{secret}{around[1]}"
    shown = text_of(
        prompt(("word" + joint) * 2_310 + text, "p1"),
        *ran(f"deploy {text}", text, ok=False),
        called("c", Action.OTHER, text),
    )
    value = secret.removeprefix("password=")
    assert value[-12:] not in shown
    assert value[:6] + value[6:14] not in shown


@pytest.mark.parametrize("padding", range(0, 700, 70))
def test_no_line_of_a_private_key_is_left_where_an_output_is_cut(padding: int) -> None:
    key = "\n".join([BEGIN, *PEM_LINES * 8, END])
    shown = text_of(
        *ran("show", f"{key}\n{'after ' * (padding // 6)}", ok=False),
        prompt(f"{'before ' * ((11_000 + padding) // 7)}\n{key}", "p1"),
    )
    assert not any(line in shown for line in PEM_LINES)


def some(kind: str, text: str, record: str) -> Event:
    if kind == "c":
        return called(record, Action.RUN, text)
    return prompt(text, record) if kind == "p" else said(text, record)


@given(st.lists(st.tuples(st.sampled_from("pac"), st.integers(1, 2_500)), max_size=30))
def test_from_where_a_passage_begins_it_reads_the_same(shape: list[tuple[str, int]]) -> None:
    events = [some(kind, f"{number} " * length, f"r{number}") for number, (kind, length) in enumerate(shape)]
    whole = passages(relevant_events(events))
    for place, passage in enumerate(whole):
        if passage.begins:
            start = next(n for n, event in enumerate(events) if event.record == passage.begins)
            assert passages(relevant_events(events[start:])) == whole[place:]


@given(st.lists(st.text(max_size=3_000), max_size=6))
def test_whatever_is_said_fits(texts: list[str]) -> None:
    events = [said(text, str(number)) for number, text in enumerate(texts)]
    assert all(0 < len(passage.text) <= LENGTH for passage in passages_of(*events))


FILE = """\
Before any heading.

# Rules
Never touch the schema.

## Tests ##
Run `make test`.
```sh
# not a heading
```
### Slow ones
Only at night.
## Style
Tabs.
# Notes
"""


def test_each_section_stands_under_its_headings() -> None:
    assert markdown_sections(FILE) == [
        MarkdownSection((), "Before any heading."),
        MarkdownSection(("Rules",), "Never touch the schema."),
        MarkdownSection(("Rules", "Tests"), "Run `make test`.\n```sh\n# not a heading\n```"),
        MarkdownSection(("Rules", "Tests", "Slow ones"), "Only at night."),
        MarkdownSection(("Rules", "Style"), "Tabs."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "#no heading",
        "####### seven",
        "    # code",
        "~~~\n# inside\n```\n# still\n~~~",
        "````\n```\n# inside\n````",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert markdown_sections(text) == [MarkdownSection((), text.strip())]


def test_a_fence_that_nobody_closes_reaches_to_the_end() -> None:
    assert markdown_sections("# One\n```\n# Two") == [MarkdownSection(("One",), "```\n# Two")]


@pytest.mark.parametrize("text", ["", "   \n\n", "# Only a heading", "#\n##\n"])
def test_where_nothing_is_said_there_is_no_section(text: str) -> None:
    assert markdown_sections(text) == [] or all(section.text for section in markdown_sections(text))


def test_a_long_section_goes_on_under_the_same_heading() -> None:
    paragraphs = [f"Paragraph {number}. " + "It goes on. " * 20 for number in range(30)]
    result = markdown_sections("# Long\n" + "\n\n".join(paragraphs))
    assert len(result) > 2
    assert {section.headings for section in result} == {("Long",)}
    assert "\n\n".join(section.text for section in result).split() == " ".join(paragraphs).split()


@given(st.text())
def test_no_section_is_empty_or_too_long(text: str) -> None:
    result = markdown_sections(text)
    assert all(0 < len(section.text) <= SECTION_LENGTH for section in result)


@given(st.lists(st.sampled_from(["# A", "## B", "text", "", "```", "~~~", "#x"]), max_size=20))
def test_every_line_that_is_no_heading_is_kept(lines: list[str]) -> None:
    kept = [line for section in markdown_sections("\n".join(lines)) for line in section.text.splitlines()]
    assert [line for line in kept if line == "text"] == [line for line in lines if line == "text"]
