"""A memory is stored word for word and once, also by a prompt `/remember …`; doubtful ones are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.events.world import Project
from holdfast.core.memory.audit import MemoryProblem
from holdfast.core.memory.memory import Label, Memory, MemoryKind, MemoryScope
from holdfast.core.redaction.redact import NO_LISTS
from holdfast.core.session.session import begin
from holdfast.core.text.untrusted import fence
from holdfast.engine.memory.recall import Query, note_recalled, recall
from holdfast.engine.memory.remember import (
    MemoryRequest,
    audit_memories,
    edit,
    memories,
    named_memory,
    remember,
    remember_all,
)
from holdfast.engine.privacy.forget import OneMemory, forget
from holdfast.engine.recording.memorize import LONGEST
from holdfast.engine.redaction.redactor import mark_of
from holdfast.engine.repository.git import identity
from holdfast.errors import HoldfastError
from holdfast.stores.base import EVERYWHERE
from tests.engine.library import BRANCH, DAY, OTHER, SHOP, Library
from tests.engine.stage import MINUTE, NOON, Stage
from tests.stores.contract import Field


def listed(library: Library, project: Project = SHOP, **choice: Field) -> list[str]:
    return [memory.text for memory in memories(library.engine(), project, **choice)]


def test_a_memory_is_what_was_said_with_what_the_rules_make_of_it(library: Library) -> None:
    wish = MemoryRequest("critical: [Net, ops]: Never expose port 8080 right now", tags=("#fire",))
    memory = remember(library.engine(), SHOP, wish, source="mcp").memory
    assert memory.text == "Never expose port 8080 right now"
    assert (memory.kind, memory.labels) == (MemoryKind.RULE, (Label.TRANSIENT,))
    assert (memory.tags, memory.importance, memory.pinned) == (("net", "ops", "fire"), 1.0, True)
    assert (memory.source, memory.session, memory.created_at) == ("mcp", "", NOON)
    assert (memory.scope, memory.project_id, memory.worktree_id) == (MemoryScope.PROJECT, "shop", "")
    assert library.store.memory(memory.id) == memory


@pytest.mark.parametrize(("given", "kept"), [(None, 0.5), (0.9, 0.9), (7.0, 1.0), (-1.0, 0.0), (0.0, 0.0)])
def test_importance_is_between_nought_and_one(library: Library, given: float | None, kept: float) -> None:
    assert library.remember("Prefer tabs", importance=given).memory.importance == kept


@pytest.mark.parametrize(
    ("scope", "seen_in"),
    [
        (MemoryScope.PROJECT, {"shop", "branch"}),
        (MemoryScope.WORKTREE, {"shop"}),
        (MemoryScope.USER, {"shop", "branch", "other"}),
    ],
)
def test_a_memory_holds_in_its_scope(library: Library, scope: MemoryScope, seen_in: set[str]) -> None:
    library.remember("Prefer tabs", scope=scope)
    places = {"shop": SHOP, "branch": BRANCH, "other": OTHER}
    assert {name for name, project in places.items() if listed(library, project)} == seen_in
    assert {name for name, project in places.items() if library.texts("tabs", project)} == seen_in
    assert library.texts("tabs", OTHER, all_projects=True) == ["Prefer tabs"]


def test_the_same_text_twice_is_one_memory_seen_twice(library: Library) -> None:
    first = library.remember("The port is 8080.", tags=("net",)).memory
    again = library.remember("the port is  8080", tags=("harbour",), importance=0.8, pinned=True)
    assert again.again
    assert again.memory == replace(
        first, seen=2, seen_at=NOON + 2, tags=("net", "harbour"), importance=0.8, pinned=True
    )
    assert listed(library) == ["The port is 8080."]
    assert library.recall("harbour")[0].id == first.id, "what it is tagged with is found"


def test_the_same_text_in_another_scope_is_another_memory(library: Library) -> None:
    ids = {library.remember("Prefer tabs", scope=scope).memory.id for scope in MemoryScope}
    ids.add(library.remember("Prefer tabs", OTHER).memory.id)
    assert len(ids) == 4


def test_a_newer_value_supersedes_the_older_which_stays(library: Library) -> None:
    older = library.remember("The port is 8080").memory
    unlike = library.remember("The host is 8080").memory
    newer = library.remember("The port is 9090")
    assert newer.supersedes == (older.id,)
    assert Label.CONTRADICTS in newer.memory.labels
    assert listed(library) == ["The port is 9090", "The host is 8080"]
    assert listed(library, include_superseded=True) == [
        "The port is 9090",
        "The host is 8080",
        "The port is 8080",
    ]
    assert library.store.memory(unlike.id) == unlike
    known = library.store.memory(older.id)
    assert known is not None
    assert (known.superseded_by, known.labels) == (newer.memory.id, (Label.SUPERSEDED,))
    assert library.texts("which port", limit=1) == ["The port is 9090"]
    assert "The port is 8080" not in library.texts("which port")
    assert "The port is 8080" in library.texts("which port", include_superseded=True)


def test_what_was_superseded_holds_again_when_it_is_said_again(library: Library) -> None:
    library.remember("The port is 8080")
    library.remember("The port is 9090")
    back = library.remember("The port is 8080")
    assert back.again
    assert len(back.supersedes) == 1
    assert listed(library) == ["The port is 8080"]


def test_another_project_or_scope_is_not_contradicted(library: Library) -> None:
    library.remember("The port is 8080", OTHER)
    library.remember("The port is 8080", scope=MemoryScope.USER)
    assert library.remember("The port is 9090").supersedes == ()


def test_no_secret_and_nothing_private_is_kept(library: Library) -> None:
    key = "sk-ant-" + "api03-" + "Zq8Lw2Rt5Xv9Bn3Mk7Jh4Gf6Ds1Pa0Yu" * 2
    library.remember(f"[{key}]: The key is {key}, <private>the rest is mine</private>")
    told = " ".join(text.text for text in library.store.texts())
    assert key not in told
    assert "the rest is mine" not in told
    assert "REDACTED" in library.texts("what is the key")[0]
    assert library.store.redaction(mark_of(NO_LISTS)).stale == 0


def test_what_we_gave_back_ourselves_is_not_remembered_again(library: Library) -> None:
    memory = library.remember(f"{fence('The port is 8080')}\nAlways ask first").memory
    assert memory.text == "Always ask first"
    with pytest.raises(HoldfastError, match="nothing to remember"):
        library.remember(fence("The port is 8080"))


@pytest.mark.parametrize("text", ["", "  \n", "/remember", "critical: ", "[tag]:", "\x1b\x00\u200b"])
def test_nothing_is_not_remembered(library: Library, text: str) -> None:
    with pytest.raises(HoldfastError, match="nothing to remember") as refused:
        library.remember(text)
    assert refused.value.hint
    assert library.store.memories(EVERYWHERE, 10) == []


def test_a_text_that_is_too_long_is_refused_with_its_length(library: Library) -> None:
    assert library.remember("x" * LONGEST).memory.text == "x" * LONGEST
    with pytest.raises(HoldfastError, match="100,001 characters"):
        library.remember("x" * (LONGEST + 1))
    assert len(library.store.memories(EVERYWHERE, 10)) == 1


def test_strange_characters_are_kept_as_they_were_said(library: Library) -> None:
    text = "bell \x07 escape \x1b[31m null \x00 right-to-left \u202e 🚀"
    assert library.remember(text).memory.text == text
    assert library.texts("bell") == [text]


def test_many_are_remembered_all_or_none(library: Library) -> None:
    wishes = [MemoryRequest(f"Fact number {number}") for number in range(5)]
    kept = remember_all(library.engine(), SHOP, wishes, source="cli")
    assert [each.memory.text for each in kept] == [wish.text for wish in wishes]
    with pytest.raises(HoldfastError):
        remember_all(library.engine(), SHOP, [MemoryRequest("One more"), MemoryRequest("")], source="cli")
    assert len(listed(library)) == 5


# Sessions


def test_what_is_remembered_in_a_session_waits_for_its_next_digest(library: Library) -> None:
    with library.store.writing():
        library.store.put_session(begin("s1", "playhouse", SHOP, NOON))
    kept = remember(library.engine(), SHOP, MemoryRequest("Prefer tabs"), source="mcp", session="s1")
    assert kept.memory.session == "s1"
    remember(library.engine(), SHOP, MemoryRequest("Prefer tabs"), source="mcp", session="s1")
    session = library.store.session("s1")
    assert session is not None
    assert session.pending_remembers == ("Prefer tabs", "Prefer tabs")
    assert len(library.store.events("s1", 10)) == 2


def test_a_session_that_nobody_knows_is_no_reason_not_to_remember(library: Library) -> None:
    kept = remember(library.engine(), SHOP, MemoryRequest("Prefer tabs"), source="mcp", session="nobody")
    assert kept.memory.session == "nobody"
    assert library.store.session("nobody") is None


# What is done with them


def test_a_memory_is_named_by_the_beginning_of_its_id(library: Library) -> None:
    library.numbers = 10
    memory = library.remember("Prefer tabs").memory
    assert memory.id == "memory-0011"
    assert named_memory(library.engine(), SHOP, "memory-0011") == memory
    assert named_memory(library.engine(), SHOP, "memory-00") == memory
    assert named_memory(library.engine(), SHOP, "m") == memory
    library.remember("Prefer spaces")
    with pytest.raises(HoldfastError, match="several ids begin with"):
        named_memory(library.engine(), SHOP, "memory-00")
    for unknown in ("", "memory-9", "%"):
        with pytest.raises(HoldfastError, match="there is no memory"):
            named_memory(library.engine(), SHOP, unknown)
    with pytest.raises(HoldfastError, match="there is no memory"):
        named_memory(library.engine(), OTHER, memory.id)


def test_a_memory_is_edited_and_found_by_what_it_says_now(library: Library) -> None:
    memory = library.remember("[net]: The port is 8080 for now").memory
    edited = edit(library.engine(), SHOP, memory.id, text="Never use the harbour", importance=0.9)
    assert edited == replace(
        memory, text="Never use the harbour", kind=MemoryKind.RULE, labels=(), importance=0.9
    )
    assert library.store.memory(memory.id) == edited
    assert library.texts("harbour") == ["Never use the harbour"]
    assert [hit.id for hit in library.store.search(["8080"], EVERYWHERE, 10)] == []
    assert edit(library.engine(), SHOP, memory.id, tags=("Sea",), pinned=True).tags == ("sea",)
    assert edit(library.engine(), SHOP, memory.id, pinned=False).pinned is False
    with pytest.raises(HoldfastError, match="nothing to remember"):
        edit(library.engine(), SHOP, memory.id, text=" ")
    assert library.texts("sea") == ["Never use the harbour"]


def test_a_forgotten_memory_is_gone_and_what_it_superseded_is_back(library: Library, tmp_path: Path) -> None:
    library.remember("The port is 8080")
    newer = library.remember("The port is 9090").memory
    assert forget(library.engine().store, tmp_path, OneMemory(newer.id), NOON).memories == 1
    assert library.texts("port") == ["The port is 8080"]


ASKED = "/remember [net]: The staging port is 5433"


def memory_texts(stage: Stage) -> list[Memory]:
    return stage.store.memories(EVERYWHERE, 10)


def app(stage: Stage) -> Project:
    return identity(stage.project("app"))


def digest(stage: Stage) -> str:
    stage.payload("s1", "compaction")
    (checkpoint, *_) = stage.store.checkpoints(1)
    return checkpoint.digest


def test_a_hook_event_alone_is_enough(stage: Stage) -> None:
    stage.payload("s1", "prompt", text=ASKED, transcript="")
    (memory,) = memory_texts(stage)
    assert (memory.text, memory.tags) == ("The staging port is 5433", ("net",))
    assert (memory.source, memory.session, memory.created_at) == ("prompt", "s1", NOON)
    assert memory.project_id == app(stage).project_id


def test_so_is_the_transcript(stage: Stage) -> None:
    stage.write("s1", ("prompt", ASKED))
    stage.payload("s1", "end", reason="exit")
    assert [memory.seen for memory in memory_texts(stage)] == [1]


def test_hook_event_and_transcript_count_once(stage: Stage) -> None:
    stage.write("s1", ("prompt", "hello"))
    stage.payload("s1", "prompt", text=ASKED)
    assert [memory.seen for memory in memory_texts(stage)] == [1]
    stage.now += MINUTE
    stage.write("s1", ("prompt", ASKED), ("says", "I will."))
    stage.payload("s1", "prompt", text="go on")
    stage.payload("s1", "prompt", text="and on")
    assert [memory.seen for memory in memory_texts(stage)] == [1]


def test_said_twice_it_is_one_memory_seen_twice(stage: Stage) -> None:
    for _ in range(2):
        stage.now += MINUTE
        stage.write("s1", ("prompt", ASKED))
    stage.payload("s1", "end", reason="exit")
    assert [memory.seen for memory in memory_texts(stage)] == [2]


@pytest.mark.parametrize(
    "text", ["/remember", "please /remember this", "remember the port", "/remembering", "/remember  "]
)
def test_any_other_prompt_is_none(stage: Stage, text: str) -> None:
    stage.payload("s1", "prompt", text=text, transcript="")
    assert memory_texts(stage) == []


def test_what_is_too_long_for_a_memory_is_a_prompt_still(stage: Stage) -> None:
    stage.payload("s1", "prompt", text=f"/remember {'x' * (LONGEST + 1)}", transcript="")
    assert memory_texts(stage) == []
    session = stage.store.session("s1")
    assert session is not None
    assert session.prompts_known == 1


def test_no_secret_gets_in_by_a_prompt(stage: Stage) -> None:
    key = "sk-ant-" + "api03-" + "Zq8Lw2Rt5Xv9Bn3Mk7Jh4Gf6Ds1Pa0Yu" * 2
    stage.payload("s1", "prompt", text=f"/remember the key is {key}", transcript="")
    (memory,) = memory_texts(stage)
    assert key not in memory.text
    assert not any(key in text.text for text in stage.store.texts())


def test_it_is_in_the_next_digest(stage: Stage) -> None:
    stage.payload("s1", "prompt", text=ASKED, transcript="")
    assert "Remembered: The staging port is 5433" in digest(stage)


def test_what_was_forgotten_does_not_come_back_with_its_transcript(stage: Stage) -> None:
    stage.write("s1", ("prompt", ASKED))
    stage.payload("s1", "end", reason="exit")
    with stage.store.writing():
        stage.store.forget(["s1"], stage.now)
    stage.payload("s1", "end", reason="exit")
    assert memory_texts(stage) == []


# What was found


def test_a_digest_names_the_memories_that_the_session_was_told_since_the_last_one(stage: Stage) -> None:
    engine = stage.engine()
    remember(engine, app(stage), MemoryRequest("The staging port is 5433"), source="cli")
    stage.write("s1", ("prompt", "Mend the parser"))
    assert "Top memories accessed" not in digest(stage)
    stage.now += MINUTE
    (found,) = recall(engine, app(stage), Query("staging"))
    note_recalled(engine, stage.store.session("s1"), [found.id, "of-another-kind"])
    stage.write("s1", ("prompt", "Go on"))
    assert f"Top memories accessed: {found.id[:8]} “The staging port is 5433”" in digest(stage)
    stage.now += MINUTE
    stage.write("s1", ("prompt", "And on"))
    assert "Top memories accessed" not in digest(stage)


def test_a_file_that_is_gone_makes_its_memory_stale(library: Library, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "there.py").write_text("")
    shop = identity(str(tmp_path))
    library.remember("The parser is in src/there.py", shop)
    gone = library.remember("The lexer is in src/gone.py", shop).memory
    library.remember("The lexer is in src/gone.py", replace(shop, project_id="other"))
    audited = audit_memories(library.engine(), shop, all_projects=True)
    assert audited.looked_at == 3
    stale = [memory.id for doubt, memory in audited.doubts if doubt.problem is MemoryProblem.STALE]
    assert gone.id in stale


def test_only_what_can_be_seen_from_here_is_looked_at(library: Library, tmp_path: Path) -> None:
    library.remember("Prefer tabs", OTHER)
    library.now += 100 * DAY
    assert audit_memories(library.engine(), identity(str(tmp_path))).looked_at == 0
    (found,) = audit_memories(library.engine(), OTHER).doubts
    assert found[0].problem is MemoryProblem.UNUSED
