"""Import says what it found, asks, brings it in once, and leaves the transcripts alone."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Person
from tests.harnesses import claude_code_records as claude
from tests.harnesses import codex_records as codex
from tests.harnesses import openclaw_records as openclaw
from tests.harnesses import opencode_records as opencode
from tests.zstd_files import compress


def keeps(person: Person, key: str, asked: str, answered: str, age_days: float = 1) -> Path:
    """An old transcript in the person's home."""
    path = person.user_home / ".claude" / "projects" / "p" / f"{key}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    about: claude.Json = {"cwd": str(person.project), "sessionId": key, "timestamp": day(age_days)}
    lines = (claude.user(asked, "u1", **about), claude.assistant(claude.text(answered), **about))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    age(path, age_days)
    return path


def day(age_days: float) -> str:
    """The moment that many days ago; what is too old is not imported."""
    return (datetime.now(UTC) - timedelta(days=age_days)).isoformat()


def age(path: Path, days: float) -> None:
    changed = path.stat().st_mtime - days * 86_400
    os.utime(path, (changed, changed))


def test_a_look_says_what_there_is_and_brings_in_nothing(person: Person) -> None:
    keeps(person, "s1", "Why is it slow?", "The index is missing.")
    keeps(person, "s2", "Add it", "Done.")
    done = person.types("import", "--dry-run")
    assert done.status == 0
    assert done.out.split() == [
        *("harness", "project", "sessions", "MB", "from", "to"),
        *("claude-code", str(person.project), "2", "0.0", day(1)[:10], day(1)[:10]),
    ]
    assert f"found: 2 sessions, 0.0 MB, {day(1)[:10]} to {day(1)[:10]}" in done.err
    assert person.types("sessions", "--json").json == []


def test_nothing_is_imported_unless_somebody_agrees(person: Person) -> None:
    keeps(person, "s1", "Why is it slow?", "The index is missing.")
    done = person.types("import")
    assert done.status == 1
    assert "nobody is there to answer" in done.err
    assert "--yes" in done.err
    assert person.types("sessions", "--json").json == []


