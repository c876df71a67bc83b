"""The selection and the trash in a real browser, with and without scripts."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make
from tests.web.accessibility import each_look, violations
from tests.web.chromium import is_too_wide, on_a_phone
from tests.web.library.browsing import press_in_turn
from tests.web.library_posts import POSTS

MORE = 300
LIST = "/library?author=many"
PICK = (
    "([id, how]) => document.querySelector(id)"
    ".dispatchEvent(new CustomEvent('library:pick', {bubbles: true, detail: {how}}))"
)


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    more = [
        make.post(post_id=str(number), text=f"post {number}", author="many", sort_index=number)
        for number in range(1, MORE + 1)
    ]
    return [*POSTS, *more]


def boxes(page: Page) -> Any:
    return page.locator(".pick input")


def picked(page: Page) -> int:
    return page.locator(".pick input:checked").count()


def test_posts_are_picked_in_ranges_changed_and_changed_back(page: Page) -> None:
    page.goto(LIST)
    bar = page.locator(".pickbar")
    expect(bar).not_to_be_visible()
    boxes(page).nth(1).check(force=True)
    expect(bar).to_contain_text("1 selected")
    boxes(page).nth(4).click(modifiers=["Shift"], force=True)
    expect(bar).to_contain_text("4 selected")
    page.evaluate(PICK, ["#p-298", "one"])
    page.evaluate(PICK, ["#p-292", "range"])
    assert picked(page) == 8
    page.evaluate("document.dispatchEvent(new CustomEvent('library:pick-none'))")
    expect(bar).not_to_be_visible()
    # By the keyboard alone.
    boxes(page).nth(0).focus()
    page.keyboard.press("Space")
    expect(bar).to_contain_text("1 selected")
    bar.get_by_role("button", name="Archive").press("Enter")
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Archived 1 post.")
    expect(page.locator("#p-300")).to_have_count(0)
    toast.locator("[data-undo]").click()
    expect(toast).to_contain_text("Undone: 1 post changed back.")
    expect(page.locator("#p-300")).to_have_count(1)


def test_all_that_match_are_changed_with_progress_and_undone(page: Page) -> None:
    page.goto(LIST)
    boxes(page).nth(0).check(force=True)
    page.get_by_label("All 300 that match").check()
    expect(page.locator(".pickbar")).to_contain_text("300 selected")
    assert picked(page) == boxes(page).count()
    page.locator(".pickbar [data-label]").click()
    page.get_by_role("combobox", name="Find or make a label").fill("<b>Many</b>")
    page.get_by_role("option", name="Make “<b>Many</b>”").click()
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Added the label “<b>Many</b>” to 300 posts.")
    toast.locator("[data-undo]").click()
    expect(toast).to_contain_text("Undone: 300 posts changed back.")
    expect(page.get_by_role("link", name="<b>Many</b>")).to_have_count(0)


@each_look
def test_axe_finds_no_problem(page: Page, look: str) -> None:
    page.goto("/library?density=compact")
    boxes(page).nth(0).check(force=True)
    page.locator(".pickbar [data-label]").click()
    expect(page.locator(".picker").get_by_role("option").first).to_be_visible()
    assert violations(page) == [], look
    assert not is_too_wide(page)


def test_keys_change_the_selection_and_undo_it_after_its_message(page: Page) -> None:
    page.goto(LIST)
    before = [row.get_attribute("id") for row in page.locator(".posts li[id^='p-']").all()]
    for key in ("j", "x", "j", "x", "e"):
        page.keyboard.press(key)
    message = page.get_by_role("status")
    expect(message).to_contain_text("Archived 2 posts.")
    page.get_by_role("button", name="Dismiss").click()
    expect(message).to_have_count(0)
    page.keyboard.press("z")
    expect(message).to_contain_text("Undone: 2 posts changed back.")
    first = page.locator(".posts li[id^='p-']").first
    expect(first).to_have_attribute("id", before[0] or "")
    page.goto("/digests")
    press_in_turn(page, "g", "a")
    page.wait_for_url("**/library?is_unread_only=false&hide_archived=false")


@on_a_phone
def test_the_trash_on_a_phone_has_a_button_that_restores_and_its_count_on_a_line_with_others(
    page: Page,
) -> None:
    page.goto(LIST)
    boxes(page).nth(0).check(force=True)
    page.locator(".pickbar").get_by_role("button", name="Trash").tap()
    expect(page.get_by_role("status")).to_contain_text("Moved 1 post to the trash.")
    page.goto("/trash")
    middles = [
        box["y"] + box["height"] / 2
        for one in (page.get_by_role("heading", name="1 post"), page.get_by_text("Restore all"))
        if (box := one.bounding_box())
    ]
    assert abs(middles[0] - middles[1]) <= 2

    restore = page.get_by_role("button", name="Restore", exact=True).and_(page.locator(".ib"))
    box = restore.bounding_box()
    assert box
    assert min(box["width"], box["height"]) >= 40
    restore.tap()
    expect(page.get_by_role("heading", name="The trash is empty")).to_be_visible()


@on_a_phone
def test_the_bar_of_the_selection_fits_a_phone(page: Page) -> None:
    shown = """(row) => {
      const pick = row.querySelector(".pick");
      const bead = getComputedStyle(pick, "::before").display !== "none";
      return [bead, getComputedStyle(pick.querySelector("input")).opacity];
    }"""
    page.goto(f"{LIST}&is_unread_only=false")
    row = page.locator(".posts li .post").first
    # The picture of the author is in the place of the box, and unread posts have a bead.
    assert row.evaluate(shown) == [True, "0"]
    row.get_by_role("button", name="Mark read").click()
    assert row.evaluate(shown) == [False, "0"]
    row.get_by_role("button", name="Mark unread").click()
    boxes(page).nth(0).check(force=True)
    assert row.evaluate(shown) == [True, "1"]
    page.locator(".picks .all input").check()
    for control in page.locator(".pickbar :is(button, summary, label):visible").all():
        box = control.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360, control
