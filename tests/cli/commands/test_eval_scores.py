"""Scores show how sessions went on from what was before them."""

from __future__ import annotations

import json

from tests.cli.conftest import HARNESS, Person
from tests.harnesses import claude_code_records as claude


def worked(person: Person, key: str, *said: str) -> None:
    """A session from its start to its end, in which the agent said this."""
    path = person.user_home / ".claude" / "projects" / "p" / f"{key}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"session_id": key, "transcript_path": str(path), "cwd": str(person.project)}

    def hook(event: str, **fields: str) -> None:
        payload = json.dumps({**about, "hook_event_name": event, **fields})
        assert person.types("hook", "--harness", HARNESS, given=payload).status == 0

    hook("SessionStart", source="startup")
    lines = [claude.user("Fix retry.py", f"{key}-u", cwd=str(person.project))]
    lines += [claude.assistant(claude.text(text), uuid=f"{key}-{n}") for n, text in enumerate(said)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    hook("SessionEnd", reason="other")


def test_scores_are_shown_one_by_one_and_as_means(person: Person) -> None:
    nothing = person.types("sessions", "--scores")
    assert (nothing.status, nothing.out) == (0, "")
    assert "no session can be scored yet" in nothing.err
    worked(person, "s1", "retry.py first", "then", "this", "and", "that")
    shown = person.types("sessions", "--scores")
    first, *_ = [line.split() for line in shown.out.splitlines()[1:]]
    assert first[:4] == ["Fix", "retry.py", "s1", "cold"]
    assert [line.split()[0] for line in shown.out.splitlines()[-2:]] == ["recovered", "cold"]
    told = person.types("sessions", "--scores", "--json").json
    (score,) = told["sessions"]
    assert (score["session"], score["start"], score["agent_events"]) == ("s1", "cold", 5)
    assert (score["short_id"], score["title"]) == ("s1", "Fix retry.py")
    assert told["means"]["recovered"]["rediscovered_n"] == 0
    assert set(told["means"]) == {"recovered", "cold"}
