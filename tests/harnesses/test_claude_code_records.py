"""Only what a person typed is a prompt; what Claude Code writes in the user's role is not."""

from __future__ import annotations

import pytest

from holdfast.core.text.untrusted import fence
from holdfast.harnesses.claude_code.records import summary_of, typed_text
from tests.tables import every_row

HELLO = """<command-message>hello</command-message>
<command-name>/hello</command-name>
<command-args>the world</command-args>"""


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Fix the parser.", "Fix the parser."),
        ("  Fix it\nplease \n", "Fix it\nplease"),
        ("/srv/app is the root, look there", "/srv/app is the root, look there"),
        ("Why does <b> break?", "Why does <b> break?"),
        (
            "<ide_opened_file>The user opened a.py.</ide_opened_file>\nRename this function",
            "Rename this function",
        ),
        ("Run it<system-reminder>\nBe brief.\n</system-reminder>", "Run it"),
        (f"Go on.\n{fence('what we recalled')}", "Go on."),
        (HELLO, "/hello the world"),
        (
            "<command-message>init is analyzing…</command-message>\n<command-name>/init</command-name>",
            "/init",
        ),
        ("/review the last commit", "/review the last commit"),
        ("/compacted is my word", "/compacted is my word"),
    ],
)
def test_what_a_person_typed_is_a_prompt(text: str, prompt: str) -> None:
    assert typed_text(text) == prompt


@every_row(
    "text",
    [
        "",
        " \n",
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
        "<local-command-stdout>Bye</local-command-stdout>",
        "<local-command-caveat>The command below…</local-command-caveat>",
        "<command-name>/model</command-name>\n   <command-message>model</command-message>",
        "<command-message>compact</command-message><command-name>/compact</command-name>",
        "<command-message>half of it",
        "/compact keep the ids",
        "/clear",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "Operation stopped by hook: Warning: another session is at work here.\n\nOptions:\n1. Commit",
        "<system-reminder>\nToday's date is 2026-03-01.\n</system-reminder>",
        "<ide_selection>The user selected line 5.</ide_selection>",
        fence("what we recalled"),
        "This session is being continued from a previous conversation that ran out of context.",
    ],
)
def test_what_the_harness_wrote_is_not(text: str) -> None:
    assert typed_text(text) == ""


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "<analysis>first I think</analysis>\n<summary>\n1. Intent: fix it\n</summary>",
            "1. Intent: fix it",
        ),
        ("<analysis>cut off in the mid", ""),
        (
            "This session is being continued.\n\n<system-reminder>\nx\n</system-reminder>\nSummary:\n1. Fix",
            "1. Fix",
        ),
        (
            "This session is being continued.\n\nAnalysis:\nlong\n\nSummary:\n1. Fix\n2. Test",
            "1. Fix\n2. Test",
        ),
        (
            (
                "Summary:\n1. Fix\n\nIf you need specific details from before compaction, read the "
                "transcript.\nContinue the conversation from where it left off without asking the user any "
                "further questions."
            ),
            "1. Fix",
        ),
        (f"<summary>kept {fence('ours')} too</summary>", "kept  too"),
        ("no tags at all", "no tags at all"),
    ],
)
def test_a_summary_comes_without_the_thinking_before_it_and_the_orders_after_it(
    text: str, summary: str
) -> None:
    assert summary_of(text) == summary
