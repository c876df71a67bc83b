"""The library in a real browser: accessibility, width, policy, and the flows without a script."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make
from tests.web.accessibility import each_look, violations
from tests.web.chromium import (
    on_a_phone,
    wait_until,
)
from tests.web.library.browsing import press
from tests.web.library_posts import POSTS


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    # Older than the others, however many posts other tests have made.
    more = [
        make.post(text=f"an older post, number {number}", sort_index=number) for number in range(60)
    ]
    return [*POSTS, *more]


@each_look
def test_axe_finds_no_problem_in_the_filters(page: Page, look: str) -> None:
    page.goto("/library")
    for kind, last in (("Author", ".picklist .count"), ("Saved", "a")):
        page.locator("summary", has_text=kind).click()
        expect(page.locator(".pop[open]").locator(last).first).to_be_visible()
        assert violations(page) == [], (kind, look)
        page.keyboard.press("Escape")


def test_a_control_that_appears_on_hover_is_visible_with_the_keyboard(page: Page) -> None:
    page.goto("/library")
    button = page.get_by_role("article").first.get_by_role("button", name="Mark read")
    button.focus()
    expect(page.locator(".acts").first).to_have_css("opacity", "1")


def test_keys_select_and_change_a_thread_as_one(page: Page) -> None:
    page.goto("/library?is_unread_only=false&author=ines_builds")
    press(page, "j", "x")
    expect(page.locator(".pickbar [data-count]")).to_have_text("2")
    press(page, "Escape", "e")
    expect(page.get_by_role("status")).to_contain_text("Archived 2 posts.")
    press(page, "z")
    expect(page.get_by_role("status")).to_contain_text("Undone: 2 posts changed back.")
    press(page, "j", "o")
    expect(page.locator(".strand > li")).to_have_count(2)


def test_an_opened_post_is_read_and_a_long_one_keeps_its_place(page: Page) -> None:
    path = f"/p/{POSTS[5]['post_id']}"
    page.set_viewport_size({"width": 700, "height": 300})
    page.goto(path)
    expect(page.get_by_role("button", name="Mark unread")).to_be_visible()
    page.get_by_role("button", name="Mark unread").click()
    expect(page.get_by_role("button", name="Mark read")).to_be_visible()
    # A browser that does not say who opened the page: the page marks the post itself.
    page.route(path, lambda route: route.continue_(headers={"accept": "text/html"}))
    page.goto(path)
    expect(page.get_by_role("button", name="Mark unread")).to_be_visible()
    page.unroute(path)
    third = page.locator("[data-field]").nth(2)
    third.evaluate("part => part.scrollIntoView({ behavior: 'instant' })")
    top = third.bounding_box()
    page.wait_for_function("() => 'reading-places' in localStorage")
    page.goto("/library")
    page.goto(path)
    expect(third).to_be_in_viewport()
    assert third.bounding_box() == top


@on_a_phone
def test_the_buttons_above_a_post_stay_visible_on_a_phone(page: Page) -> None:
    page.goto(f"/p/{POSTS[5]['post_id']}")
    page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    on_top = """(bar) => {
      const { left, top, width, height } = bar.getBoundingClientRect();
      return bar.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    }"""
    assert page.locator(".read-top").evaluate(on_top)


@on_a_phone
def test_a_row_on_a_phone_has_a_menu_a_long_press_and_a_swipe(page: Page) -> None:
    page.goto("/library?is_unread_only=false")
    post, menu = page.get_by_role("article").filter(has_text="Finally."), page.get_by_role("dialog")
    said, undo = page.get_by_role("status"), page.get_by_role("button", name="Undo")
    post.get_by_role("link", name="More").tap()
    menu.get_by_role("button", name="Archive").tap()
    expect(said).to_contain_text("Archived.")
    expect(post).to_have_count(0)
    undo.tap()
    expect(said).to_contain_text("Undone.")

    finger = {"pointerType": "touch", "isPrimary": True}
    post.dispatch_event("pointerdown", finger)
    expect(menu.get_by_role("button", name="Move to the trash")).to_be_visible()
    post.dispatch_event("pointerup", finger)
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)

    post.evaluate("(row) => row.scrollTo(row.scrollWidth, 0)")
    # Another test may have opened it.
    post.get_by_role("button", name=re.compile("Mark (un)?read")).tap()
    expect(said).to_contain_text("Marked ")
    wait_until(lambda: post.evaluate("(row) => row.scrollLeft") == 0)
    undo.tap()
    expect(said).to_contain_text("Undone.")


@on_a_phone
def test_done_closes_the_sheet_of_the_view_where_the_list_is(page: Page) -> None:
    page.goto("/library")
    opener, done = page.locator(".view summary"), page.get_by_role("link", name="Done")
    page.evaluate("window.isSame = true")
    opener.tap()
    done.tap()
    expect(done).to_be_hidden()
    expect(opener).to_be_focused()
    assert page.evaluate("window.isSame")
