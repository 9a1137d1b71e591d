"""Imported and hostile sessions, changed files, handoffs, and the ledger: each has a page that says it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from holdfast.core.brief.brief_input import Reason
from holdfast.daemon.dashboard.files import file_path
from tests.daemon.api.served import NEWEST, Caller, Furnished
from tests.daemon.dashboard.test_pages import read
from tests.daemon.dashboard.visitors import (
    FAILING_KEY,
    HOSTILE_KEY,
    IMPORTED_KEY,
    put_brief_of_everything,
    put_edits,
    put_failures,
    put_hostile,
    put_imported,
    put_passages,
    write_handoff,
)
from tests.stores.contract import MINUTE, receipt


def test_an_imported_session_says_what_is_known_and_draws_no_empty_timeline(
    caller: Caller, furnished: Furnished
) -> None:
    put_imported(furnished)
    page = read(caller, f"/sessions/{IMPORTED_KEY}")
    for text in (
        "Draw the parser",
        "And mind the empty file",
        "<code>pytest tests/test_tree.py</code>",
        "KeyError: &#x27;leaf&#x27;",
        "path=src%2Ftree.py",
        "3×",
        "search finds what was said",
    ):
        assert text in page
    assert "<svg" not in page.partition("<main")[2]
    assert "ruff check" not in page.partition('id="failures"')[2]
    assert "only_read.py" not in page.partition('id="files"')[2]


@pytest.mark.parametrize(
    "path", ["/", "/sessions", f"/sessions/{HOSTILE_KEY}", f"/sessions/{HOSTILE_KEY}?point=hostile-1"]
)
def test_a_hostile_title_and_prompt_are_only_text_on_every_page(
    caller: Caller, furnished: Furnished, path: str
) -> None:
    put_hostile(furnished)
    page = read(caller, path)
    assert page.count("<script") == 1
    assert "<img" not in page
    assert not {"\u202e", "\u2066", "\u200b", "\x1b"} & set(page)
    assert len(page) < 100_000


def test_files_are_found_by_a_part_of_their_path(caller: Caller, furnished: Furnished) -> None:
    put_edits(furnished, 70)
    path = f"/files?project={furnished.project.project_id}"
    everything = read(caller, path)
    assert everything.count('class="main path"') == 60
    assert "10 more; type a part of the path" in everything
    assert read(caller, f"{path}&q=PART+00").count('class="main path"') == 10
    assert "No file fits." in read(caller, f"{path}&q=nothing-like-it")


def test_a_file_can_be_asked_about_a_line(caller: Caller, furnished: Furnished) -> None:
    put_edits(furnished, 1)
    path = f"/files?project={furnished.project.project_id}&path=src/part_000.py"
    assert "Why this line" in read(caller, path)
    for with_line in (f"{path}&line=7", f"{path}:7"):
        assert "<h1>src/part_000.py:7</h1>" in read(caller, with_line)
    assert "<h1>src/part_000.py</h1>" in read(caller, f"{path}&line=seven")


def test_a_handoff_that_waits_is_read_where_the_home_page_names_it(
    caller: Caller, furnished: Furnished
) -> None:
    path = write_handoff(furnished)
    assert path.replace("&", "&amp;") in read(caller, "/")
    page = read(caller, path)
    for text in (
        "<h1>Finish the cart</h1>",
        "waits to be picked up",
        "<code>holdfast handoff pickup 2026-01-01-main-finish-the-cart</code>",
        "Rounding each line of <code>cart.py</code>",
    ):
        assert text in page
    assert "Status: open" not in page
    read(caller, f"/handoffs?project={furnished.project.project_id}&name=..%2F..%2Fetc", 404)
    read(caller, "/handoffs", 404)


def test_the_ledger_says_truly_whether_it_is_on(caller: Caller, furnished: Furnished) -> None:
    path = f"/continuity?project={quote(furnished.project.project_id)}"
    setting = Path(furnished.project.root) / ".agents.yml"
    assert "It is off." in read(caller, path)
    setting.write_text("session:\n  ledger: true\n")
    assert "It is on in this project" in read(caller, path)
    setting.unlink()


def test_health_counts_harnesses_that_are_not_in_use_by_themselves(caller: Caller) -> None:
    page = read(caller, "/health")
    verdict = page.partition('class="verdict')[2].partition("</p>")[0]
    passed = verdict.partition("problem")[2].partition(" check")[0].lstrip("s, ")
    assert f"<summary>{passed} checks passed</summary>" in page
    assert "not in use</summary>" in page
    assert "Check thoroughly" in page
    assert "also starts the tools of each harness" in read(caller, "/health?deep=1")


def test_a_memory_says_where_it_applies(caller: Caller) -> None:
    kept = caller.ask("/api/memories", "POST", {"text": "Deploys are on Tuesday", "scope": "user"}).json
    page = read(caller, "/memory")
    assert "every project" in page
    assert 'class="project">shop</span>' in page
    caller.ask(f"/api/memories/{kept['id']}", "DELETE")


def test_what_changed_is_told_without_the_header_of_a_diff(caller: Caller) -> None:
    for path in ("/checkpoints/c3", "/sessions/s1?older=c1&newer=c3"):
        page = read(caller, path)
        assert "--- c" not in page
        assert "@@" not in page
        assert "<ins>+## Step 3" in page


def test_ids_of_briefs_and_checkpoints_can_be_copied(caller: Caller) -> None:
    for path, id in (("/briefs/b1", "b1"), ("/checkpoints/c3", "c3"), ("/sessions/s1", "s1")):
        assert f'data-copy="{id}"' in read(caller, path)


def test_a_failed_edit_says_its_file_and_what_was_wrong_and_a_command_its_error(
    caller: Caller, furnished: Furnished
) -> None:
    put_failures(furnished)
    failures = (
        read(caller, f"/sessions/{FAILING_KEY}").partition('id="failures"')[2].partition("</section>")[0]
    )
    assert "<code>edit src/cart.py</code>" in failures
    assert '<span class="error">Found 2 matches of the string.</span>' in failures
    assert "<code>make</code>" in failures
    assert '<span class="error">cart.c:3: error: expected a semicolon</span>' in failures


def test_each_sentence_of_a_brief_says_where_it_is_from_also_what_was_inherited(
    caller: Caller, furnished: Furnished
) -> None:
    lines = (
        read(caller, put_brief_of_everything(furnished)).partition('class="lines"')[2].partition("</ol>")[0]
    )
    said = [line.partition("</li>")[0] for line in lines.split('class="said">')[2:]]
    for line, origin in zip(said, ("you", "command", "you", "file edited", "files read"), strict=True):
        assert f'class="origin">{origin}' in line
    assert 'href="/sessions/s1?point=r1#detail"' in said[0]
    assert 'href="/sessions/s1?point=r3#detail"' in said[1]
    assert "href" not in said[2]
    assert f'href="{file_path(furnished.project.project_id, "src/cart.py")}"'.replace("&", "&amp;") in said[3]


def test_the_other_places_of_a_result_are_unfolded(caller: Caller, furnished: Furnished) -> None:
    put_passages(furnished, 5)
    page = read(caller, "/search?q=wombat")
    assert page.count("<code><mark>wombat</mark>") == 3
    assert "<summary>2 more places</summary>" in page
    rest = read(caller, page.partition('data-load="')[2].partition('"')[0].replace("&amp;", "&"))
    assert rest.partition("data-fragment")[2].count("<mark>wombat</mark>") == 2
    assert "more place" not in rest


def test_a_brief_that_is_given_again_counts_as_one_compaction(caller: Caller, furnished: Furnished) -> None:
    again = receipt("again", window=4, reason=Reason.LATE, created_at=furnished.at + 5 * MINUTE)
    with furnished.store() as store, store.writing():
        store.add_receipt(again, NEWEST)
    page = read(caller, "/")
    assert "Survived a compaction, 5 times" in page
    assert "5 this week" in page
    assert "6 times" not in page
