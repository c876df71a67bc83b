"""Every signed-in page on a phone of 360 px: no sideways scrolling, and targets for thumbs."""

from playwright.sync_api import Page, expect

from bowerbird.library import demo
from bowerbird.model.arrival import FIRST_DEMO_ID
from bowerbird.web import navigation
from tests.web.chromium import on_a_phone

pytestmark = on_a_phone
PAGES = (
    *(place.path for place in (*navigation.TABS, *navigation.ROOMS, *navigation.SETTINGS)),
    "/views",
    "/labels",
    "/trash",
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


def test_no_page_scrolls_sideways_and_every_target_fits_a_thumb(page: Page) -> None:
    page.goto("/keys")
    page.get_by_label("What is it for?").fill("A program with a rather long name, " * 3)
    page.get_by_role("button", name="Create the key").click()
    page.goto("/library")
    page.get_by_role("button", name="Fill in the demo").click()
    page.goto("/exports")
    page.get_by_role("button", name="Make the file").click()
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    page.goto("/library?is_unread_only=false&hide_archived=false")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{demo.size()} posts")
    widths, small = {}, {}
    for path in PAGES:
        page.goto(path)
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
        # A page that another part of the site has not built yet is not one of the frame.
        if page.locator("nav.tabbar").count() and (found := page.evaluate(SMALL)):
            small[path] = found
    assert widths == dict.fromkeys(PAGES, 360)
    assert small == {}


def test_the_tab_bar_opens_the_navigation_as_a_drawer(page: Page) -> None:
    page.goto("/library")
    tabs = page.get_by_role("navigation", name="Quick")
    expect(tabs.get_by_role("link", name="Library")).to_have_attribute("aria-current", "page")
    drawer = page.get_by_role("navigation", name="Main")
    expect(drawer).to_be_hidden()
    tabs.get_by_role("button", name="Menu").tap()
    expect(drawer).to_be_visible()
    for place in (*navigation.ROOMS, navigation.SETTINGS[0]):
        expect(drawer.locator(f'a[href="{place.path}"]').first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(SMALL) == []
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    tabs.get_by_role("button", name="Menu").tap()
    drawer.get_by_role("link", name="Settings").tap()
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Exports").tap()
    page.wait_for_url("**/exports")
