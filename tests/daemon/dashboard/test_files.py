"""The page of a file says which sessions changed it, what was asked, and why."""

from __future__ import annotations

from typing import Any

from holdfast.daemon.dashboard.files import file_page, file_path, files_page
from holdfast.daemon.dashboard.frame import PageContext

NOON = "2026-01-01T12:00:00.000Z"
VIEW = PageContext(1_767_268_860_000)
TURN: dict[str, Any] = {
    "asked": "Mend the <cart>",
    "at": NOON,
    "edits": 2,
    "action": "edit",
    "renamed_to": None,
    "by_subagent": True,
    "reason": "Floats drift, so `cart.py` keeps cents.",
    "reason_kind": "why",
    "wrote_line": True,
    "record": "r/1",
}
SESSION = {
    "session_key": "s1",
    "title": "Mend the cart",
    "harness": "h",
    "imported": True,
    "at": NOON,
    "edits": 2,
    "turns": [TURN],
}


def test_each_session_comes_with_what_was_asked_and_why() -> None:
    answer = {"path": "src/cart.py", "line": 3, "text": "cents = 0", "note": "", "sessions": [SESSION]}
    made = file_page(VIEW, "shop", answer)
    for text in (
        "<h1>src/cart.py:3</h1>",
        "cents = 0",
        ">Mend the cart</a>",
        "Mend the &lt;cart&gt;",
        "Floats drift, so <code>cart.py</code> keeps cents.",
        "edit, 2 times",
        "by a subagent",
        "wrote this line",
        'href="/sessions/s1?point=r%2F1#detail"',
        "imported",
    ):
        assert text in made


def test_the_files_of_a_project_lead_to_their_histories() -> None:
    projects = [{"project_id": "shop", "path": "/shop"}]
    made = files_page(VIEW, projects, "shop", [{"path": "a&b.py", "sessions": 2, "at": NOON}], 0)
    assert file_path("shop", "a&b.py") == "/files?project=shop&path=a%26b.py"
    assert 'href="/files?project=shop&amp;path=a%26b.py"' in made
    assert "1 min ago" in made
