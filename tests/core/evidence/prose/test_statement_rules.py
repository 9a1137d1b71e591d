"""Which sentences of an agent are decisions, and which only narrate."""

from __future__ import annotations

from holdfast.core.evidence.prose import reader
from tests.tables import every_row

BY_REASON = """
Since this is a command line tool, I'll skip the checks for browsers.
For the import, since the user has confirmed it already, I'll pass `force` to the writer.
Because no plugin reads the file, we'll store it as plain text.
Given that the table is small, let's load it at once.
The bus supports late joiners, so I'll use that for the second reader.
Nobody imports the old name, so I'm dropping the alias.
Substrings match too much, so I'm switching to the search index.
Removed the second call of `flush` since the writer flushes at the end.
由于旧接口没人用，我们直接改用新的客户端。
因为文件很小，所以采用一次性读取。
"""
INSTEAD = """
I'll update the helper to use a marker file instead of changing `notes.txt`.
I need to use `commit_with_hooks` instead of `commit` so that the hook runs.
I should remove my own migration and use the generated one instead.
We need to change the submodule to use HTTPS instead.
Let me revert the tag and instead add a small script.
Let me put it under `priv/` instead, since that is what gets packed.
Now uses `rows_left` instead of a plain subtraction
[reader.js](js/reader.js) - Now uses a worker instead of the main thread
`queue_test.go` - Fixed test to use the full hash instead of a short one
Changed `total` to compare with the base instead of counting all lines
I'm going to support the trace files as they are rather than adding a fetcher.
使用队列而不是轮询。
保留旧的表名，用视图代替复制。
"""
BEST = """
So the correct behavior is to overwrite what is there.
The cleanest solution is to route `/notes/` to its page.
I think the better approach is to use whole paths.
The fix is to save the page with the draft, so both have the same text.
The fix is simple: keep what the first run has found, since it is right.
"""
NOT_DECIDED = """
Since that is related, let me check where the prefix is defined.
Since the log is long, I'll look at its end.
Since all of it works, I'll commit the theme.
There is no list of owners, so I'm checking who wrote most of it.
The search finds too much, so I'm switching to the local history.
The first diff left out what is not committed, so I'm switching to the working-tree diff for the review.
Let me use the test data instead:
The server answers with a page instead of the file.
The issue is that the reader counts all lines instead of the changed ones.
The best approach would be to ask.
The right way is to check the log first.
If the merge is blocked, I'll report that instead of forcing it.
The signature changed - it now takes a function instead of a name.
Should I use the queue instead of polling?
I'll use the queue instead of polling, because:
The tests fail because the mock is never called.
因为缓存没有清空，所以页面是旧的。
"""


def rows(table: str) -> list[str]:
    return table.strip().splitlines()


@every_row("sentence", [*rows(BY_REASON), *rows(INSTEAD), *rows(BEST)])
def test_a_choice_is_heard_by_its_reason_or_by_what_it_was_taken_instead_of(sentence: str) -> None:
    assert reader.decisions(sentence) == (sentence,)


@every_row("text", rows(NOT_DECIDED))
def test_narration_and_explanation_are_no_decisions(text: str) -> None:
    assert reader.decisions(text) == ()


def test_a_lead_in_that_says_why_is_a_decision_and_one_that_points_on_is_none() -> None:
    text = (
        "Since no caller needs the old name, I'll drop it here:\n\n```\ndrop\n```\n"
        "I decided to do it in the following steps:\n- read\n- write"
    )
    assert reader.decisions(text) == ("Since no caller needs the old name, I'll drop it here:",)


NARRATION = """
I will now run the tests.|Let me check the config.|Now I'll update the parser.|Let's look at the caller.|
I'm going to read the file first.|Good, now let me fix it.|Now I need to see the schema.|
Running the suite again.|Before I commit, let me look at the diff.|Here's the summary of the change.|
Looking at the failing tests.|我现在运行测试。|让我看看配置。|好的，我来修复。|接下来我先检查日志。|
Now write the test of the view.|Good idea. Let me show the prompt.|You're right! Let me fix both.|
Now add the route and the Review button|Update the dashboard:|
Good, now update `session.py`.|Also wrap the callback:|And the light theme:|Finally, commit it.|
I need to update the fallback paths too.|I still need to fix the header.|Also need to add the handler.|
I should remove my own migration and use the generated one.|Still compiling deps. Let me wait for it.|
The build is still running through the packages.|Both workers are running.|Waiting for the linter.|
Now find where links are rendered (see a.py: it has both):|
现在更新测试。|我还需要检查配置。|还在编译依赖。|接下来是这些：
"""
NO_NARRATION = """
All 12 tests pass.|The next step is to port the reader.|I decided to keep the queue.|
We need a second index.|TODO: drop the shim.|The parser reads the file twice.|
I still need to cover the empty case.|Never push on Fridays.|Should I delete it?|The letter was lost.|
下一步是补测试。|测试都通过了。|
You're right: the lock is held twice.|Now test results are stored per run.|
Now it works.|First run took 3 s.|Update the docs before a release.|
The dev server is running at http://localhost:5173|Still missing: the Windows path.|Fixed: the header.|
The cause was this: two writers. One is gone.|You should update the driver.|We should update the driver.|
现在都通过了。|Two of them are left: - the reader in a.py - the writer, which does this:
"""


def split(row: str) -> list[str]:
    return row.replace("\n", "").split("|")


@every_row("sentence", split(NARRATION))
def test_what_the_agent_is_about_to_do_is_narration(sentence: str) -> None:
    assert reader.is_narration(sentence)


@every_row("sentence", split(NO_NARRATION))
def test_what_holds_later_is_no_narration(sentence: str) -> None:
    assert not reader.is_narration(sentence)
