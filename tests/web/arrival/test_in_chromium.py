"""Arriving in a real browser: the demo, the bookmarklet and the share target."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import Server
from tests.web.accessibility import TARGETS, prepare, violations
from tests.web.sessions import address

OTHER = "https://x.com/ada_prints/status/1955214400312897536"
READY = "navigator.serviceWorker.ready.then((found) => found.active.scriptURL)"


def test_a_key_opens_the_form_as_a_dialog_which_says_what_the_link_is(page: Page) -> None:
    prepare(page)
    page.goto("/statistics")
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Save a link")
    expect(dialog.get_by_label("Link to a post")).to_be_focused()
    dialog.get_by_label("Link to a post").fill("https://blog.example/page")
    expect(dialog.get_by_role("status")).to_contain_text("This is not a link to a post")
    dialog.get_by_label("Link to a post").fill(OTHER)
    expect(dialog.get_by_role("status")).to_contain_text("A post on X. Nothing is saved yet.")
    dialog.get_by_label("Labels").fill("birds")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    page.goto("/library")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command or search")).to_be_focused()
    page.keyboard.type("save a link")
    page.keyboard.press("Enter")
    dialog.get_by_label("Link to a post").fill(OTHER)
    dialog.get_by_label("Labels").fill("birds")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    expect(page.locator(".posts")).to_contain_text("@ada_prints")
    page.wait_for_load_state()
    page.keyboard.press("a")
    dialog.get_by_label("Link to a post").fill(OTHER)
    expect(dialog.get_by_role("status")).to_contain_text("Already in your library, since")
    assert violations(page, options=TARGETS) == []
    dialog.get_by_role("link", name="Close").click()
    page.keyboard.press("z")
    expect(page.get_by_role("status")).to_contain_text("Moved to the trash.")


@pytest.mark.browser(has_service_worker=True)
def test_the_bookmarklet_opens_the_page_that_saves_the_post(page: Page, server: Server) -> None:
    elsewhere = f"http://127.0.0.1:{server.port}/docs"
    page.goto("/import")
    assert page.evaluate(READY) == address(server, "/offline-worker.js")
    button = page.get_by_role("link", name="Save this post")
    code = button.get_attribute("href") or ""
    button.click()
    expect(page.get_by_text("It works in the bookmarks bar")).to_be_visible()

    # Another site, where the browser runs the code as that of a bookmark.
    page.goto(elsewhere)
    with page.context.expect_page() as opened:
        page.evaluate(code.removeprefix("javascript:"))
    saving = opened.value
    saving.wait_for_load_state()
    assert saving.get_by_label("Link").input_value() == elsewhere
    expect(saving.get_by_text("This is not a link to a post")).to_be_visible()
    assert saving.evaluate("window.opener") is None


def test_the_browser_finds_nothing_missing_for_an_installation(page: Page, server: Server) -> None:
    page.goto("/library")
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"] == address(server, "/manifest.webmanifest")
    assert manifest["errors"] == []
    # A test uses a private window, in which browsers install nothing.
    missing = [
        each["errorId"]
        for each in devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    ]
    assert missing in ([], ["in-incognito"])
