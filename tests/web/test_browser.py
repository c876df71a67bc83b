"""The pages in a real browser: accessibility, content security policy, keyboard and layout."""

import re
from typing import Any, Literal

import pytest
from playwright.sync_api import Error, Page, ViewportSize, expect

from tests.support.serving import Server
from tests.web.accessibility import prepare, violations
from tests.web.chromium import is_too_wide
from tests.web.sessions import address

PAGES = ["/", "/keys", "/upgrade", "/docs", "/docs/bookmarks", "/docs/labels", "/nothing"]
# One operation is enough here: the others use the same elements.
CHECKED_PARTS = {"/docs/bookmarks": "#listBookmarks", "/docs/labels": "#addLabel"}
# Both widths and both colour schemes, each with every rule of axe.
LOOKS: dict[str, tuple[ViewportSize, Literal["light", "dark"]]] = {
    "light desktop": ({"width": 1280, "height": 800}, "light"),
    "dark phone": ({"width": 360, "height": 800}, "dark"),
}
WIDTHS = (320, 800)
FOCUSED = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  return [element.tagName, element.textContent.trim().slice(0, 40), style.outlineStyle];
}"""
OPEN = "() => document.querySelectorAll('#addLabel details').forEach((part) => part.open = true)"
REACHABLE = """() => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((element) => element.checkVisibility()).length"""


@pytest.fixture(scope="module")
def options(served: Server) -> dict[str, Any]:
    """A stranger, who has no cookies."""
    return {"base_url": address(served, "")}


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
@pytest.mark.browser(reduced_motion="reduce", may_complain=True)
def test_a_page_is_accessible_fits_the_screen_and_the_browser_reports_nothing(
    page: Page, path: str
) -> None:
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(f"{request.url} {request.failure}"))
    page.on("console", lambda message: failed.append(message.text))
    prepare(page)
    response = page.goto(path)
    assert response
    assert response.status == (404 if path == "/nothing" else 200)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert not is_too_wide(page), width
    page.evaluate(OPEN)
    if path == "/docs/labels":
        page.locator("#addLabel").get_by_role("button", name="Send").click()
        expect(page.locator("#addLabel .outcome")).to_be_visible()
    for look, (viewport, color_scheme) in LOOKS.items():
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        assert violations(page, CHECKED_PARTS.get(path)) == [], look
    # The browser reports the 404 page.
    assert [message for message in failed if not message.endswith("404 (Not Found)")] == []


@pytest.mark.browser(may_complain=True)
def test_the_policy_blocks_injected_scripts_and_styles(page: Page) -> None:
    page.goto("/")
    with pytest.raises(Error) as blocked:
        page.add_script_tag(content="document.title = 'injected'")
    assert page.title() != "injected"
    with pytest.raises(Error):
        page.add_style_tag(content="body { display: none }")
    assert "This document requires 'TrustedScript'" in str(blocked.value)


@pytest.mark.browser(bypass_csp=True)
def test_every_control_is_reachable_by_keyboard_and_shows_its_focus(page: Page) -> None:
    for path in ("/", "/keys", "/docs/labels"):
        page.goto(path)
        reachable = page.evaluate(REACHABLE)
        focused = []
        for _ in range(reachable):
            page.keyboard.press("Tab")
            focused.append(page.evaluate(FOCUSED))
        assert reachable > 10, path
        assert focused[0][:2] == ["A", "Skip to content"], path
        assert "BODY" not in {tag for tag, _, _ in focused}, path
        assert {outline for _, _, outline in focused} == {"solid"}, path


@pytest.mark.browser(bypass_csp=True)
def test_the_skip_link_moves_the_focus_to_the_content(page: Page) -> None:
    page.goto("/docs/labels")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    focused: str = page.evaluate("() => document.activeElement.id")
    assert focused == "content"


@pytest.mark.browser(java_script_enabled=False)
def test_the_reference_is_readable_without_javascript(page: Page) -> None:
    page.goto("/docs/labels")
    operation = page.locator("#addLabel")
    expect(operation).to_contain_text("curl -s")
    expect(operation).to_contain_text("label_name")
    expect(operation.locator(".try")).to_be_hidden()
    operation.locator("summary", has_text="Errors").click()
    expect(operation.get_by_role("link", name="NOT_FOUND")).to_be_visible()
    assert page.locator("button:visible").count() == 0


@pytest.mark.browser(bypass_csp=True, permissions=["clipboard-read", "clipboard-write"])
def test_the_copy_button_copies_the_code(page: Page, served: Server) -> None:
    page.goto("/")
    page.get_by_role("button", name="Copy: First request").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    copied: str = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == f"curl -s '{address(served, '/v1/sandbox/bookmarks?limit=1')}'"


def test_navigation_forms_and_buttons_are_not_printed(page: Page) -> None:
    page.goto("/docs/labels")
    page.emulate_media(media="print")
    expect(page.locator(".contents")).to_be_hidden()
    expect(page.locator("#addLabel .try")).to_be_hidden()
    expect(page.locator("#addLabel .copy").first).to_be_hidden()
    expect(page.locator("#addLabel .path").first).to_be_visible()


@pytest.mark.browser(may_complain=True)
def test_the_form_shows_that_the_server_does_not_respond(page: Page) -> None:
    page.route(re.compile("/v1/sandbox/"), lambda route: route.abort())
    page.goto("/docs/bookmarks")
    page.locator("#listBookmarks .try > summary").click()
    page.locator("#listBookmarks").get_by_role("button", name="Send").click()
    expect(page.locator("#listBookmarks .result")).to_contain_text("No response from")
