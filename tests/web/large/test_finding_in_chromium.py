"""Finding and reading among 20,000 posts in a real browser, on both databases."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import varied_posts
from tests.support.serving import Server
from tests.support.varied_posts import is_archived
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium, follow
from tests.web.large.walking import NUMBERS, heading, listed, open_list, toast, walked
from tests.web.library.browsing import focused, press, rows
from tests.web.library.test_paging_in_chromium import settle, steady_top
from tests.web.notes.test_in_chromium import SELECT

# Together, the steps may wait longer than other tests on a busy machine.
pytestmark = pytest.mark.timeout(300)

ALL = "/library?is_unread_only=false"
SHOWN = sum(not is_archived(number) for number in NUMBERS)
RARE = len(NUMBERS[:: varied_posts.RARE_EVERY])
LABEL = varied_posts.LABELS[1]
# The newest posts that have only a text, and an article.
PLAIN = NUMBERS[-varied_posts.KINDS]
ARTICLE = PLAIN + 6
NOTED = PLAIN + 13


def test_pages_are_loaded_and_the_place_is_kept(
    large: Server, chromium: Chromium, large_state: Any
) -> None:
    def walk(page: Page) -> None:
        open_list(page, large, ALL, SHOWN)
        for loaded in (30, 60, 90):
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            expect(page.locator(".posts li[id]").nth(loaded)).to_be_attached()
        found = rows(page)
        assert len(found) == len(set(found))
        newest = [f"p-{varied_posts.post_id(n)}" for n in NUMBERS[::-1] if not is_archived(n)]
        assert found == newest[: len(found)]
        page.locator(f"#{found[70]}").scroll_into_view_if_needed()
        page.wait_for_url("**cursor=*#p-*")
        settle(page)
        place = page.evaluate("history.state.place")
        page.reload()
        assert abs(steady_top(page, place["ids"][0]) - place["offset"]) < 2
        press(page, "j", "j")
        here = focused(page)
        top = steady_top(page, here)
        press(page, "o")
        page.wait_for_url("**/p/*")
        page.go_back()
        assert abs(steady_top(page, here) - top) < 2
        assert focused(page) == here
        page.go_forward()
        page.wait_for_url("**/p/*")
        page.go_back()
        page.wait_for_url("**cursor=*#p-*")
        assert focused(page) == here

    walked(large, chromium, large_state, walk)


def test_searches_filters_and_the_page_of_a_post(
    large: Server, chromium: Chromium, large_state: Any
) -> None:
    def walk(page: Page) -> None:
        page.goto(address(large, "/library"))
        box = page.get_by_role("combobox", name="Search your posts")
        modes = page.get_by_role("group", name="Search by")
        # All posts with this word are read: the page says so.
        modes.get_by_role("radio", name="Words").check()
        box.fill(varied_posts.RARE_WORD)
        press(page, "Enter")
        expect(heading(page)).to_have_text("No posts")
        page.get_by_role("link", name="Look in read and archived posts too").click()
        expect(heading(page)).to_have_text(listed(RARE))
        expect(page.locator("mark").first).to_have_text(varied_posts.RARE_WORD)

        modes.get_by_role("radio", name="Both").check()
        press(page, "/", "Enter")
        page.wait_for_url(f"**vector_search_term={varied_posts.RARE_WORD}*")
        assert f"q={varied_posts.RARE_WORD}" in page.url
        expect(page.locator(".found")).to_contain_text("best first")
        # Posts with the word come before those that are only near in meaning.
        expect(page.locator(".posts li[id] mark").first).to_be_visible()
        expect(page.locator(".posts li[id]:not(:has(mark))")).to_have_count(0)
        modes.get_by_role("radio", name="Meaning").check()
        press(page, "/", "Enter")
        page.wait_for_url(lambda url: "q=" not in url and "vector_search_term=" in url)
        expect(page.locator(".posts li[id]").nth(20)).to_be_attached()
        follow(page, page.get_by_role("link", name="Clear the search"))

        page.get_by_text("Filter", exact=True).click()
        page.locator("#f-tag").fill(LABEL)
        page.locator("#f-type").select_option("article")
        page.get_by_role("button", name="Apply the filters").click()
        page.wait_for_url("**media_type=article*")
        posts = [varied_posts.post(n) for n in NUMBERS]
        # The link above has included archived posts.
        labelled = [post for post in posts if LABEL in post["tags"]]
        written = [post for post in labelled if post["tweet_details"].get("article")]
        expect(heading(page)).to_have_text(listed(len(written)))
        page.get_by_role("link", name="Remove the filter “type article”").click()
        expect(heading(page)).to_have_text(listed(len(labelled)))

        _read(page, large)

    walked(large, chromium, large_state, walk)
    # The page shows these changes after the server has answered, which may take a moment.
    walked(large, chromium, large_state, lambda page: _write(page, large), is_still=False)


def _read(page: Page, large: Server) -> None:
    """The pages of posts: a thread, a note, and posts that are near in meaning."""
    page.goto(address(large, f"/p/{varied_posts.post_id(PLAIN + 1)}"))
    expect(page.locator(".strand > li")).to_have_count(3)
    page.goto(address(large, f"/p/{varied_posts.post_id(NOTED)}"))
    expect(page.locator(".noted strong")).to_have_text("this")
    page.goto(address(large, f"/p/{varied_posts.post_id(ARTICLE)}"))
    expect(page.get_by_role("region", name="Similar posts").locator("li")).to_have_count(5)


def _write(page: Page, large: Server) -> None:
    """The page of a post: highlight, note, and the JSON of the API."""
    page.goto(address(large, f"/p/{varied_posts.post_id(ARTICLE)}"))
    page.evaluate(SELECT, ["rebooted", "eleven"])
    press(page, "h")
    expect(toast(page)).to_contain_text("The passage is marked.")
    expect(page.locator("article mark")).to_have_text("rebooted eleven")
    field = page.get_by_label("Note about this post")
    field.fill("A **note** that search finds: kingfisher")
    field.press("Tab")
    expect(page.locator("[data-state]")).to_have_text("Saved.")
    page.goto(address(large, "/library?is_unread_only=false&q=kingfisher"))
    expect(heading(page)).to_have_text("1 post")
    page.get_by_role("article").get_by_role("link").first.focus()
