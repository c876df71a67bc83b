"""The frame of the pages on a phone."""

from playwright.sync_api import Page, expect

from bowerbird.web import pages
from tests.web.accessibility import SMALL
from tests.web.chromium import on_a_phone

pytestmark = on_a_phone


def test_the_tab_bar_opens_the_navigation_as_a_drawer(page: Page) -> None:
    page.goto("/library")
    tabs = page.get_by_role("navigation", name="Quick")
    expect(tabs.get_by_role("link", name="Library")).to_have_attribute("aria-current", "page")
    drawer = page.get_by_role("navigation", name="Main")
    expect(drawer).to_be_hidden()
    tabs.get_by_role("button", name="Menu").tap()
    expect(drawer).to_be_visible()
    for place in (*pages.ROOMS, pages.SETTINGS[0]):
        expect(drawer.locator(f'a[href="{place.path}"]').first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(SMALL) == []
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    tabs.get_by_role("button", name="Menu").tap()
    drawer.get_by_role("link", name="Settings").tap()
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Exports").tap()
    page.wait_for_url("**/exports")
