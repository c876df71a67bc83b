"""Searching while typing, in a real browser."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.support.serving import Server
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
from tests.web.library.browsing import (
    focused,
    note_changes,
    press,
    rows,
    visited,
    wait_for_changes,
)


def test_a_search_is_shown_while_it_is_typed(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(many, "/library?is_unread_only=false"))
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
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(page.locator(".posts li[id]").nth(30)).to_be_attached()
        page.evaluate("scrollTo(0, 0)")
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

    visited(many, chromium, many_state, visit)


def test_a_search_that_finds_nothing_and_no_text_at_all_are_shown_too(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(many, "/library?is_unread_only=false"))
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

    visited(many, chromium, many_state, visit)
