"""A forgotten memory is in no byte of the home, whoever had it remembered and wherever it had spread.

Nor is any wording that it had before it was edited; and none of it comes back by a transcript that is read
again, or by a backup that is restored.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from holdfast.core.documents.continuity import (
    ContinuityPart,
    LayerName,
    LayerSummary,
    MergedContinuity,
    WrittenItems,
    blank,
    merge_summary,
)
from holdfast.core.documents.ledger import Ledger, LedgerEntry
from holdfast.core.documents.promotion import ReviewStep
from holdfast.core.text.strings import one_line
from holdfast.engine.documents import continuity, dream, ledger
from holdfast.engine.engine import Engine
from holdfast.engine.index import index_next
from holdfast.engine.memory.recall import Query, expand, recall
from holdfast.engine.memory.remember import MemoryRequest, edit, memories, remember, remember_all
from holdfast.engine.privacy import forget
from holdfast.engine.privacy.forget import OneMemory
from holdfast.engine.redaction.forgotten import BEGUN
from holdfast.engine.repository.git import identity
from holdfast.engine.tools import table
from holdfast.engine.tools.caller import Caller
from holdfast.engine.tools.session_tools import Digest, give_digest
from holdfast.files import continuity as layers
from holdfast.stores.base import EVERYWHERE
from holdfast.stores.sqlite import open_store
from holdfast.stores.sqlite.recovery.backups import back_up
from tests.engine.stage import HOUR, MINUTE, Stage

SESSION = "a"
FILLER = (
    "the of deploy staging server Petra rotates every second key port zone «cache» naïve 配置 8443".split()
)


class Story:
    """A home with a real store, and a session at work in a project outside of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir()
        self.stage = Stage(root, store=open_store(self.home / "store.db", self.home / "backups", 0))
        self.project = identity(self.stage.project("app"))
        self.stage.write(SESSION, ("prompt", "Build the harbour"), ("edits", "/x/harbour.c"))
        self.stage.payload(SESSION, "start", source="startup")
        self.stage.payload(SESSION, "stop")

    @property
    def engine(self) -> Engine:
        return replace(self.stage.engine(), home=self.home)

    def tool(self, name: str, **asked: object) -> object:
        """What a tool answers the session's agent."""
        caller = Caller(self.project, self.stage.store.session(SESSION), "told")
        answer = table.call_tool(self.engine, caller, name, asked)
        assert not answer.problem, answer.problem
        return answer.value

    def wait(self) -> None:
        self.stage.now += MINUTE

    def only_memory(self) -> str:
        (memory,) = memories(self.engine, self.project, include_superseded=True)
        return memory.id

    def forget(self, id: str) -> forget.Forgotten:
        self.wait()
        return forget.forget(self.stage.store, self.home, OneMemory(id), self.stage.now)

    def reopened(self) -> None:
        """The store as whoever starts next finds it."""
        self.stage.store.close()
        self.stage.store = open_store(self.home / "store.db", self.home / "backups", self.stage.now)
        forget.settle(self.stage.store, self.home, self.stage.now)

    def holding(self, *texts: str) -> list[tuple[str, str]]:
        """The files of the home in which one of these texts stands, byte for byte, in any usual form."""
        forms = [form.encode() for text in texts for form in _forms(text)]
        files = [file for file in sorted(self.home.rglob("*")) if file.is_file()]
        return [(file.name, form.decode()) for file in files for form in forms if form in file.read_bytes()]


def _forms(text: str) -> set[str]:
    forms = {text, one_line(text)}
    return forms | {json.dumps(form, ensure_ascii=plain)[1:-1] for form in forms for plain in (True, False)}


@contextmanager
def story() -> Generator[Story]:
    with TemporaryDirectory() as folder:
        told = Story(Path(folder).resolve())
        try:
            yield told
        finally:
            told.stage.store.close()


# ---------------------------------------------------------------- ways in


def by_agent(told: Story, text: str) -> None:
    told.tool("remember", text=text)


