"""Goals: what asks for something becomes the goal; what only says to go on, or how, does not."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.follow import follow
from holdfast.core.evidence.trail import Trail
from tests.core.scenes import prompt
from tests.tables import every_row

FIRST = "Fix the flaky retry test in tests/test_retry.py"
ASKS = """
can you look at the newest export, and make sure the totals are right?
I didn't find the sidebar helpful, can you please replace it with one link instead?
There's only a stub of the guide there, please also write the rest
How about instead of "3 rows left" - "these rows are left:" and a list of them
now can you explain: only new rows are compared
what do we do with imported rows, always count them as new?
i don't understand, does it read the settings when it starts?
Create a branch off main, then port the second reader to it, not the first one, and open a draft.
Refactor the cache without changing its interface.
this needs go, and i don't have that installed
I'd like the report as CSV, never as JSON
Why does parse_hook drop the session id?
请帮我把导出改成 CSV，不要用 JSON。
修复登录问题
"""
GOES_ON = """
Never commit to the release branch.
please do not add new dependencies
Please, use bun not npm
The importer must stop at the first empty line.
no, the header should stay as it is
ok, but we should never log the token
You should always run the linter first.
continue, but don't touch the schema
不要修改数据库结构。
请只用标准库。
继续
"""


def goal(*prompts: str) -> str:
    trail = Trail()
    for number, text in enumerate(prompts):
        trail = follow(trail, prompt(text, f"p{number}"))
    assert trail.goal is not None
    return trail.goal.text


@every_row("text", ASKS.strip().splitlines())
def test_what_asks_for_something_becomes_the_goal_though_it_reads_like_a_rule(text: str) -> None:
    assert goal(FIRST, text) == text


@pytest.mark.parametrize("text", GOES_ON.strip().splitlines())
def test_what_only_says_how_to_work_leaves_the_goal_as_it_is(text: str) -> None:
    assert goal(FIRST, text) == FIRST
