"""Paging in a real browser: the place is kept and nothing moves."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.waiting import wait_until
from tests.web.library.browsing import SHIFTS, TO_END, TO_START, focused, press, rows


@pytest.fixture
def options(many: dict[str, Any]) -> dict[str, Any]:
    return many


# Something that moves is elsewhere in one of the next frames.
_AT_REST = """async (row) => {
  const top = () => document.getElementById(row).getBoundingClientRect().top;
  for (let before = top(), same = 0; ; before = top()) {
    await new Promise(requestAnimationFrame);
    same = top() === before ? same + 1 : 0;
    if (same === 10) return before;
  }
}"""


def scroll_to_end(page: Page) -> None:
    """Scrolls until no more posts are loaded."""

    def is_at_end() -> bool:
        page.evaluate(TO_END)
        return page.locator(".posts li[id]").count() >= 300

    wait_until(is_at_end)


def settle(page: Page) -> None:
    """Waits until the address is the place of the topmost row."""
    topmost = """() => {
      const edge = document.querySelector(".find").getBoundingClientRect().bottom;
      const rows = [...document.querySelectorAll(".posts li[id]")];
      return rows.find((row) => row.getBoundingClientRect().bottom > edge).id;
    }"""
    wait_until(lambda: page.url.endswith(f"#{page.evaluate(topmost)}"))


def steady_top(page: Page, row: str) -> float:
    """Where a row is when the page has come to rest."""
    return float(page.evaluate(_AT_REST, row))


def test_posts_are_loaded_and_the_place_is_kept(page: Page) -> None:
    path = "/library?is_unread_only=false"
    page.add_init_script(SHIFTS)
    page.goto(path)
    page.evaluate(TO_END)
    expect(page.locator(".posts li[id]").nth(30)).to_be_attached()
    page.evaluate(TO_END)
    # The address is the page of the topmost post.
    end = page.evaluate("scrollY")
    page.mouse.wheel(0, -600)
    # A turn of the wheel is animated.
    wait_until(lambda: page.evaluate("scrollY") <= end - 599)
    page.wait_for_url("**cursor=*#p-*")
    steady_top(page, page.url.partition("#")[2])
    settle(page)
    place = page.evaluate("history.state.place")
    page.reload()
    expect(page.locator(f"#{place['ids'][0]}")).to_be_in_viewport()
    assert abs(steady_top(page, place["ids"][0]) - place["offset"]) < 2

    # Open a post, and come back by the button of the browser.
    press(page, "j", "j")
    here = focused(page)
    top = steady_top(page, here)
    press(page, "o")
    page.wait_for_url("**/p/*")
    page.go_back()
    expect(page.locator(f"#{here}")).to_be_in_viewport()
    wait_until(lambda: focused(page) == here)
    assert abs(steady_top(page, here) - top) < 2
    page.go_forward()
    page.wait_for_url("**/p/*")
    page.go_back()
    wait_until(lambda: focused(page) == here)

    # Everything up to the limit, and no post twice.
    page.goto(path)
    scroll_to_end(page)
    found = rows(page)
    assert len(found) == len(set(found)) == 300
    expect(page.get_by_role("link", name="Older posts")).to_be_visible()
    page.get_by_role("link", name="Older posts").click()
    expect(page.locator(f"#{found[-1]}")).to_have_count(0)
    page.wait_for_load_state()
    assert rows(page)
    assert not set(rows(page)[:30]) & set(found)
    page.get_by_role("link", name="Newer posts").click()
    expect(page.locator(f"#{found[-1]}")).to_be_attached()
    page.wait_for_load_state()
    assert rows(page)[:30] == found[-30:]
    assert page.evaluate("shifts") == []


def test_a_page_that_repeats_a_post_adds_it_once(page: Page, many: dict[str, Any]) -> None:
    page.goto("/library?is_unread_only=false&limit=20")
    first = rows(page)
    again = f"{many['base_url']}/library?is_unread_only=false&limit=25"
    page.route("**cursor=**", lambda route: route.continue_(url=again))
    page.evaluate(TO_END)
    expect(page.locator(".posts li[id]").nth(20)).to_be_attached()
    found = rows(page)
    assert found[:20] == first
    assert len(found) == len(set(found))


def test_the_first_page_is_light_and_nothing_moves(page: Page) -> None:
    page.add_init_script(SHIFTS)
    requests: list[Any] = []

    def finished(request: Any) -> None:
        requests.append(request)

    page.on("requestfinished", finished)
    page.goto("/library", wait_until="networkidle")
    sizes = [request.sizes() for request in requests]
    sent = sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes)
    assert sent < 60 * 1024
    assert page.evaluate("shifts") == []


FAR = ".posts li.far"
HEIGHT = "document.documentElement.scrollHeight"


def test_rows_far_from_the_screen_are_not_laid_out_and_keep_their_height(page: Page) -> None:
    page.goto("/library?is_unread_only=false")
    page.evaluate(TO_END)
    expect(page.locator(".posts li[id]").nth(59)).to_be_attached()
    page.evaluate(TO_START)
    for width in (1280, 500):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator(".posts li[id]").last).to_have_class("far")
        expect(page.locator(".posts li[id]").first).not_to_have_class("far")
        style = "(row) => getComputedStyle(row).contentVisibility"
        assert page.locator(FAR).last.evaluate(style) == "auto"
        height = page.evaluate(HEIGHT)
        page.evaluate(f"for (const row of document.querySelectorAll('{FAR}')) row.className = ''")
        assert page.evaluate(HEIGHT) == height
        # Also while it is in the list: the text of a row is there for people and programs.
        assert page.locator(".posts li[id] .body").last.inner_text()
