"""The history of a file: which sessions changed it, what was asked, and why; a line only if it is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.event import Action, Origin, Prompt, ToolCalled, ToolReturned
from holdfast.core.events.world import Project
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.repository.git import identity
from holdfast.engine.views.file_history import (
    FileAnswer,
    edited_files,
    file_answer,
    file_history,
    path_in_project,
)
from tests.engine.attic import Attic
from tests.harnesses import claude_code_records as claude

WHY = "The index is missing, because nobody created it."
EARLIER = "2026-03-01T09:00:00.000Z"


@pytest.fixture
def attic(tmp_path: Path) -> Attic:
    attic = Attic(tmp_path)
    attic.edits("old", "Name it well", "The name should say what it is.", "a.py", "name = 1", said=EARLIER)
    attic.edits("new", "Why is it slow?", WHY, "a.py", "    create_index(table)\n    return table")
    attic.imported()
    (Path(attic.project) / "a.py").write_text("name = 1\n\ncreate_index(table)\n}\nelsewhere = 2\n")
    return attic


def project(attic: Attic) -> Project:
    return identity(attic.project)


def answer(attic: Attic, path: str, line: int = 0) -> FileAnswer:
    return file_answer(attic.engine(), project(attic), path, line)


def test_the_newest_session_comes_first_with_its_request_and_reason(attic: Attic) -> None:
    newer, older = file_history(attic.engine(), project(attic), "a.py")
    assert (newer["session_key"], newer["title"], newer["imported"]) == ("new", "Why is it slow?", True)
    assert newer["turns"] == [
        {
            "asked": "Why is it slow?",
            "at": "2026-03-01T10:00:00.000Z",
            "edits": 1,
            "action": "edit",
            "path": "a.py",
            "renamed_to": None,
            "by_subagent": False,
            "reason": WHY,
            "reason_kind": "why",
            "wrote_line": None,
            "record": newer["turns"][0]["record"],  # type: ignore[index]
        }
    ]
    assert (older["session_key"], older["title"]) == ("old", "Name it well")


def test_an_absolute_path_and_one_below_the_top_mean_the_same(attic: Attic) -> None:
    here = project(attic)
    assert path_in_project(here, f"{attic.project}/sub/../a.py") == path_in_project(here, "./a.py") == "a.py"
    assert len(answer(attic, f"{attic.project}/a.py").sessions) == 2


def test_the_session_that_wrote_a_line_comes_first(attic: Attic) -> None:
    first, second = answer(attic, "a.py", 1).sessions
    assert (first["session_key"], first["wrote_line"]) == ("old", True)
    assert (second["session_key"], second["wrote_line"]) == ("new", False)
    indented = answer(attic, "a.py", 3)
    assert (indented.text, indented.note) == ("create_index(table)", "")
    assert indented.sessions[0]["session_key"] == "new"


@pytest.mark.parametrize(
    ("path", "line", "note"),
    [
        ("a.py", 4, "Line 4 is too short to be recognised"),
        ("a.py", 5, "No recorded edit wrote line 5 as it stands now"),
        ("a.py", 99, "has 5 lines"),
        ("../outside.py", 1, "No session is known to have changed"),
        ("sub/a.py", 0, "of that name there is `a.py`"),
    ],
)
def test_what_cannot_be_told_is_said(attic: Attic, path: str, line: int, note: str) -> None:
    assert note in answer(attic, path, line).note


def test_a_line_that_stands_twice_is_not_ascribed_without_a_word(attic: Attic) -> None:
    (Path(attic.project) / "a.py").write_text("name = 1\nname = 1\n")
    assert "stands in 2 lines" in answer(attic, "a.py", 1).note


def test_a_file_that_is_gone_has_its_history_and_no_lines(attic: Attic) -> None:
    (Path(attic.project) / "a.py").unlink()
    shown = answer(attic, "a.py", 1)
    assert "cannot be read here" in shown.note
    assert len(shown.sessions) == 2


def test_the_edits_of_a_pruned_session_are_still_known(attic: Attic) -> None:
    with attic.store.writing():
        attic.store.prune_sessions(1 << 60, 1 << 60)
    newer, _ = answer(attic, "a.py").sessions
    assert (newer["title"], newer["harness"], newer["imported"]) == ("Why is it slow?", "", False)


def test_moves_are_followed_also_of_folders(attic: Attic) -> None:
    here = project(attic)
    common = {"session": "mover", "at": claude.AT + 9}
    call = ToolCalled(
        **common,  # type: ignore[arg-type]
        record="c1",
        origin=Origin.ASSISTANT,
        call="x",
        tool="Bash",
        action=Action.RUN,
        subject="mkdir lib && git mv a.py lib/b.py && git mv lib src",
    )
    asked = Prompt(**common, record="p1", origin=Origin.HUMAN, text="Move it into a library")  # type: ignore[arg-type]
    done = ToolReturned(**common, record="r1", origin=Origin.TOOL, call="x", ok=True, exit_status=0)  # type: ignore[arg-type]
    record(attic.engine(), Arrival("mover", "claude-code", here, (asked, call, done)))
    shown = answer(attic, "src/b.py").sessions
    assert [row["session_key"] for row in shown] == ["mover", "new", "old"]
    assert shown[0]["turns"][0]["asked"] == "Move it into a library"  # type: ignore[index]
    assert answer(attic, "src/other.py").sessions[0]["session_key"] == "mover"


def test_a_failed_edit_is_no_change(attic: Attic) -> None:
    here, at = project(attic), claude.AT
    call = ToolCalled(
        session="s9",
        record="c1",
        at=at,
        origin=Origin.ASSISTANT,
        call="x",
        tool="Edit",
        action=Action.EDIT,
        subject="z.py",
    )
    failed = ToolReturned(session="s9", record="r1", at=at, origin=Origin.TOOL, call="x", ok=False)
    record(attic.engine(), Arrival("s9", "claude-code", here, (call, failed)))
    assert answer(attic, "z.py").sessions == []


def test_the_files_of_a_project_are_listed(attic: Attic) -> None:
    rows = edited_files(attic.engine(), project(attic), 9)
    assert rows == [{"path": "a.py", "at": "2026-03-01T10:00:00.000Z", "sessions": 2}]


def test_what_can_have_no_history_is_told_from_a_file_that_nobody_changed(
    attic: Attic, tmp_path: Path
) -> None:
    (Path(attic.project) / "docs").mkdir()
    assert answer(attic, "docs").note == "`docs` is a directory; name a file in it."
    assert answer(attic, "b.py").note == "No session is known to have changed `b.py`."
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    note = file_answer(attic.engine(), identity(str(elsewhere)), "b.py").note
    assert note == f"No session was seen in `{elsewhere}`; `holdfast import` brings in earlier ones."