def by_command(told: Story, text: str) -> None:
    remember(told.engine, told.project, MemoryRequest(text), source="cli")


def by_command_in_session(told: Story, text: str) -> None:
    remember(
        told.engine, told.project, MemoryRequest(f"critical: [ops]: {text}"), source="cli", session=SESSION
    )


def in_bulk(told: Story, text: str) -> None:
    remember_all(
        told.engine, told.project, [MemoryRequest(text), MemoryRequest(text.upper())], source="jsonl"
    )


def by_prompt(told: Story, text: str) -> None:
    told.stage.write(SESSION, ("prompt", f"/remember {text}"))
    told.stage.payload(SESSION, "stop")


def by_promotion(told: Story, text: str) -> None:
    """As something that the continuity holds, which a person lets become a memory."""
    room = continuity.continuity_files(told.engine, told.home, told.project)
    said = LayerSummary("Harbour", {ContinuityPart.NOTES: (one_line(text),)})
    made = merge_summary(blank(LayerName.SHARED), said, WrittenItems())
    # As written by hand: then it is a candidate whatever it says.
    by_hand = MergedContinuity(made.document, WrittenItems())
    layers.write(
        room.places, {LayerName.SHARED: (room.places.target(LayerName.SHARED), by_hand)}, told.stage.now
    )
    (candidate,) = dream.build(told.engine, room).candidates
    dream.take(told.engine, room, candidate.id, ReviewStep.APPROVE)
    dream.take(told.engine, room, candidate.id, ReviewStep.PROMOTE)
    if not memories(told.engine, told.project):  # it reads like an instruction, and is only proposed
        by_command(told, text)


WAYS_TO_REMEMBER: Sequence[Callable[[Story, str], None]] = (
    by_agent,
    by_command,
    by_command_in_session,
    in_bulk,
    by_prompt,
    by_promotion,
)


# ---------------------------------------------------------------- how it spreads


def in_what_is_said(told: Story, text: str) -> None:
    told.stage.write(
        SESSION,
        ("prompt", f"Note well: {text}\nThen go on."),
        ("says", f"I will keep in mind that {text} Shall I go on?"),
        ("runs", f"holdfast remember {json.dumps(text)}"),
        ("output", json.dumps({"content": [{"type": "text", "text": json.dumps({"text": text})}]})),
    )
    told.stage.payload(SESSION, "stop")


def in_a_checkpoint(told: Story, text: str) -> None:
    told.tool("recall", query=text[:80])
    told.stage.payload(SESSION, "compaction", text=f"Keep this: {text}")


def in_a_digest(told: Story, text: str) -> None:
    give_digest(told.engine, SESSION, Digest(f"Half way. {text}", decisions=(text,), next=("Go on",)))


def in_a_brief(told: Story, text: str) -> None:
    told.stage.payload(SESSION, "start", source="compact")
    brief = told.stage.payload("b", "start", source="clear", previous=SESSION)
    told.stage.write("b", ("brief", brief), ("prompt", "Go on"))
    told.stage.payload("b", "stop")


def in_the_index(told: Story, text: str) -> None:
    told.stage.now += HOUR
    while index_next(told.engine):
        pass
    recall(told.engine, told.project, Query(text))


def in_a_ledger(told: Story, text: str) -> None:
    place = ledger.place_of(told.home, told.project, "CONTINUITY.md")
    given = Ledger(decisions=(LedgerEntry(one_line(text)),))
    ledger.save(told.engine, place, told.project, told.stage.store.session(SESSION), given)


def in_files_of_the_home(told: Story, text: str) -> None:
    for name in ("logs", "spool"):
        (told.home / name).mkdir(exist_ok=True)
    (told.home / "logs" / "daemon.log").write_text(f"a line about {text}\n", encoding="utf-8")
    body = json.dumps({"session_id": "z", "cwd": "/", "prompt": f"and {text}"}).encode()
    head = b"HOLDFAST/1 hook-event\nid: 1\nat: 1\nlength: %d\n\n" % len(body)
    (told.home / "spool" / "1.event").write_bytes(head + body)
    (told.home / "spool" / "2.letter").write_bytes(head + body)  # as hooks of version 0.1.0 name it


