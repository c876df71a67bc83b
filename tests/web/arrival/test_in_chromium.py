"""Arriving in a real browser: the demo, the bookmarklet and the share target."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
from tests.web.sessions import signed_in_state
from tests.web.sign_in.test_in_chromium import Watch

LINK = "https://x.com/bowerwatch/status/1945678901234567890"
READY = "navigator.serviceWorker.ready.then((found) => found.active.scriptURL)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("arrival")) as running:
        running.run("account", "create", "me@example.com")
        yield running


@pytest.fixture(scope="module")
def state(server: Server) -> Any:
    return signed_in_state(server)


def test_the_demo_comes_and_goes_and_a_shared_post_is_saved_without_scripts(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, server)
        page.goto(address(server, "/library"))
        page.get_by_role("button", name="Fill in the demo").click()
        expect(page.get_by_role("status")).to_contain_text("The demo is in.")
        banner = page.get_by_role("region", name="Demo library")
        page.get_by_role("button", name="Archive", exact=True).first.click(force=True)
        expect(page.get_by_role("status")).to_contain_text("Archived.")
        banner.get_by_role("button", name="Remove the demo").click()
        expect(page.get_by_role("heading", name="An empty bower")).to_be_visible()

        page.goto(address(server, f"/save?title=A+post&text=Look:+{LINK}"))
        assert page.get_by_label("Link").input_value() == LINK
        page.get_by_label("Labels").fill("birds")
        page.get_by_role("button", name="Save the post").click()
        expect(page.get_by_role("status")).to_contain_text("Saved.")
        expect(page.get_by_role("heading", name="Post of @bowerwatch")).to_be_attached()
        return watch.problems

    assert chromium.run(visit, storage_state=state, java_script_enabled=False) == []


def test_the_bookmarklet_opens_the_page_that_saves_the_post(
    server: Server, chromium: Chromium, state: Any
) -> None:
    elsewhere = f"http://127.0.0.1:{server.port}/docs"

    def visit(page: Page) -> list[str]:
        watch = Watch(page, server)
        page.goto(address(server, "/import"))
        assert page.evaluate(READY) == address(server, "/offline-worker.js")
        button = page.get_by_role("link", name="Save this post")
        code = button.get_attribute("href") or ""
        button.click()
        expect(page.get_by_text("It works in the bookmarks bar")).to_be_visible()
        problems = list(watch.problems)

        # Another site, where the browser runs the code as that of a bookmark.
        page.goto(elsewhere)
        with page.context.expect_page() as opened:
            page.evaluate(code.removeprefix("javascript:"))
        saving = opened.value
        saving.wait_for_load_state()
        assert saving.get_by_label("Link").input_value() == elsewhere
        expect(saving.get_by_text("This is not a link to a post")).to_be_visible()
        assert saving.evaluate("window.opener") is None
        return problems

    assert chromium.run(visit, storage_state=state, has_service_worker=True) == []


def test_the_browser_finds_nothing_missing_for_an_installation(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> tuple[Any, list[str], Any]:
        watch = Watch(page, server)
        page.goto(address(server, "/library"))
        devtools = page.context.new_cdp_session(page)
        manifest = devtools.send("Page.getAppManifest")
        missing = devtools.send("Page.getInstallabilityErrors")
        return manifest, watch.problems, missing["installabilityErrors"]

    manifest, problems, missing = chromium.run(visit, storage_state=state)
    assert manifest["url"] == address(server, "/manifest.webmanifest")
    assert manifest["errors"] == []
    assert problems == []
    # A test uses a private window, in which browsers install nothing.
    assert [each["errorId"] for each in missing] in ([], ["in-incognito"])
