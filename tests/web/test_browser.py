"""The pages in a real browser: nothing blocked, nothing out of reach, nothing that axe finds."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped] # has no types
    Axe,
)
from playwright.sync_api import Error, Page, expect

from tests.support.serving import Server
from tests.web.chromium import Chromium

PAGES = ["/", "/keys", "/upgrade", "/docs", "/docs/bookmarks", "/docs/labels", "/nothing"]
# The overview has the same frame; one operation has everything that the others have.
PARTS = {"/docs/bookmarks": "#listBookmarks", "/docs/labels": "#addLabel"}
WIDTHS = {"desktop": 1280, "phone": 360}
FOCUSED = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  return [element.tagName, element.textContent.trim().slice(0, 40), style.outlineStyle];
}"""
OPEN = "() => document.querySelectorAll('#addLabel details').forEach((part) => part.open = true)"
REACHABLE = """() => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((element) => element.checkVisibility()).length"""


def address(server: Server, path: str) -> str:
    return f"http://localhost:{server.port}{path}"


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(served: Server, chromium: Chromium, path: str, size: str) -> None:
    def see(page: Page) -> list[str]:
        page.emulate_media(color_scheme="light")
        page.goto(address(served, path))
        page.evaluate(OPEN)
        if path == "/docs/labels":
            page.locator("#addLabel").get_by_role("button", name="Send").click()
            expect(page.locator("#addLabel .outcome")).to_be_visible()
        found = violations(page, PARTS.get(path))
        page.emulate_media(color_scheme="dark")
        # Nothing but colours differs between the two.
        return found + violations(page, PARTS.get(path), runOnly=["color-contrast"])

    # Without its policy, only so that axe can be put into the page.
    found = chromium.look(
        see,
        bypass_csp=True,
        viewport={"width": WIDTHS[size], "height": 800},
        reduced_motion="reduce",
    )

    assert found == []


def violations(page: Page, part: str | None, **options: Any) -> list[str]:
    found = Axe().run(page, part, options={"resultTypes": ["violations"], **options})
    return [f"{v['id']}: {v['nodes'][0]['html']}" for v in found.response["violations"]]


def test_nothing_is_blocked_and_nothing_fails(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> list[str]:
        said: list[str] = []
        page.on("console", lambda message: said.append(f"{page.url} {message.text}"))
        page.on("pageerror", lambda error: said.append(f"{page.url} {error}"))
        page.on("requestfailed", lambda request: said.append(f"{request.url} {request.failure}"))
        for path in PAGES:
            answer = page.goto(address(served, path))
            assert answer
            assert answer.status == (404 if path == "/nothing" else 200)
        return said

    said = chromium.look(see)

    # The browser itself notes that a page came with 404, and breaks off what the next needs not.
    noted = ("404 (Not Found)", "net::ERR_ABORTED")
    assert [line for line in said if not line.endswith(noted)] == []


def test_the_policy_stops_a_script_that_is_not_ours(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> str:
        page.goto(address(served, "/"))
        with pytest.raises(Error) as refused:
            page.add_script_tag(content="document.title = 'taken'")
        assert page.title() != "taken"
        with pytest.raises(Error):
            page.add_style_tag(content="body { display: none }")
        return str(refused.value)

    assert "This document requires 'TrustedScript'" in chromium.look(see)


@pytest.mark.parametrize("width", [320, 800])
def test_no_page_is_wider_than_the_screen(served: Server, chromium: Chromium, width: int) -> None:
    def see(page: Page) -> dict[str, int]:
        widths = {}
        for path in PAGES:
            page.goto(address(served, path))
            widths[path] = page.evaluate("() => document.documentElement.scrollWidth")
        return widths

    seen = chromium.look(see, bypass_csp=True, viewport={"width": width, "height": 800})

    assert seen == dict.fromkeys(PAGES, width)


def test_the_keyboard_reaches_everything_and_shows_where_it_is(
    served: Server, chromium: Chromium
) -> None:
    def see(page: Page) -> dict[str, tuple[int, list[Any]]]:
        walked = {}
        for path in ("/", "/keys", "/docs/labels"):
            page.goto(address(served, path))
            reachable = page.evaluate(REACHABLE)
            focused = []
            for _ in range(reachable):
                page.keyboard.press("Tab")
                focused.append(page.evaluate(FOCUSED))
            walked[path] = (reachable, focused)
        return walked

    for path, (reachable, focused) in chromium.look(see, bypass_csp=True).items():
        assert reachable > 10, path
        assert focused[0][:2] == ["A", "Skip to the content"], path
        assert "BODY" not in {tag for tag, _, _ in focused}, path
        assert {outline for _, _, outline in focused} == {"solid"}, path


def test_the_skip_link_leads_to_the_content(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> str:
        page.goto(address(served, "/docs/labels"))
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        focused: str = page.evaluate("() => document.activeElement.id")
        return focused

    assert chromium.look(see, bypass_csp=True) == "content"


def test_the_reference_is_a_document_without_scripts(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> None:
        page.goto(address(served, "/docs/labels"))
        operation = page.locator("#addLabel")
        expect(operation).to_contain_text("curl -s")
        expect(operation).to_contain_text("label_name")
        expect(operation.locator(".try")).to_be_hidden()
        operation.locator("summary", has_text="Refusals").click()
        expect(operation.get_by_role("link", name="NOT_FOUND")).to_be_visible()
        assert page.locator("button:visible").count() == 0

    chromium.look(see, java_script_enabled=False)


def test_code_can_be_copied(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> str:
        page.goto(address(served, "/"))
        page.get_by_role("button", name="Copy: The first request").click()
        expect(page.get_by_text("Copied")).to_be_visible()
        copied: str = page.evaluate("() => navigator.clipboard.readText()")
        return copied

    permissions = ["clipboard-read", "clipboard-write"]
    copied = chromium.look(see, bypass_csp=True, permissions=permissions)

    assert copied == f"curl -s '{address(served, '/v1/sandbox/bookmarks?limit=1')}'"


def test_a_page_prints_without_what_only_a_screen_needs(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> None:
        page.goto(address(served, "/docs/labels"))
        page.emulate_media(media="print")
        expect(page.locator(".contents")).to_be_hidden()
        expect(page.locator("#addLabel .try")).to_be_hidden()
        expect(page.locator("#addLabel .copy").first).to_be_hidden()
        expect(page.locator("#addLabel .path").first).to_be_visible()

    chromium.look(see)


def test_what_comes_back_is_shown_even_if_nothing_does(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> None:
        page.route(re.compile("/v1/sandbox/"), lambda route: route.abort())
        page.goto(address(served, "/docs/bookmarks"))
        page.locator("#listBookmarks .try > summary").click()
        page.locator("#listBookmarks").get_by_role("button", name="Send").click()
        expect(page.locator("#listBookmarks .came")).to_contain_text("Nothing came back from")

    chromium.look(see)
