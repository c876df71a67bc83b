"""Connecting an extension in a real browser."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support import serving
from tests.web.accessibility import violations
from tests.web.chromium import follow

NAME = "<b>Firefox</b> on Linux"
MORNING = datetime(2026, 7, 20, 9, 0, tzinfo=UTC)
HIDE = "Object.defineProperty(document, 'hidden', {{ value: {value}, writable: true }})"
LINK = re.compile(r"http://localhost:\d+/#[0-9A-Z]{4}-[0-9A-Z]{4}")


@pytest.mark.browser(permissions=["clipboard-read", "clipboard-write"])
def test_an_extension_is_connected_and_disconnected(page: Page) -> None:
    page.goto("/keys")
    follow(page, page.get_by_role("link", name="Connect an extension"))
    assert violations(page) == []
    page.get_by_role("button", name="Create a connection link").click()
    link = page.locator(".secret code").inner_text()
    assert LINK.fullmatch(link)
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == link
    assert violations(page) == []

    use(link)
    page.get_by_role("link", name="See connected extensions").click()
    row = page.get_by_role("row").filter(has_text=NAME)
    expect(row).to_contain_text("none yet")
    row.get_by_text("Disconnect").first.click()
    page.get_by_role("button", name="Disconnect the extension").click()
    expect(page.get_by_role("status")).to_contain_text("The extension is disconnected.")


def create(page: Page) -> str:
    page.goto("/connect")
    page.get_by_role("button", name="Create a connection link").click()
    return page.locator(".secret code").inner_text()


def use(link: str) -> None:
    site, _, code = link.partition("/#")
    answer = serving.http.post(f"{site}/connect/redeem", json={"code": code, "name": NAME})
    assert answer.status_code == 200


def test_the_page_says_which_browser_was_connected(page: Page) -> None:
    use(create(page))

    expect(page.get_by_role("heading", name=f"Connected: {NAME}")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Open the library").click()
    page.wait_for_url("**/library")


def test_the_page_asks_only_while_it_is_seen(page: Page) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/state"):
            asked.append(request.url)

    page.on("request", note)
    # Time passes only as the test says.
    page.clock.install(time=MORNING)
    page.clock.pause_at(MORNING + timedelta(minutes=1))
    create(page)
    page.wait_for_load_state()

    with page.expect_response("**/state"):
        page.clock.fast_forward(3_000)
    known = len(asked)
    page.evaluate(HIDE.format(value="true"))
    page.clock.fast_forward(30_000)
    # A later request of the page, so an earlier one is known.
    page.evaluate("() => fetch('/connect')")
    assert len(asked) == known
    page.evaluate(HIDE.format(value="false"))
    with page.expect_response("**/state"):
        page.clock.fast_forward(3_000)
