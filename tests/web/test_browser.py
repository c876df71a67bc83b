"""The pages in a real browser: accessibility, content security policy, keyboard and layout."""

import re
from typing import Any, Literal

import pytest
from playwright.sync_api import Error, Page, ViewportSize, expect

from tests.support.serving import Server
from tests.web.accessibility import prepare, violations
from tests.web.chromium import Chromium

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


def url(server: Server, path: str) -> str:
    return f"http://localhost:{server.port}{path}"


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_fits_the_screen_and_the_browser_reports_nothing(
    served: Server, chromium: Chromium, path: str
) -> None:
    def visit(page: Page) -> tuple[list[str], dict[int, int], dict[str, list[str]]]:
        messages = messages_of(page)
        prepare(page)
        response = page.goto(url(served, path))
        assert response
        assert response.status == (404 if path == "/nothing" else 200)
        widths, found = {}, {}
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            widths[width] = page.evaluate("() => document.documentElement.scrollWidth")
        page.evaluate(OPEN)
        if path == "/docs/labels":
            page.locator("#addLabel").get_by_role("button", name="Send").click()
            expect(page.locator("#addLabel .outcome")).to_be_visible()
        for look, (viewport, color_scheme) in LOOKS.items():
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=color_scheme)
            found[look] = violations(page, CHECKED_PARTS.get(path))
        # The browser cancels open requests when the page is closed.
        return list(messages), widths, found

    messages, widths, found = chromium.run(visit, reduced_motion="reduce")

    # The browser reports the 404 page.
    assert [message for message in messages if not message.endswith("404 (Not Found)")] == []
    assert widths == {width: width for width in WIDTHS}
    assert found == {look: [] for look in LOOKS}


def messages_of(page: Page) -> list[str]:
    """What the browser reports from now on: blocked and failed requests, errors of scripts."""
    messages: list[str] = []
    page.on("console", lambda message: messages.append(f"{page.url} {message.text}"))
    page.on("pageerror", lambda error: messages.append(f"{page.url} {error}"))
    page.on("requestfailed", lambda request: messages.append(f"{request.url} {request.failure}"))
    return messages


def test_the_policy_blocks_injected_scripts_and_styles(served: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> str:
        page.goto(url(served, "/"))
        with pytest.raises(Error) as blocked:
            page.add_script_tag(content="document.title = 'injected'")
        assert page.title() != "injected"
        with pytest.raises(Error):
            page.add_style_tag(content="body { display: none }")
        return str(blocked.value)

    assert "This document requires 'TrustedScript'" in chromium.run(visit)


def test_every_control_is_reachable_by_keyboard_and_shows_its_focus(
    served: Server, chromium: Chromium
) -> None:
    def visit(page: Page) -> dict[str, tuple[int, list[Any]]]:
        focus_orders = {}
        for path in ("/", "/keys", "/docs/labels"):
            page.goto(url(served, path))
            reachable = page.evaluate(REACHABLE)
            focused = []
            for _ in range(reachable):
                page.keyboard.press("Tab")
                focused.append(page.evaluate(FOCUSED))
            focus_orders[path] = (reachable, focused)
        return focus_orders

    for path, (reachable, focused) in chromium.run(visit, bypass_csp=True).items():
        assert reachable > 10, path
        assert focused[0][:2] == ["A", "Skip to content"], path
        assert "BODY" not in {tag for tag, _, _ in focused}, path
        assert {outline for _, _, outline in focused} == {"solid"}, path


def test_the_skip_link_moves_the_focus_to_the_content(served: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> str:
        page.goto(url(served, "/docs/labels"))
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        focused: str = page.evaluate("() => document.activeElement.id")
        return focused

    assert chromium.run(visit, bypass_csp=True) == "content"


def test_the_reference_is_readable_without_javascript(served: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(url(served, "/docs/labels"))
        operation = page.locator("#addLabel")
        expect(operation).to_contain_text("curl -s")
        expect(operation).to_contain_text("label_name")
        expect(operation.locator(".try")).to_be_hidden()
        operation.locator("summary", has_text="Errors").click()
        expect(operation.get_by_role("link", name="NOT_FOUND")).to_be_visible()
        assert page.locator("button:visible").count() == 0

    chromium.run(visit, java_script_enabled=False)


def test_the_copy_button_copies_the_code(served: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> str:
        page.goto(url(served, "/"))
        page.get_by_role("button", name="Copy: First request").click()
        expect(page.get_by_text("Copied")).to_be_visible()
        copied: str = page.evaluate("() => navigator.clipboard.readText()")
        return copied

    permissions = ["clipboard-read", "clipboard-write"]
    copied = chromium.run(visit, bypass_csp=True, permissions=permissions)

    assert copied == f"curl -s '{url(served, '/v1/sandbox/bookmarks?limit=1')}'"


def test_navigation_forms_and_buttons_are_not_printed(served: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(url(served, "/docs/labels"))
        page.emulate_media(media="print")
        expect(page.locator(".contents")).to_be_hidden()
        expect(page.locator("#addLabel .try")).to_be_hidden()
        expect(page.locator("#addLabel .copy").first).to_be_hidden()
        expect(page.locator("#addLabel .path").first).to_be_visible()

    chromium.run(visit)


def test_the_form_shows_that_the_server_does_not_respond(
    served: Server, chromium: Chromium
) -> None:
    def visit(page: Page) -> None:
        page.route(re.compile("/v1/sandbox/"), lambda route: route.abort())
        page.goto(url(served, "/docs/bookmarks"))
        page.locator("#listBookmarks .try > summary").click()
        page.locator("#listBookmarks").get_by_role("button", name="Send").click()
        expect(page.locator("#listBookmarks .result")).to_contain_text("No response from")

    chromium.run(visit)
