"""A project's memory files can be found by section, as they are now, and say where they come from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.core.events.world import Project
from holdfast.engine.index.memory_files import refresh
from holdfast.engine.memory.recall import Query, recall
from holdfast.engine.repository.git import identity
from holdfast.stores.base import EVERYWHERE, Document, Within
from tests.core.made_up import PROVIDER_KEYS
from tests.engine.repository.test_git import repository_in, run_git
from tests.engine.stage import Stage

SECRET = dict(PROVIDER_KEYS)["github-token"]
RULES = "# Rules\nNever touch the schema.\n\n## Tests\nRun `make test`.\n"


def kept(stage: Stage, path: str, text: str) -> Path:
    file = Path(stage.project("app")) / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    # Two writes within a tick of the clock could not be told apart otherwise.
    stage.numbers += 1
    os.utime(file, ns=(stage.numbers, stage.numbers))
    return file


def project(stage: Stage) -> Project:
    return identity(stage.project("app"))


def found(stage: Stage) -> dict[str, str]:
    return {one.source: one.text for one in documents(stage)}


def documents(stage: Stage) -> list[Document]:
    return sorted(stage.store.documents(EVERYWHERE, 999), key=lambda one: one.source)


def test_each_section_is_found_under_its_headings(stage: Stage) -> None:
    kept(stage, "MEMORY.md", RULES)
    kept(stage, "memory/2026-03-01.md", "We chose SQLite.")
    assert refresh(stage.engine(), project(stage)) == 2
    assert found(stage) == {
        "MEMORY.md › Rules": "Rules\nNever touch the schema.",
        "MEMORY.md › Rules › Tests": "Tests\nRun `make test`.",
        "memory/2026-03-01.md": "We chose SQLite.",
    }
    assert {(one.kind, one.project_id, one.worktree_id, one.session) for one in documents(stage)} == {
        ("file", project(stage).project_id, project(stage).worktree_id, "")
    }
    assert documents(stage)[-1].at == 1_772_323_200_000


def test_a_file_that_did_not_change_is_not_read_again(stage: Stage) -> None:
    kept(stage, "MEMORY.md", RULES)
    refresh(stage.engine(), project(stage))
    before = documents(stage)
    assert refresh(stage.engine(), project(stage)) == 0
    assert documents(stage) == before


def test_a_file_that_changed_is_found_as_it_is_now(stage: Stage) -> None:
    kept(stage, "MEMORY.md", RULES)
    refresh(stage.engine(), project(stage))
    tests = documents(stage)[1]
    kept(stage, "MEMORY.md", RULES.replace("Never touch", "Always ask before you touch"))
    assert refresh(stage.engine(), project(stage)) == 1
    assert found(stage)["MEMORY.md › Rules"] == "Rules\nAlways ask before you touch the schema."
    assert tests.id in [one.id for one in documents(stage)], "what stayed keeps its document"
    assert len(documents(stage)) == 2


def test_a_file_that_is_gone_is_not_found_any_more(stage: Stage) -> None:
    file = kept(stage, "MEMORY.md", RULES)
    kept(stage, "memory/style.md", "Tabs.")
    refresh(stage.engine(), project(stage))
    file.unlink()
    assert refresh(stage.engine(), project(stage)) == 1
    assert found(stage) == {"memory/style.md": "Tabs."}


def test_a_project_without_memory_files_writes_nothing(stage: Stage) -> None:
    assert refresh(stage.engine(), project(stage)) == 0
    assert stage.store.cursor(f"files/{project(stage).worktree_id}") == ""


def test_the_files_themselves_are_never_written(stage: Stage) -> None:
    file = kept(stage, "MEMORY.md", RULES)
    before = file.stat().st_mtime_ns
    refresh(stage.engine(), project(stage))
    assert (file.stat().st_mtime_ns, file.read_text(encoding="utf-8")) == (before, RULES)


def test_no_secret_gets_in_by_a_file(stage: Stage) -> None:
    kept(stage, "MEMORY.md", f"# Deploy\nThe token is {SECRET}.\n")
    refresh(stage.engine(), project(stage))
    assert not any(SECRET in text.text for text in stage.store.texts())
    assert "[REDACTED:github-token" in found(stage)["MEMORY.md › Deploy"]
    assert stage.store.redaction(stage.engine().redactor(project(stage)).mark).stale == 0


def test_what_is_kept_about_a_file_does_not_name_it(stage: Stage) -> None:
    kept(stage, "memory/acquisition-of-initech.md", "Tabs.")
    refresh(stage.engine(), project(stage))
    assert "initech" not in stage.store.cursor(f"files/{project(stage).worktree_id}")


def test_what_came_with_the_clone_says_so(stage: Stage) -> None:
    root = repository_in(stage.home / "app")
    kept(stage, "MEMORY.md", RULES)
    kept(stage, "memory/own.md", "Tabs.")
    run_git(root, "add", "MEMORY.md")
    refresh(stage.engine(), project(stage))
    assert [*found(stage)] == [
        "MEMORY.md › Rules (from the repository)",
        "MEMORY.md › Rules › Tests (from the repository)",
        "memory/own.md",
    ]
    assert refresh(stage.engine(), project(stage)) == 0
    run_git(root, "add", "memory/own.md")
    assert refresh(stage.engine(), project(stage)) == 1
    assert [*found(stage)][-1] == "memory/own.md (from the repository)"
    assert len(documents(stage)) == 3


def test_two_worktrees_have_each_its_own(stage: Stage) -> None:
    root = repository_in(stage.home / "app")
    kept(stage, "MEMORY.md", "Here.")
    beside = stage.home / "beside"
    run_git(root, "worktree", "add", "-q", str(beside))
    (beside / "MEMORY.md").write_text("There.", encoding="utf-8")
    here, there = identity(str(root)), identity(str(beside))
    for one in (here, there):
        refresh(stage.engine(), one)
    seen = [
        [found.text for found in stage.store.documents(Within((one.project_id,), one.worktree_id), 9)]
        for one in (here, there)
    ]
    assert seen == [["Here."], ["There."]]


@pytest.mark.parametrize("forgotten", ["project", "all"])
def test_what_was_forgotten_of_a_file_is_found_again_because_the_file_is_still_there(
    stage: Stage, forgotten: str
) -> None:
    kept(stage, "MEMORY.md", RULES)
    refresh(stage.engine(), project(stage))
    with stage.store.writing():
        if forgotten == "all":
            stage.store.forget_all(stage.now)
        else:
            stage.store.forget_project(project(stage).project_id, stage.now)
    assert found(stage) == {}
    refresh(stage.engine(), project(stage))
    assert len(found(stage)) == 2


def test_a_recall_finds_a_file_as_it_was_written_a_moment_ago(stage: Stage) -> None:
    kept(stage, "MEMORY.md", RULES)
    asked = Query("who may touch the schema?")
    (finding, *_) = recall(stage.engine(), project(stage), asked)
    assert (finding.kind, finding.source) == ("file", "MEMORY.md › Rules")
    kept(stage, "MEMORY.md", "# Rules\nThe schema is Ada's.\n")
    assert [one.text for one in recall(stage.engine(), project(stage), asked)] == [
        "Rules\nThe schema is Ada's."
    ]
