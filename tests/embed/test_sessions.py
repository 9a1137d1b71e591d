"""Sessions: every message is kept, a session goes on where it was, and nobody else's is written to."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from holdfast import embed
from holdfast.core.agent_log.records import new_record
from holdfast.embed import Call, Session, SessionStore
from holdfast.errors import (
    AnswerUnreadable,
    HoldfastError,
    NotThere,
    ProtectionUnreadable,
    StoreError,
    StoreReadOnly,
)
from tests.core.logs import NOON
from tests.core.providers import refused_by_anthropic, refused_by_openai
from tests.embed.loop import kinds, said, texts, turns, write_settings

MAIN = "agent:main:main"
OURS = "holdfast:main:main"


def inherited(home: Path, source: Path) -> None:
    """Another program's session, and settings that say that ours begins with it."""
    source.mkdir(parents=True)
    lines = [
        {"type": "session", "version": 3, "id": "s-1", "cwd": "/home/you/shop"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "message": {"role": "user", "content": "Never touch CI."},
        },
        {"type": "odd", "id": "b", "parentId": "a", "keep": {"ü": 1}},
        {
            "type": "message",
            "id": "c",
            "parentId": "b",
            "message": {"role": "assistant", "content": "Noted."},
        },
    ]
    (source / "s-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (source / "sessions.json").write_text(json.dumps({MAIN: {"sessionId": "s-1"}}), encoding="utf-8")
    write_settings(
        home,
        pressure={"show_in_context": False},
        session={"default_key": MAIN, "inherit": {"enabled": True, "source": str(source), "format": "jsonl"}},
    )


def test_nothing_is_kept_while_a_setting_that_protects_cannot_be_read(
    home: Path, store: SessionStore
) -> None:
    session, settings = store.load("k"), home / "config.toml"
    good = settings.read_text()
    session.ask("look")
    settings.write_text(f"{good}\n[redact]\ndenny = ['Xanadu']\n")
    with pytest.raises(ProtectionUnreadable, match=r"`redact\.denny` is not a setting"):
        session.answer(said("at Xanadu"))
    assert b"Xanadu" not in b"".join(path.read_bytes() for path in home.glob("store.db*"))
    settings.write_text(f"{good}\n[redact]\ndeny = ['Xanadu']\n")
    session.answer(said("at Xanadu"))
    assert len(store.load("k").messages()) == 2
    assert b"Xanadu" not in b"".join(path.read_bytes() for path in home.glob("store.db*"))


def test_a_conversation_is_reported_as_it_was_held(store: SessionStore) -> None:
    session = store.load("k")
    session.ask("look")
    (call,) = session.answer(said("I look.", 100, ("t1", "bash", {"command": "ls"})))
    assert call == Call("t1", "bash", {"command": "ls"})
    session.returned(call.id, "a.py")
    assert session.answer(said("Done.")) == ()
    assert session.messages() == [
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.py"}]}
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]
    assert list(refused_by_openai(session.messages(embed.openai))) == []


def test_a_session_goes_on_where_it_was(home: Path, project: Path) -> None:
    first = embed.open_store(home, project=project)
    turns(first.load("k"), 3)
    first.close()
    second = embed.open_store(home, project=project)
    session = second.load("k")
    assert texts(session.messages()) == [
        *("question 0", "answer 0", "question 1", "answer 1", "question 2", "answer 2")
    ]
    turns(session, 1, start=3)
    assert texts(second.load("k").messages())[-2:] == ["question 3", "answer 3"]
    second.close()


def test_a_new_session_is_empty_and_not_in_the_list(store: SessionStore) -> None:
    assert store.load("k").messages() == []
    assert store.list() == []


def test_sessions_are_listed_with_the_latest_first(store: SessionStore) -> None:
    turns(store.load("old"), 1)
    turns(store.load("new"), 1, tokens=500)
    turns(store.load("new"), 1, tokens=700)
    new, old = store.list()
    assert (new.key, new.tokens, new.model) == ("new", 700, "some-model")
    assert (old.key, old.compactions) == ("old", 0)
    assert new.updated_at >= new.created_at > 0


def test_records_may_be_put_there_as_they_are(store: SessionStore) -> None:
    odd = new_record("odd", "1", "", NOON, {"keep": {"ü": [1, None]}})
    store.append("k", odd, odd)
    store.append("k", odd)
    assert store.load("k").records == (odd,)


def test_every_type_of_record_has_its_word(store: SessionStore) -> None:
    session = store.load("k")
    session.ask([{"type": "text", "text": "look"}, {"type": "image", "data": "AA", "mimeType": "image/png"}])
    session.note("mine", {"n": 1})
    session.switch_model("local", "small")
    session.set_thinking_level("high")
    session.start_anew()
    session.ask("again")
    assert [record.type for record in session.records] == ["reset", "message"]
    assert texts(session.messages()) == ["again"]
    lines = [json.loads(record.line) for record in store.load("k").records]
    assert lines[-1]["message"]["content"] == "again"


def test_one_may_go_back_and_on_from_there(store: SessionStore) -> None:
    session = store.load("k")
    first = session.ask("one")
    session.answer(said("left"))
    session.go_back(first.id)
    session.answer(said("right"))
    assert texts(session.messages()) == ["one", "right"]
    assert texts(store.load("k").messages()) == ["one", "right"]
    for id in ("nothing", ""):
        with pytest.raises(NotThere, match=f"the session `k` has no record `{id}`") as refused:
            session.go_back(id)
        assert refused.value.hint


def test_a_tool_that_failed_says_so(store: SessionStore) -> None:
    session = store.load("k")
    session.ask("go")
    session.answer(said("", 100, ("t1", "bash", {})))
    session.returned("t1", "boom", ok=False)
    assert session.messages()[-1]["content"][0]["is_error"] is True
    assert list(refused_by_anthropic(session.messages())) == []


def test_a_secret_does_not_reach_the_disk(home: Path, project: Path) -> None:
    key = "sk-" + "proj-" + "aB3" * 20
    store = embed.open_store(home, project=project)
    session = store.load("k")
    session.ask(f"use {key}")
    assert key in session.messages()[0]["content"][0]["text"], "whoever said it goes on with it"
    store.close()
    assert key.encode() not in b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    again = embed.open_store(home, project=project)
    assert "use [" in texts(again.load("k").messages())[0]
    again.close()


def test_an_answer_of_something_else_is_refused(store: SessionStore) -> None:
    session = store.load("k")
    session.ask("go")
    for answer, why in (
        (5, "of type `int`"),
        ({}, "nothing at all"),
        ({"error": {"message": "overloaded"}}, "but `error`"),
        ({"content": "text"}, "but `content`"),
        ({"content": [5]}, "Expected `object`"),
        ({"choices": [{"message": 5}]}, "Expected `object`"),
    ):
        with pytest.raises(AnswerUnreadable, match=why) as refused:
            session.answer(answer)
        assert refused.value.hint
    assert kinds(session) == ["message"], "nothing of them is kept"


def test_a_result_of_a_call_that_nobody_made_is_refused(store: SessionStore) -> None:
    session = store.load("k")
    session.ask("go")
    session.answer(said("", 100, ("t1", "bash", {})))
    with pytest.raises(NotThere, match="no answer in the session `k` made a call `unknown`") as refused:
        session.returned("unknown", "a.py")
    assert refused.value.hint
    session.start_anew()
    assert session.returned("t1", "late, but it was called").type == "message"


def test_it_says_whether_room_is_made_before_the_next_request(store: SessionStore) -> None:
    session = store.load("k", window=10_000)
    assert not session.should_compact()
    turns(session, 8, 4_000)
    assert not session.should_compact()
    session.ask("more")
    session.answer(said("much more", 9_000))
    assert session.should_compact()
    session.request()
    assert not session.should_compact()


def test_the_latest_checkpoint_can_be_looked_at(store: SessionStore) -> None:
    session = store.load("k", window=100_000)
    assert session.latest_checkpoint() is None
    session.ask("Port the parser to Rust.")
    session.answer(said("We decided to keep the old lexer, because the tests cover it.", 30_000))
    found = session.latest_checkpoint()
    assert found is not None
    assert found.tokens == 30_000
    assert "Port the parser to Rust." in found.summary
    session.start_anew()
    earlier = session.latest_checkpoint()
    assert earlier is not None, "one of an earlier window where this one has none"
    assert "Port the parser to Rust." in earlier.summary


@pytest.mark.parametrize(
    ("tool", "given", "actioned"),
    [
        ("write", {"path": "memory/2026-02-01.md", "content": "x"}, True),
        ("Write", {"file_path": "memory/a.md", "content": "x"}, True),
        ("create_file", {"filename": "memory/a.md", "content": "x"}, True),
        ("saveNote", {"file": "memory/a.md", "text": "x"}, True),
        ("str_replace_based_edit_tool", {"command": "create", "path": "memory/a.md", "file_text": "x"}, True),
        ("str_replace_based_edit_tool", {"command": "view", "path": "memory/a.md"}, False),
        ("memory", {"command": "create", "path": "/memories/a.md", "file_text": "x"}, True),
        ("bash", {"command": "echo x >> memory/a.md"}, True),
        ("write", {"path": "src/memory.py", "content": "x"}, False),
        ("read", {"path": "memory/a.md"}, False),
    ],
)
def test_it_says_whether_the_agent_wrote_down_what_it_was_asked_to(
    home: Path, project: Path, tool: str, given: dict[str, object], *, actioned: bool
) -> None:
    write_settings(home, memory_flush={"enabled": True})
    store = embed.open_store(home, project=project)
    session = store.load("k", window=100_000)
    turns(session, 8, 91_000)
    session.ask("go on")
    session.request()
    assert not session.flush_actioned
    (call,) = session.answer(said("", 92_000, ("t1", tool, given)))
    session.returned(call.id, "done")
    assert session.flush_actioned is actioned
    session.compact()
    assert session.flush_actioned is actioned, "a compaction does not undo it"
    store.close()


def gauges(session: Session) -> list[str]:
    return [text for text in texts(session.messages()) if text.startswith("[Context: ")]


def test_the_gauge_is_renewed_when_room_was_made(home: Path, project: Path) -> None:
    write_settings(home, pressure={"show_in_context": True, "show_from_percent": 0})
    store = embed.open_store(home, project=project)
    session = store.load("k", window=100_000)
    for number in range(12):
        session.ask(f"question {number}")
        session.request()
        session.answer(said(f"answer {number}", 42_000 + number * 5_000))
    session.ask("the last question")
    request = session.request()
    (now,) = gauges(session)
    assert now == f"[Context: {request.fill.used}/100k tokens ({request.fill.percent}%)]"
    assert request.fill.percent < 40
    before = session.messages()
    session.answer(said("fine", 30_000))
    session.ask("one more")
    session.request()
    assert len(gauges(session)) == 2
    assert session.messages()[: len(before) - 1] == before[:-1], "what was sent stays as it is"
    store.close()


def test_several_threads_may_share_a_store(store: SessionStore) -> None:
    def work(key: str) -> None:
        turns(store.load(key), 10)

    threads = [threading.Thread(target=work, args=(f"k{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {info.key for info in store.list()} == {"k0", "k1", "k2", "k3"}
    for number in range(4):
        assert len(texts(store.load(f"k{number}").messages())) == 20


def test_two_programs_may_write_to_one_session(home: Path, project: Path) -> None:
    one, two = embed.open_store(home, project=project), embed.open_store(home, project=project)
    turns(one.load("k"), 2)
    session = two.load("k")
    turns(session, 1, start=2)
    assert len(texts(one.load("k").messages())) == 6
    one.close()
    two.close()


# Sessions of another program


def test_another_programs_sessions_are_only_read(tmp_path: Path, home: Path) -> None:
    inherited(home, tmp_path / "theirs")
    source = embed.open_source(tmp_path / "theirs")
    assert [info.key for info in source.list()] == [MAIN]
    session = source.load(MAIN)
    assert texts(session.messages()) == ["Never touch CI.", "Noted."]
    for write in (lambda: session.ask("hi"), lambda: source.append(MAIN), lambda: source.save(session)):
        with pytest.raises(StoreReadOnly):
            write()
    with pytest.raises(HoldfastError, match="there is no session `x`"):
        source.load("x")
    with pytest.raises(HoldfastError, match="not a log format"):
        embed.open_source(tmp_path, "xml")


def test_a_session_that_is_saved_goes_on_under_a_key_of_ours(
    tmp_path: Path, home: Path, store: SessionStore
) -> None:
    inherited(home, tmp_path / "theirs")
    theirs = (tmp_path / "theirs" / "s-1.jsonl").read_bytes()
    store.save(embed.open_source(tmp_path / "theirs").load(MAIN))
    session = store.load(OURS)
    session.ask("Go on.")
    assert texts(store.load(OURS).messages()) == ["Never touch CI.", "Noted.", "Go on."]
    assert (tmp_path / "theirs" / "s-1.jsonl").read_bytes() == theirs


def test_saved_again_it_takes_over_what_is_new_unless_we_have_gone_on(
    tmp_path: Path, home: Path, store: SessionStore
) -> None:
    inherited(home, tmp_path / "theirs")
    file = tmp_path / "theirs" / "s-1.jsonl"
    more = {"type": "message", "id": "d", "parentId": "c", "message": {"role": "user", "content": "More."}}
    for _ in range(2):
        store.save(embed.open_source(file).load())
    with file.open("a", encoding="utf-8") as log:
        log.write(json.dumps(more) + "\n")
    store.save(embed.open_source(file).load())
    session = store.load("holdfast:s-1")
    assert texts(session.messages()) == ["Never touch CI.", "Noted.", "More."]
    session.ask("Ours.")
    with pytest.raises(StoreError, match="has gone on here"):
        store.save(embed.open_source(file).load())
    assert texts(store.load("holdfast:s-1").messages())[-1] == "Ours."


def test_where_the_settings_say_so_a_new_session_begins_with_theirs(
    tmp_path: Path, home: Path, project: Path
) -> None:
    inherited(home, tmp_path / "theirs")
    store = embed.open_store(home, project=project)
    session = store.load()
    assert session.key == OURS
    assert session.inherited is not None
    assert (session.inherited.source.key, session.inherited.records) == (MAIN, 4)
    assert texts(session.messages()) == ["Never touch CI.", "Noted."]
    odd = session.records[1]
    assert odd.line == json.dumps({"type": "odd", "id": "b", "parentId": "a", "keep": {"ü": 1}})
    session.ask("Go on.")
    assert len(store.load().records) == 4, "it is taken over once"
    assert store.load().inherited is None
    assert store.load("holdfast:other").messages() == []
    store.close()


def test_otherwise_it_begins_with_nothing(tmp_path: Path, home: Path, project: Path) -> None:
    inherited(home, tmp_path / "theirs")
    write_settings(home, session={"inherit": {"enabled": False, "source": str(tmp_path / "theirs")}})
    store = embed.open_store(home, project=project)
    session: Session = store.load()
    assert (session.key, session.messages()) == (OURS, [])
    store.close()
