"""What one can do on the dashboard, done with a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import NEWEST, Visit
from tests.daemon.api.served import Caller, Furnished
from tests.daemon.conftest import wait_until
from tests.stores.contract import checkpoint, session


def texts(site: Furnished) -> list[str]:
    rows = Caller(site.lodging).get("/api/memories", limit=200)["items"]
    return [row["text"] for row in rows]


class TestComingIn:
    def test_nobody_is_let_in_without_a_link(self, visits: Callable[..., Visit]) -> None:
        outside = visits(inside=False)
        answer = outside.page.goto(f"{outside.base}/memory")
        assert answer.status == 401
        assert "holdfast dashboard" in outside.page.content()

    def test_a_link_works_once_and_its_cookie_is_for_us_alone(self, visits: Callable[..., Visit]) -> None:
        first, second = visits(), visits(inside=False)
        (cookie,) = (one for one in first.page.context.cookies() if one["name"] == "holdfast")
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
        assert cookie["value"] not in first.page.evaluate("document.cookie")
        answer = second.page.goto(f"{second.base}/open?key=guessed")
        assert answer.status == 403
        assert "holdfast dashboard" in second.page.content()

    def test_another_site_cannot_use_the_cookie(self, visit: Visit) -> None:
        page = visit.page
        page.route("http://evil.example/", lambda route: route.fulfill(body="<p>", content_type="text/html"))
        page.goto("http://evil.example/")
        asked = f"fetch('{visit.base}/api/memories', {{credentials: 'include'}})"
        tried = f"{asked}.then(() => 'read', () => 'refused')"
        assert page.evaluate(tried) == "refused"


class TestMemory:
    def test_what_is_typed_is_looked_for_at_once(self, visit: Visit) -> None:
        page = visit.go("/memory")
        page.get_by_label("Search memories").press_sequentially("fact 3")
        page.wait_for_url("**/memory?q=fact+3")
        assert page.locator(".memory .text").first.text_content() == "Fact 3."

    def test_one_is_remembered_changed_pinned_and_forgotten(self, visit: Visit, site: Furnished) -> None:
        page = visit.go("/memory")
        page.get_by_label("What is to be remembered, in every project").fill("The lantern is green")
        page.get_by_role("button", name="Remember").click()
        card = page.locator(".memory", has_text="The lantern is green")
        card.wait_for()
        card.get_by_role("button", name="Pin").click()
        card.get_by_role("button", name="Unpin").wait_for()
        card.get_by_text("Edit").click()
        card.get_by_label("Text").fill("The lantern is blue")
        card.get_by_role("button", name="Save").click()
        page.locator(".memory.pinned", has_text="The lantern is blue").wait_for()
        assert "The lantern is blue" in texts(site)
        page.locator(".memory", has_text="lantern").get_by_role("button", name="Forget").click()
        # Whoever leaves has decided.
        page.goto(f"{visit.base}/health")
        wait_until(lambda: "The lantern is blue" not in texts(site))

    def test_forgetting_can_be_undone(self, visit: Visit, site: Furnished) -> None:
        page = visit.go("/memory")
        card = page.locator(".memory", has_text="Fact 2.")
        card.get_by_role("button", name="Forget").click()
        page.get_by_role("button", name="Undo").click()
        page.locator(".going").wait_for(state="detached")
        page.goto(f"{visit.base}/health")
        assert "Fact 2." in texts(site)

    def test_what_cannot_be_done_is_said(self, visit: Visit) -> None:
        page = visit.go("/memory")
        page.get_by_label("What is to be remembered, in every project").fill(" ")
        page.get_by_role("button", name="Remember").click()
        page.locator(".toast", has_text="nothing to remember").wait_for()


SHARED = "Shared by all worktrees"


class TestFiles:
    def test_continuity_is_previewed_and_saved(self, visit: Visit, site: Furnished) -> None:
        page = visit.go(f"/continuity?project={site.project.project_id}")
        card, field = page.get_by_role("region", name=SHARED), page.get_by_role("textbox", name=SHARED)
        assert card.locator(".document li").first.text_content() == "Sell things"
        card.get_by_text("Edit").click()
        field.fill(field.input_value().replace("Sell things", "Sell <b>more</b> things"))
        card.get_by_text("Preview").click()
        assert card.locator(".preview li").first.text_content() == "Sell <b>more</b> things"
        card.get_by_role("button", name="Save").click()
        card.get_by_text("Saved.").wait_for()
        page.reload()
        assert card.locator(".document li").first.text_content() == "Sell <b>more</b> things"

    def test_what_somebody_else_changed_is_kept(self, visits: Callable[..., Visit], site: Furnished) -> None:
        path = f"/continuity?project={site.project.project_id}"
        first, second = (visits().go(path) for _ in range(2))
        for page in (first, second):
            page.get_by_role("region", name=SHARED).get_by_text("Edit").click()
            field = page.get_by_role("textbox", name=SHARED)
            field.fill(f"{field.input_value()}\n- One more\n")
            page.get_by_role("region", name=SHARED).get_by_role("button", name="Save").click()
            (page.get_by_text("Saved.") if page is first else page.locator(".toast")).wait_for()
        assert "changed meanwhile" in str(second.locator(".toast").text_content())


class TestReview:
    def test_candidates_are_decided_on_by_keyboard(self, visit: Visit, site: Furnished) -> None:
        page = visit.go(f"/review?project={site.project.project_id}")
        page.get_by_role("button", name="Look for candidates").click()
        page.locator(".candidate").first.wait_for()
        assert page.locator(".candidate ins", has_text="Never touch the ledger table").count() == 1
        one = page.locator(".candidate", has_text="We decided to round each line")
        while "We decided to round each line" not in page.evaluate("document.activeElement.textContent"):
            page.keyboard.press("j")
        page.keyboard.press("a")
        one.locator(".badge.approved").wait_for()
        wait_until(
            lambda: "We decided to round each line" in page.evaluate("document.activeElement.textContent")
        )
        page.keyboard.press("p")
        one.locator(".badge.promoted").wait_for()
        assert "We decided to round each line" in texts(site)


class TestSession:
    def test_a_point_of_the_timeline_opens_its_detail(self, visit: Visit) -> None:
        page = visit.go("/sessions/s1")
        page.get_by_role("link", name="the context was compacted").click()
        page.wait_for_url("**point=r4#detail")
        assert "What was" in str(page.locator("#detail pre").text_content())

    def test_a_prompt_is_read_by_pointing_at_it_and_by_keyboard(self, visit: Visit) -> None:
        page = visit.go("/sessions/s1")
        point, tip = page.locator(".moment.prompt").first, page.locator("#tip")
        assert tip.is_hidden()
        point.hover()
        assert "Use [REDACTED" in str(tip.text_content())
        page.locator("h1").hover()
        tip.wait_for(state="hidden")
        point.focus()
        tip.wait_for(state="visible")

    def test_a_failure_leads_to_its_command_and_its_error(self, visit: Visit) -> None:
        page = visit.go("/sessions/s1")
        page.locator("#failures a").first.click()
        page.wait_for_url("**point=r3#detail")
        assert page.locator("#detail pre").all_text_contents() == ["ls", "no"]

    def test_a_checkpoint_unfolds_what_changed_since_the_one_before(self, visit: Visit) -> None:
        page = visit.go("/sessions/s1")
        sign = "getComputedStyle(document.querySelector('.checkpoints summary'), '::before').content"
        assert page.evaluate(sign) == '"▸"'
        page.locator(".checkpoints summary").first.click()
        page.locator(".checkpoints ins", has_text="## Step 4").first.wait_for()

    def test_a_key_is_copied(self, visits: Callable[..., Visit]) -> None:
        page = visits(permissions=["clipboard-read", "clipboard-write"]).go("/sessions/s-other")
        page.get_by_role("button", name="Copy").click()
        page.locator(".toast", has_text="Copied.").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == "s-other"

    def test_two_checkpoints_are_compared(self, visit: Visit) -> None:
        page = visit.go("/sessions/s1")
        page.get_by_role("button", name="Compare").click()
        assert page.locator("#difference ins").first.text_content() == "+## Step 4\n"

    def test_what_a_compaction_would_keep_is_shown_when_asked_for(self, visit: Visit) -> None:
        page = visit.go("/")
        card = page.locator(".session", has_text="elsewhere")
        card.get_by_text("What a compaction now would keep").click()
        card.get_by_text("Of Mend the sums of the cart").wait_for()


class TestSearch:
    def test_the_field_is_reached_by_its_key_from_every_page(self, visit: Visit) -> None:
        page = visit.go("/health")
        page.keyboard.press("/")
        page.keyboard.type("fact 3")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=fact+3")
        assert page.locator(".results mark").first.text_content() == "Fact"

    def test_results_follow_what_is_typed_and_keep_their_filter(self, visit: Visit) -> None:
        page = visit.go("/search?kind=memory")
        page.keyboard.press("/")
        page.keyboard.type("fact 3")
        page.wait_for_url("**/search?kind=memory&q=fact+3")
        page.locator(".results mark").first.wait_for()
        page.get_by_role("link", name="Everything").click()
        page.wait_for_url("**/search?q=fact+3")
        page.get_by_label("Time").select_option("7")
        page.wait_for_url("**since=7*")
        assert page.locator("#search").input_value() == "fact 3"

    def test_a_result_opens_its_text_and_leads_back(self, visit: Visit) -> None:
        page = visit.go("/search?q=fact")
        page.locator(".hits a").first.click()
        page.locator("#passage mark").first.wait_for()
        page.get_by_role("link", name="Back to the results").click()
        page.wait_for_url("**/search?q=fact")

    def test_the_other_places_of_a_session_unfold(self, visit: Visit) -> None:
        page = visit.go("/search?q=wombat")
        assert page.locator(".hits mark").count() == 3
        page.get_by_text("2 more places").click()
        page.locator("details .hits mark").nth(1).wait_for()
        assert page.locator("details .hits mark").count() == 2

    def test_a_late_answer_to_fewer_letters_is_not_shown(self, visit: Visit) -> None:
        page = visit.go("/search")
        late: list[Any] = []

        def hold(route: Any) -> None:  # noqa: ANN401
            late.append(route)

        page.route("**/search?q=fac", hold)
        page.keyboard.press("/")
        with page.expect_request("**/search?q=fac"):
            page.keyboard.type("fac")
        page.keyboard.type("t 3")
        page.wait_for_url("**/search?q=fact+3")
        with page.expect_response("**/search?q=fac"):
            late[0].continue_()
        assert page.locator(".results mark").first.text_content() == "Fact"
        assert page.url.endswith("q=fact+3")


class TestFilesPage:
    def test_a_file_is_found_as_one_types_and_asked_about_a_line(self, visit: Visit, site: Furnished) -> None:
        page = visit.go(f"/files?project={site.project.project_id}")
        page.get_by_label("Find a file").press_sequentially("part_033")
        page.wait_for_url("**q=part_033*")
        page.locator("#files td a", has_text="part_033").wait_for()
        assert page.locator("#files tbody tr").count() == 1
        page.locator("#files td a").click()
        page.get_by_text("It was too long to read.").wait_for()
        page.get_by_label("Line").fill("3")
        page.keyboard.press("Enter")
        page.wait_for_url("**line=3*")
        assert page.locator("h1").text_content() == "src/part_033.py:3"


class TestHandoff:
    def test_home_leads_to_one_that_waits(self, visit: Visit) -> None:
        page = visit.go("/")
        page.locator("#feed").get_by_role("link", name="Finish the cart").click()
        page.get_by_text("waits to be picked up").wait_for()


class TestStats:
    def test_the_period_is_chosen(self, visit: Visit) -> None:
        page = visit.go("/stats")
        page.get_by_role("link", name="A year").click()
        page.wait_for_url("**/stats?days=365")
        page.get_by_role("heading", name="What it cost").wait_for()


class TestByKeyboard:
    def test_a_memory_is_remembered_pinned_edited_and_forgotten(self, visit: Visit, site: Furnished) -> None:
        page = visit.go("/memory")
        keys = page.keyboard
        page.get_by_label("What is to be remembered, in every project").focus()
        keys.type("The kettle is red")
        keys.press("Tab")
        keys.press("Enter")
        row = page.locator(".memory", has_text="The kettle is red")
        row.wait_for()
        row.get_by_role("button", name="Pin").focus()
        keys.press("Space")
        row.get_by_role("button", name="Unpin").wait_for()
        # The row was written anew, and the focus is where it was.
        wait_until(lambda: page.evaluate("document.activeElement.textContent") == "Unpin")
        for _ in range(2):
            keys.press("Tab")
        keys.press("Enter")
        row.get_by_label("Text").wait_for()
        keys.press("Tab")
        keys.press("End")
        keys.type(" again")
        for _ in range(2):
            keys.press("Tab")
        keys.press("Enter")
        row = page.locator(".memory", has_text="The kettle is red again")
        row.wait_for()
        row.get_by_role("button", name="Forget").focus()
        keys.press("Enter")
        page.locator(".going").wait_for()
        keys.press("Enter")
        page.locator(".going").wait_for(state="detached")
        assert "The kettle is red again" in texts(site)

    def test_filters_folds_and_the_theme_are_used(self, visit: Visit) -> None:
        page = visit.go("/sessions")
        page.get_by_label("Time").focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_url("**since=1*")
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Light or dark").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        visit.go("/health")
        fold = page.locator("#findings summary").first
        fold.focus()
        page.keyboard.press("Enter")
        page.locator("#findings details[open]").first.wait_for()


class TestBrief:
    def test_the_text_comes_first_and_its_items_are_folded(self, visit: Visit) -> None:
        page = visit.go("/briefs")
        page.locator("main td a").first.click()
        page.locator("#text .lines").wait_for()
        assert page.locator("#said table").is_hidden()
        page.locator("#said summary").click()
        page.locator("#said table").wait_for(state="visible")


class TestTimes:
    def test_times_are_those_of_the_browser(self, visits: Callable[..., Visit]) -> None:
        pages = [visits(timezone_id=zone).go("/sessions/s1") for zone in ("Asia/Tokyo", "America/Lima")]
        for page in pages:
            page.reload()
        east, west = (page.locator("#facts time").first.text_content() for page in pages)
        assert east != west


class TestLive:
    def test_what_is_new_shows_up_by_itself(self, visit: Visit, site: Furnished) -> None:
        page = visit.go("/")
        with site.store() as store, store.writing():
            new = session("brand-new-one", project=site.project, last_event_at=site.at + 10**7)
            store.put_session(new, NEWEST)
        page.locator('#live a[href="/sessions/brand-new-one"]').wait_for()

    def test_what_came_between_a_page_and_its_ear_shows_up_too(self, visit: Visit, site: Furnished) -> None:
        def late(route: Any) -> None:  # noqa: ANN401
            with site.store() as store, store.writing():
                new = session("before-it-listened", project=site.project, last_event_at=site.at + 10**7 + 1)
                store.put_session(new, NEWEST)
            route.continue_()

        visit.page.route("**/api/live*", late, times=1)
        visit.go("/").locator('#live a[href="/sessions/before-it-listened"]').wait_for()

    def test_what_one_is_typing_is_left_alone(self, visit: Visit, site: Furnished) -> None:
        page = visit.go("/memory")
        card = page.locator(".memory", has_text="Fact 1.")
        card.get_by_text("Edit").click()
        card.get_by_label("Text").fill("half a sentence")
        with page.expect_response("**/memory"), site.store() as store, store.writing():
            store.add_checkpoint(checkpoint("c-live", session="s2", created_at=site.at + 10**7), NEWEST)
        assert card.get_by_label("Text").input_value() == "half a sentence"