def in_a_backup(told: Story, text: str) -> None:
    back_up(told.home / "store.db", told.home / "backups", 7, told.stage.now)


SPREADS: Sequence[Callable[[Story, str], None]] = (
    in_what_is_said,
    in_a_checkpoint,
    in_a_digest,
    in_a_brief,
    in_the_index,
    in_a_ledger,
    in_files_of_the_home,
    in_a_backup,
)


@st.composite
def wordings(draw: st.DrawFn) -> str:
    """Sentences of all lengths, in one line or in several, with what JSON has to escape."""
    words: list[str] = draw(st.lists(st.sampled_from(FILLER), min_size=4, max_size=60))
    canary = draw(st.text("bcdfgkmnpqrtvwxz", min_size=10, max_size=12))
    words.insert(draw(st.integers(0, len(words))), canary)
    gaps = draw(st.lists(st.sampled_from([" ", " ", " ", ", ", "\n", ' "', "; ", "\t— "]), min_size=1))
    joined = "".join(word + gaps[place % len(gaps)] for place, word in enumerate(words)).strip(' ",;\n\t—')
    if draw(st.integers(0, 9)) == 0:  # longer than a passage, so that it is found in pieces
        joined += "".join(f" and {FILLER[place % len(FILLER)]} {place}" for place in range(200))
    return joined


