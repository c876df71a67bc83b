"""Every signed-in page on a phone of 360 px: no sideways scrolling, and targets for thumbs."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from bowerbird.library.demo import contents
from bowerbird.model.imports import FIRST_DEMO_ID
from bowerbird.web import navigation
from tests.support import serving
from tests.support.serving import Server
from tests.web.account.test_in_chromium import address, signed_in
from tests.web.chromium import Chromium
from tests.web.sign_in.test_in_chromium import Watch

PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "has_touch": True,
    "is_mobile": True,
}
PAGES = (
    *(place.path for place in navigation.EVERYWHERE if place is not navigation.DOCS),
    "/library?density=compact&is_unread_only=false",
    "/library?q=nothing-has-this",
    "/library?said=demo-filled",
    "/views/long-reads",
    f"/p/{FIRST_DEMO_ID}",
    f"/p/{FIRST_DEMO_ID + 7}",
    "/save?url=https://x.com/ada/status/20",
    "/exports?author=ada&q=%3Cb%3E",
    "/account/delete",
    "/reauthenticate",
)
# Links inside sentences are as high as their line, and a box to tick is as large as its label.
SMALL = """
() => [...document.querySelectorAll(
  "button, .btn, .ib, summary, .tabbar > *, .side li a, select, textarea, .opt," +
  "input:not([type=hidden], [type=checkbox], [type=radio])"
)].filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([each, box]) => !each.matches(".sr") && box.height > 1 && box.height < 39.5)
  .map(([each, box]) => `${each.tagName} ${each.className} ${each.textContent} ${box.height}`)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("phone")) as running:
        running.run("account", "create", "me@example.com")
        yield running


@pytest.fixture(scope="module")
def state(server: Server, chromium: Chromium) -> Any:
    """The cookies of somebody who has filled in the demo and made an export and a key."""

    def visit(page: Page) -> Any:
        page.goto(address(server, "/keys"))
        page.get_by_label("What is it for?").fill("A program with a rather long name, " * 3)
        page.get_by_role("button", name="Create the key").click()
        expect(page.get_by_role("heading", name="Your new key")).to_be_visible()
        page.goto(address(server, "/library"))
        page.get_by_role("button", name="Fill in the demo").click()
        expect(page.get_by_role("region", name="Demo library")).to_be_visible()
        page.goto(address(server, "/exports"))
        page.get_by_role("button", name="Make the file").click()
        expect(page.get_by_role("link", name="Download")).to_be_visible()
        return page.context.storage_state()

    kept, problems = signed_in(server, chromium, visit)
    assert problems == []
    return kept


def test_no_page_scrolls_sideways_and_every_target_fits_a_thumb(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> tuple[dict[str, int], dict[str, list[str]]]:
        widths, small = {}, {}
        for path in PAGES:
            page.goto(address(server, path))
            widths[path] = page.evaluate("document.documentElement.scrollWidth")
            # A page that another part of the site has not built yet is not one of the frame.
            if page.locator("nav.tabbar").count() and (found := page.evaluate(SMALL)):
                small[path] = found
        return widths, small

    widths, small = chromium.run(visit, storage_state=state, **PHONE)
    assert widths == dict.fromkeys(PAGES, 360)
    assert small == {}


def test_the_tab_bar_opens_the_navigation_as_a_drawer(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, server)
        page.goto(address(server, "/library"))
        tabs = page.get_by_role("navigation", name="Quick")
        expect(tabs.get_by_role("link", name="Library")).to_have_attribute("aria-current", "page")
        drawer = page.get_by_role("navigation", name="Main")
        expect(drawer).to_be_hidden()
        tabs.get_by_role("button", name="Menu").tap()
        expect(drawer).to_be_visible()
        for place in navigation.EVERYWHERE[1:]:
            expect(drawer.locator(f'a[href="{place.path}"]').first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert page.evaluate(SMALL) == []
        page.keyboard.press("Escape")
        expect(drawer).to_be_hidden()
        tabs.get_by_role("button", name="Menu").tap()
        drawer.get_by_role("link", name="Exports").tap()
        page.wait_for_url("**/exports")
        return watch.problems

    assert chromium.run(visit, storage_state=state, **PHONE) == []


def test_the_demo_has_as_many_posts_as_the_page_says(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> str:
        page.goto(address(server, "/library?is_unread_only=false&hide_archived=false"))
        return page.get_by_role("heading", level=1).inner_text()

    assert chromium.run(visit, storage_state=state, **PHONE) == f"{contents.size()} posts"
