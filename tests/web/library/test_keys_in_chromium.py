"""The library in the hand, in a real browser: keys, changes in place, palette and search."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
from tests.web.library.browsing import (
    HOSTILE,
    WIDE,
    count,
    focused,
    note_changes,
    press,
    rows,
    visited,
    wait_for_changes,
)
from tests.web.rendered import AXE_SIZES
from tests.web.sign_in.test_in_chromium import Watch


def test_keys_move_open_and_return(many: Server, chromium: Chromium, many_state: Any) -> None:
    def visit(page: Page) -> None:
        page.goto(address(many, "/library"))
        first, second, third = rows(page)[:3]
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
        press(page, "u")
        page.wait_for_url("**/library#*")
        assert focused(page) == third
        press(page, "g", "g")
        assert focused(page) == first
        press(page, "g", "a")
        page.wait_for_url("**/library?is_unread_only=false&hide_archived=false")
        press(page, "g", "g")
        unread = page.locator(".posts .post:not(.read)").nth(1)
        press(page, "n")
        expect(unread).to_be_focused()
        press(page, "f")
        expect(page.get_by_label("Type", exact=True)).to_be_focused()
        press(page, "Escape")
        press(page, "/")
        expect(page.get_by_label("Search your posts")).to_be_focused()
        page.keyboard.type("jjr")
        expect(page.get_by_label("Search your posts")).to_have_value("jjr")

    visited(many, chromium, many_state, visit)


def test_a_change_is_shown_at_once_counted_and_undone(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(many, "/library"))
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
        page.goto(address(many, f"/p/{before[1].removeprefix('p-')}"))
        press(page, "e")
        expect(page.get_by_role("status")).to_contain_text("Taken out of the archive.")

    visited(many, chromium, many_state, visit)


def test_a_refused_change_is_taken_back_with_a_notice(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    def visit(page: Page) -> None:
        def refuse(route: Route) -> None:
            body = json.dumps({"error": "The disk is full. Nothing was written."})
            route.fulfill(status=200 if allowed else 507, body=body)

        allowed: list[str] = []
        page.goto(address(many, "/library"))
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

    def watched(page: Page) -> list[str]:
        watch = Watch(page, many)
        visit(page)
        return watch.problems

    problems = chromium.run(watched, storage_state=many_state, viewport=WIDE)
    assert all("507" in problem for problem in problems), problems


def test_selection_and_labels_are_events_and_keys_rest(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    listen = """() => {
      globalThis.seen = [];
      for (const name of ["pick", "pick-all", "pick-none", "label"]) {
        document.addEventListener(`library:${name}`, (event) => {
          event.preventDefault();
          globalThis.seen.push([name, event.target.id ?? "document", event.detail?.how ?? ""]);
        });
      }
    }"""

    def visit(page: Page) -> None:
        page.goto(address(many, "/library"))
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
        page.goto(address(many, "/help/keys"))
        page.get_by_label("Use single keys").check()

    visited(many, chromium, many_state, visit)


def test_the_palette_finds_places_and_does_what_keys_do(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(many, "/library"))
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

    visited(many, chromium, many_state, visit)


@pytest.mark.parametrize("size", AXE_SIZES)
def test_axe_finds_no_problem_in_what_opens(
    many: Server, chromium: Chromium, many_state: Any, size: str
) -> None:
    def visit(page: Page) -> dict[str, list[str]]:
        found = {}
        page.goto(address(many, "/library"))
        press(page, "j", "r")
        expect(page.get_by_role("status")).to_contain_text("Marked read.")
        found["row"] = violations(page)
        press(page, "z", "?")
        page.get_by_role("dialog", name="Keyboard").wait_for()
        found["help"] = violations(page)
        press(page, "Escape", "Control+k")
        page.keyboard.type("b")
        page.locator("#commands [role=option]").first.wait_for()
        found["palette"] = violations(page)
        press(page, "Escape", "/")
        page.keyboard.type("bi")
        page.locator("#suggestions [role=option]").first.wait_for()
        found["suggestions"] = violations(page)
        page.goto(address(many, "/help/keys"))
        found["page"] = violations(page)
        return found

    # What opens is placed by the width of the window, so each look is a visit of its own.
    found = chromium.run(
        visit, storage_state=many_state, bypass_csp=True, reduced_motion="reduce", **AXE_SIZES[size]
    )
    assert found == {name: [] for name in ("row", "help", "palette", "suggestions", "page")}


def test_the_search_box_suggests_and_remembers(
    many: Server, chromium: Chromium, many_state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(many, "/library"))
        box = page.get_by_role("combobox", name="Search your posts")
        options = page.locator("#suggestions [role=option]")
        box.fill("bottle <im")
        expect(options).to_contain_text(HOSTILE)
        box.fill("bottle MARA")
        expect(options).to_contain_text("Mara Lindqvist")
        press(page, "ArrowDown", "Enter")
        page.wait_for_url("**/library?author=%40mara_fieldnotes&q=bottle")
        expect(page.locator("mark").first).to_have_text("bottle")
        page.get_by_role("link", name="Remove the filter “author @mara_fieldnotes”").click()

        box.fill("nest")
        press(page, "Enter")
        page.wait_for_url("**/library?q=nest")
        expect(box).to_be_focused()
        page.goto(address(many, "/library"))
        press(page, "/")
        expect(options).to_have_text("nest")
        press(page, "ArrowDown", "Enter")
        page.wait_for_url("**/library?q=nest")
        page.goto(address(many, "/library"))
        press(page, "/")
        page.get_by_role("button", name="Forget these searches").click()
        expect(options).to_have_count(0)
        assert page.evaluate("localStorage.getItem('recent-searches')") is None

    visited(many, chromium, many_state, visit)