def test_what_was_imported_is_over_listed_and_not_imported_again(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.")
    content = path.read_bytes()
    done = person.types("import", "--yes")
    assert (done.status, done.out) == (0, "imported: 1 session, 1 passage, 0.0 MB of text\n")
    (session,) = person.types("sessions", "--json").json
    assert (session["session_key"], session["phase"], session["prompt_count"]) == ("s1", "ended", 1)
    assert session["imported"] is True
    listed = person.types("sessions").out.splitlines()[1].split()
    assert {"s1", "claude-code", "imported"} <= set(listed)
    assert session["title"] == "Why is it slow?"
    assert "not merely imported" in person.types("sessions", "--scores").err
    again = person.types("import", "--yes", "--json").json
    assert (again["sessions"], again["left_out"], again["imported"]) == (0, {"done": 1}, None)
    assert path.read_bytes() == content


def test_sessions_that_are_too_old_are_named_with_the_period(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.", age_days=800)
    age(path, 800)
    keeps(person, "s2", "Add it", "Done.")
    for arguments in (("--dry-run",), ("--yes",)):
        done = person.types("import", *arguments)
        assert (
            "left out: 1 session in which nothing was said in the last 365 days (`records.retention_days`)"
            in done.err
        ), arguments


def test_compactions_of_imported_sessions_are_counted_apart(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.")
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s1"}
    about = {"cwd": str(person.project), "timestamp": day(1), "content": "Conversation compacted"}
    with path.open("a", encoding="utf-8") as transcript:
        transcript.write(json.dumps({**boundary, **about}) + "\n")
    person.types("import", "--yes")
    assert person.types("stats", "--json").json["compactions"] == {"seen": 0, "survived": 0, "imported": 1}
    assert "Compactions   none seen; 1 in imported sessions" in person.types("stats").out


def test_where_all_that_was_said_is_too_old_nobody_is_told_that_it_can_be_found(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.", age_days=800)
    os.utime(path)
    done = person.types("import", "--yes")
    assert done.out.startswith("imported: 0 sessions, 0 passages")
    assert (
        "left out: 1 session in which nothing was said in the last 365 days (`records.retention_days`)"
        in done.err
    )
    assert "recall" not in done.err


def test_a_handoff_of_an_imported_session_is_written_from_its_transcript(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.")
    person.types("import", "--yes")
    named = ("--harness", "claude-code", "--transcript", str(path))
    for chosen in (named, ("--session", "s1"), ()):
        made = person.types("handoff", "create", "Go on", *chosen, "--json").json
        assert "Why is it slow?" in made["text"]


def test_an_imported_session_keeps_its_work_whatever_names_it(person: Person) -> None:
    keeps(person, "s1", "Why is it slow?", "The index is missing.")
    person.types("import", "--yes")
    before = person.types("show", "s1", "--json").json
    refused = person.types("checkpoints", "take", "--session", "s1", "--digest", "It is fast now.")
    assert (refused.status, refused.out) == (1, "")
    assert "session s1 was imported and is over" in refused.err
    assert "`holdfast show s1`" in refused.err
    assert person.types("remember", "The index is on `day`.", "--session", "s1").status == 0
    assert person.types("show", "s1", "--json").json == before
    assert person.types("recall", "index", "--kind", "memory", "--json").json[0]["session_key"] == "s1"


def test_a_handoff_is_also_written_when_the_transcript_is_gone_and_says_so(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.")
    person.types("import", "--yes")
    path.unlink()
    done = person.types("handoff", "create", "Go on", "--session", "s1", "--json")
    assert "Why is it slow?" in done.json["text"]
    assert "Its transcript is gone since it was imported; this is what was kept then." in done.err
    assert "Its transcript is gone" in person.types("show", "s1").err


def test_json_says_what_was_found_and_what_was_imported(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.")
    found = person.types("import", "--yes", "--json").json
    (row,) = found["found"]
    size = path.stat().st_size
    assert (row["harness"], row["project"], row["sessions"], row["bytes"]) == (
        "claude-code",
        str(person.project),
        1,
        size,
    )
    assert found["imported"] == {"sessions": 1, "passages": 1, "characters": 50, "size": size, "no_room": 0}


def test_a_directory_is_searched_for_transcripts_of_every_harness(person: Person) -> None:
    backup = person.root / "backup"
    keeps(person, "s1", "Why is it slow?", "The index is missing.").rename(_made(backup) / "s1.jsonl")
    rollout = codex.jsonl([codex.meta(), codex.turn(), codex.message("user", "Why is it slow?")])
    (_made(backup / "more") / "rollout.jsonl").write_bytes(rollout)
    (backup / "notes.jsonl").write_text('{"no": "session"}\n', encoding="utf-8")
    found = person.types("import", "--source", str(backup), "--dry-run", "--json").json
    assert {row["harness"]: row["sessions"] for row in found["found"]} == {"claude-code": 1, "codex": 1}
    only = person.types("import", "codex", "--source", str(backup), "--dry-run", "--json").json
    assert [row["harness"] for row in only["found"]] == ["codex"]


def test_sessions_in_a_database_are_imported_once_and_read_on(person: Person) -> None:
    whole = person.user_home / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    about: openclaw.Json = {"timestamp": day(1)}
    first = [
        {**openclaw.header(version=4, cwd=str(person.project)), **about},
        {**openclaw.user("Why is the harbour slow?"), **about},
    ]
    openclaw.in_database(whole, "agent:main:main", "s-1", first, pack=True)
    content = whole.read_bytes()
    look = person.types("import", "openclaw", "--dry-run", "--json").json
    assert [(row["harness"], row["sessions"]) for row in look["found"]] == [("openclaw", 1)]
    assert person.types("import", "--yes").out.startswith("imported: 1 session, 1 passage,")
    assert person.types("import", "--yes", "--json").json["left_out"] == {"done": 1}
    assert whole.read_bytes() == content
    later = {**openclaw.assistant(openclaw.text("Its crane index is missing.")), **about}
    openclaw.in_database(whole, "agent:main:main", "s-1", [later])
    again = person.types("import", "openclaw", "--source", str(person.user_home), "--yes", "--json").json
    assert again["imported"]["passages"] == 1
    (found,) = person.types("recall", "crane index", "--json", "--limit", "1").json
    assert "crane index" in found["text"]


def test_the_sessions_in_a_database_of_opencode_are_imported(person: Person) -> None:
    started = int(datetime.fromisoformat(day(1)).timestamp() * 1000)
    folder = _made(person.user_home / ".local" / "share" / "opencode")
    kept = opencode.Written(folder / "opencode.db", iter(range(started, started + 99_000, 1_000)))
    for key, asked in (("ses_1", "Why is the harbour slow?"), ("ses_2", "Where do the cranes stand?")):
        kept.session(key, at=started, folder=str(person.project))
        kept.message(key, *opencode.asked(opencode.text(asked)))
    content = kept.path.read_bytes()
    look = person.types("import", "--dry-run", "--json").json
    assert [(row["harness"], row["sessions"]) for row in look["found"]] == [("opencode", 2)]
    assert person.types("import", "opencode", "--yes").out.startswith("imported: 2 sessions, 2 passages")
    assert person.types("import", "--yes", "--json").json["left_out"] == {"done": 2}
    assert kept.path.read_bytes() == content
    (found,) = person.types("recall", "cranes stand", "--json", "--limit", "1").json
    assert "cranes" in found["text"]


def test_of_an_imported_fork_it_is_known_whose_it_is(person: Person) -> None:
    started = int(datetime.fromisoformat(day(1)).timestamp() * 1000)
    folder = _made(person.user_home / ".local" / "share" / "opencode")
    kept = opencode.Written(folder / "opencode.db", iter(range(started, started + 99_000, 1_000)))
    kept.session("ses_1", at=started, folder=str(person.project))
    kept.message("ses_1", *opencode.asked(opencode.text("Why is the harbour slow?")))
    kept.fork("ses_1", "ses_2", started + 9_000)
    kept.message("ses_2", *opencode.asked(opencode.text("Where do the cranes stand?")))
    person.types("import", "opencode", "--yes")
    found = {
        row["session_key"]: (row["parent"], row["lineage"]) for row in person.types("sessions", "--json").json
    }
    assert found == {"ses_1": (None, None), "ses_2": ("ses_1", "fork")}


def test_packed_rollouts_are_imported(person: Person) -> None:
    rollout = codex.jsonl([codex.meta(), codex.turn(), codex.message("user", "Why is the harbour slow?")])
    folder = _made(person.user_home / ".codex" / "archived_sessions")
    (folder / f"{codex.rollout()}.zst").write_bytes(compress(rollout))
    found = person.types("import", "codex", "--yes", "--json").json
    assert (found["sessions"], found["imported"]["passages"]) == (1, 1)
    assert person.types("import", "codex", "--yes", "--json").json["left_out"] == {"done": 1}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def test_a_person_may_ask_for_one_project_or_for_what_is_newer(person: Person) -> None:
    keeps(person, "s1", "Why is it slow?", "The index is missing.", age_days=40)
    keeps(person, "s2", "Add it", "Done.")
    elsewhere = person.types("import", "--project", str(person.root), "--dry-run", "--json").json
    assert elsewhere["sessions"] == 0
    here = person.types("import", "--project", ".", "--dry-run", "--json").json
    assert here["sessions"] == 2
    newer = person.types("import", "--since", day(20)[:10], "--dry-run", "--json").json
    assert newer["sessions"] == 1


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("nobody",), 1, "there is no harness `nobody`"),
        (("--since", "yesterday"), 1, "`yesterday` is no date"),
        (("--source", "nowhere"), 2, "does not exist"),
        ((), 0, "there is nothing to import"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    person: Person, words: tuple[str, ...], status: int, says: str
) -> None:
    done = person.types("import", *words)
    assert done.status == status
    assert says in done.err


def test_an_imported_session_has_the_title_that_its_user_gave_it(person: Person) -> None:
    path = keeps(person, "s1", "Why is it slow?", "The index is missing.")
    with path.open("a", encoding="utf-8") as transcript:
        transcript.write(json.dumps({"type": "ai-title", "aiTitle": "Slow query", "sessionId": "s1"}) + "\n")
        renamed = "Index of orders password=correct-horse-battery-9"
        transcript.write(
            json.dumps({"type": "custom-title", "customTitle": renamed, "sessionId": "s1"}) + "\n"
        )
    age(path, 1)
    assert person.types("import", "--yes").status == 0
    (row,) = person.types("sessions", "--json").json
    assert row["title"].startswith("Index of orders password=")
    assert "correct-horse" not in row["title"]
