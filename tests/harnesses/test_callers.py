"""Which session calls one of our tools, as each harness tells it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from holdfast.harnesses import reader

CLAUDE_CODE = {"CLAUDE_CODE_SESSION_ID": "c1", "CLAUDE_PROJECT_DIR": "/p"}
CODEX = {"threadId": "t1", "sessionId": "s1", "callId": "call_7", "itemId": "fc_7", "progressToken": 1}


@pytest.mark.parametrize(
    ("name", "environment", "meta", "session", "call"),
    [
        ("claude-code", CLAUDE_CODE, {"claudecode/toolUseId": "toolu_1"}, "c1", "toolu_1"),
        ("claude-code", {}, {"claudecode/toolUseId": "toolu_1"}, "", "toolu_1"),
        ("claude-code", {}, {"claudecode/toolUseId": 7}, "", ""),
        ("codex", {}, CODEX, "s1", "call_7"),
        ("codex", {}, {"threadId": "t1"}, "t1", ""),
        ("codex", CLAUDE_CODE, {}, "", ""),
        ("codex", {}, {"sessionId": ["s1"], "callId": None}, "", ""),
        ("openclaw", CLAUDE_CODE, CODEX, "", ""),
        ("gemini", {"GEMINI_SESSION_ID": "g1"}, CODEX, "g1", ""),
        ("gemini", {}, {}, "", ""),
        ("opencode", {"OPENCODE": "1"}, CODEX, "", ""),
    ],
)
def test_a_call_is_known_by_its_environment_or_by_what_comes_with_it(
    name: str, environment: Mapping[str, str], meta: Mapping[str, object], session: str, call: str
) -> None:
    harness = reader(name)
    assert (harness.caller(environment, meta), harness.call_id(meta)) == (session, call)
