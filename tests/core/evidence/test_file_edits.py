"""An edit is known with the request behind it and the sentence nearest to it that says why."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action, AssistantText, Event, Origin, Prompt, ToolCalled, ToolReturned
from holdfast.core.evidence.file_edits import (
    SAYS_WHY,
    CallSettled,
    EditUpdate,
    FileEdit,
    FileExplained,
    asked_line,
    edit_updates,
    line_mark,
    nearest_decision,
    project_path,
    reason_after,
    reason_before,
    wrote_line,
)
from holdfast.core.evidence.follow import follow
from holdfast.core.evidence.trail import Trail
from tests.tables import every_row

ROOT = "/home/you/shop"
PATCH = """*** Begin Patch
*** Update File: src/parser.py
@@
-    return lines
+    return lines + [rest]
*** Add File: docs/parser.md
+Parsing keeps the last line.
*** End Patch"""


def user(text: str, at: int = 1) -> Prompt:
    return Prompt(session="s1", record=f"u{at}", at=at, origin=Origin.HUMAN, text=text)


def agent(text: str, at: int = 2) -> AssistantText:
    return AssistantText(session="s1", record=f"a{at}", at=at, origin=Origin.ASSISTANT, text=text)


def call(action: Action, subject: str, detail: str = "", at: int = 3) -> ToolCalled:
    return ToolCalled(
        session="s1",
        record=f"c{at}",
        at=at,
        origin=Origin.ASSISTANT,
        call=f"call{at}",
        tool="Tool",
        action=action,
        subject=subject,
        detail=detail,
    )


def returned(at: int = 3, *, ok: bool = True) -> ToolReturned:
    return ToolReturned(
        session="s1", record=f"r{at}", at=at, origin=Origin.TOOL, call=f"call{at}", ok=ok, exit_status=0
    )


def updates(*events: Event) -> list[EditUpdate]:
    trail, result = Trail(), list[EditUpdate]()
    for event in events:
        after = follow(trail, event, ROOT)
        result += edit_updates(trail, after, event, "shop", ROOT)
        trail = after
    return result


def edits(*events: Event) -> list[FileEdit]:
    return [update for update in updates(*events) if isinstance(update, FileEdit)]


def test_an_edit_knows_what_was_asked_and_why() -> None:
    (edit,) = edits(
        user("Fix the parser"),
        agent("The parser drops the last line because the buffer is never flushed. Let me fix that."),
        call(Action.EDIT, f"{ROOT}/src/parser.py", "    return lines + [rest]"),
    )
    assert (edit.path, edit.asked, edit.action) == ("src/parser.py", "Fix the parser", Action.EDIT)
    assert edit.reason == "The parser drops the last line because the buffer is never flushed."
    assert edit.strength >= SAYS_WHY
    assert wrote_line(edit, line_mark("return lines + [rest]"))
    assert not wrote_line(edit, line_mark("return lines"))


def test_files_that_are_only_read_are_no_edits() -> None:
    assert updates(user("Look"), call(Action.READ, f"{ROOT}/a.py"), returned()) == []
    assert updates(user("Look"), call(Action.RUN, "cat src/a.py", at=4), returned(4)) == []


def test_the_edits_of_a_patch_and_of_commands_are_known_each_with_its_own_lines() -> None:
    code, doc = edits(user("Fix it"), call(Action.EDIT, "", PATCH))
    assert (code.path, doc.path, doc.action) == ("src/parser.py", "docs/parser.md", Action.WRITE)
    assert wrote_line(code, line_mark("return lines + [rest]"))
    assert not wrote_line(doc, line_mark("return lines + [rest]"))
    (moved,) = edits(user("Move it"), call(Action.RUN, "git mv src/parser.py src/reader.py", at=5))
    assert (moved.path, moved.renamed_to) == ("src/parser.py", "src/reader.py")


def test_the_return_of_a_call_settles_its_edits() -> None:
    events = user("Fix"), call(Action.EDIT, "a.py"), returned(ok=False)
    assert updates(*events)[-1] == CallSettled("call3", ok=False)


def test_the_request_behind_a_bare_answer_is_the_one_before() -> None:
    (edit,) = edits(user("Fix the parser", 1), user("yes, go on", 2), call(Action.EDIT, f"{ROOT}/a.py", at=3))
    assert edit.asked == "Fix the parser"
    assert edit.asked_at == 2


def test_a_later_sentence_that_names_the_file_explains_it() -> None:
    explained = updates(
        user("Fix the parser"),
        call(Action.EDIT, f"{ROOT}/src/parser.py"),
        returned(),
        agent("All done.\n- `parser.py` flushes at the end, so that no line is lost.\n- Tests pass.", 9),
    )[-1]
    assert isinstance(explained, FileExplained)
    assert (explained.path, explained.since, explained.until) == ("src/parser.py", 1, 9)
    assert explained.reason.text == "`parser.py` flushes at the end, so that no line is lost."


@every_row(
    ("texts", "reason"),
    [
        (("Now let me update the tests.",), "Now let me update the tests."),
        (("It fails when the file is empty. Now the parser.",), "It fails when the file is empty."),
        (("The index is missing.", "Let me run the tests."), "The index is missing."),
        (("Why would it fail?",), ""),
        ((), ""),
        (("```\nbecause of this code here\n```",), ""),
    ],
)
def test_which_sentence_is_the_reason(texts: tuple[str, ...], reason: str) -> None:
    assert reason_before(texts, "src/parser.py").text == reason


def test_a_sentence_about_another_file_explains_nothing() -> None:
    for other in ("other.py", "json_parser.py", "parser.pyi", "parsers"):
        text = f"`{other}` was wrong because of the cache."
        assert reason_after(text, "src/parser.py").strength == 0, other


def test_a_sentence_that_only_announces_or_reports_does_not_say_why() -> None:
    for text in ("Now I need to update `parser.py` to use it.", "Updated the loop in `parser.py`."):
        assert 0 < reason_before([text], "src/parser.py").strength < SAYS_WHY


def test_a_decision_of_the_turn_stands_in_if_it_is_near_or_names_the_file() -> None:
    trail = Trail()
    for event in (user("Store it", 1_000), agent("Decision: use SQLite rather than JSON files.", 2_000)):
        trail = follow(trail, event, ROOT)
    (edit,) = edits(user("Store it", 1_000), call(Action.EDIT, f"{ROOT}/store.py", at=3_000))
    assert "SQLite" in nearest_decision(trail, edit)
    assert nearest_decision(trail, replace(edit, at=9_000_000)) == ""
    assert nearest_decision(trail, replace(edit, asked_at=2_500)) == ""


def test_a_request_is_shown_without_what_was_pasted_before_it() -> None:
    assert asked_line("# Plan: Add a version\n\n## Goal\nShow it") == "Plan: Add a version Goal Show it"
    assert asked_line("```\n12:00:01 ERROR x=1\n```\nWhy does this fail?") == "Why does this fail?"


def test_paths_are_relative_to_the_worktree() -> None:
    rows = [
        ("/home/you/shop/a.py", "a.py"),
        ("/home/you/shopping/a.py", "/home/you/shopping/a.py"),
        ("./a.py", "a.py"),
    ]
    for path, expected in rows:
        assert project_path(path, ROOT) == expected


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_has_a_reason_within_bounds_or_none(text: str, path: str) -> None:
    for reason in (reason_before([text], path), reason_after(text, path)):
        assert len(reason.text) <= 320
        assert bool(reason.text) == (reason.strength > 0)


@given(st.text(max_size=60), st.text(alphabet=" \t", max_size=6))
def test_a_line_is_recognised_whatever_its_indentation(line: str, indent: str) -> None:
    assert line_mark(indent + line) == line_mark(line)
