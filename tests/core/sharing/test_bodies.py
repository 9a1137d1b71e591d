"""Bodies: what one machine writes another one reads, nothing that arrives raises, and no path leaves."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import compose
from holdfast.core.events.event import Action, Event, Skipped
from holdfast.core.events.world import GitState, Project
from holdfast.core.evidence.trail import FileTouch, Note, Trail, Utterance
from holdfast.core.memory.memory import Memory, MemoryKind, MemoryScope
from holdfast.core.session.checkpoint import take
from holdfast.core.session.session import Phase, Session, SessionTitle, Trigger, advance
from holdfast.core.sharing.bodies import (
    LATEST,
    MOST_BYTES,
    VERSION,
    AroundSession,
    FilePrint,
    SessionBody,
    decode,
    decode_checkpoint,
    decode_continuity,
    decode_handoff,
    decode_memory,
    decode_session,
    encode_checkpoint,
    encode_continuity,
    encode_handoff,
    encode_memory,
    encode_session,
    is_inside,
    place_session,
)
from holdfast.core.sharing.items import SharedKind
from holdfast.core.sharing.local_paths import local_paths
from tests.core.scenes import MINUTE, NOON, POLICY, PROJECT, called, prompt, returned, said, session
from tests.tables import every_row

PATHS = local_paths(PROJECT, ("/home/you",))
THERE = Project("/srv/checkouts/app", "/srv/checkouts/app", "p9", "w9", "/srv/checkouts/app")
HEAD = "a" * 40
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


NOTHING_AROUND = AroundSession()


def worked_session() -> Session:
    """A session with a request, an edit, a failed test, a plan, and an end."""
    events: list[Event] = [
        prompt("Let the basket round to cents in /home/you/app/shop/basket.py; never use floats", "p1"),
        called("c1", Action.EDIT, "/home/you/app/shop/basket.py"),
        returned("c1"),
        called("c2", Action.EDIT, "/home/you/.bashrc"),
        returned("c2"),
        called("c3", Action.RUN, "cd /home/you/app && pytest -q"),
        returned("c3", ok=False, text="FAILED tests/test_basket.py::test_sum - assert 3 == 4", exit_status=1),
        said("The sum is off by one because of `round`. Next: round once, at the end.", "m1"),
    ]
    worked = session()
    for place, event in enumerate(events):
        worked, _ = advance(worked, replace(event, at=NOON + place * MINUTE), POLICY)
    git = GitState("rounding", HEAD, ("shop/basket.py",), ("Add the basket",))
    return replace(
        worked,
        phase=Phase.ENDED,
        ended_at=NOON + 9 * MINUTE,
        git=git,
        title=SessionTitle("Rounding in the basket"),
    )


def shared(original: Session, around: AroundSession = NOTHING_AROUND) -> SessionBody:
    body = decode_session(encode_session(original, PATHS, around))
    assert isinstance(body, SessionBody)
    return body


def test_a_session_arrives_with_all_that_a_brief_is_made_from() -> None:
    original = worked_session()
    words = (Utterance("Round once, at the end.", NOON, "d1"), Utterance("older", NOON))
    prints = (FilePrint("shop/basket.py", "0" * 16),)
    around = AroundSession(words, "earlier", (HEAD, "b" * 40), prints, clock_ahead=MINUTE)
    body = shared(original, around)
    placed = place_session(body, THERE, clock_ahead=MINUTE)

    assert (placed.changed_at, placed.ended_at) == (original.changed_at, original.ended_at)
    assert (placed.key, placed.harness, placed.phase) == (original.key, original.harness, Phase.ENDED)
    assert (placed.title, placed.git) == (original.title, original.git)
    assert body.around == replace(around, words=words[:1])
    assert placed.project == THERE
    assert [touch.path for touch in placed.trail.files] == ["/srv/checkouts/app/shop/basket.py"]


def test_its_times_become_those_of_the_clock_here() -> None:
    body = shared(worked_session(), AroundSession(clock_ahead=-60 * MINUTE))
    placed = place_session(body, THERE, clock_ahead=5 * MINUTE)
    assert placed.ended_at == worked_session().ended_at + 65 * MINUTE
    assert placed.changed_at == worked_session().changed_at + 65 * MINUTE


def test_the_same_code_makes_the_same_brief_of_it() -> None:
    worked = worked_session()
    # A file outside of the project is nobody else's.
    inside = tuple(touch for touch in worked.trail.files if ".bashrc" not in touch.path)
    original = replace(worked, trail=replace(worked.trail, files=inside))
    placed = place_session(shared(worked), PROJECT)
    here = compose(BriefInput(Reason.STARTUP, original, NOON + 20 * MINUTE), 2_000)
    there = compose(BriefInput(Reason.STARTUP, placed, NOON + 20 * MINUTE), 2_000)
    assert "round once, at the end" in here.text
    assert PATHS.without(there.text) == PATHS.without(here.text)


def test_a_body_names_no_path_of_its_machine() -> None:
    body = encode_session(worked_session(), PATHS, AroundSession())
    assert "/home/you" not in body
    assert "bashrc" not in json.dumps(json.loads(body)["trail"]["files"])
    handoff = encode_handoff("a.md", "see /home/you/app/x.py and /home/you/notes", PATHS)
    assert "see x.py and ~/notes" in handoff


MEMORY = Memory(
    "m1",
    "the port is 8080",
    MemoryKind.FACT,
    MemoryScope.PROJECT,
    "p1",
    "w1",
    NOON,
    ("net",),
    0.7,
    pinned=True,
    found=3,
)


def test_every_other_kind_arrives_as_it_was_sent() -> None:
    memory = decode_memory(encode_memory(MEMORY, PATHS))
    assert not isinstance(memory, Skipped)
    assert (memory.text, memory.kind, memory.tags) == (MEMORY.text, MEMORY.kind, MEMORY.tags)
    assert (memory.created_at, memory.importance, memory.pinned) == (NOON, 0.7, True)

    document = "# Handoff: finish it\n\n- Status: open\n- Branch: `main`\n"
    handoff = decode_handoff(encode_handoff("2027-01-01-main-finish.md", document, PATHS))
    assert not isinstance(handoff, Skipped)
    assert (handoff.name, handoff.text) == ("2027-01-01-main-finish.md", document)
    assert (handoff.head.purpose, handoff.head.branch) == ("finish it", "main")

    continuity = decode_continuity(encode_continuity("## Goal\n- ship", NOON, PATHS))
    assert not isinstance(continuity, Skipped)
    assert (continuity.text, continuity.updated_at) == ("## Goal\n- ship", NOON)

    _, taken = take(worked_session(), Trigger.SESSION_END, "", "c1", NOON)
    checkpoint = decode_checkpoint(encode_checkpoint(taken, PATHS))
    assert not isinstance(checkpoint, Skipped)
    assert (checkpoint.session, checkpoint.trigger) == (taken.session, Trigger.SESSION_END)
    assert checkpoint.outline.open_questions == taken.outline.open_questions
    assert checkpoint.outline.key_decisions == taken.outline.key_decisions
    assert "round once, at the end" in checkpoint.digest


def test_a_reader_ignores_what_it_does_not_know_and_leaves_out_what_it_cannot_read() -> None:
    document = json.loads(encode_session(worked_session(), PATHS, AroundSession()))
    document["new_field"] = {"of": "a later version"}
    document["trail"]["notes"].append({"kind": "a-later-kind", "text": "x", "at": 1, "record": "r"})
    document["trail"]["prompts"].append("no utterance")
    document["phase"] = "dreaming"
    body = decode_session(json.dumps(document))
    assert isinstance(body, SessionBody)
    assert body.trail.notes == place_session(shared(worked_session()), THERE).trail.notes
    assert len(body.trail.prompts) == 1
    assert body.phase is Phase.ENDED


@every_row(
    "change, reason",
    [
        ({"version": VERSION + 1}, "a later version"),
        ({"version": True}, "without a version"),
        ({"version": None}, "without a version"),
        ({"shared": "memory"}, "of another kind"),
        ({"key": ""}, "without a key"),
        ({"key": 7}, "lacks what it is about"),
    ],
)
def test_a_body_that_cannot_be_read_is_skipped_with_a_reason(change: dict[str, object], reason: str) -> None:
    document = json.loads(encode_session(worked_session(), PATHS, AroundSession()))
    skipped = decode_session(json.dumps({**document, **change}))
    assert isinstance(skipped, Skipped)
    assert reason in skipped.reason


def test_a_file_that_arrives_is_always_below_the_root() -> None:
    document = json.loads(encode_session(worked_session(), PATHS, AroundSession()))
    for path in ("/etc/passwd", "../x", "a/../../x", "~/x", "C:\\x", "", "a//b", "..\\x", "ok/\u0000x"):
        document["trail"]["files"].append({"path": path, "action": "edit", "times": 1, "at": 1})
        document["trail"]["files"].append(
            {"path": "a", "action": "edit", "times": 1, "at": 1, "renamed_to": path or "/"}
        )
    body = decode_session(json.dumps(document))
    assert isinstance(body, SessionBody)
    paths = [path for touch in body.trail.files for path in (touch.path, touch.renamed_to)]
    assert paths == ["shop/basket.py", "", "ok/x", "", "a", "ok/x"]


def test_a_handoff_that_arrives_is_named_like_a_file_in_one_folder() -> None:
    for name in ("../../.bashrc", "/etc/x", ".", "a\nb", "\u0000", "x" * 900):
        document = {"version": VERSION, "shared": "handoff", "name": name, "text": ""}
        body = decode_handoff(json.dumps(document))
        assert not isinstance(body, Skipped)
        assert is_inside(body.name)
        assert "/" not in body.name
        assert not body.name.startswith(".")


@given(
    st.sampled_from(SharedKind),
    st.text(st.characters(), max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")),
)
def test_no_text_that_arrives_raises(kind: SharedKind, body: str) -> None:
    decode(kind, body)


@given(st.sampled_from(SharedKind), st.dictionaries(st.sampled_from(["trail", "git", "words", "text"]), JSON))
def test_no_document_that_arrives_raises(kind: SharedKind, content: dict[str, object]) -> None:
    document = {"version": 1, "shared": kind.value, "key": "k", "harness": "h", **content}
    body = decode(kind, json.dumps(document))
    if isinstance(body, SessionBody):
        compose(BriefInput(Reason.STARTUP, place_session(body, THERE), NOON), 2_000)


@given(st.text(st.characters(), max_size=300), st.integers())
def test_whatever_is_sent_any_database_can_store_and_every_time_can_be_shown(text: str, at: int) -> None:
    body = encode_memory(replace(MEMORY, text=text, created_at=at), PATHS)
    body.encode()
    assert "\\u0000" not in body
    memory = decode_memory(body)
    assert not isinstance(memory, Skipped)
    assert "\0" not in memory.text
    assert memory.created_at <= LATEST
    assert decode_memory(encode_memory(replace(MEMORY, text=memory.text), PATHS)) == replace(
        memory, created_at=NOON
    )


@given(st.integers(1, 4_000), st.integers(1, 400_000), st.sampled_from("aé\u4e2d\\"))
def test_no_body_is_longer_than_its_bound(notes: int, chars: int, letter: str) -> None:
    sentence = worked_session().trail.notes[-1]
    long_trail = Trail(
        notes=tuple(replace(sentence, text=f"{place} {letter * 90}") for place in range(notes)),
        statements=(Utterance(letter * chars, NOON),),
        files=(FileTouch("/home/you/app/a.py", Action.EDIT, 1, NOON),),
    )
    body = encode_session(replace(worked_session(), trail=long_trail), PATHS, AroundSession())
    assert len(body.encode()) <= MOST_BYTES
    decoded = decode_session(body)
    assert isinstance(decoded, SessionBody)
    assert decoded.trail.notes[-1].text.startswith(f"{notes - 1} ")
    assert [touch.path for touch in decoded.trail.files] == ["a.py"]


def test_of_a_body_that_is_too_long_the_newest_sentences_stay() -> None:
    sentence = worked_session().trail.notes[-1]
    notes = tuple(Note(sentence.kind, f"{n} {'x' * 500}", NOON + n, "r") for n in range(2_000))
    body = shared(replace(worked_session(), trail=Trail(notes=notes)))
    assert body.trail.notes == notes[-len(body.trail.notes) :]
    assert len(body.trail.notes) > 200
