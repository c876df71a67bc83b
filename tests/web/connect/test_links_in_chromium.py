"""The page with a link in a real browser: it notices that an extension has used the link."""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, Request, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
from tests.web.sign_in.test_in_chromium import Watch

NAME = "<b>Firefox</b> on Linux"
MORNING = datetime(2026, 7, 20, 9, 0, tzinfo=UTC)
HIDE = "Object.defineProperty(document, 'hidden', {{ value: {value}, writable: true }})"
LOOK = "() => document.dispatchEvent(new Event('visibilitychange'))"


def create(page: Page, server: Server) -> str:
    page.goto(address(server, "/connect"))
    page.get_by_role("button", name="Create a connection link").click()
    return page.locator(".secret code").inner_text()


def use(link: str) -> None:
    site, _, code = link.partition("/#")
    answer = serving.http.post(f"{site}/connect/redeem", json={"code": code, "name": NAME})
    assert answer.status_code == 200


def test_the_page_says_which_browser_was_connected(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> tuple[list[str], list[str]]:
        watch = Watch(page, server)
        use(create(page, server))

        expect(page.get_by_role("heading", name=f"Connected: {NAME}")).to_be_visible()
        found = violations(page)
        page.get_by_role("link", name="Open the library").click()
        page.wait_for_url("**/library")
        return found, watch.problems

    assert chromium.run(visit, storage_state=state) == ([], [])


def test_the_page_asks_only_while_it_is_seen_and_the_link_is_valid(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        asked: list[str] = []

        def note(request: Request) -> None:
            if request.url.endswith("/state"):
                asked.append(request.url)

        page.on("request", note)
        page.clock.install(time=MORNING)
        create(page, server)

        with page.expect_response("**/state"):
            # From here on, time passes only as the test says.
            page.clock.pause_at(MORNING + timedelta(minutes=1))
        page.evaluate(HIDE.format(value="true"))
        page.clock.fast_forward(30_000)
        assert len(asked) == 1
        page.evaluate(HIDE.format(value="false"))
        with page.expect_response("**/state"):
            page.evaluate(LOOK)
        assert len(asked) == 2
        page.clock.fast_forward("10:00")
        page.evaluate(LOOK)
        # A later request of the page, so an earlier one would be known.
        page.evaluate("() => fetch('/connect')")
        assert len(asked) == 2

    chromium.run(visit, storage_state=state)


def test_a_link_says_the_same_without_javascript(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        link = create(page, server)
        page.get_by_role("link", name="Check the connection").click()
        expect(page.get_by_role("main")).to_contain_text("No browser has used the link yet.")
        use(link)
        page.get_by_role("link", name="Check again").click()
        expect(page.get_by_role("heading", name=f"Connected: {NAME}")).to_be_visible()

    chromium.run(visit, storage_state=state, java_script_enabled=False)
