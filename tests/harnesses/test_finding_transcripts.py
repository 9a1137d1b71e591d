"""Where each harness keeps its transcripts, and under which key letters know the session of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from holdfast.harnesses import readable, reader
from tests.harnesses import codex_records as codex
from tests.harnesses import gemini_records as gemini
from tests.harnesses import openclaw_records as openclaw
from tests.harnesses.test_reader_contract import SAMPLES

CLAUDE_KEY: Final = "5e551011-0000-4000-8000-000000000001"
KEPT_AT: Final[Mapping[str, tuple[str, str]]] = {
    "claude-code": (f".claude/projects/-home-you-proj/{CLAUDE_KEY}.jsonl", CLAUDE_KEY),
    "codex": (f".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{codex.THREAD}.jsonl", codex.THREAD),
    "openclaw": (".openclaw/agents/main/sessions/other-name.jsonl", "s-1"),
    "opencode": (".local/share/opencode/opencode.db", "s1"),
    "gemini": (".gemini/tmp/proj/chats/session-2026-03-01T10-00-9e3141c1.jsonl", gemini.SESSION),
}
"""For each harness: where a user's home has a transcript, and the key of its session."""
every_harness = pytest.mark.parametrize("name", readable())


def kept(home: Path, where: str, content: bytes) -> Path:
    path = home / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def sessions(name: str, home: Path, environment: Mapping[str, str] | None = None) -> dict[Path, str]:
    harness = reader(name)
    roots = harness.transcript_roots(home, environment or {})
    found = (path for root in roots for path in harness.transcripts(root))
    return {path: key for path in found if (key := harness.session_of(path))}


@every_harness
def test_a_session_is_found_in_the_home_under_the_key_that_hook_events_give(
    name: str, tmp_path: Path
) -> None:
    where, key = KEPT_AT[name]
    path = kept(tmp_path, where, SAMPLES[name])
    assert sessions(name, tmp_path) == {path if path.suffix == ".jsonl" else path / key: key}


@every_harness
def test_a_home_without_the_harness_has_none(name: str, tmp_path: Path) -> None:
    assert sessions(name, tmp_path) == {}


@every_harness
@pytest.mark.parametrize("other", [*readable(), "empty", "notes", "bytes"])
def test_a_file_of_another_kind_is_no_session(name: str, other: str, tmp_path: Path) -> None:
    foreign = {"empty": b"", "notes": b'{"title":"not a session"}\n', "bytes": bytes(range(256)) * 40}
    path = kept(tmp_path, "x.jsonl", SAMPLES.get(other, foreign.get(other, b"")))
    assert bool(reader(name).session_of(path)) == (other == name)


@every_harness
def test_no_link_leads_to_a_session(name: str, tmp_path: Path) -> None:
    where, _ = KEPT_AT[name]
    outside = kept(tmp_path, "outside/s.jsonl", SAMPLES[name])
    (tmp_path / where).parent.mkdir(parents=True)
    (tmp_path / where).symlink_to(outside)
    (tmp_path / where).parent.joinpath("folder").symlink_to(outside.parent)
    assert sessions(name, tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "variable", "below"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects/p"),
        ("codex", "CODEX_HOME", "sessions/2026/03/01"),
        ("codex", "CODEX_HOME", "archived_sessions"),
        ("openclaw", "OPENCLAW_STATE_DIR", "agents/main/sessions"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/tmp/proj/chats"),
        ("openclaw", "PI_CODING_AGENT_DIR", "sessions/--home-you-proj--"),
    ],
)
def test_a_harness_that_was_moved_is_found_where_it_is(
    name: str, variable: str, below: str, tmp_path: Path
) -> None:
    path = kept(tmp_path, f"moved/{below}/s.jsonl", SAMPLES[name])
    assert [*sessions(name, tmp_path / "user", {variable: str(tmp_path / "moved")})] == [path]


def test_a_subagent_s_file_is_no_session_of_its_own(tmp_path: Path) -> None:
    where, _ = KEPT_AT["claude-code"]
    path = kept(tmp_path, where, SAMPLES["claude-code"])
    for beside in (f"{path.stem}/subagents/agent-a1.jsonl", "agent-0dd.jsonl"):
        kept(path.parent, beside, SAMPLES["claude-code"])
    rollout = codex.jsonl([codex.meta(codex.CHILD, parent_thread_id=codex.THREAD), codex.turn()])
    kept(tmp_path, KEPT_AT["codex"][0], rollout)
    assert [*sessions("claude-code", tmp_path)] == [path]
    assert sessions("codex", tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "content", "key"),
    [
        ("codex", b'{"id":"t-1","timestamp":"2026-03-01T10:00:00Z","instructions":null}\n', "t-1"),
        ("openclaw", openclaw.jsonl([openclaw.user("hello")]), "s"),
    ],
)
def test_the_oldest_files_are_known_by_what_they_have(
    name: str, content: bytes, key: str, tmp_path: Path
) -> None:
    assert reader(name).session_of(kept(tmp_path, "s.jsonl", content)) == key
