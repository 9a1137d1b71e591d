"""`holdfast remember`, `recall`, `expand`, `memories` and `audit memories`, typed by a person."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from dataclasses import replace

from tests.cli.conftest import HARNESS, TIME_LIMIT, Done, Person

PORT = "The staging port is 5433"


def remembered(person: Person, *words: str) -> str:
    done = person.types("remember", *words)
    assert done.status == 0, done.err
    return done.out.strip()


def listed(person: Person, *words: str) -> list[str]:
    return [row["text"] for row in person.types("memories", "list", "--json", *words).json]


def error_and_hint(done: Done) -> tuple[str, str]:
    """Error and hint of a command that failed with a clear sentence."""
    assert (done.status, done.out) == (1, ""), done.err
    error, _, hint = done.err.removeprefix("error: ").partition("\n\nhint: ")
    assert "this should not have happened" not in error
    return error, hint.strip()


def test_what_is_remembered_is_recalled_and_expanded(person: Person) -> None:
    id = remembered(person, "The", "staging", "port", "is", "5433", "--tag", "net")
    (hit,) = person.types("recall", "which port does staging use", "--json").json
    assert {name: hit[name] for name in ("id", "kind", "text", "source")} == {
        "id": id,
        "kind": "memory",
        "text": PORT,
        "source": "memory",
    }
    assert 0 < hit["score"] <= 1
    assert hit["age"].endswith(" s")
    assert hit["at"].endswith("Z")
    assert hit["worded"] is True
    by_word = person.types("recall", "port")
    assert PORT in by_word.out
    assert "nearest in meaning" not in by_word.err
    remembered(person, "My car is red")
    by_meaning = person.types("recall", "automobile")
    assert ("My car is red" in by_meaning.out, "nearest in meaning" in by_meaning.err) == (True, True)
    assert [hit["worded"] for hit in person.types("recall", "automobile", "--json").json] == [False]
    nonsense = person.types("recall", "zorbleflux")
    assert (nonsense.out, "nothing was found" in nonsense.err) == ("", True)
    assert person.types("expand", id[:8]).out == f"{PORT}\n"
    whole = person.types("expand", id, "--json").json
    assert (whole["id"], whole["text"]) == (id, PORT)
    assert set(hit) - set(whole) == {"score", "worded", "title"}, "two are about a query"


def test_said_twice_it_is_one_memory_and_a_newer_value_supersedes(person: Person) -> None:
    first = remembered(person, PORT)
    again = person.types("remember", "the staging port is  5433.")
    assert (again.out.strip(), "2 times" in again.err) == (first, True)
    newer = person.types("remember", "The staging port is 6000", "--json").json
    assert (newer["again"], newer["supersedes"], newer["labels"]) == (False, [first], ["contradicts"])
    assert listed(person) == ["The staging port is 6000"]
    assert listed(person, "--all") == ["The staging port is 6000", PORT]
    assert [hit["text"] for hit in person.types("recall", "port", "--json").json] == [
        "The staging port is 6000"
    ]
    assert len(person.types("recall", "port", "--all", "--json").json) == 2


def test_a_memory_is_looked_after(person: Person) -> None:
    id = remembered(person, "critical: [net]: Never expose 8080", "--importance", "0.9")
    shown = person.types("memories", "show", id[:8], "--json").json
    assert (shown["kind"], shown["pinned"], shown["tags"], shown["importance"]) == (
        "rule",
        True,
        ["net"],
        0.9,
    )
    assert person.types("memories", "unpin", id).out.strip() == id
    assert person.types("memories", "pin", id, "--json").json["pinned"] is True
    edited = person.types("memories", "edit", id, "Never expose 9090", "--tag", "ops", "--json").json
    assert (edited["text"], edited["tags"]) == ("Never expose 9090", ["ops"])
    assert "Never expose 9090" in person.types("memories", "show", id).out
    assert "#ops" in person.types("memories", "list").out
    done = person.types("memories", "forget", id, "--yes")
    assert done.out.startswith("forgotten: 1 memory\n"), done.err
    assert listed(person) == []
    store = b"".join(file.read_bytes() for file in person.home.glob("store.db*"))
    assert b"9090" not in store
    assert b"8080" not in store


def test_forget_knows_a_memory_by_its_id_and_a_project_by_its_place(person: Person) -> None:
    id, user = remembered(person, PORT), remembered(person, "Prefer tabs", "--scope", "user")
    remembered(person, "The staging host is blue")
    assert person.types("forget", "--memory", id[:8], "--dry-run", "--json").json["memories"] == 1
    assert person.types("forget", "--memory", id[:8], "--yes", "--json").json["memories"] == 1
    assert person.types("forget", "--project", ".", "--yes", "--json").json["memories"] == 1
    assert [row["id"] for row in person.types("memories", "list", "--json").json] == [user]
    assert person.types("forget", "--all", "--yes", "--json").json["memories"] == 1


def test_a_memory_holds_where_it_was_said_to(person: Person) -> None:
    remembered(person, PORT)
    remembered(person, "Prefer tabs", "--scope", "user")
    other = person.root / "other"
    other.mkdir()
    assert listed(person, "--project", str(other)) == ["Prefer tabs"]
    assert len(listed(person, "--project", str(other), "--all-projects")) == 2
    assert person.types("recall", "staging", "--project", str(other), "--json").json == []
    assert (
        len(person.types("recall", "staging", "--project", str(other), "--all-projects", "--json").json) == 1
    )


def test_where_nothing_is_kept_nothing_is_made_by_looking(person: Person) -> None:
    assert person.types("recall", "anything").status == 0
    assert person.types("memories", "list", "--json").json == []
    assert person.types("audit", "memories").out == "nothing is doubtful about 0 memories\n"
    assert not person.home.exists()


# Many at once


def test_many_lines_are_remembered_in_order(person: Person) -> None:
    lines = [
        json.dumps("The first fact"),
        "",
        json.dumps({"text": "The second", "tags": ["a"], "importance": 0.9, "pinned": True, "scope": "user"}),
        json.dumps({"text": "The first fact"}),
    ]
    done = person.types("remember", "--jsonl", "-", "--tag", "bulk", given="\n".join(lines))
    first, second, again = done.out.split()
    assert done.status == 0, done.err
    assert first == again != second
    assert "3 kept, 1 of them known before" in done.err
    row = person.types("memories", "show", second, "--json").json
    assert (row["scope"], row["tags"], row["pinned"], row["importance"]) == ("user", ["bulk", "a"], True, 0.9)


def test_ids_can_be_had_as_one_list(person: Person) -> None:
    ids = person.types("remember", "--jsonl", "-", "--json", given='"one fact"\n"two facts"\n').json
    assert len(set(ids)) == 2


def test_a_bad_line_is_named_and_nothing_before_it_is_lost(person: Person) -> None:
    for bad, says in (
        (b'{"text": 5}', "Expected `str`"),
        (b"half", "malformed"),
        (b'"\xff"', "UTF-8"),
        (b'""', "empty"),
        (b'{"tags": ["a"]}', "text"),
        (b'{"text": "x", "scope": "moon"}', "moon"),
        (json.dumps("x" * 100_001).encode(), "100,001 characters"),
    ):
        given = b'"The first"\n"The second"\n' + bad + b'\n"The fourth"\n'
        done = person.types("remember", "--jsonl", "-", given=given)
        assert (done.status, len(done.out.split())) == (1, 2)
        assert done.err.startswith("error: line 3")
        assert says in done.err
        assert "hint: " in done.err
    assert sorted(listed(person)) == ["The first", "The second"]


def test_thousands_of_lines_get_their_vectors_too(person: Person) -> None:
    given = "".join(json.dumps(f"Fact {number} about the harbour") + "\n" for number in range(1_200))
    assert len(person.types("remember", "--jsonl", "-", given=given).out.split()) == 1_200
    hits = person.types("recall", "seaport 77", "--json", "--limit", "3").json
    assert hits[0]["text"] == "Fact 77 about the harbour"


# Files


def test_to_a_file_it_is_written_and_found_there(person: Person) -> None:
    (person.root / "user").mkdir(exist_ok=True)
    key = "sk-ant-" + "api03-" + "Zq8Lw2Rt5Xv9Bn3Mk7Jh4Gf6Ds1Pa0Yu" * 2
    path = person.types("remember", "[net]: The ferry leaves at nine,", key, "--to-file").out.strip()
    written = (person.project / path).read_text()
    assert "The ferry leaves at nine" in written
    assert key not in written
    assert person.types("remember", "The harbour is closed", "--to-file", "--json").json == {"file": path}
    assert (person.project / path).read_text().startswith(written.rstrip())
    hits = person.types("recall", "ferry", "--json").json
    assert (hits[0]["kind"], hits[0]["source"].partition(" ")[0]) == ("file", path)
    assert listed(person) == []


def test_a_folder_that_leads_elsewhere_is_refused(person: Person) -> None:
    (person.project / "memory").symlink_to(person.root)
    error, _ = error_and_hint(person.types("remember", PORT, "--to-file"))
    assert "is refused" in error


# What cannot be done


MISTAKES = [
    (("remember", ""), "there is nothing to remember", "after `remember`"),
    (("remember", "x", "--project", "/nowhere/at/all"), "there is no directory `/nowhere", "directory"),
    (("remember", "x", "--session", "nobody"), "there is no session `nobody`", "holdfast sessions"),
    (("remember", os.fsdecode(b"caf\xe9")), "the text is not valid UTF-8", "convert it"),
    (("recall", ""), "there is nothing to look for", "a few words"),
    (("recall", "x", "--since", "yesterday"), "`yesterday` is no date", "2026-01-31"),
    (("recall", "x", "--project", "/nowhere/at/all"), "there is no directory", "directory"),
    (("expand", "0000000"), "nothing here has the id `0000000`", "holdfast recall"),
    (("memories", "show", "0000000"), "there is no memory `0000000`", "memories list"),
    (("memories", "edit", "0000000", "x"), "there is no memory `0000000`", "memories list"),
    (("memories", "pin", "0000000"), "there is no memory `0000000`", "memories list"),
    (("memories", "forget", "0000000", "--yes"), "there is no memory `0000000`", "memories list"),
    (("forget", "--memory", "0000000", "--yes"), "there is no memory `0000000`", "memories list"),
]


def test_an_error_is_a_sentence_with_a_hint_and_changes_nothing(person: Person) -> None:
    remembered(person, PORT)
    for words, error, hint in MISTAKES:
        said = error_and_hint(person.types(*words))
        assert said[0].startswith(error), words
        assert hint in said[1], words
    assert listed(person) == [PORT]


def test_what_comes_from_a_pipe_is_looked_at_too(person: Person) -> None:
    for given, error in (
        (b"\xff\xfe", "the text is not valid UTF-8"),
        (b"x" * 1_000_000, "the text has 1,000,000 characters"),
        (b"", "there is nothing to remember"),
        (b"\x00\x1b", "there is nothing to remember"),
    ):
        assert error_and_hint(person.types("remember", "-", given=given))[0].startswith(error)
    assert listed(person) == []


def test_a_command_that_cannot_be_meant_is_a_mistake_in_its_use(person: Person) -> None:
    for words in (
        ("remember",),
        ("remember", "x", "--jsonl", "-"),
        ("remember", "x", "--importance", "2"),
        ("recall",),
        ("recall", "x", "--kind", "dream"),
        ("memories", "edit", "abcdef"),
    ):
        done = person.types(*words)
        assert (done.status, done.out) == (2, "")
        assert " --help` says how it is called" in done.err


def test_the_beginning_of_an_id_that_only_one_has_names_it(person: Person) -> None:
    remembered(person, PORT)
    given = "".join(json.dumps(f"Fact {number}") + "\n" for number in range(3))
    ids = person.types("remember", "--jsonl", "-", given=given).out.split()
    for length in (5, 9):
        assert person.types("expand", ids[0][:length]).out == "Fact 0\n"
        assert person.types("memories", "show", ids[1][:length], "--json").json["text"] == "Fact 1"
    assert person.types("expand", ids[0][:5] + "zz").status == 1


def test_nothing_in_a_memory_reaches_the_terminal_that_it_would_obey(person: Person) -> None:
    evil = "red \x1b[31mport\x07 \u202ereversed"
    remembered(person, evil)
    for words in (("recall", "port"), ("memories", "list"), ("recall", "port", "--json")):
        shown = person.types(*words).out
        assert "port" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert person.types("recall", "port", "--json").json[0]["text"] == evil


def test_a_memory_said_in_a_session_is_in_its_next_digest(person: Person) -> None:
    person.prompts("Build the harbour", session="first-session")
    remembered(person, "Prefer tabs", "--session", "first-session")
    within = replace(person, variables={"CLAUDE_CODE_SESSION_ID": "first-session"})
    remembered(within, "Prefer short names")
    taken = person.types("checkpoint", "--session", "first-session")
    assert taken.status == 0, taken.err
    (row, *_) = person.types("checkpoints", "--json").json
    assert row["recent_remembers"] == ["Prefer tabs", "Prefer short names"]


def test_a_person_at_a_terminal_is_asked_before_a_memory_goes(person: Person) -> None:
    id = remembered(person, PORT)
    assert "nobody is there to answer" in error_and_hint(person.types("memories", "forget", id))[0]
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        person.command("memories", "forget", id),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=person.environment,
        cwd=person.project,
    )
    os.write(ours, b"n\n")
    _, err = done.communicate(timeout=TIME_LIMIT)
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, b"nothing was removed" in err, b"error:" in err) == (1, True, False)
    assert listed(person) == [PORT]


def test_memories_that_are_worth_a_look_are_named(person: Person) -> None:
    remembered(person, "The parser is in src/gone.py")
    copy = remembered(person, "The parser is in src/gone.py", "--scope", "user")
    rows = {row["problem"]: row for row in person.types("audit", "memories", "--json").json}
    stale, duplicate = rows["stale"], rows["duplicate"]
    assert (stale["problem"], stale["detail"]) == ("stale", "names src/gone.py, which is gone")
    assert copy in (duplicate["id"], duplicate["detail"].rpartition(" ")[2])
    assert "duplicate" in person.types("audit", "memories").out


def test_a_hit_is_two_lines_with_the_sentence_that_matched(person: Person) -> None:
    person.prompts("Build the harbour. The crane is rusty. Paint it green", session="first-session")
    payload = {"session_id": "first-session", "cwd": str(person.project), "hook_event_name": "PreCompact"}
    person.types("hook", "--harness", HARNESS, given=json.dumps(payload))
    head, sentence, *_ = person.types("recall", "rusty crane").out.splitlines()
    assert head[8:].startswith("  Build the harbour · ")
    assert re.search(r" · (?:now|\d+ s ago) · 0\.\d\d$", head)
    assert (sentence[:10], "crane" in sentence) == (" " * 10, True)
    hit = person.types("recall", "rusty crane", "--json").json[0]
    assert (hit["session_key"], hit["title"]) == (
        "first-session",
        "Build the harbour",
    )


def test_hits_can_be_limited_to_a_harness(person: Person) -> None:
    person.prompts("Build the harbour", session="first-session")
    payload = {"session_id": "first-session", "cwd": str(person.project), "hook_event_name": "PreCompact"}
    person.types("hook", "--harness", HARNESS, given=json.dumps(payload))
    remembered(person, "The harbour is closed")
    kinds = {hit["kind"] for hit in person.types("recall", "harbour", "--json").json}
    assert {"memory", "checkpoint"} <= kinds
    own = person.types("recall", "harbour", "--harness", HARNESS, "--json").json
    assert {hit["session_key"] for hit in own} == {"first-session"}
    assert person.types("recall", "harbour", "--harness", "codex", "--json").json == []
    assert "there is no harness" in person.types("recall", "harbour", "--harness", "nobody").err
