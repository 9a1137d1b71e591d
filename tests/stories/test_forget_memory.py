"""A forgotten memory is in no byte of the home, whoever had it remembered and wherever it had spread.

Nor is any wording that it had before it was edited; and none of it comes back by a transcript that is read
again, or by a backup that is restored.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from holdfast.core.continuity import LayerName, Part, Summary, blank
from holdfast.core.continuity_merge import Written, merged
from holdfast.core.ledger import Entry, Ledger
from holdfast.core.promote import Step
from holdfast.core.text import one_line
from holdfast.engine import continuity, dream, forget, ledger, tools
from holdfast.engine.caller import Caller
from holdfast.engine.desk import Desk
from holdfast.engine.digest import Digest, give_digest
from holdfast.engine.forget import OneMemory
from holdfast.engine.git import identity
from holdfast.engine.index import index
from holdfast.engine.recall import Query, expand, recall
from holdfast.engine.remember import Wish, edit, memories, remember, remember_all
from holdfast.files import continuity as layers
from holdfast.stores.base import EVERYWHERE
from holdfast.stores.sqlite import open_store
from holdfast.stores.sqlite.aside import back_up
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
        self.stage.letter(SESSION, "start", source="startup")
        self.stage.letter(SESSION, "stop")

    @property
    def desk(self) -> Desk:
        return replace(self.stage.desk(), home=self.home)

    def tool(self, name: str, **asked: object) -> object:
        """What a tool answers the session's agent."""
        caller = Caller(self.project, self.stage.store.session(SESSION), "told")
        answer = tools.call(self.desk, caller, name, asked)
        assert not answer.problem, answer.problem
        return answer.value

    def wait(self) -> None:
        self.stage.now += MINUTE

    def only_memory(self) -> str:
        (memory,) = memories(self.desk, self.project, include_superseded=True)
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
    remember(told.desk, told.project, Wish(text), source="cli")


def by_command_in_session(told: Story, text: str) -> None:
    remember(told.desk, told.project, Wish(f"critical: [ops]: {text}"), source="cli", session=SESSION)


def in_bulk(told: Story, text: str) -> None:
    remember_all(told.desk, told.project, [Wish(text), Wish(text.upper())], source="jsonl")


def by_prompt(told: Story, text: str) -> None:
    told.stage.write(SESSION, ("prompt", f"/remember {text}"))
    told.stage.letter(SESSION, "stop")


def by_promotion(told: Story, text: str) -> None:
    """As something that the continuity holds, which a person lets become a memory."""
    room = continuity.room(told.desk, told.home, told.project)
    said = Summary("Harbour", {Part.CONFIRMED: (one_line(text),)})
    made = merged(blank(LayerName.SHARED), said, Written())
    layers.write(
        room.places, {LayerName.SHARED: (room.places.target(LayerName.SHARED), made)}, told.stage.now
    )
    (candidate,) = dream.build(told.desk, room).candidates
    dream.take(told.desk, room, candidate.id, Step.APPROVE)
    dream.take(told.desk, room, candidate.id, Step.PROMOTE)
    if not memories(told.desk, told.project):  # it reads like an instruction, and is only proposed
        by_command(told, text)


WAYS_IN: Sequence[Callable[[Story, str], None]] = (
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
    told.stage.letter(SESSION, "stop")


def in_a_checkpoint(told: Story, text: str) -> None:
    told.tool("recall", query=text[:80])
    told.stage.letter(SESSION, "compaction", text=f"Keep this: {text}")


def in_a_digest(told: Story, text: str) -> None:
    give_digest(told.desk, SESSION, Digest(f"Half way. {text}", decisions=(text,), next=("Go on",)))


def in_a_brief(told: Story, text: str) -> None:
    told.stage.letter(SESSION, "start", source="compact")
    brief = told.stage.letter("b", "start", source="clear", previous=SESSION)
    told.stage.write("b", ("brief", brief), ("prompt", "Go on"))
    told.stage.letter("b", "stop")


def in_the_index(told: Story, text: str) -> None:
    told.stage.now += HOUR
    while index(told.desk):
        pass
    recall(told.desk, told.project, Query(text))


def in_a_ledger(told: Story, text: str) -> None:
    place = ledger.place_of(told.home, told.project, "CONTINUITY.md")
    given = Ledger(decisions=(Entry(one_line(text)),))
    ledger.save(told.desk, place, told.project, told.stage.store.session(SESSION), given)


def in_files_of_the_home(told: Story, text: str) -> None:
    for name in ("logs", "spool"):
        (told.home / name).mkdir(exist_ok=True)
    (told.home / "logs" / "daemon.log").write_text(f"a line about {text}\n", encoding="utf-8")
    body = json.dumps({"session_id": "z", "cwd": "/", "prompt": f"and {text}"}).encode()
    head = b"HOLDFAST/1 letter\nid: 1\nat: 1\nlength: %d\n\n" % len(body)
    (told.home / "spool" / "1.letter").write_bytes(head + body)


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
    words = draw(st.lists(st.sampled_from(FILLER), min_size=4, max_size=60))
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
    way_in = data.draw(st.sampled_from(WAYS_IN), "way in")
    spread = data.draw(st.permutations(SPREADS), "spread")
    edited_after = data.draw(st.integers(-1, len(spread) - 1), "edited after")
    with story() as told:
        way_in(told, first)
        said, id = [first.strip()], told.only_memory()
        for place, spreads in enumerate(spread):
            told.wait()
            spreads(told, said[-1])
            if place == edited_after:
                edit(told.desk, told.project, id, text=second)
                said.append(second.strip())
        assert told.holding(*said), "it was somewhere"
        shutil.copy(told.home / "store.db", told.root / "elsewhere.db")
        assert told.forget(id).memories >= 1
        assert told.holding(*said) == []
        _is_not_found(told, said)
        _does_not_come_back(told, said)


def _is_not_found(told: Story, said: Sequence[str]) -> None:
    for text in said:
        for found in recall(told.desk, told.project, Query(text[:200], 50)):
            whole = expand(told.desk, told.project, found.id)
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
            told.stage.letter(session, "compaction")
        in_the_index(told, said[0])
        assert told.stage.store.session(SESSION) is not None
        assert told.holding(*said) == []
        _is_not_found(told, said)
