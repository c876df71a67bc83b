"""20,000 posts of every kind: accessible in light, dark and on a phone; hostile markup is text."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import varied_posts
from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
from tests.web.large.walking import NUMBERS, THREADS, walked
from tests.web.library.browsing import rows
from tests.web.rendered import AXE_SIZES, SMALL_PHONE

# Together, the steps may wait longer than other tests on a busy machine.
pytestmark = pytest.mark.timeout(300)

HOSTILE = varied_posts.post_id(NUMBERS[-varied_posts.KINDS] + 15)
PAGES = (
    "/library?is_unread_only=false",
    "/library?is_unread_only=false&density=compact&limit=10",
    f"/p/{HOSTILE}",
    "/statistics",
)
# One period of posts has every kind. Other tests look at the other pages.
SEEN = (f"/library?is_unread_only=false&limit={varied_posts.KINDS}", f"/p/{HOSTILE}")
# Elements and attributes that only markup of a post could have made.
MADE = "img[src='x'], main script, [onerror], a[href^='javascript'], main b:text-is('handle')"


# The database makes no difference to the markup.
on_sqlite = pytest.mark.parametrize("large", ["sqlite"], indirect=True)


@on_sqlite
@pytest.mark.parametrize("size", AXE_SIZES)
def test_axe_finds_no_problem_and_no_page_is_too_wide(
    large: Server, chromium: Chromium, large_state: Any, size: str
) -> None:
    def walk(page: Page) -> None:
        for path in SEEN:
            page.goto(address(large, path))
            assert violations(page) == [], path
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, path

    # The content security policy would block axe itself.
    options = {"bypass_csp": True, "reduced_motion": "reduce", **AXE_SIZES[size]}
    walked(large, chromium, large_state, walk, **options)


@on_sqlite
def test_a_phone_lists_reads_and_changes_posts_and_markup_stays_text(
    large: Server, chromium: Chromium, large_state: Any
) -> None:
    def walk(page: Page) -> None:
        for path in (*PAGES, "/labels", f"/library?q=n{NUMBERS[-1] - 4}&is_unread_only=false"):
            page.goto(address(large, path))
            assert page.locator(MADE).count() == 0, path
        page.goto(address(large, f"/p/{HOSTILE}"))
        expect(page.locator("article h1")).to_contain_text(varied_posts.HOSTILE)
        page.goto(address(large, THREADS))
        first = rows(page)[0]
        row = page.locator(f"#{first}")
        row.get_by_role("button", name="Archive").tap()
        expect(row).to_have_count(0)
        page.get_by_role("button", name="Undo").tap()
        expect(row).to_have_count(1)
        row.locator("a.when").tap()
        page.wait_for_url("**/p/*")
        page.go_back()
        expect(row).to_be_in_viewport()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(page.locator(".posts li[id]").nth(30)).to_be_attached()

    walked(large, chromium, large_state, walk, **SMALL_PHONE)
