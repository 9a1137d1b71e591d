"""Prose: each sentence is heard for what it says, and nothing is heard that was not said."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.prose import reader
from tests.tables import every_row

Reader: TypeAlias = Callable[[str], tuple[str, ...]]

NEXT_STEPS: Reader = partial(reader.statements_of, NoteKind.NEXT)
UNTRIED_IDEAS: Reader = partial(reader.statements_of, NoteKind.UNTRIED)
QUESTIONS: Reader = partial(reader.statements_of, NoteKind.QUESTION)
CONFIRMED_RESULTS: Reader = partial(reader.statements_of, NoteKind.CONFIRMED)
FAILURES: Reader = partial(reader.statements_of, NoteKind.FAILED)
NEEDS: Reader = partial(reader.statements_of, NoteKind.NEED)

SAID: tuple[tuple[Reader, str], ...] = (
    (
        reader.decisions,
        """
        I decided to keep the queue in memory.
        Decision: one table per tenant, because the vendor limits row counts.
        We'll use SQLite because the file can be copied.
        Going with polling instead of webhooks.
        I chose the streaming parser over the tree one.
        We opted for a plain function rather than a class.
        I'll put the lock into the store since both callers need it.
        I'm keeping the old name because two plugins import it.
        You chose option 2, so the flag stays.
        Let's go with the second layout.
        ok, fine, let's use Vite
        Moved the check into the parser rather than the caller.
        The first design was chosen because it needs no migration.
        Let me keep the lock in the store because both callers need it.
        Let's do the rename first, since the exporter depends on it.
        我们决定先不升级框架。
        改用 httpx，因为它支持超时。
        缓存采用 LRU 策略。
        """,
    ),
    (
        NEXT_STEPS,
        """
        Next: wire the exporter into the command line.
        Next steps: write the docs and tag the release.
        The next step is to port the second reader.
        The next task in the epic is ledger-4.2 (sync of one file).
        Now the final task — ledger-4.3.
        Remaining: the Windows path and its test.
        Still to do — the retry in the uploader.
        TODO: drop the shim after the release.
        I still need to cover the empty case.
        The exporter still needs tests.
        Then we need to backfill the old rows.
        Once the branch is merged, we should delete the flag.
        The rename is not yet implemented.
        The dashboard hasn't been migrated yet.
        Before merging, we must squash the fixups.
        下一步是补上单元测试。
        接下来需要迁移旧数据。
        文档还需要更新。
        """,
    ),
    (
        UNTRIED_IDEAS,
        """
        We could also try a smaller batch size.
        Alternatively, the index could be built in the background.
        Another option is a trigger in the database.
        I haven't tried the newer driver.
        An alternative would be a bloom filter.
        It might be worth trying the C extension.
        If that doesn't work, we could pin the old version.
        As a last resort, we could vendor the library.
        The second approach has not been tried.
        Another idea: keep the results of the last run.
        还没试过关闭缓存。
        可以再试试更小的批次。
        另一种方案是用触发器。
        """,
    ),
    (
        QUESTIONS,
        """
        Should I delete the old table too?
        Do you want the report as CSV or as JSON?
        Which option do you prefer?
        Want me to open the pull request now?
        Would you rather keep the old name for a release?
        Shall we support Python 3.10?
        May I add a dependency for this?
        Is the trailing slash intended?
        Can you tell me which account owns the bucket?
        For stale rows, should I archive or delete?
        你希望保留旧接口吗？
        要不要顺便升级依赖？
        """,
    ),
    (
        CONFIRMED_RESULTS,
        """
        All 12 tests pass.
        The whole suite is green.
        Verified that the lock is released on a crash.
        I've confirmed that both readers agree.
        The import works now.
        The upload works as expected.
        Fixed by closing the cursor first.
        The race is fixed.
        Typecheck passed, lint is clean.
        All tests pass.
        `origin` is fixed.
        The importer works again, but the old one is still there.
        The build succeeded without warnings.
        Lint and typecheck pass.
        31 tests passed in the last run.
        The race is fixed, and the server is running on port 80.
        所有测试都通过。
        登录问题已修复。
        验证通过，可以合并。
        """,
    ),
    (
        FAILURES,
        """
        Raising the limit didn't work because the proxy caps it too.
        The migration fails with a duplicate key.
        Clearing the cache doesn't help.
        Three tests are failing after the rename.
        The build still fails on Windows.
        I tried the async driver, but it leaks connections.
        It crashed because the list was empty.
        The deploy failed.
        40 passed, 2 failed.
        We couldn't get the container to start.
        I reverted the index because it broke the import.
        The parser is failing on empty lines.
        The request timed out after the second page.
        这个方法不行。
        构建失败了，缺少头文件。
        重启之后还是报错。
        """,
    ),
    (
        reader.measurements,
        """
        The import took 340 ms.
        Memory went from 1.2 GB to 310 MB.
        All 84 tests pass.
        It is 3x faster now.
        Coverage rose to 91.5%.
        p95: 12 before, 7 now.
        1,300 of 99,000 rows had no owner.
        The module is now 885 lines.
        We removed ~290 lines from the entry point.
        The renderer (1508 lines) is down from 2376.
        The query returns in 0.8 s on the copy.
        The cache saves 40% of the requests.
        It is 2.5 times faster than the old one.
        The prompt has 12k tokens.
        导入只用了 3 秒。
        一共 12 个测试失败。
        """,
    ),
    (
        NEEDS,
        """
        The tests need Redis on port 6380.
        It depends on a running Postgres.
        This requires Node 22 or later.
        Docker must be running.
        The dev database needs to be started.
        DATABASE_URL must be set.
        You need to set the variable `API_BASE_URL` in .env.
        Run `mise install` first.
        Start `docker compose up db` before running the suite.
        The dev server is running at http://localhost:5173
        需要先启动 Redis
        测试依赖 Docker
        """,
    ),
)

NOT_SAID: tuple[tuple[Reader, str], ...] = (
    (
        reader.decisions,
        """
        Should we go with the second layout?
        I haven't decided yet.
        If we decided to split it, we would need two tables.
        The parser uses a regex instead of a tokenizer.
        Let me check which one was chosen.
        You can choose either of them.
        It failed because the list was empty.
        We could go with a queue.
        Let's use grep to find the callers.
        Let's do it!
        Let me use the full path instead to satisfy the compiler.
        Let me put it in `lib/scripts/` instead.
        Let me switch to the second terminal.
        Let's do package 14: create the new entry point.
        I'll use that instead.
        Going with it.
        The result depends on the decision of the caller.
        是否采用缓存取决于负载。
        尚未决定使用哪个库。
        让我改用另一个命令。
        """,
    ),
    (
        NEXT_STEPS,
        """
        I will now run the tests.
        Let me check the next file.
        Now I'll update the exporter.
        Next, I'll run the linter.
        The next line holds the header.
        Is there anything left to do?
        We no longer need to patch it.
        The next.js app is in todo-app.
        There is nothing left to fix.
        Running the tests next.
        It moves from left to right.
        This is the largest remaining work package.
        You should now see the new header.
        我现在运行测试。
        接下来我来检查配置。
        """,
    ),
    (
        UNTRIED_IDEAS,
        """
        Let me try another approach.
        I tried the newer driver and it works.
        The option is called verbose.
        Could we try a smaller batch?
        Another test fails now.
        The function tries both paths.
        It is not worth documenting.
        The other file is unchanged.
        There are two options.
        I'll try the second one.
        让我再试一次。
        测试失败了。
        """,
    ),
    (
        QUESTIONS,
        """
        Why does this matter? Because the lock is shared.
        What changed? The parser is stricter.
        The problem? A stale file.
        How can I help you today?
        Is there anything else?
        Does that make sense?
        I asked whether the table is needed.
        Hmm, is the cache stale? Let me look.
        `SELECT ?` is the statement.
        What would you like me to do next?
        为什么会这样？因为锁没有释放。
        还有什么需要吗？
        """,
    ),
    (
        CONFIRMED_RESULTS,
        """
        I'll run the tests to verify that `rows_that_were_not_sent_before` works correctly.
        The function is working correctly.
        The new functionality works as expected.
        The tests should pass now.
        If all tests pass, I will merge.
        Let me verify that the tests pass.
        Make sure the build passes.
        It doesn't work as expected.
        The fix is not verified.
        Do the tests pass?
        Once the tests pass, we can merge.
        The path is passed to the parser.
        I need the suite to be green.
        40 passed, 2 failed.
        The header has a fixed width.
        The exporter is now working but there are type errors.
        Most tests pass but `test_rotation` is failing.
        The new tests passed, but an old one hit the timeout of 5 s.
        Most of CI is passing; the job for Windows is still running.
        The whole suite is underway; the reader's tests are still passing.
        I'm rerunning lint; typecheck already passed.
        单元测试通过，集成测试还在跑。
        All green.
        Everything is fixed!
        It works now.
        登录已修复，但是导出还是报错。
        全部通过。
        测试没有通过。
        如果测试通过就合并。
        """,
    ),
    (
        FAILURES,
        """
        If it fails with a timeout, retry.
        The build would fail on Windows.
        The handler fails gracefully with a clear message.
        It no longer fails with a timeout.
        31 passed, 0 failed in the last run.
        The test is expected to fail.
        Does the import fail with this file?
        The function raises when the list is empty.
        When the upload fails on a slow line, it is repeated.
        Three tests pass.
        Doesn't solve the root cause.
        Only one test is failing now.
        Two checks are broken.
        Bug: the comparison of both keys always fails because they differ in length.
        Issue 2: the upload fails with a large file.
        The workflow is working but failing on the formatting checks.
        如果失败了就重试。
        没有失败的用例。
        """,
    ),
    (
        reader.measurements,
        """
        A session that began 28ms ago is marked as lost.
        三分钟前和 5 秒前各失败一次
        See line 366 of the parser.
        Lines 16-30 hold the table.
        It needs Python 3.12 and Node 22.
        The server listens on port 8080.
        Released on 2025-07-20.
        The timeout is 30 s.
        Retry at most 5 times.
        Session keys are dropped after 10 minutes.
        I am 100% sure.
        The id is a7f3c2d.
        Issue #1263 describes it.
        Let me wait 30 s.
        A chunk holds up to 64 KB.
        It fires after that 1 s delay.
        It waits for a `setTimeout` of 1 s before it starts.
        90 lines handling the traversal of the tree.
        The runner (177 lines) - runs one command.
        cache.py - the store of results (~1,850 LOC)
        The archive is capped at 100 MB.
        这个文件有 200 行代码。
        The label reads "95% done".
        最多重试 3 次，间隔 5 秒。
        """,
    ),
    (
        NEEDS,
        """
        Does it need Docker?
        If it needs Docker, skip it.
        It no longer needs Redis.
        The build does not require Python.
        The parser requires Python code as its input.
        I need to go through the list.
        Let me check whether Docker must be running.
        The function needs an argument.
        Run `make test` again.
        不需要安装 Docker
        """,
    ),
)


def cases(table: tuple[tuple[Reader, str], ...]) -> list[tuple[Reader, str]]:
    return [(read, line.strip()) for read, lines in table for line in lines.strip().splitlines()]


@every_row(("read", "sentence"), cases(SAID))
def test_a_sentence_is_heard_whole(read: Reader, sentence: str) -> None:
    assert read(sentence) == (sentence,)


@every_row(("read", "text"), cases(NOT_SAID))
def test_what_is_not_said_is_not_heard(read: Reader, text: str) -> None:
    assert read(text) == ()


def test_a_sentence_may_say_two_things() -> None:
    said = "All 84 tests pass."
    assert reader.statements_of(NoteKind.CONFIRMED, said) == (said,)
    assert reader.statements_of(NoteKind.MEASURED, said) == (said,)


READERS: tuple[Callable[[str], tuple[str, ...]], ...] = (
    reader.sentences,
    reader.constraints,
    reader.decisions,
    NEXT_STEPS,
    UNTRIED_IDEAS,
    QUESTIONS,
    CONFIRMED_RESULTS,
    FAILURES,
    reader.measurements,
)

ONE_SENTENCE = """
Open a.py and then b.test.ts in the same window.
Version 1.2.3 is older than 1.10.0 by a year.
See https://example.org/a.b?c=d for the rest.
Some hosts, e.g. the old ones, answer slowly.
Use a short name (i.e. one word) for it.
It compares old vs. new rows.
Files, folders, links etc. are copied.
The prompt "Overwrite?" is asked once per file.
Wait for it... then press the key.
Run `make. then` twice in a row.
The value 3.5 is too high.
你好，请看 a.py 第一行，然后运行 v1.2.3
Add __init__ and *.py to the list
"""

SPLIT: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("One. Two! Three? Four", ("One.", "Two!", "Three?", "Four")),
    ("ok. do it. don't ask", ("ok.", "do it.", "don't ask")),
    ("第一句。第二句！第三句？完", ("第一句。", "第二句！", "第三句？", "完")),
    ("他说：“不要。”然后走了。", ("他说：“不要。”", "然后走了。")),
    ("- one\n* two\n+ three\n• four", ("one", "two", "three", "four")),
    ("1. first\n2) second\n(3) third\n4、第四", ("first", "second", "third", "第四")),
    ("- [ ] open\n- [x] done", ("open", "done")),
    ("Shall it have pages?\n→ No, one page only.", ("Shall it have pages?", "No, one page only.")),
    ("**Bold** and *slanted* and ***both***.", ("Bold and slanted and both.",)),
    ("# Title\nText.\n## Part\nMore.", ("Text.", "More.")),
    ("**A title**\nText below.", ("Text below.",)),
    ("Before.\n```py\nx = 1. Then\n```\nAfter.", ("Before.", "After.")),
    ("Before.\n~~~\nnot closed. At all.", ("Before.",)),
    ("Before.\n````\n```\nLook here. Now.\n```\nAnd here.\n````\nAfter.", ("Before.", "After.")),
    ("Before.\n<!-- a note.\nAnd more. -->\nAfter.", ("Before.", "After.")),
    ("Before.\n\na | b\n--|--\nOne cell. | Two.\n\nAfter.", ("Before.", "After.")),
    ("It is done.\n---\nAfter.", ("It is done.", "After.")),
    ("Before.\n\n    indented code. Here.\n\nAfter.", ("Before.", "After.")),
    ("- item\n\n    more of it.\n", ("item", "more of it.")),
    ("Look:\n| a | b |\n|---|---|\n| 1 | 2 |\nDone.", ("Look:", "Done.")),
    ("> quoted. Twice.\nMine.", ("Mine.",)),
    ("12:01:02 starting\n[INFO] up\nERROR: down\nTraceback (most recent call last):\nHm.", ("Hm.",)),
    ('ValueError: bad\n  File "a.py", line 3\nsrc/a.py:12: error\n$ make test\nWell.', ("Well.",)),
    ("const a = 1;\nif (a) {\n}\nimport os\ndef f(x):\nReal words.", ("Real words.",)),
    (
        "A line that an editor broke because it was getting too long\nfor the window goes on here.",
        ("A line that an editor broke because it was getting too long for the window goes on here.",),
    ),
    ("short line\nanother line", ("short line", "another line")),
    ("", ()),
    ("--- *** 123 ...", ()),
)


@every_row("text", ONE_SENTENCE.strip().splitlines())
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert reader.sentences(text) == (text,)


@every_row(("text", "expected"), SPLIT)
def test_a_text_is_cut_into_its_sentences_and_items(text: str, expected: tuple[str, ...]) -> None:
    assert reader.sentences(text) == expected


def rows(*lines: str) -> list[str]:
    return [unit.text for unit in reader.units("\n".join(lines)) if unit.is_row]


def test_the_head_of_a_table_tells_nothing_by_itself_and_what_the_cells_are() -> None:
    assert rows(
        "| File | Cause |", "|---|---|", "| till.py | it rounded twice |", "| tax.py | no rate |"
    ) == [
        "File: till.py; Cause: it rounded twice",
        "File: tax.py; Cause: no rate",
    ]
    assert rows("| Before | After |", "|---|---|", "| it rounded twice | it rounds **once** |") == [
        "Before: it rounded twice; After: it rounds once"
    ]


@every_row(
    ("head", "row", "expected"),
    [
        ("| Case | Old | New |", "| refunds | lost | kept |", "refunds (Old: lost; New: kept)"),
        ("| Case | Old | New |", "| refunds |  | kept |", "refunds (New: kept)"),
        ("| Case | Old | New |", "| refunds | ❌ | ✅ |", "refunds (Old: no; New: yes)"),
        ("| # | File | Cause |", "| 1 | till.py | round |", "#: 1; File: till.py; Cause: round"),
        ("| Shown | Kept | Then |", "| No | Yes | it stops |", "Shown: No; Kept: Yes; Then: it stops"),
        ("|  | Kept |", "| refunds | all of them |", "Kept: all of them"),
        ("| Case |  | New |", "| refunds | lost | kept |", "refunds | lost | kept"),
        ("| Case | New |", "| refunds | lost | kept |", "refunds | lost | kept"),
        ("| Case | New |", f"| refunds | {'kept ' * 60}|", f"refunds | {'kept ' * 60}".strip()),
    ],
)
def test_the_cells_of_a_row_stand_below_their_heads(head: str, row: str, expected: str) -> None:
    delimiters = "|".join("---" for _ in head.strip("|").split("|"))
    assert "".join(rows(head, f"|{delimiters}|", row)) == expected


def test_the_rows_of_a_table_are_not_joined_to_what_announces_it() -> None:
    text = "It has to decide:\n\n| Case | Then |\n|---|---|\n| it works | wait |\n| it died | go on |"
    assert [unit.text for unit in reader.units(text)][1:] == [
        "Case: it works; Then: wait",
        "Case: it died; Then: go on",
    ]


def test_bold_text_alone_in_its_line_is_a_heading_whatever_it_names() -> None:
    (unit,) = reader.units("**Item 5: Mend the O(n*m) scan**\nIt looks at every row twice.")
    assert (unit.text, unit.heading) == ("It looks at every row twice.", "item 5: mend the o(n*m) scan")


def test_items_are_what_their_heading_says() -> None:
    text = (
        "## Decisions\n- one table\n- no cache\n\n"
        "## Next steps\n1. port the reader\n2. [x] tag the release\n\n"
        "**Open questions:**\n- the owner of the bucket\n\n## Tried and failed\n- a bigger pool\n\n"
        "## What works\n- the importer\n\n## Notes\n- nothing more"
    )
    assert reader.statements_of(NoteKind.DECISION, text) == ("one table", "no cache")
    assert reader.statements_of(NoteKind.NEXT, text) == ("port the reader",)
    assert reader.statements_of(NoteKind.QUESTION, text) == ("the owner of the bucket",)
    assert reader.statements_of(NoteKind.FAILED, text) == ("a bigger pool",)
    assert reader.statements_of(NoteKind.CONFIRMED, text) == ("the importer",)


def test_a_lead_in_speaks_for_its_list_and_not_for_what_follows() -> None:
    text = "Remaining:\n- the Windows path\n  - and its test\n\nThe rest is finished.\n- a\n- b"
    assert NEXT_STEPS(text) == ("the Windows path", "and its test")


def test_of_an_item_to_do_the_first_sentence_is_the_step() -> None:
    text = (
        "Next steps:\n- Port the reader. This is the largest remaining piece.\n"
        "- Reload the shell: `exec $SHELL`. Otherwise, start it again.\n"
        "- [ ] Tag it. That takes a minute.\n\n"
        "## Outstanding\n- No reviews yet.\n- None\n- Not yet tested on Windows\n- 无\n- Nothing else"
    )
    assert NEXT_STEPS(text) == (
        "Port the reader.",
        "Reload the shell: `exec $SHELL`.",
        "Tag it.",
        "Not yet tested on Windows",
    )


def test_a_paragraph_of_what_is_to_do_is_read_whole() -> None:
    assert NEXT_STEPS("## Remaining\nPort the reader. Then the docs.") == (
        "Port the reader.",
        "Then the docs.",
    )


def test_an_open_box_is_a_next_step_and_a_ticked_one_is_not() -> None:
    assert NEXT_STEPS("- [ ] port the reader\n- [x] TODO: write the test") == ("port the reader",)


def test_a_question_at_the_end_is_open_and_one_with_an_answer_is_not() -> None:
    assert QUESTIONS("Is the trailing slash intended? It breaks the router.") == ()
    assert QUESTIONS("It breaks the router. Is the trailing slash intended?") == (
        "Is the trailing slash intended?",
    )


def test_what_was_pasted_in_one_line_is_not_looked_at() -> None:
    assert reader.constraints("you must " + "a" * reader.LONGEST_SENTENCE) == ()


PIECES = st.sampled_from(
    (
        "Never do it|All 12 tests pass|TODO: x|why|必须|下一步：|a.py|1.2.3|e.g.|`c. d`|**b**|*i*|.|!|?|。|"
        "？|:|,| |\n|\n\n|\n- |\n1. |\n# |\n> |\n```\n|\n    |- [ ] |“|”|(|)|'|don't|because|instead of|12 ms"
    ).split("|")
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map(" ".join))


def squeezed(text: str) -> str:
    """The text without white space and signs of emphasis, which are all that a sentence may lose inside."""
    return re.sub(r"[\s*_]+", "", text)


@given(TEXTS)
def test_any_text_can_be_read_and_what_is_heard_stands_in_it(text: str) -> None:
    for read in READERS:
        result = read(text)
        assert len(set(result)) == len(result)
        for sentence in result:
            assert sentence == sentence.strip() != ""
            assert squeezed(sentence) in squeezed(text)
            assert sentence in reader.sentences(text)


@given(TEXTS)
def test_sentences_read_again_are_the_same_sentences(text: str) -> None:
    once = reader.sentences(text)
    assert reader.sentences("\n\n".join(once)) == once


@given(st.text(max_size=100))
def test_any_prompt_can_be_judged(text: str) -> None:
    assert reader.is_generic(text) in (True, False)
    assert reader.is_narration(text) in (True, False)
