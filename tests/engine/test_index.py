"""The texts of sessions and a project's memory files can be found, once, as they are now."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import DigestGiven, Origin, Prompt
from holdfast.core.events.world import Project
from holdfast.core.memory.passages import Passage
from holdfast.core.session.session import Trigger
from holdfast.engine.agent_log.append import Owner, append
from holdfast.engine.index import (
    BACKLOG,
    EVENTS_AT_ONCE,
    SETTLED_MS,
    VECTORS_AT_ONCE,
    document_of,
    embed_backlog,
    index_next,
    refresh_memory_files,
)
from holdfast.engine.memory.recall import Query, recall
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.repository.git import identity
from holdfast.engine.upkeep.maintain import prune_records
from holdfast.models.base import Vector
from holdfast.settings import Records
from holdfast.stores.base import EVERYWHERE, SearchDocument, Within
from tests.core.logs import answered, asked, chain
from tests.core.made_up import PROVIDER_KEYS
from tests.engine.repository.test_git import repository_in, run_git
from tests.engine.stage import NOON, Stage

SECRET = dict(PROVIDER_KEYS)["github-token"]


def indexed(stage: Stage) -> int:
    """Have everything indexed that waits; how many steps it took."""
    stage.now += SETTLED_MS + 1
    steps = 0
    while index_next(stage.engine()):
        steps += 1
    return steps


def records(stage: Stage) -> list[SearchDocument]:
    found = [one for one in stage.store.documents(EVERYWHERE, 10_000) if one.kind == "record"]
    return sorted(found, key=lambda one: (one.session, one.place))


def texts(stage: Stage) -> list[str]:
    return [one.text for one in records(stage)]


def test_what_was_said_waits_a_moment_and_can_then_be_found(stage: Stage) -> None:
    stage.write("s1", ("prompt", "Why is it slow?"), ("says", "The index is missing."))
    stage.payload("s1", "prompt", text="Why is it slow?")
    assert not index_next(stage.engine())
    assert indexed(stage) == 1
    (document,) = records(stage)
    assert document.text == "User: Why is it slow?\nAgent: The index is missing."
    assert (document.session, document.place, document.at) == ("s1", 0, NOON)
    assert (document.source, document.project_id) == ("session s1", identity(stage.project("app")).project_id)


def test_where_there_is_nothing_new_there_is_nothing_to_do(stage: Stage) -> None:
    stage.write("s1", ("prompt", "Why is it slow?"))
    stage.payload("s1", "prompt", text="Why is it slow?")
    indexed(stage)
    before = records(stage)
    stage.payload("s1", "prompt", text="Why is it slow?")
    assert indexed(stage) == 0
    assert records(stage) == before


def test_a_passage_grows_and_stays_one(stage: Stage) -> None:
    stage.write("s1", ("prompt", "Why is it slow?"))
    stage.payload("s1", "prompt", text="Why is it slow?")
    indexed(stage)
    stage.write("s1", ("edits", "store.py"), ("says", "The index is missing."))
    stage.payload("s1", "prompt", text="go on")
    indexed(stage)
    assert texts(stage) == ["User: Why is it slow?\nEdited store.py\nAgent: The index is missing."]
    stage.write("s1", ("prompt", "go on"), ("says", "Done."))
    stage.payload("s1", "prompt", text="and?")
    indexed(stage)
    assert texts(stage) == [
        "User: Why is it slow?\nEdited store.py\nAgent: The index is missing.",
        "User: go on\nAgent: Done.",
    ]


@pytest.mark.parametrize("lines", [3, 40, 2 * EVENTS_AT_ONCE + 7])
@pytest.mark.parametrize("kind", ["says", "fails"])
def test_bit_by_bit_is_the_same_as_all_at_once(stage: Stage, lines: int, kind: str) -> None:
    said = [(kind, f"sentence number {number}, " * 4) for number in range(lines)]
    stage.write("whole", ("prompt", "go"), *said)
    stage.payload("whole", "prompt", text="go")
    indexed(stage)
    whole = texts(stage)
    stage.write("bits", ("prompt", "go"))
    step = max(1, lines // 7)
    for start in range(0, lines, step):
        stage.write("bits", *said[start : start + step])
        stage.payload("bits", "prompt", text="go")
        indexed(stage)
    bits = [one.text for one in records(stage) if one.session == "bits"]
    if kind == "says":
        assert bits == whole
    assert [one.place for one in records(stage) if one.session == "bits"] == list(range(len(bits)))
    assert all(any(text.strip(", ") in one for one in bits) for _, text in said)


def test_a_long_history_is_indexed_in_several_steps(stage: Stage) -> None:
    stage.write("s1", ("prompt", "go"), *[("says", f"sentence {n}") for n in range(2 * EVENTS_AT_ONCE)])
    stage.payload("s1", "prompt", text="go")
    assert indexed(stage) == 3


def test_events_without_a_word_between_them_are_passed_all_the_same(stage: Stage) -> None:
    stage.write("s1", ("prompt", "go"), *[("runs", f"make target-{n}") for n in range(EVENTS_AT_ONCE * 2)])
    stage.payload("s1", "prompt", text="go")
    indexed(stage)
    assert f"make target-{EVENTS_AT_ONCE * 2 - 1}" in texts(stage)[-1]


def test_what_we_told_the_session_is_not_what_it_said(stage: Stage) -> None:
    stage.write("s1", ("prompt", "go"), ("brief", "what we kept"), ("runs", "holdfast recall retry"))
    stage.payload("s1", "prompt", text="go")
    indexed(stage)
    assert texts(stage) == ["User: go\nRan: holdfast recall retry"]


def test_no_secret_is_indexed_even_where_an_older_redactor_let_it_pass(stage: Stage) -> None:
    project = identity(stage.project("app"))
    stage.payload("s1", "prompt", text="go")
    said = Prompt(session="s1", record="r1", at=NOON, origin=Origin.HUMAN, text=f"use {SECRET}")
    with stage.store.writing():
        stage.store.add_event(said)
    indexed(stage)
    assert texts(stage)
    assert not any(SECRET in text for text in texts(stage))
    assert stage.store.redaction(stage.engine().redactor(project).mark).stale == 1, (
        "the event, not the passage"
    )


def test_the_same_words_in_one_project_are_one_document() -> None:
    passage, here, there = Passage(NOON, "User: go"), identity("/a"), identity("/b")
    assert document_of(passage, "s1", here, 0).id == document_of(passage, "s2", here, 9).id
    assert document_of(passage, "s1", here, 0).id != document_of(passage, "s1", there, 0).id


def test_an_agent_s_own_words_are_a_digest_and_outlive_their_checkpoint(stage: Stage) -> None:
    project = identity(stage.project("app"))
    words = DigestGiven(session="s1", record="d1", at=NOON, origin=Origin.ASSISTANT, text="Goal: ship it")
    record(stage.engine(), Arrival("s1", "playhouse", project, (words,)))
    (checkpoint,) = stage.store.checkpoints(9)
    assert checkpoint.trigger is Trigger.AGENT
    indexed(stage)
    (document,) = stage.store.documents(EVERYWHERE, 9)
    assert (document.kind, document.text, document.session) == ("digest", "Goal: ship it", "s1")
    with stage.store.writing():
        stage.store.trim_checkpoints("s1", 0)
    assert [one.id for one in stage.store.documents(EVERYWHERE, 9)] == [checkpoint.id]


def test_what_is_forgotten_is_not_indexed_again(stage: Stage) -> None:
    stage.write("s1", ("prompt", "Why is it slow?"))
    stage.payload("s1", "prompt", text="Why is it slow?")
    with stage.store.writing():
        stage.store.forget(["s1"], stage.now)
    assert indexed(stage) == 0
    assert texts(stage) == []


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        (Records(), [0, 1, 2, 3]),
        (Records(retention_days=2), [1, 2, 3]),
        (Records(max_mb=1), [2, 3]),
        (Records(retention_days=1, max_mb=1), [2, 3]),
    ],
)
def test_what_is_past_its_days_or_has_no_room_is_removed(
    stage: Stage, settings: Records, left: list[int]
) -> None:
    with stage.store.writing():
        for day in range(4):
            text, at = f"{day} " * 200_000, NOON + day * DAY_MS
            stage.store.add_document(SearchDocument(str(day), "record", "p", text, session="s1", at=at))
    stage.now = NOON + 3 * DAY_MS
    assert prune_records(stage.engine(), settings) == 4 - len(left)
    assert sorted(int(one.id) for one in records(stage)) == left


class Compass:
    """An embedder in which every text points the same way; it counts how often it was loaded."""

    name = "compass"
    dimensions = 2
    loaded = 0

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [(1.0, 0.0) for _ in texts]

    def nearness(self, words: Sequence[str], texts: Sequence[str]) -> list[float]:
        return [0.0 for _ in texts]

    def knows(self, words: Sequence[str]) -> bool:
        return True

    def load(self) -> Compass:
        self.loaded += 1
        return self


@pytest.mark.parametrize("documents", [0, 1, BACKLOG, BACKLOG + 1, BACKLOG + 3 * VECTORS_AT_ONCE])
def test_vectors_are_given_in_the_background_where_very_many_wait(stage: Stage, documents: int) -> None:
    compass = Compass()
    engine = replace(stage.engine(), embedder=compass.load)
    with stage.store.writing():
        for number in range(documents):
            stage.store.add_document(SearchDocument(f"d{number}", "record", "p", f"text {number}"))
    while embed_backlog(engine):
        assert compass.loaded
    waiting = len(stage.store.without_vector(documents + 1))
    assert waiting <= BACKLOG
    assert bool(compass.loaded) == (documents > BACKLOG)
    assert waiting == documents or documents > BACKLOG


def test_without_an_embedder_nothing_is_embedded(stage: Stage) -> None:
    with stage.store.writing():
        for number in range(BACKLOG + 1):
            stage.store.add_document(SearchDocument(f"d{number}", "record", "p", f"text {number}"))
    assert not embed_backlog(stage.engine())


class TestALogOfOurs:
    def test_what_its_records_say_can_be_found(self, stage: Stage) -> None:
        owner = Owner("mine", identity(stage.project("app")))
        append(
            stage.engine(),
            owner,
            (asked("a", "", "Why is it slow?"), answered("b", "a", "An index is missing.")),
        )
        indexed(stage)
        assert texts(stage) == ["User: Why is it slow?\nAgent: An index is missing."]
        found = recall(stage.engine(), owner.project, Query("index slow", kinds=("record",)))
        assert [one.session for one in found] == ["mine"]

    def test_without_a_daemon_a_recall_sees_to_it(self, stage: Stage) -> None:
        owner = Owner("mine", identity(stage.project("app")))
        append(stage.engine(), owner, (asked("a", "", "Why is the harbour slow?"),))
        stage.now += SETTLED_MS + NOON
        assert recall(stage.engine(), owner.project, Query("harbour", kinds=("record",)))

    def test_a_passage_that_grows_is_written_anew_and_the_next_stands_behind_it(self, stage: Stage) -> None:
        owner = Owner("mine", identity(stage.project("app")))
        append(stage.engine(), owner, (asked("a", "", "Why is it slow?"),))
        indexed(stage)
        append(stage.engine(), owner, (answered("b", "a", "No idea."), asked("c", "b", "Look again.")))
        indexed(stage)
        assert texts(stage) == ["User: Why is it slow?\nAgent: No idea.", "User: Look again."]
        assert [one.place for one in records(stage)] == [0, 1]

    def test_a_long_one_is_indexed_step_by_step_and_once(self, stage: Stage) -> None:
        owner = Owner("mine", identity(stage.project("app")))
        log = chain(*(("user", f"Question {number}") for number in range(2 * EVENTS_AT_ONCE)))
        append(stage.engine(), owner, log)
        assert indexed(stage) > 2
        assert sum(text.count("Question ") for text in texts(stage)) == len(log)


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


def documents(stage: Stage) -> list[SearchDocument]:
    return sorted(stage.store.documents(EVERYWHERE, 999), key=lambda one: one.source)


def test_each_section_is_found_under_its_headings(stage: Stage) -> None:
    kept(stage, "MEMORY.md", RULES)
    kept(stage, "memory/2026-03-01.md", "We chose SQLite.")
    assert refresh_memory_files(stage.engine(), project(stage)) == 2
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
    refresh_memory_files(stage.engine(), project(stage))
    before = documents(stage)
    assert refresh_memory_files(stage.engine(), project(stage)) == 0
    assert documents(stage) == before


def test_a_file_that_changed_is_found_as_it_is_now(stage: Stage) -> None:
    kept(stage, "MEMORY.md", RULES)
    refresh_memory_files(stage.engine(), project(stage))
    tests = documents(stage)[1]
    kept(stage, "MEMORY.md", RULES.replace("Never touch", "Always ask before you touch"))
    assert refresh_memory_files(stage.engine(), project(stage)) == 1
    assert found(stage)["MEMORY.md › Rules"] == "Rules\nAlways ask before you touch the schema."
    assert tests.id in [one.id for one in documents(stage)], "what stayed keeps its document"
    assert len(documents(stage)) == 2


def test_a_file_that_is_gone_is_not_found_any_more(stage: Stage) -> None:
    file = kept(stage, "MEMORY.md", RULES)
    kept(stage, "memory/style.md", "Tabs.")
    refresh_memory_files(stage.engine(), project(stage))
    file.unlink()
    assert refresh_memory_files(stage.engine(), project(stage)) == 1
    assert found(stage) == {"memory/style.md": "Tabs."}


def test_a_project_without_memory_files_writes_nothing(stage: Stage) -> None:
    assert refresh_memory_files(stage.engine(), project(stage)) == 0
    assert stage.store.cursor(f"files/{project(stage).worktree_id}") == ""


def test_the_files_themselves_are_never_written(stage: Stage) -> None:
    file = kept(stage, "MEMORY.md", RULES)
    before = file.stat().st_mtime_ns
    refresh_memory_files(stage.engine(), project(stage))
    assert (file.stat().st_mtime_ns, file.read_text(encoding="utf-8")) == (before, RULES)


def test_no_secret_gets_in_by_a_file(stage: Stage) -> None:
    kept(stage, "MEMORY.md", f"# Deploy\nThe token is {SECRET}.\n")
    refresh_memory_files(stage.engine(), project(stage))
    assert not any(SECRET in text.text for text in stage.store.texts())
    assert "[REDACTED:github-token" in found(stage)["MEMORY.md › Deploy"]
    assert stage.store.redaction(stage.engine().redactor(project(stage)).mark).stale == 0


def test_what_is_kept_about_a_file_does_not_name_it(stage: Stage) -> None:
    kept(stage, "memory/acquisition-of-initech.md", "Tabs.")
    refresh_memory_files(stage.engine(), project(stage))
    assert "initech" not in stage.store.cursor(f"files/{project(stage).worktree_id}")


def test_what_came_with_the_clone_says_so(stage: Stage) -> None:
    root = repository_in(stage.home / "app")
    kept(stage, "MEMORY.md", RULES)
    kept(stage, "memory/own.md", "Tabs.")
    run_git(root, "add", "MEMORY.md")
    refresh_memory_files(stage.engine(), project(stage))
    assert [*found(stage)] == [
        "MEMORY.md › Rules (from the repository)",
        "MEMORY.md › Rules › Tests (from the repository)",
        "memory/own.md",
    ]
    assert refresh_memory_files(stage.engine(), project(stage)) == 0
    run_git(root, "add", "memory/own.md")
    assert refresh_memory_files(stage.engine(), project(stage)) == 1
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
        refresh_memory_files(stage.engine(), one)
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
    refresh_memory_files(stage.engine(), project(stage))
    with stage.store.writing():
        if forgotten == "all":
            stage.store.forget_all(stage.now)
        else:
            stage.store.forget_project(project(stage).project_id, stage.now)
    assert found(stage) == {}
    refresh_memory_files(stage.engine(), project(stage))
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