# A failure is told by the steps that led to it: to look for a shorter one would take minutes.
@settings(max_examples=5, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
def test_no_byte_of_any_wording_is_left_and_none_comes_back(data: st.DataObject) -> None:
    first, second = data.draw(wordings(), "first"), data.draw(wordings(), "second")
    way_in = data.draw(st.sampled_from(WAYS_TO_REMEMBER), "way in")
    spread = data.draw(st.permutations(SPREADS), "spread")
    edited_after = data.draw(st.integers(-1, len(spread) - 1), "edited after")
    with story() as told:
        way_in(told, first)
        said, id = [first.strip()], told.only_memory()
        for place, spreads in enumerate(spread):
            told.wait()
            spreads(told, said[-1])
            if place == edited_after:
                edit(told.engine, told.project, id, text=second)
                said.append(second.strip())
        assert told.holding(*said), "it was somewhere"
        shutil.copy(told.home / "store.db", told.root / "elsewhere.db")
        assert told.forget(id).memories >= 1
        assert told.holding(*said) == []
        _is_not_found(told, said)
        _does_not_come_back(told, said)


VAULT = "The quokka vault opens at seven with the marzipan lever behind it"
GATE = "the brass handle on the western wall moves the whole gate by a hand, slowly and with much noise"


@pytest.mark.parametrize("text", [VAULT, f"{VAULT}; {GATE}", "the quokka likes marzipan"])
def test_the_words_that_a_prompt_asked_for_go_too(text: str) -> None:
    with story() as told:
        told.stage.write(SESSION, ("prompt", f"/remember {text}"))
        told.stage.payload(SESSION, "prompt", text=f"/remember {text}")
        told.wait()
        told.stage.payload(SESSION, "compaction")
        told.wait()
        told.stage.payload(SESSION, "prompt", text=f"/remember {text}")
        assert told.holding("marzipan")
        told.forget(told.only_memory())
        assert told.holding("quokka", "marzipan", "brass") == []


def _is_not_found(told: Story, said: Sequence[str]) -> None:
    for text in said:
        for found in recall(told.engine, told.project, Query(text[:200], 50)):
            whole = expand(told.engine, told.project, found.id)
            assert whole is not None
            assert not [form for form in _forms(text) if form in found.text or form in whole.text]
    assert told.stage.store.memories(EVERYWHERE, 10) == []


def _does_not_come_back(told: Story, said: Sequence[str]) -> None:
    """Neither with a restored backup, nor in a new store into which all transcripts are read again."""
    for restored in (told.root / "elsewhere.db", None):
        told.stage.store.close()
        for file in told.home.glob("store.db*"):
            file.unlink()
        if restored:
            shutil.copy(restored, told.home / "store.db")
        told.stage.store = open_store(told.home / "store.db", told.home / "backups", told.stage.now)
        forget.settle(told.stage.store, told.home, told.stage.now)
        assert told.holding(*said) == []
        for session in (SESSION, "b"):
            told.wait()
            told.stage.payload(session, "compaction")
        in_the_index(told, said[0])
        assert told.stage.store.session(SESSION) is not None
        assert told.holding(*said) == []
        _is_not_found(told, said)


# ---------------------------------------------------------------- backups, and whoever is killed half-way

TEXT = "The staging database lives at db-7.internal and Petra rotates its password on Tuesdays"


@pytest.mark.parametrize("choice", ["memory", "session", "project", "before", "all"])
def test_backups_are_rewritten_and_keep_their_times(choice: str) -> None:
    with story() as told:
        by_agent(told, TEXT)
        in_what_is_said(told, TEXT)
        told.stage.payload("other", "end", reason="other", cwd=told.stage.project("another"))
        (backup,) = [back_up(told.home / "store.db", told.home / "backups", 6, told.stage.now)]
        os.utime(backup, (1_000_000, 1_000_000))
        (told.home / "backups" / "store-20250101T000000Z-schema-0001.db").write_text(TEXT)
        (told.home / "backups" / "store-20250101T000000Z-schema-0001.db-journal").write_text(TEXT)
        told.wait()
        found = forget.forget(told.stage.store, told.home, _choice(told, choice), told.stage.now)
        assert (found.rewritten, found.copies) == (1, 2)
        assert told.holding(TEXT) == []
        (left,) = (told.home / "backups").iterdir()
        assert left.stat().st_mtime == 1_000_000
        assert left.stat().st_mode & 0o777 == 0o600
        with closing(open_store(left, told.home / "none", 0)) as store:
            assert store.check() == ""
            assert bool(store.keys()) is (choice != "all")
            assert (store.session(SESSION) is not None) is (choice == "memory")
            assert store.memory_ids() == []


def _choice(told: Story, choice: str) -> forget.Choice:
    match choice:
        case "memory":
            return OneMemory(told.only_memory())
        case "session":
            return forget.OneSession(SESSION)
        case "project":
            return forget.OneProject(told.project.project_id)
        case "before":
            with told.stage.store.writing():  # the other session goes on later
                other = told.stage.store.session("other")
                assert other is not None
                told.stage.store.put_session(replace(other, last_event_at=told.stage.now + HOUR))
            return forget.Before(told.stage.now)
        case _:
            return forget.Everything()


@pytest.mark.parametrize("choice", ["memory", "session", "project", "all"])
def test_a_backup_that_is_restored_from_elsewhere_holds_nothing_of_it(choice: str) -> None:
    with story() as told:
        by_agent(told, TEXT)
        in_what_is_said(told, TEXT)
        told.stage.store.close()
        shutil.copy(told.home / "store.db", told.root / "elsewhere.db")
        told.reopened()
        told.wait()
        forget.forget(told.stage.store, told.home, _choice(told, choice), told.stage.now)
        told.stage.store.close()
        shutil.copy(told.root / "elsewhere.db", told.home / "store.db")
        told.reopened()
        assert told.holding(TEXT) == []
        assert (told.stage.store.session(SESSION) is not None) is (choice == "memory")
        assert told.stage.store.memory_ids() == []


def test_who_remembers_it_again_has_it_again_and_a_transcript_has_not() -> None:
    with story() as told:
        by_prompt(told, TEXT)
        told.forget(told.only_memory())
        with told.stage.store.writing():
            told.stage.store.put_cursor(str(told.stage.transcript(SESSION)), "")
            told.stage.store.forget([SESSION], 0)
        told.stage.payload(SESSION, "stop")
        assert told.stage.store.memory_ids() == []
        told.wait()
        by_agent(told, TEXT)
        assert [memory.text for memory in memories(told.engine, told.project)] == [TEXT]
        told.reopened()
        assert [found.text for found in recall(told.engine, told.project, Query(TEXT))][:1] == [TEXT]


@pytest.mark.parametrize("text", ["ok", "🚀🚀", "use tabs"])
def test_of_a_short_memory_goes_what_was_to_be_remembered(text: str) -> None:
    with story() as told:
        by_command_in_session(told, text)
        in_a_checkpoint(told, text)
        told.forget(told.only_memory())
        told.stage.write(SESSION, ("says", f"That is {text} with me"))
        told.stage.payload(SESSION, "stop")
        (checkpoint, *_) = told.stage.store.checkpoints(10)
        assert checkpoint.recent_remembers == ()
        assert "Remembered: [forgotten]" in checkpoint.digest
        session = told.stage.store.session(SESSION)
        assert session is not None
        assert [said.text for said in session.trail.statements] == [f"That is {text} with me"]


def test_in_a_project_what_holdfast_wrote_goes_and_what_a_person_wrote_is_named() -> None:
    with story() as told:
        by_agent(told, TEXT)
        place = ledger.place_of(told.home, told.project, ledger.DEFAULT_PATH)
        given = Ledger(decisions=(LedgerEntry(TEXT), LedgerEntry("Use tabs")))
        ledger.save(told.engine, place, told.project, told.stage.store.session(SESSION), given)
        own = Path(told.project.root) / "MEMORY.md"
        own.write_text(f"- {TEXT}\n")
        found = told.forget(told.only_memory())
        assert found.left == (str(own),)
        assert own.read_text() == f"- {TEXT}\n"
        kept = (Path(told.project.root) / ledger.DEFAULT_PATH).read_text()
        assert TEXT not in kept
        assert "Use tabs" in kept


@pytest.mark.parametrize("choice", ["memory", "session"])
def test_whoever_is_killed_half_way_is_finished_for(choice: str) -> None:
    """Killed before one statement or change of a file after the other, until nothing is left to be done."""
    for step in range(3, 1_000, 11):
        with story() as told:
            by_agent(told, TEXT)
            for spread in (in_what_is_said, in_a_ledger, in_files_of_the_home, in_a_backup):
                spread(told, TEXT)
            chosen = _choice(told, choice)
            told.stage.store.close()
            killed = _forgets_until(told.home, chosen, step)
            told.stage.store = open_store(told.home / "store.db", told.home / "backups", told.stage.now)
            store = told.stage.store
            begun = not killed or bool(store.fact(BEGUN) or store.fact(forget.OWED))
            forget.settle(store, told.home, told.stage.now)
            forget.clear(store, told.home, told.stage.now)  # as the daemon does
            assert bool(store.memory_ids()) is not begun
            if begun and choice == "memory":
                assert told.holding(TEXT) == []
            if not killed:
                return
    pytest.fail("it never came to its end")


def _forgets_until(home: Path, choice: forget.Choice, step: int) -> bool:
    """Have a process forget that is killed at that step; whether it was."""
    child = os.fork()
    if not child:
        left = count(step, -1)
        store = open_store(home / "store.db", home / "backups", 0)

        def dies(*_: object) -> bool:
            if not next(left):
                os.kill(os.getpid(), signal.SIGKILL)
            return True

        def watched(event: str, _: object) -> None:
            if event in ("os.rename", "os.remove", "shutil.copyfile", "shutil.rmtree"):
                dies()

        sys.addaudithook(watched)
        store._database.connection.exec_trace = dies
        try:
            forget.forget(store, home, choice, 2_000_000_000_000)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)
