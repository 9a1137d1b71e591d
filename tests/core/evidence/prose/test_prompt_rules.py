"""What a user's prompt says: constraints, remarks that are no rule, and the goal."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.follow import follow
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import Trail
from tests.core.scenes import prompt
from tests.tables import every_row

BINDING = """
Never commit to the release branch.
You must run the migration twice.
Don't touch anything under vendor/.
please do not add new dependencies
Always write the changelog line in the same commit.
Only edit the parser, nothing else.
Use pnpm, not npm.
use tabs not spaces
Put the fixture into tests/data instead of next to the module.
Avoid global state in the worker.
Make sure the old flag still works.
Keep the public API as it is.
No new files in the root, please.
no mocks!
I don't want any JavaScript on that page.
We never push on Fridays.
The importer must not read the file twice.
Passwords should never be logged.
It has to work without a network.
Refactor the cache without changing its interface.
Can you use the existing client instead of a new one?
From now on answer in short sentences.
and leave the generated files alone
answer in one paragraph don't list options
do it without adding dependencies
never, ever log the token
The only allowed client is httpx.
It's important that the order is kept.
I'd prefer functions over classes.
This is forbidden: writing outside of the home.
You don't need to keep the old endpoint.
Important: the schema is shared with billing.
Stop adding comments that repeat the code.
必须使用 uv 安装依赖。
不要修改数据库结构。
禁止直接推送到主分支。
请只用标准库。
提交之前务必跑一遍测试。
配置不得写死在代码里。
"""
NOT_BINDING = """
I don't understand why the build is red.
It doesn't work on my machine.
There is only one test failing.
Why does it never finish?
The page never loads.
It always crashes on start.
I don't know which version that is.
Should we close the issue?
It must be the cache again.
There must be a simpler way.
I only see one error.
I've never seen this before.
We don't have tests for that.
If it does not work, tell me.
Never mind!
That should be fine.
It returned None instead of a list.
No idea.
No problem, thanks.
I keep getting a timeout.
The tests don't pass.
That's the only thing that loaded.
Don't worry about it.
do you think we must keep both?
Explain what happens without the flag?
为什么必须重启？
我不知道是不是要改。
没有别的问题。
"""
GENERIC = """
continue|Continue.|go|go on|go ahead|yes|ok|ok do it|Yes, please do that.|run checks|run the tests again|
ok, go!|check it again|can you look into it?|could you please fix this|keep going|proceed|please fix these|
ok, let's implement this|3|continue until all are done|commit and push|thanks!|looks good, continue|
what's next?|try again||...|继续|好的|继续吧|可以，继续|再检查一下|谢谢|运行测试|
yeah, do it all|fix them all please|wow, it works|great job!|
Is this done?|did you push?|what did i just execute?|what is this?|are we all commited?|
is it ready to merge now|
alright, where were we?|you still there?|Are you sure?|have you committed everything yet?|did that work?|
do the tests pass now?|what's the status?|What happened?|are you in plan mode?|
Can you auto accept all changes for the rest of this session?|please stop asking me for permission|
you can ultrathink|think harder about this please|take your time|
accept all edits from now on|how much context do you have left?|which model are you?|
做完了吗？|都提交了吗？|这是什么？|刚才执行了什么？|测试通过了吗？|自动接受所有修改
"""
CONCRETE = """
think about the retry logic|take your time with the parser|
fix the login bug|continue with the exporter|why does the import hang?|run the tests in tests/core|
can you look into the retry logic?|use SQLite|yes, but keep the old flag|
check the README again|/init|let's fix issue 3 too|add a dark theme|which branch is this?|
no, remove it from the index page|implement spotter-gqc|继续写文档|为什么会失败？|修复登录问题|检查 a.py|
Why is the import slow?|is shadowBranchHashLength now used everywhere?|did you update docs/theme.md too?|
what is this: telemetry|is the retry in the uploader done?|what did you change in the parser?|
are we all committed? if not, commit first|do we have tests for these cases?|any other such issues?|
what happens if you delete the theme?|add an auto-accept flag|can you accept JSON as well?|
does it work with Python 3.11?|登录完成之后做什么？|缓存是什么时候清空的？
"""


REMARKS = """
wait, do we only have one colour for headings?
Like if I merge A after B was built, we don't go back to A, right?
Clarification: if the worker stops, we still count only the rows of the second run, right?
now the question is: what do we do with drafts, always mark them as sent?
Row.Note Never Shown - computed but never printed --- do we log the removed rows?
i think we only do this in batch mode no?
does it only run on main?
now can you explain: retries only for new uploads
They don't look that bad.
I don't understand, does it read the setting at the start?
As of right now we don't have any of these queues.
That's the only page that loaded, but without a style.
There's only a licence there, please also write the readme
"""
NO_REMARKS = """
can we make it so we only keep the last three?
Should we always mark drafts as sent?
we never push to main, ok?
I don't think doing it in bash is a good idea, can we do it in go?
can you list them and only show the failing ones?
Explain it to me, but don't list options.
I don't like the colour of the footer
we don't want to have two queues, right?
why don't we use the old client instead?
There's only one place that may read the token.
Don't touch it, there is only one copy.
`uv` is always used for installing.
`main` is never force-pushed.
`save()` writes the file; never call it directly.
`x.py` holds the rules (no new dependencies!)
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


