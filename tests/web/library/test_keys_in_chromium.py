"""The library in the hand, in a real browser: keys, changes in place, palette and search."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.accessibility import each_look, violations
from tests.web.library.browsing import (
    HOSTILE,
    TO_END,
    TO_START,
    count,
    focused,
    note_changes,
    press,
    press_in_turn,
    rows,
    wait_for_changes,
)


@pytest.fixture
def options(many: dict[str, Any]) -> dict[str, Any]:
    return many


def test_keys_move_open_and_return(page: Page) -> None:
    page.goto("/library")
    first, second, third, fourth = rows(page)[:4]
    press(page, "j")
    assert focused(page) == first
    press(page, "j", "j", "k")
    assert focused(page) == second
    # Tab goes into the links of the row, and then out of the list.
    press(page, "Tab")
    assert focused(page) == second
    reachable = (
        "all => new Set(all.filter((e) => e.tabIndex >= 0).map((e) => e.closest('li').id)).size"
    )
    assert page.locator(".posts :is(a, button, article)").evaluate_all(reachable) == 1
    press(page, "ArrowDown")
    assert focused(page) == second
    press(page, "j", "Enter")
    page.wait_for_url(f"**/p/{third.removeprefix('p-')}")
    press(page, "k")
    page.wait_for_url(f"**/p/{second.removeprefix('p-')}?*")
    page.go_back()
    press(page, "u")
    page.wait_for_url("**/library#*")
    # The post is read now, and has left the list.
    assert focused(page) == fourth
    press_in_turn(page, "g", "g")
    assert focused(page) == first
    press_in_turn(page, "g", "a")
    page.wait_for_url("**/library?is_unread_only=false&hide_archived=false")
    press_in_turn(page, "g", "g")
    unread = page.locator(".posts .post:not(.read)").nth(1)
    press(page, "n")
    expect(unread).to_be_focused()
    press(page, "f")
    expect(page.locator(".pop[open] .picklist .count").first).to_be_visible()
    press(page, "ArrowDown")
    expect(page.locator(".pop[open] .picklist a").first).to_be_focused()
    press(page, "Escape")
    expect(page.locator("summary.chip", has_text="Type")).to_be_focused()
    press(page, "/")
    expect(page.get_by_label("Search your posts")).to_be_focused()
    page.keyboard.type("jjr")
    expect(page.get_by_label("Search your posts")).to_have_value("jjr")


def test_a_star_is_shown_at_once_counted_and_undone(page: Page) -> None:
    page.goto("/library")
    note_changes(page)
    star = page.locator(f"#{rows(page)[0]} .star")
    press(page, "j", "b")
    expect(star).to_have_attribute("aria-pressed", "true")
    assert focused(page) == rows(page)[0]
    assert count(page, "star") == 1
    wait_for_changes(page, 1)
    press_in_turn(page, "g", "f")
    expect(page.get_by_role("heading", level=1)).to_have_text("1 post")
    note_changes(page)
    press(page, "j", "b", "z")
    wait_for_changes(page, 2)
    press(page, "b")
    wait_for_changes(page, 3)
    # The row stays until the list is left.
    expect(page.locator(".star")).to_have_attribute("aria-pressed", "false")
    assert count(page, "star") == 0


def test_a_change_is_shown_at_once_counted_and_undone(page: Page) -> None:
    page.goto("/library")
    before, unread, total = rows(page), count(page, "bead"), count(page, "library")
    archived = count(page, "archive")
    heading = page.get_by_role("heading", level=1)
    note_changes(page)
    press(page, "j", "r")
    # A read post stays until the list is left; the focus goes on.
    assert rows(page) == before
    expect(page.locator(f"#{before[0]} .post")).to_have_class("post read")
    assert focused(page) == before[1]
    assert count(page, "bead") == unread - 1
    expect(heading).to_have_text(f"{unread - 1} unread")
    expect(page.get_by_role("status")).to_contain_text("Marked read.")
    press(page, "z")
    expect(page.get_by_role("status")).to_contain_text("Undone.")
    assert focused(page) == before[0]
    assert count(page, "bead") == unread

    press(page, "j", "e")
    assert rows(page) == [before[0], *before[2:]]
    assert focused(page) == before[2]
    assert count(page, "archive") == archived + 1
    press(page, "#")
    assert rows(page) == [before[0], *before[3:]]
    assert count(page, "archive") == archived + 1
    assert count(page, "library") == total - 1
    page.get_by_role("button", name="Undo").click()
    assert rows(page) == [before[0], *before[2:]]
    assert focused(page) == before[2]
    expect(page.get_by_role("status")).to_contain_text("Undone.")
    wait_for_changes(page, 5)

    # The server has made the same changes.
    page.reload()
    assert rows(page)[:2] == [before[0], before[2]]
    assert count(page, "bead") == unread - 1
    page.goto(f"/p/{before[1].removeprefix('p-')}")
    press(page, "e")
    expect(page.get_by_role("status")).to_contain_text("Taken out of the archive.")


# The browser reports the answer.
@pytest.mark.browser(may_complain=True)
def test_a_refused_change_is_taken_back_with_a_notice(page: Page) -> None:
    def refuse(route: Route) -> None:
        body = json.dumps({"error": "The disk is full. Nothing was written."})
        route.fulfill(status=200 if allowed else 507, body=body)

    allowed: list[str] = []
    page.goto("/library")
    before, unread = rows(page), count(page, "bead")
    page.route("**/library/change", refuse)
    press(page, "j", "j", "e")
    expect(page.get_by_role("alert")).to_contain_text("The disk is full.")
    assert rows(page) == before
    assert count(page, "bead") == unread
    assert focused(page)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    allowed.append("now")
    page.get_by_role("button", name="Try again").click()
    assert len(rows(page)) == len(before) - 1


def test_selection_and_labels_are_events_and_keys_rest(page: Page) -> None:
    listen = """() => {
      globalThis.seen = [];
      for (const name of ["pick", "pick-all", "pick-none", "label"]) {
        document.addEventListener(`library:${name}`, (event) => {
          event.preventDefault();
          globalThis.seen.push([name, event.target.id ?? "document", event.detail?.how ?? ""]);
        });
      }
    }"""
    page.goto("/library")
    page.evaluate(listen)
    first, second = rows(page)[:2]
    press(page, "j", "x", "j", "Shift+X", "*", "l")
    expect(page.get_by_role("combobox", name="Find or make a label")).to_be_focused()
    press(page, "Escape", "Escape")
    assert page.evaluate("seen") == [
        ["pick", first, "one"],
        ["pick", second, "range"],
        ["pick-all", "document", ""],
        ["label", "document", ""],
        ["pick-none", "document", ""],
    ]
    # With a modifier a key belongs to the browser.
    press(page, "Control+e", "Alt+j")
    assert focused(page) == second
    press(page, "?")
    page.get_by_label("Use single keys").uncheck()
    press(page, "Escape")
    assert focused(page) == second
    press(page, "j", "e")
    assert focused(page) == second
    assert rows(page)[1] == second
    # Without keys every row is in the tab order.
    all_in = "all => all.every((link) => link.tabIndex === 0)"
    assert page.locator(".posts a").evaluate_all(all_in)
    page.reload()
    before = focused(page)
    press(page, "j")
    assert focused(page) == before
    page.goto("/help/keys")
    page.get_by_label("Use single keys").check()


def test_the_palette_finds_places_and_does_what_keys_do(page: Page) -> None:
    page.goto("/library")
    press(page, "j", "j", "Control+k")
    palette = page.get_by_role("dialog", name="Commands")
    box = palette.get_by_role("combobox", name="Command or search")
    expect(box).to_be_focused()
    box.fill("IMG")
    expect(palette.get_by_role("option")).to_have_count(3)
    expect(palette.get_by_role("option").first).to_contain_text(HOSTILE)
    box.fill("activ")
    expect(palette.get_by_role("option").first).to_have_text("Activity")
    press(page, "ArrowDown", "ArrowUp", "Escape")
    second = rows(page)[1]
    assert focused(page) == second
    press(page, "Control+k")
    box.fill("mark")
    press(page, "Enter")
    expect(page.locator(f"#{second} .post")).to_have_class("post read")
    press(page, "z", "Control+k")
    box.fill("acco")
    press(page, "Enter")
    page.wait_for_url("**/account")
    press(page, "Control+k")
    box.fill("bottle")
    press(page, "Enter")
    page.wait_for_url("**/library?is_unread_only=false&q=bottle")


@each_look
def test_axe_finds_no_problem_in_what_opens(page: Page, look: str) -> None:
    page.goto("/library")
    press(page, "j", "r")
    expect(page.get_by_role("status")).to_contain_text("Marked read.")
    assert violations(page) == [], look
    press(page, "z", "?")
    page.get_by_role("dialog", name="Keyboard").wait_for()
    assert violations(page) == [], look
    press(page, "Escape", "Control+k")
    page.keyboard.type("b")
    page.locator("#commands [role=option]").first.wait_for()
    assert violations(page) == [], look
    press(page, "Escape", "/")
    page.keyboard.type("bi")
    page.locator("#suggestions [role=option]").first.wait_for()
    assert violations(page) == [], look
    page.goto("/help/keys")
    assert violations(page) == [], look


def test_the_search_box_suggests_and_remembers(page: Page) -> None:
    page.goto("/library")
    box = page.get_by_role("combobox", name="Search your posts")
    options = page.locator("#suggestions [role=option]")
    box.fill("bottle <im")
    expect(options).to_contain_text(HOSTILE)
    box.fill("bottle MARA")
    expect(options).to_contain_text("Mara Lindqvist")
    press(page, "ArrowDown", "Enter")
    page.wait_for_url("**/library?author=%40mara_fieldnotes&q=bottle")
    expect(page.locator("mark").first).to_have_text("bottle")
    page.get_by_role("link", name="Remove the filter “by @mara_fieldnotes”").click()

    box.fill("nest")
    press(page, "Enter")
    page.wait_for_url("**/library?q=nest")
    expect(box).to_be_focused()
    page.goto("/library")
    press(page, "/")
    expect(options).to_have_text("nest")
    # Its filter leaves the box empty; what was found is not covered.
    page.get_by_role("button", name="Forget these searches").click()
    box.fill("from:nobody")
    press(page, "Enter")
    page.wait_for_url("**/library?author=nobody")
    expect(box).to_be_focused()
    expect(options).to_have_count(0)
    page.evaluate("localStorage.setItem('recent-searches', '[\"nest\"]')")
    page.goto("/library")
    press(page, "/")
    expect(options).to_have_text("nest")
    press(page, "ArrowDown", "Enter")
    page.wait_for_url("**/library?q=nest")
    page.goto("/library")
    press(page, "/")
    page.get_by_role("button", name="Forget these searches").click()
    expect(options).to_have_count(0)
    assert page.evaluate("localStorage.getItem('recent-searches')") is None


def test_a_search_is_shown_while_it_is_typed(page: Page) -> None:
    page.goto("/library?is_unread_only=false")
    heading = page.get_by_role("heading", level=1)
    everything, entries = heading.inner_text(), page.evaluate("history.length")
    page.evaluate("globalThis.isSame = true")
    press(page, "/")
    for typed, found in (("Fin", "Fin"), ("ally", "Finally")):
        page.keyboard.type(typed, delay=20)
        page.wait_for_url(f"**/library?is_unread_only=false&q={found}")
    expect(page.locator("mark").first).to_have_text("Finally")
    box = page.get_by_role("combobox", name="Search your posts")
    expect(box).to_be_focused()
    expect(box).to_have_value("Finally")
    expect(page.locator("form.find [role=status]")).to_contain_text("posts")
    expect(page).to_have_title("Search: Finally · Bowerbird")
    assert page.evaluate("history.length") == entries + 1
    assert page.evaluate("isSame")

    # What is shown now has its keys, its selection and its further pages.
    total = heading.inner_text()
    expect(page.locator(".picks .all")).to_contain_text(f"All {total.split()[0]}")
    page.evaluate(TO_END)
    expect(page.locator(".posts li[id]").nth(30)).to_be_attached()
    page.evaluate(TO_START)
    first, second = rows(page)[:2]
    press(page, "Escape")
    assert focused(page) == first
    note_changes(page)
    press(page, "e")
    expect(page.get_by_role("status").filter(has_text="Archived.")).to_be_visible()
    assert rows(page)[0] == second
    press(page, "z")
    assert rows(page)[0] == first
    wait_for_changes(page, 2)

    page.go_back()
    expect(heading).to_have_text(everything)
    expect(box).to_have_value("")
    page.go_forward()
    expect(heading).to_have_text(total)


def test_a_search_that_finds_nothing_and_no_text_at_all_are_shown_too(page: Page) -> None:
    page.goto("/library?is_unread_only=false")
    heading = page.get_by_role("heading", level=1)
    everything = heading.inner_text()
    press(page, "/")
    page.keyboard.type("Finalyx")
    expect(heading).to_have_text("No posts")
    assert rows(page) == []
    press(page, "Backspace", "Backspace")
    page.keyboard.type("ly")
    expect(page.locator("mark").first).to_have_text("Finally")
    page.get_by_role("combobox", name="Search your posts").fill("")
    expect(heading).to_have_text(everything)
    assert len(rows(page)) == 30
