"""Session continuity at the shell: saved, edited by hand, refreshed, looked at, cleared and brought back."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands.test_brief import record, written
from tests.cli.conftest import Person


def call(number: int, name: str, **given: str) -> dict[str, object]:
    tool = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    return record(number, "assistant", [tool])


def result(number: int, text: str, *, failed: bool = False) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text, "is_error": failed}
    return record(number, "user", [block])


def work(person: Person) -> list[dict[str, object]]:
    return [
        record(0, "user", "Mend the lexer of the parser. Never touch vendor/.", cwd=str(person.project)),
        call(1, "Edit", file_path=f"{person.project}/src/lexer.py"),
        result(2, "done"),
        call(3, "Bash", command="make test"),
        result(4, "E   ValueError: no token\n1 failed", failed=True),
        record(5, "assistant", [{"type": "text", "text": "Next step: make the lexer skip comments."}]),
    ]


@pytest.fixture
def transcript(person: Person) -> Path:
    subprocess.run(["git", "init", "-q", str(person.project)], check=True)
    return written(person.root / "s1.jsonl", work(person))


def local(person: Person) -> Path:
    return person.project / ".holdfast/sessions/active.md"


def saved(person: Person, transcript: Path, *more: str) -> Any:  # noqa: ANN401 - one JSON document
    done = person.types("session", "save", "--transcript", str(transcript), "--json", *more)
    assert done.status == 0, done.err
    return done.json


def loaded(person: Person) -> Any:  # noqa: ANN401 - one JSON document
    return person.types("session", "load", "--json").json


def test_what_a_session_did_is_saved_in_two_layers(person: Person, transcript: Path) -> None:
    told = saved(person, transcript)
    assert (told["action"], told["writeMode"], told["rolloutSelection"]["kind"]) == (
        "save",
        "merge",
        "explicit-rollout",
    )
    assert told["writtenPaths"][1] == str(local(person))
    assert set(told["summary"]) == {"project", "projectLocal"}
    found = loaded(person)
    assert found["projectContinuity"]["triedAndFailed"] == ["`make test` failed: ValueError: no token"]
    assert found["projectContinuity"]["filesDecisionsEnvironment"] == ["Never touch vendor/."]
    assert found["projectLocalContinuity"]["incompleteNext"] == ["Next step: make the lexer skip comments."]
    assert found["projectLocalContinuity"]["filesDecisionsEnvironment"] == ["`src/lexer.py` edited"]
    assert found["mergedResumeBrief"]["goal"].startswith("Mend the lexer")
    assert found["resumeContext"]["nextSteps"] == ["Next step: make the lexer skip comments."]


def test_git_does_not_see_it_in_any_worktree(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    status = subprocess.run(
        ["git", "status", "--short"], cwd=person.project, capture_output=True, check=True, text=True
    )
    assert status.stdout == ""


def test_what_a_person_wrote_survives_a_save(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    edited = (
        local(person)
        .read_text()
        .replace("## Not yet tried\n", "## Not yet tried\n- ask Ada\n\nNot before noon.\n")
    )
    local(person).write_text(edited.replace("- `src/lexer.py` edited\n", ""))
    saved(person, transcript)
    text = local(person).read_text()
    assert "- ask Ada\n\nNot before noon.\n" in text
    assert "src/lexer.py" not in text


def test_a_failure_that_passed_later_is_gone_after_the_next_save(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    written(transcript, [*work(person), call(6, "Bash", command="make test"), result(7, "4 passed in 0.1s")])
    saved(person, transcript)
    shared = loaded(person)["projectContinuity"]
    assert (shared["triedAndFailed"], shared["confirmedWorking"]) == ([], ["`make test` passed (4 passed)"])


def test_a_refresh_replaces_and_keeps_the_past(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    local(person).write_text(local(person).read_text() + "\n## Mine\nA thought.\n")
    told = person.types("session", "refresh", "--json").json
    assert (told["action"], told["writeMode"]) == ("refresh", "replace")
    assert told["rolloutSelection"]["kind"] == "latest-audit-entry"
    assert "A thought." not in local(person).read_text()
    assert person.types("session", "restore").status == 0
    assert "A thought." in local(person).read_text()


def test_where_no_hook_ever_fired_the_newest_transcript_of_the_project_is_found(person: Person) -> None:
    subprocess.run(["git", "init", "-q", str(person.project)], check=True)
    (person.project / "src").mkdir()
    folder = person.user_home / ".claude/projects/-any"
    (folder / "new/subagents").mkdir(parents=True)
    elsewhere = [record(0, "user", "Write a poem about rain.", cwd=str(person.root))]
    side = [{**row, "isSidechain": True, "agentId": "a1"} for row in work(person)]
    told = {
        "old.jsonl": [record(0, "user", "Mend the printer.", cwd=str(person.project))],
        "new.jsonl": [record(0, "user", "Mend the lexer.", cwd=str(person.project / "src"))],
        "other.jsonl": elsewhere,
        "agent-a1.jsonl": side,
        "new/subagents/agent-a2.jsonl": side,
    }
    for minute, (name, rows) in enumerate(told.items()):
        at = 1_772_000_000 + 60 * minute
        os.utime(written(folder / name, rows), (at, at))
    for action in ("save", "refresh"):
        done = person.types("session", action, "--json")
        assert done.status == 0, done.err
        assert done.json["rolloutSelection"]["rolloutPath"] == str(folder / "new.jsonl")
    assert loaded(person)["mergedResumeBrief"]["goal"] == "Mend the lexer."


def test_a_project_that_is_excluded_is_not_looked_for_on_disk(person: Person) -> None:
    folder = person.user_home / ".claude/projects/-any"
    folder.mkdir(parents=True)
    written(folder / "s1.jsonl", work(person))
    person.home.mkdir(exist_ok=True)
    (person.home / "config.toml").write_text(f'[capture]\nexclude = ["{person.project}"]\n')
    done = person.types("session", "save")
    assert (done.status, "no session of this project is known" in done.err) == (1, True)


def test_a_refresh_of_other_layers_does_not_take_their_source(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    done = person.types("session", "refresh", "--scope", "project", "--json")
    assert (done.status, "no session of this project is known" in done.err) == (1, True)


def kept_by_claude_code(person: Person, name: str, lines: list[dict[str, object]], at: int) -> Path:
    """A transcript where Claude Code keeps it, last written then."""
    folder = person.user_home / ".claude" / "projects" / "-some-project"
    folder.mkdir(parents=True, exist_ok=True)
    path = written(folder / f"{name}.jsonl", lines)
    os.utime(path, (at, at))
    return path


def test_the_newest_transcript_of_the_project_is_found_though_no_hook_ever_fired(
    person: Person, transcript: Path
) -> None:
    del transcript  # It only makes the project a repository.
    elsewhere = [{**line, "cwd": "/somewhere/else"} for line in work(person)]
    kept_by_claude_code(person, "aaaaaaaa-0000-4000-8000-000000000001", work(person), 1_700_000_000)
    newest = kept_by_claude_code(person, "aaaaaaaa-0000-4000-8000-000000000002", work(person), 1_700_000_100)
    kept_by_claude_code(person, "aaaaaaaa-0000-4000-8000-000000000003", elsewhere, 1_700_000_200)
    done = person.types("session", "save", "--json")
    assert done.status == 0, done.err
    assert done.json["rolloutSelection"]["kind"] == "latest-primary-rollout"
    assert done.json["rolloutSelection"]["rolloutPath"] == str(newest)
    assert "make the lexer skip comments" in local(person).read_text()


def test_a_source_that_is_noted_and_gone_is_an_error(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    before = local(person).read_bytes()
    transcript.unlink()
    done = person.types("session", "refresh")
    assert done.status == 1
    assert "the latest-audit-entry names it" in done.err
    assert local(person).read_bytes() == before


def test_a_transcript_is_noted_by_its_whole_path(person: Person, transcript: Path) -> None:
    told = saved(person, Path("../s1.jsonl"))
    assert Path(told["rolloutSelection"]["rolloutPath"]).samefile(transcript)
    folder = person.project / "src"
    folder.mkdir()
    assert person.types("session", "refresh", "--project", str(folder), "--json").status == 0


def test_an_audit_that_cannot_be_written_leaves_a_mark_until_it_is_made_good(
    person: Person, transcript: Path
) -> None:
    log = Path(saved(person, transcript, "--scope", "project")["auditLogPath"])
    log.unlink()
    log.mkdir()
    told = saved(person, transcript)
    assert [one["scope"] for one in told["pendingContinuityRecovery"]] == ["both"]
    log.rmdir()
    refreshed = person.types("session", "refresh", "--json").json
    assert refreshed["rolloutSelection"]["kind"] == "pending-recovery-marker"
    assert refreshed["pendingContinuityRecovery"] == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"---\nlayer: project-local\n", "its front matter begins with `---` in line 1 and does not end"),
        (b"## Goal\na\n## Goal\nb\n", "`## Goal` is the second section of its kind"),
        (b"\xff\xfe\x00", "it is not UTF-8"),
        (b"a\x00b", "it is not text"),
        (b"a\r\nb\n", "some of its lines end in CR LF and some in LF"),
    ],
)
def test_a_file_that_cannot_be_continued_is_left_as_it_is(
    person: Person, transcript: Path, content: bytes, says: str
) -> None:
    local(person).parent.mkdir(parents=True)
    local(person).write_bytes(content)
    done = person.types("session", "save", "--transcript", str(transcript))
    assert (done.status, done.err.count("error:")) == (1, 1)
    assert says in done.err
    assert local(person).read_bytes() == content


@pytest.mark.parametrize("broken", ["project", "project-local"])
def test_a_layer_that_cannot_be_read_does_not_hide_the_other(
    person: Person, transcript: Path, broken: str
) -> None:
    told = saved(person, transcript)
    layers: list[str] = ["project", "project-local"]
    paths = dict(zip(layers, map(Path, told["writtenPaths"]), strict=True))
    paths[broken].write_bytes(b"\xff\xfe")
    (healthy,) = paths.keys() - {broken}
    shown = person.types("session", "load")
    assert (shown.status, shown.out.count("Mend the lexer")) == (0, 1)
    assert f"warning: `{paths[broken]}` cannot be continued: it is not UTF-8" in shown.err
    assert person.types("session", "status").err.count("warning: ") == 1
    startup = person.types("session", "load", "--print-startup")
    assert ("Mend the lexer" in startup.out, "warning: " in startup.err) == (True, True)
    found = loaded(person)
    assert found["layersPresent"] == [healthy]
    assert [str(paths[broken]) in reason for reason in found["unreadableLayers"]] == [True]
    assert found["mergedResumeBrief"]["goal"].startswith("Mend the lexer")


def test_load_prints_nothing_twice_and_says_which_layer_has_it(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    shown = person.types("continuity", "load")
    items = [line.partition(" (")[0] for line in shown.out.splitlines() if line.startswith("- ")]
    assert items
    assert len(items) == len(set(items))
    assert any(line.endswith(" (shared)") for line in shown.out.splitlines())
    assert any(line.endswith(" (this worktree)") for line in shown.out.splitlines())


def test_status_prints_its_answer_on_stdout(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    done = person.types("continuity", "status")
    assert done.err == ""
    assert all(word in done.out for word in ("project: ", "project-local: ", "latest: ", "audit log: "))
    assert ", saved, merged with what was there, both layers\n" in done.out
    assert "\nby rule; confidence " in done.out


def test_status_also_says_on_stdout_that_nothing_was_generated(person: Person) -> None:
    done = person.types("continuity", "status")
    assert done.err == ""
    assert done.out.startswith("nothing was generated yet; `holdfast continuity save` does it\naudit log: ")


def test_a_link_out_of_the_worktree_is_refused(person: Person, transcript: Path) -> None:
    elsewhere = person.root / "elsewhere"
    elsewhere.mkdir()
    (person.project / ".holdfast").symlink_to(elsewhere)
    done = person.types("session", "save", "--transcript", str(transcript))
    assert (done.status, "there is a link on the way" in done.err) == (1, True)
    assert list(elsewhere.iterdir()) == []
    assert loaded_shared(person) is None


def loaded_shared(person: Person) -> Any:  # noqa: ANN401 - one JSON document
    found = list((person.home / "projects").glob("*/continuity/project/active.md"))
    return found[0].read_text() if found else None


def test_a_directory_in_its_place_is_refused(person: Person, transcript: Path) -> None:
    local(person).mkdir(parents=True)
    done = person.types("session", "save", "--transcript", str(transcript))
    assert (done.status, "not a regular file" in done.err or "directory" in done.err) == (1, True)


def test_lines_of_a_windows_file_stay_so(person: Person, transcript: Path) -> None:
    local(person).parent.mkdir(parents=True)
    local(person).write_bytes(b"## Goal\r\nShip it\r\n")
    saved(person, transcript)
    assert b"\r\n" in local(person).read_bytes()
    assert b"\n" not in local(person).read_bytes().replace(b"\r\n", b"")


def test_the_style_of_dated_files_merges_into_todays_and_deletes_none(
    person: Person, transcript: Path
) -> None:
    person.home.mkdir()
    (person.home / "config.toml").write_text('[continuity]\nlocal_path_style = "claude"\n')
    old = person.project / ".claude/sessions/2020-01-01-old-session.tmp"
    old.parent.mkdir(parents=True)
    old.write_text("## Goal\nAn old goal\n")
    told = saved(person, transcript)
    today = Path(told["writtenPaths"][1])
    assert (today.parent, today.name.endswith("-session.tmp"), today != old) == (old.parent, True, True)
    assert "An old goal" in today.read_text()
    assert old.read_text() == "## Goal\nAn old goal\n"
    person.types("session", "refresh")
    assert "An old goal" not in today.read_text()
    assert len(list(old.parent.iterdir())) == 2


def test_clearing_asks_first_and_can_be_undone(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    refused = person.types("session", "clear")
    assert (refused.status, "add `--yes`" in refused.err) == (1, True)
    assert local(person).exists()
    assert person.types("session", "clear", "--yes").status == 0
    assert not local(person).exists()
    assert person.types("session", "restore", "--scope", "project").status == 0
    assert loaded(person)["projectContinuity"]["goal"].startswith("Mend the lexer")


def test_who_only_looks_writes_nothing(person: Person, transcript: Path) -> None:
    for words in (("status",), ("load",), ("load", "--json"), ("status", "--json"), ("history",)):
        assert person.types("session", *words).status == 0
    assert not local(person).exists()
    assert not person.home.exists() or not list(person.home.rglob("*.md"))


def test_the_startup_block_is_framed_and_accounted_for(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    block = person.types("session", "load", "--print-startup").out
    assert block.startswith("# Session Continuity\nTemporary working state")
    startup = loaded(person)["startup"]
    assert startup["continuityProvenanceKind"] == "temporary-continuity"
    assert startup["sectionsRendered"]["incompleteNext"] is True
    assert startup["sourceFiles"] == startup["candidateSourceFiles"][::-1]


def test_a_team_speaks_as_the_repository(person: Person, transcript: Path) -> None:
    (person.project / "TEAM_MEMORY.md").write_text(
        "# Lexer\nComments are skipped by the lexer.\n# Other\nNo.\n"
    )
    saved(person, transcript)
    assert loaded(person)["resumeContext"]["suggestedTeamEntries"] == [
        {
            "path": "TEAM_MEMORY.md",
            "title": "Lexer",
            "text": "Comments are skipped by the lexer.",
            "origin": "from the repository",
        }
    ]


def test_a_secret_does_not_get_into_the_files(person: Person, transcript: Path) -> None:
    token = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    records = work(person)
    records[0] = record(0, "user", f"Mend the lexer. Never print {token}.", cwd=str(person.project))
    written(transcript, records)
    saved(person, transcript)
    everything = [
        path for root in (person.home, person.project) for path in root.rglob("*") if path.is_file()
    ]
    assert [path for path in everything if token.encode() in path.read_bytes()] == []


def test_what_the_home_keeps_of_it_is_for_its_owner_only(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    person.types("dream", "build")
    (person.project / ".agents.yml").write_text("session: {ledger: true}\n")
    person.types("ledger", "save")
    kept = [path for path in person.home.rglob("*") if person.home / "bin" not in path.parents]
    assert [path for path in (person.home, *kept) if path.lstat().st_mode & 0o077] == []


def test_an_unreadable_transcript_is_named(person: Person) -> None:
    (person.root / "odd.txt").write_text("hello\n")
    done = person.types("session", "save", "--transcript", str(person.root / "odd.txt"))
    assert (done.status, "is not a transcript that can be read" in done.err) == (1, True)
    assert json.loads(person.types("session", "status", "--json").out)["latestContinuityAuditEntry"] is None


@pytest.mark.parametrize("choice", [("--all",), ("--project", "."), ("--session", "s1")])
def test_what_is_forgotten_leaves_no_byte_in_the_home(
    person: Person, transcript: Path, choice: tuple[str, ...]
) -> None:
    person.prompts("Mend the lexer of the parser. Never touch vendor/.")
    saved(person, transcript)
    saved(person, transcript, "--scope", "project")
    done = person.types("forget", *choice, "--yes", "--json")
    assert (done.status, done.json["continuities"]) == (0, 1), done.err
    kept = [path for path in person.home.rglob("*") if path.is_file()]
    assert [path for path in kept if b"vendor" in path.read_bytes()] == []
    assert "Never touch vendor/." not in (loaded_shared(person) or "")


def test_a_session_that_it_was_not_made_from_leaves_it_alone(person: Person, transcript: Path) -> None:
    person.prompts("Something else entirely", session="s2")
    saved(person, transcript)
    assert person.types("forget", "--session", "s2", "--yes", "--json").json["continuities"] == 0
    assert "Never touch vendor/." in (loaded_shared(person) or "")


def test_where_nothing_was_generated_load_says_that_and_no_more(person: Person) -> None:
    done = person.types("continuity", "load")
    assert (done.status, done.out) == (0, "")
    assert done.err == "nothing was generated yet; `holdfast continuity save` does it\n"


def test_unsetup_takes_back_what_git_was_told(person: Person, transcript: Path) -> None:
    told = person.project / ".git/info/exclude"
    before = told.read_bytes() if told.exists() else None
    saved(person, transcript)
    assert b"/.holdfast/\n" in told.read_bytes()
    assert "+/.holdfast/" not in person.types("unsetup", "--dry-run").out
    assert "-/.holdfast/" in person.types("unsetup", "--dry-run").out
    assert person.types("unsetup", "--yes").status == 0
    assert (told.read_bytes() if told.exists() else None) == before
    assert not (person.project / ".holdfast").exists()
    assert "nothing to undo" in person.types("unsetup", "--yes").err


def test_unsetup_keeps_a_worktrees_continuity_in_the_home(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    text = local(person).read_bytes()
    done = person.types("unsetup", "--yes", "--json")
    assert done.json["worktrees"] == [str(person.project)]
    assert not local(person).exists()
    assert person.types("continuity", "restore").status == 0
    assert local(person).read_bytes() == text


def test_unsetup_leaves_what_someone_else_put_beside_it(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    notes = person.project / ".holdfast" / "notes.txt"
    notes.write_text("mine")
    assert f"{notes.parent}: left there" in person.types("unsetup", "--yes").err
    assert notes.read_text() == "mine"