def split(row: str) -> list[str]:
    return row.replace("\n", "").split("|")


@every_row("sentence", lines(BINDING))
def test_a_constraint_is_heard_whole(sentence: str) -> None:
    assert reader.constraints(sentence) == (sentence,)


@every_row("prompt", lines(NOT_BINDING))
def test_a_question_or_a_report_binds_nobody(prompt: str) -> None:
    assert reader.constraints(prompt) == ()


@every_row("sentence", lines(REMARKS))
def test_what_only_asks_or_tells_how_things_are_is_a_remark_in_the_words_of_a_rule(sentence: str) -> None:
    assert reader.is_remark(sentence)


@pytest.mark.parametrize("sentence", lines(NO_REMARKS))
def test_a_question_that_asks_for_something_or_says_what_ought_to_be_is_no_remark(sentence: str) -> None:
    assert not reader.is_remark(sentence)


@every_row("prompt", split(GENERIC))
def test_a_prompt_that_only_says_go_on_is_generic(prompt: str) -> None:
    assert reader.is_generic(prompt)


@every_row("prompt", split(CONCRETE))
def test_a_prompt_that_names_something_is_not_generic(prompt: str) -> None:
    assert not reader.is_generic(prompt)


def test_constraints_are_picked_out_of_a_prompt_in_order_and_once() -> None:
    prompt = (
        "The import hangs since yesterday and I don't know why. "
        "Please fix it, but never retry more than twice.\n"
        "- use the existing client, not a new one\n- the log is in a.log\n\n"
        "```\nerror: you must pass --force\n```\n"
        "Don't touch `b.py`. Don't touch `b.py`. Is that clear?"
    )
    assert reader.constraints(prompt) == (
        "Please fix it, but never retry more than twice.",
        "use the existing client, not a new one",
        "Don't touch `b.py`.",
    )


def test_items_below_a_heading_for_rules_are_constraints() -> None:
    prompt = "Build the exporter.\n\nRequirements:\n- one file per tenant\n- gzip\n\nThe data is in s3."
    assert reader.constraints(prompt) == ("one file per tenant", "gzip")


def test_a_sentence_of_a_wrapped_prompt_is_not_cut_at_the_line() -> None:
    prompt = (
        "Whatever you change in the importer, you must never write to the\nproduction bucket from a test."
    )
    assert reader.constraints(prompt) == (prompt.replace("\n", " "),)


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("Fix the retry test", "Fix the retry test"),
        ("# Context\nYou are Dori.\n\n---\n\n# User Request\n\nStart phase 01.\n", "Start phase 01."),
        ('"# Context\nBe brief.\n# User Request:\nStart phase 01.\n\n"', "Start phase 01."),
        ("Rules first.\n### The user's message\nWhy is it slow?", "Why is it slow?"),
        ("<rules>Be brief.</rules>\n<user_query>\nWhy is it slow?\n</user_query>", "Why is it slow?"),
        ("# User Request\nOne\n# User Request\nTwo", "Two"),
        (
            "Write a form with a field below `# User Request`",
            "Write a form with a field below `# User Request`",
        ),
        ("# Notes\nNothing follows.\n# User Request\n", "# Notes\nNothing follows.\n# User Request\n"),
        ("<user_query>never closed", "<user_query>never closed"),
    ],
)
def test_of_a_wrapped_prompt_the_users_words_are_what_is_asked(prompt: str, asked: str) -> None:
    assert reader.request_in(prompt) == asked


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
Implement shop-x4f
fix #123.
Review SHOP-12
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
fix tests
try option-2
re-run checks
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
